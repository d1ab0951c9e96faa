import PageParts

enum HelpText {
    static let title = Text(ko: "도움말·단축키", en: "Help and shortcuts")
    static let sentence = Text(
        ko: "모든 기능은 마우스 없이 키보드로 사용할 수 있습니다.",
        en: "Every function works by keyboard alone."
    )
    static let keys = Text(ko: "단축키", en: "Keyboard shortcuts")
    static let pages = Text(ko: "페이지", en: "Pages")
    static let page = Text(ko: "페이지", en: "Page")
    static let key = Text(ko: "키", en: "Key")
    static let effect = Text(ko: "동작", en: "Effect")
    static let switchOff = Text(ko: "한 글자 단축키 사용", en: "Use single-key shortcuts")
    static let marks = Text(ko: "표기", en: "Notation")

    static let shortcuts: [(String, Text)] = [
        (
            "Ctrl K, ⌘ K",
            Text(
                ko: "바로 가기 열기: 페이지, 현재 페이지의 작업, 앱, ID, 전화번호",
                en: "Open the palette: pages, actions of the page, apps, IDs, phone numbers"
            )
        ),
        ("/", Text(ko: "검색 상자로 이동", en: "Go to the search box")),
        ("j, k", Text(ko: "표의 다음 행, 이전 행", en: "Next and previous row of a table")),
        ("Enter", Text(ko: "선택한 링크 열기", en: "Open the selected link")),
        ("[, ]", Text(ko: "더 짧은 기간, 더 긴 기간", en: "Shorter and longer range")),
        ("e", Text(ko: "표시된 자료 내보내기", en: "Export the displayed data")),
        ("t", Text(ko: "테마 변경", en: "Change the theme")),
        ("← →", Text(ko: "차트에서 이전, 다음 시각의 값", en: "Values of the previous and next moment of a chart")),
        ("Esc", Text(ko: "메뉴 닫기", en: "Close a menu")),
        ("?", Text(ko: "이 페이지", en: "This page")),
    ]

    static let notation: [(String, Text)] = [
        ("–", Text(ko: "알 수 없음", en: "Unknown")),
        ("0", Text(ko: "없음이 확인됨", en: "Known to be none")),
        ("≈", Text(ko: "추정", en: "An estimate")),
        (
            "%",
            Text(
                ko: "100보다 작으면 100.0%로, 0보다 크면 0.0%로 표시하지 않습니다",
                en: "Never 100.0% below the whole, and never 0.0% above nothing"
            )
        ),
    ]
}
