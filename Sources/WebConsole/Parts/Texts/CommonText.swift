/// The words of the frame and of what all pages share.
package enum CommonText {
    package static let brand = Text(ko: "푸시 게이트웨이", en: "Push Gateway")
    package static let skip = Text(ko: "본문으로 이동", en: "Skip to content")
    package static let menu = Text(ko: "주 메뉴", en: "Main menu")
    package static let tabs = Text(ko: "탭 메뉴", en: "Tab bar")
    package static let more = Text(ko: "더보기", en: "More")
    package static let keyboard = Text(ko: "도움말·단축키", en: "Help and shortcuts")
    package static let tenant = Text(ko: "테넌트", en: "Tenant")
    package static let app = Text(ko: "앱", en: "App")
    package static let allApps = Text(ko: "모든 앱", en: "All apps")
    package static let range = Text(ko: "기간", en: "Range")
    package static let from = Text(ko: "시작일", en: "From")
    package static let to = Text(ko: "종료일", en: "To")
    package static let zone = Text(ko: "시간대", en: "Time zone")
    package static let apply = Text(ko: "적용", en: "Apply")
    package static let clear = Text(ko: "지우기", en: "Clear")
    package static let all = Text(ko: "전체", en: "All")
    package static let find = Text(ko: "검색", en: "Search")
    package static let findPlaceholder = Text(ko: "메시지, 전화번호, 토큰, 사용자 검색", en: "Search messages, phones, tokens, users")
    package static let palette = Text(ko: "바로 가기", en: "Go to")
    package static let palettePlaceholder = Text(
        ko: "페이지, 작업, 앱, 메시지 ID, 전화번호 또는 토큰",
        en: "A page, action, app, message ID, phone number or token"
    )
    package static let account = Text(ko: "계정", en: "Account")
    package static let ownAccount = Text(ko: "내 계정", en: "Your account")
    package static let signOut = Text(ko: "로그아웃", en: "Sign out")
    package static let export = Text(ko: "내보내기", en: "Export")
    /// The link to a page whose relative range is replaced by its present ends.
    package static let permanent = Text(ko: "고정 링크", en: "Permanent link")

    package static let copy = Text(ko: "복사", en: "Copy")
    package static let copied = Text(ko: "복사했습니다", en: "Copied")
    package static let shownOnce = Text(
        ko: "이 값은 지금 한 번만 표시됩니다. 안전한 곳에 저장하세요.",
        en: "This value is shown only once. Store it in a safe place."
    )
    package static let live = Text(ko: "실시간 갱신", en: "Live")
    package static let livePaused = Text(ko: "이 탭이 보이지 않아 갱신을 멈췄습니다", en: "Paused while the tab is hidden")
    package static let liveLost = Text(ko: "연결이 끊어져 다시 연결하고 있습니다", en: "Connection lost; connecting again")
    package static let newRows = Text(ko: "새 항목 #건 보기", en: "Show new rows (#)")
    package static let noRows = Text(ko: "항목이 없습니다.", en: "There are no rows.")
    package static let showAsTable = Text(ko: "표로 보기", en: "Show as table")
    package static let moment = Text(ko: "시각", en: "Time")
    package static let noData = Text(ko: "자료 없음", en: "no data")
    package static let bytes = Text(ko: "바이트", en: "bytes")
    package static let required = Text(ko: "필수", en: "required")
    package static let difference = Text(ko: "두 버전의 차이", en: "Difference of two versions")
    package static let added = Text(ko: "추가", en: "added")
    package static let removed = Text(ko: "삭제", en: "removed")

    package static func word(_ mark: Mark) -> Text {
        switch mark {
        case .ok: Text(ko: "정상", en: "OK")
        case .warn: Text(ko: "주의", en: "Warning")
        case .bad: Text(ko: "실패", en: "Failed")
        case .idle: Text(ko: "알 수 없음", en: "Unknown")
        case .info: Text(ko: "안내", en: "Note")
        }
    }

    package static func section(_ section: MenuEntry.Section) -> Text {
        switch section {
        case .delivery: Text(ko: "발신", en: "Delivery")
        case .audience: Text(ko: "대상", en: "Audience")
        case .operations: Text(ko: "운영", en: "Operations")
        case .administration: Text(ko: "관리", en: "Administration")
        }
    }

    /// The button that changes to a theme.
    package static func theme(_ next: String) -> Text {
        switch next {
        case "dark": Text(ko: "어두운 테마로 변경", en: "Change to the dark theme")
        case "light": Text(ko: "밝은 테마로 변경", en: "Change to the light theme")
        default: Text(ko: "시스템 테마로 변경", en: "Change to the theme of the system")
        }
    }

    package static func role(_ role: Role) -> Text {
        switch role {
        case .owner: Text(ko: "소유자", en: "Owner")
        case .op: Text(ko: "운영자", en: "Operator")
        case .author: Text(ko: "작성자", en: "Author")
        case .analyst: Text(ko: "분석가", en: "Analyst")
        case .auditor: Text(ko: "감사 담당자", en: "Auditor")
        }
    }

    package static func permission(_ permission: Permission) -> Text {
        switch permission {
        case .figures: Text(ko: "통계와 메시지 보기", en: "view figures and messages")
        case .personal: Text(ko: "개인 정보 보기", en: "view personal data")
        case .send: Text(ko: "메시지 발신", en: "send messages")
        case .operate: Text(ko: "발신 제어", en: "control deliveries")
        case .configure: Text(ko: "앱과 인증서·키 설정", en: "configure apps and credentials")
        case .administer: Text(ko: "API 키와 계정 관리", en: "manage API keys and accounts")
        case .audit: Text(ko: "감사 로그 보기", en: "view the audit log")
        case .platform: Text(ko: "노드와 대기열 보기", en: "view nodes and queues")
        }
    }
}
