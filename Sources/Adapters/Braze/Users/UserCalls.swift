import Model

/// The calls that describe, erase and name users (docs/contracts/braze.md#5.2, docs/contracts/braze.md#5.3, docs/contracts/braze.md#5.4).
struct UserCalls {
    private let call: BrazeCall
    private let request: VendorRequest

    init(_ call: BrazeCall, _ request: VendorRequest) {
        self.call = call
        self.request = request
    }

    private static let exportIdentifiers = ["device_id", "braze_id", "email_address", "phone"]
    private static let deleteIdentifiers = ["braze_ids", "email_addresses", "phone_numbers"]

    /// - Throws: `AdapterError` with the text of the answer.
    func commands() throws(AdapterError) -> [Command] {
        let body = try request.brazeBody()
        switch call {
        case .export:
            let names = try UserFields.listed(body, without: Self.exportIdentifiers)
            guard !names.isEmpty else { throw AdapterError(.invalid, field: BrazeText.nobodyToExport) }
            return [.user(.describe(names, messages: try UserExport(body).messageData))]
        case .delete:
            let names = try UserFields.listed(body, without: Self.deleteIdentifiers)
            guard !names.isEmpty else { throw BrazeText.fault("external_ids") }
            return [.user(.erase(names))]
        case .nameAliases:
            return [.user(.name(try named(body, "user_aliases", needsUser: false) { $0 }))]
        case .identify:
            for field in ["emails_to_identify", "phone_numbers_to_identify"] where UserFields.isGiven(body[field]) {
                throw BrazeText.later(field)
            }
            return [.user(.identify(try named(body, "aliases_to_identify", needsUser: true) { $0["user_alias"] }))]
        case .merge: return [.user(.merge(try merges(body)))]
        default: return []
        }
    }

    /// The users of a list, each with the alias that `alias` finds in its element.
    private func named(_ body: JSONObject, _ field: String, needsUser: Bool, _ alias: (JSON) -> JSON?)
        throws(AdapterError)
        -> [NamedUser]
    {
        let list = try UserFields.list(body[field], field)
        guard !list.isEmpty else { throw BrazeText.fault(field) }
        guard list.count <= BrazeLimits.recipientCount else {
            throw AdapterError(.invalid, field: BrazeText.tooManyRecipients)
        }
        var users: [NamedUser] = []
        for entry in list {
            var user: UserID?
            if needsUser || UserFields.isGiven(entry["external_id"]) {
                user = try UserFields.id(entry["external_id"], "external_id")
            }
            users.append(NamedUser(user: user, alias: try UserFields.alias(alias(entry))))
        }
        return users
    }

    private func merges(_ body: JSONObject) throws(AdapterError) -> [UserMerge] {
        let list = try UserFields.list(body["merge_updates"], "merge_updates")
        guard !list.isEmpty else { throw BrazeText.fault("merge_updates") }
        guard list.count <= BrazeLimits.recipientCount else {
            throw AdapterError(.invalid, field: BrazeText.tooManyRecipients)
        }
        var merges: [UserMerge] = []
        for entry in list {
            func name(_ field: String) throws(AdapterError) -> UserName {
                guard let fields = entry[field]?.object, let name = try UserFields.name(fields) else {
                    throw BrazeText.fault(field)
                }
                return name
            }
            merges.append(UserMerge(try name("identifier_to_merge"), into: try name("identifier_to_keep")))
        }
        return merges
    }

    /// Nil if the replies do not belong to these calls.
    func facts(_ replies: [Reply]) -> JSONObject? {
        switch replies.first {
        case .user(.erased(let count))?: ["deleted": .int(count)]
        case .user(.named(let count))?, .user(.identified(let count))?: ["aliases_processed": .int(count)]
        case .user(.merged)? where call == .merge: JSONObject()
        case .user(.described(let users))?:
            if let body = try? request.brazeBody(), let export = try? UserExport(body),
                let names = try? UserFields.listed(body, without: [])
            {
                export.facts(names, users)
            } else {
                nil
            }
        default: nil
        }
    }
}
