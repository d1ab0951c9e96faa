import Model

/// The fields for users' decisions about pushes and about the vendor's subscription groups, which are consent subjects in the gateway.
enum SubscriptionFields {
    static let stateField = "recipient_subscription_state"

    /// `recipient_subscription_state`: the consent that a send requires (docs/contracts/braze.md#5.5).
    ///
    /// - Throws: `AdapterError` with the text of the answer.
    static func rule(_ body: JSONObject) throws(AdapterError) -> ConsentRule {
        switch body[stateField] {
        case nil, .null?, "subscribed"?: return .subscribed
        case "opted_in"?: return .optedIn
        case "all"?: return .all
        default: throw BrazeText.fault(stateField)
        }
    }

    /// The value that requests this consent.
    static func state(of rule: ConsentRule) -> String {
        switch rule {
        case .optedIn: "opted_in"
        case .subscribed: "subscribed"
        case .all: "all"
        }
    }

    /// The subject of a change and its new state.
    ///
    /// - Throws: `AdapterError` with the text of the answer.
    static func said(_ value: JSON) throws(AdapterError) -> (subject: String, state: ConsentState) {
        guard let subject = value["subscription_group_id"]?.string, !subject.isEmpty else {
            throw BrazeText.fault("subscription_group_id")
        }
        guard let state = value["subscription_state"]?.string.flatMap(ConsentState.init) else {
            throw BrazeText.fault("subscription_state")
        }
        return (subject, state)
    }

    /// `subscription_groups` of a user's attributes; the last entry of a group counts.
    ///
    /// - Throws: `AdapterError` with the text of the answer.
    static func consents(_ fields: JSONObject) throws(AdapterError) -> [String: ConsentState] {
        var consents: [String: ConsentState] = [:]
        for entry in try UserFields.list(fields["subscription_groups"], "subscription_groups") {
            do throws(AdapterError) {
                let (subject, state) = try said(entry)
                consents[subject] = state
            } catch {
                throw BrazeText.fault("subscription_groups")
            }
        }
        return consents
    }
}
