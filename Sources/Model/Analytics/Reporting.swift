/// The reports that the SDK of a dialect can make about a push. Dialects that cannot report are left out of the rates of receipts, because their silence says nothing.
package struct Reporting: Sendable, Hashable {
    package enum Ability: Sendable, Hashable {
        /// The SDK reports it.
        case reported
        /// The app reports it if a setting of the binding names how.
        case configured(setting: String)
        /// It follows from another call, such as a fetched list that contains the message.
        case implied
        case never

        package var canReport: Bool { self != .never }

        /// The name of the ability in answers and documents.
        package var word: String {
            switch self {
            case .reported: "reported"
            case .configured: "configured"
            case .implied: "implied"
            case .never: "never"
            }
        }

        /// All names.
        package static let words = ["reported", "configured", "implied", "never"]
    }

    package var received: Ability
    package var read: Ability

    /// The reports of the dialect's devices in an app without the setting that their receipts need.
    package var withoutSetting: Reporting {
        if case .configured = received { Reporting(received: .never, read: read) } else { self }
    }

    package init(received: Ability, read: Ability) {
        self.received = received
        self.read = read
    }
}
