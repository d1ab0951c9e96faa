import Model

/// Reads the user that an element of a call identifies (docs/contracts/braze.md#5.1).
enum UserFields {
    /// The label of the alias that identifies a device's user until the app names the user. The alias name is the device's id.
    static let deviceLabel = "sdk_device"

    /// In order of precedence. The gateway does not support the last three.
    private static let identifiers = ["external_id", "user_alias", "braze_id", "email", "phone"]

    /// Nil: the element names no user.
    ///
    /// - Throws: `AdapterError` with the text of the fault.
    static func name(_ fields: JSONObject) throws(AdapterError) -> UserName? {
        guard let first = identifiers.first(where: { isGiven(fields[$0]) }) else { return nil }
        switch first {
        case "external_id":
            // With two names, one would be dropped silently.
            if isGiven(fields["user_alias"]) { throw BrazeText.fault("user_alias") }
            return .id(try id(fields["external_id"], "external_id"))
        case "user_alias": return .alias(try alias(fields["user_alias"]))
        default: throw BrazeText.later(first)
        }
    }

    static func isGiven(_ value: JSON?) -> Bool { value != nil && value != .null }

    static func id(_ value: JSON?, _ field: String) throws(AdapterError) -> UserID {
        guard let id = value?.string, !id.isEmpty else { throw BrazeText.fault(field) }
        return UserID(id)
    }

    static func alias(_ value: JSON?) throws(AdapterError) -> UserAlias {
        guard let name = value?["alias_name"]?.string, !name.isEmpty, let label = value?["alias_label"]?.string,
            !label.isEmpty
        else { throw BrazeText.fault("user_alias") }
        return UserAlias(label: label, name: name)
    }

    /// The users of a call that lists them as `external_ids` and `user_aliases`. The fields in `others` are refused.
    ///
    /// - Throws: `AdapterError` with the text of the answer.
    static func listed(_ body: JSONObject, without others: [String]) throws(AdapterError) -> [UserName] {
        for field in others where isGiven(body[field]) { throw BrazeText.later(field) }
        var names: [UserName] = []
        for entry in try list(body["external_ids"], "external_ids") {
            names.append(.id(try id(entry, "external_ids")))
        }
        for entry in try list(body["user_aliases"], "user_aliases") {
            names.append(.alias(try alias(entry)))
        }
        guard names.count <= BrazeLimits.recipientCount else {
            throw AdapterError(.invalid, field: BrazeText.tooManyRecipients)
        }
        return names
    }

    static func list(_ value: JSON?, _ field: String) throws(AdapterError) -> [JSON] {
        guard let value, value != .null else { return [] }
        guard let list = value.array else { throw BrazeText.fault(field) }
        return list
    }
}
