/// The meaning of a reason of a delivery, the party that should act, and the recommended action, in both languages.
///
/// A test compares the reasons with those of `ReasonText`, which writes the API's English answers.
package struct ReasonWords: Sendable, Hashable {
    /// The party that should act.
    package enum Responsible: String, Sendable, Hashable, CaseIterable {
        case nobody, sender, app, user, operations, appleAccount, gateway, pushService

        package var name: Text {
            switch self {
            case .nobody: Text(ko: "조치 불필요", en: "Nobody")
            case .sender: Text(ko: "발신자", en: "Sender")
            case .app: Text(ko: "앱 개발자", en: "App developer")
            case .user: Text(ko: "사용자", en: "User")
            case .operations: Text(ko: "운영자", en: "Operator")
            case .appleAccount: Text(ko: "Apple 개발자 계정 관리자", en: "Admin of the Apple developer account")
            case .gateway: Text(ko: "게이트웨이 개발자", en: "Gateway developers")
            case .pushService: Text(ko: "푸시 서비스", en: "Push service")
            }
        }
    }

    /// A few words, for funnels and tables.
    package var name: Text
    package var meaning: Text
    package var party: Responsible
    package var action: Text

    /// The words of a reason; nil for one that is not known here, such as a new one of a push service.
    package static func of(_ reason: String) -> ReasonWords? { table[reason] }

    /// The reasons with words.
    static var all: [String] { table.keys.sorted() }

    /// A few words; an unknown reason is its own name.
    package static func name(_ reason: String, _ language: Language) -> String { of(reason)?.name(language) ?? reason }

    private static let table = Dictionary(
        (ReasonTable.ours + ReasonTable.tokens + ReasonTable.requests + ReasonTable.credentials + ReasonTable.service
            + ReasonTable.broadcasts).map { ($0.0, $0.1) }
    ) { first, _ in first }

    init(_ name: Text, _ meaning: Text, _ party: Responsible, _ action: Text) {
        self.name = name
        self.meaning = meaning
        self.party = party
        self.action = action
    }

    /// A reason of a push service, which is its own name.
    init(_ name: String, _ meaning: Text, _ party: Responsible, _ action: Text) {
        self.init(Text(ko: name, en: name), meaning, party, action)
    }
}
