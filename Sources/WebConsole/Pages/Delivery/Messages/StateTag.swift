import Model
package import PageParts

/// The words of a state with its mark, as rows show it.
package struct StateTag: Sendable {
    package var mark: Mark
    package var text: Text

    private init(_ mark: Mark, _ text: Text) {
        self.mark = mark
        self.text = text
    }

    package func cell(_ language: Language) -> Table.Cell { .tag(mark, text(language)) }

    package static func message(_ state: String?) -> StateTag {
        let state = word(state)
        return StateTag(StateWords.mark(ofMessage: state), StateWords.message(state))
    }

    /// An accepted push without a receipt is a warning: its device may be offline, or its app may not report.
    package static func delivery(_ state: String?) -> StateTag {
        let state = word(state)
        if state == DeliveryState.sent.rawValue { return StateTag(.warn, Text(ko: "수신 확인 없음", en: "No receipt")) }
        return StateTag(StateWords.mark(ofDelivery: state), StateWords.delivery(state))
    }

    package static func identity(_ state: String?) -> StateTag {
        let state = word(state)
        return StateTag(state == IdentityState.active.rawValue ? .ok : .idle, StateWords.identity(state))
    }

    package static func token(_ state: String?) -> StateTag {
        let state = word(state)
        let mark: Mark =
            switch TokenState(rawValue: state) {
            case .active: .ok
            case .quarantined: .warn
            case .none?, .invalid: .bad
            case nil: .idle
            }
        return StateTag(mark, StateWords.token(state))
    }

    /// How well the user of a registration is known.
    package static func assurance(_ level: String?) -> Text {
        switch level.flatMap({ Assurance(rawValue: $0) }) {
        case .pending: Text(ko: "확인 대기", en: "Pending")
        case .claimed: Text(ko: "앱이 알림", en: "Claimed by the app")
        case .possession: Text(ko: "단말로 확인", en: "Confirmed by the device")
        case .vouched: Text(ko: "백엔드가 확인", en: "Confirmed by the back end")
        case nil: Text(ko: word(level), en: word(level))
        }
    }

    /// Apple's environment of a token.
    package static func environment(_ name: String?) -> Text {
        switch name {
        case "production": Text(ko: "운영용", en: "production")
        case "sandbox": Text(ko: "개발용", en: "sandbox")
        case .some, nil: Text(ko: word(name), en: word(name))
        }
    }

    private static func word(_ state: String?) -> String { state.map { Reading.line($0, 40) } ?? Words.unknown }
}
