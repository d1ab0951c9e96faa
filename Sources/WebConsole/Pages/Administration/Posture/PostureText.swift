import PageParts

enum PostureText {
    static let title = Text(ko: "보안 점검", en: "Security posture")
    static let high = Text(ko: "높음", en: "High")
    static let medium = Text(ko: "보통", en: "Medium")
    static let low = Text(ko: "낮음", en: "Low")
    static let highMeaning = Text(
        ko: "게이트웨이에 접근할 수 있는 누구나 모든 사용자에게 발신하거나 다른 발신 내용을 읽을 수 있습니다.",
        en: "Anyone who reaches the gateway can send to all users, or reads what others send."
    )
    static let mediumMeaning = Text(
        ko: "일부 사용자의 데이터가 위험하거나 방어 수단이 하나 빠져 있습니다.",
        en: "Data of single users, or a missing defence."
    )
    static let lowMeaning = Text(
        ko: "이미 다른 것을 손에 넣은 공격자에게 도움이 됩니다.",
        en: "A small step for an attacker who already has something else."
    )
    static let node = Text(ko: "노드", en: "Node")
    static let nodeNote = Text(
        ko: "노드 항목은 응답한 노드의 설정입니다.",
        en: "The findings of the node are about the node that answered."
    )
    static let risk = Text(ko: "위험", en: "Risk")
    static let remedy = Text(ko: "조치", en: "Remedy")
    static let none = Text(ko: "약한 설정을 찾지 못했습니다.", en: "No weak point was found.")
    static let more = Text(
        ko: "처음 1,000개 항목만 표시합니다.",
        en: "Only the first 1,000 findings are shown."
    )

    static func worst(_ count: String, _ level: String, _ place: String, _ finding: String) -> Text {
        Text(
            ko: "위험도 \(level) 항목이 \(count)개 있습니다. 먼저 조치할 항목: \(place) – \(finding)",
            en: "\(count, one: "finding") of level \(level). Close first: \(place) – \(finding)."
        )
    }
}
