import Model

/// The `recipients` of a trigger: users, the template values of each, and attribute changes for them (docs/contracts/braze.md#5.6).
struct TriggerRecipients {
    struct Recipient {
        var user: UserName
        var properties: JSONObject
    }

    /// Each user once; a user who is named twice receives one message, the first.
    private(set) var all: [Recipient] = []
    /// The attribute changes of the recipients.
    private(set) var patches: [UserPatch] = []

    /// The recipients that are named by an alias. Variables are stored by user id, so these must be resolved.
    var aliases: [UserName] { all.map(\.user).filter(Self.isAlias) }

    /// - Throws: `AdapterError` with the text of the answer.
    init(_ value: JSON) throws(AdapterError) {
        guard let list = value.array else { throw BrazeText.fault("recipients") }
        guard list.count <= BrazeLimits.recipientCount else {
            throw AdapterError(.invalid, field: BrazeText.tooManyRecipients)
        }
        var seen: Set<UserName> = []
        for entry in list {
            guard let fields = entry.object else { throw BrazeText.fault("recipients") }
            for name in ["email", "braze_id"] where UserFields.isGiven(fields[name]) {
                throw BrazeText.later("recipients.\(name)")
            }
            let user = try Self.user(fields)
            let properties = try Self.object(fields, "trigger_properties")
            guard seen.insert(user).inserted else { continue }
            all.append(Recipient(user: user, properties: properties))
            if let patch = try Self.patch(of: user, fields) { patches.append(patch) }
        }
    }

    private static func isAlias(_ user: UserName) -> Bool { if case .alias = user { true } else { false } }

    private static func user(_ fields: JSONObject) throws(AdapterError) -> UserName {
        guard UserFields.isGiven(fields["user_alias"]) else {
            return .id(try UserFields.id(fields["external_user_id"], "external_user_id"))
        }
        // With two names, one would be dropped silently.
        if UserFields.isGiven(fields["external_user_id"]) { throw BrazeText.fault("user_alias") }
        return .alias(try UserFields.alias(fields["user_alias"]))
    }

    /// Nil: the call changes no attributes of the user.
    private static func patch(of user: UserName, _ fields: JSONObject) throws(AdapterError) -> UserPatch? {
        var existing = true
        switch fields["send_to_existing_only"] {
        case nil, .null?: break
        case .bool(let value)?: existing = value
        default: throw BrazeText.fault("send_to_existing_only")
        }
        var attributes = try object(fields, "attributes")
        if attributes.isEmpty { return nil }
        // The user is given by the recipient, not by these fields.
        for name in ["external_id", "user_alias", "braze_id", "push_token_import"] { attributes[name] = nil }
        switch user {
        case .id(let id): attributes["external_id"] = .string(id.rawValue)
        case .alias(let alias):
            attributes["user_alias"] = ["alias_name": .string(alias.name), "alias_label": .string(alias.label)]
        }
        attributes["_update_existing_only"] = .bool(existing)
        return try UserAttributes(attributes).patch()
    }

    private static func object(_ fields: JSONObject, _ name: String) throws(AdapterError) -> JSONObject {
        guard let value = fields[name], value != .null else { return JSONObject() }
        guard let object = value.object else { throw BrazeText.fault(name) }
        return object
    }

    /// The audience and the template values of each user, with aliases replaced by the users in `found`. Two names of one user are one recipient.
    func audience(_ found: [UserName: UserID]) -> (users: [UserID], variables: [UserVariables]) {
        var users: [UserID] = []
        var variables: [UserVariables] = []
        for recipient in all {
            let user = found[recipient.user] ?? recipient.user.text
            guard !users.contains(user) else { continue }
            users.append(user)
            if !recipient.properties.isEmpty {
                variables.append(UserVariables(user: user, values: recipient.properties))
            }
        }
        return (users, variables)
    }
}
