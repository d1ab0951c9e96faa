import Model

/// `/subscription/…`: users' decisions about the vendor's subscription groups (docs/contracts/braze.md#5.9).
struct SubscriptionCalls {
    private let call: BrazeCall
    private let request: VendorRequest

    init(_ call: BrazeCall, _ request: VendorRequest) {
        self.call = call
        self.request = request
    }

    private static let both = "Either an email address or a phone number should be provided, but not both."

    /// - Throws: `AdapterError` with the text of the answer.
    func commands() throws(AdapterError) -> [Command] {
        switch call {
        case .subscriptionSet: return [.user(.consent([try change(.object(try request.brazeBody()), "external_id")]))]
        case .subscriptionsSet: return [.user(.consent(try changes()))]
        case .subscriptionGet:
            _ = try group()
            return [.user(.describe(try users()))]
        case .subscriptionUser:
            _ = try page()
            return [.user(.describe(try users()))]
        default: return []
        }
    }

    // MARK: Setting

    /// A change of one group. Its users are a list under `field`, or a single value.
    private func change(_ value: JSON, _ field: String) throws(AdapterError) -> ConsentChange {
        let said = try SubscriptionFields.said(value)
        let others = [["email", "emails"], ["phone", "phones"]].map { names in
            names.first { name in value[name].map { $0 != .null && $0 != [] } ?? false }
        }
        if others.allSatisfy({ $0 != nil }) { throw AdapterError(.invalid, field: Self.both) }
        if let other = others.compactMap(\.self).first { throw BrazeText.later(other) }
        var list: [JSON] = []
        if case .string? = value[field] {
            list = value[field].map { [$0] } ?? []
        } else {
            list = try UserFields.list(value[field], field)
        }
        guard !list.isEmpty else { throw BrazeText.fault(field) }
        var users: [UserName] = []
        for entry in list { users.append(.id(try UserFields.id(entry, field))) }
        try bound(users.count)
        return ConsentChange(subject: said.subject, state: said.state, users: users)
    }

    private func changes() throws(AdapterError) -> [ConsentChange] {
        let field = "subscription_groups"
        let list = try UserFields.list(try request.brazeBody()[field], field)
        guard !list.isEmpty else { throw BrazeText.fault(field) }
        try bound(list.count)
        var changes: [ConsentChange] = []
        for entry in list { changes.append(try change(entry, "external_ids")) }
        // Assumed: the limit applies to all groups together.
        try bound(changes.reduce(0) { $0 + $1.users.count })
        return changes
    }

    private func bound(_ count: Int) throws(AdapterError) {
        guard count <= BrazeLimits.recipientCount else {
            throw AdapterError(.invalid, field: BrazeText.tooManyRecipients)
        }
    }

    // MARK: Reading

    private func group() throws(AdapterError) -> String {
        guard let group = request.parameter("subscription_group_id"), !group.isEmpty else {
            throw BrazeText.fault("subscription_group_id")
        }
        return group
    }

    private func users() throws(AdapterError) -> [UserName] {
        for field in ["email", "phone"] where !request.parameters(field).allSatisfy(\.isEmpty) {
            throw BrazeText.later(field)
        }
        let ids = request.parameters("external_id").filter { !$0.isEmpty }
        guard !ids.isEmpty else { throw BrazeText.fault("external_id") }
        try bound(ids.count)
        var seen: Set<String> = []
        return ids.filter { seen.insert($0).inserted }.map { .id(UserID($0)) }
    }

    /// The range of the known users that the call requests.
    private func page() throws(AdapterError) -> Range<Int> {
        let limit = try number("limit", 1...BrazeLimits.subscriptionUserCount) ?? BrazeLimits.subscriptionUserCount
        let offset = try number("offset", 0...BrazeLimits.subscriptionUserCount) ?? 0
        return offset..<(offset + limit)
    }

    private func number(_ field: String, _ range: ClosedRange<Int>) throws(AdapterError) -> Int? {
        guard let text = request.parameter(field), !text.isEmpty else { return nil }
        guard let number = Int(text), range.contains(number) else { throw BrazeText.fault(field) }
        return number
    }

    // MARK: Answers

    /// Nil if the replies do not belong to these calls.
    func facts(_ replies: [Reply]) -> JSONObject? {
        switch (call, replies.first) {
        case (.subscriptionSet, .user(.consented)?), (.subscriptionsSet, .user(.consented)?): JSONObject()
        case (.subscriptionGet, .user(.described(let found))?): statuses(found)
        case (.subscriptionUser, .user(.described(let found))?): listed(found)
        default: nil
        }
    }

    private func statuses(_ found: [DescribedUser?]) -> JSONObject? {
        guard let group = try? group(), let users = try? users() else { return nil }
        var statuses = JSONObject()
        for (name, user) in zip(users, found) {
            // Assumed: the word for a user without a decision and for an unknown user.
            statuses[name.text.rawValue] = .string(user?.consents[group]?.rawValue ?? "unknown")
        }
        return ["status": .object(statuses)]
    }

    private func listed(_ found: [DescribedUser?]) -> JSONObject? {
        guard let page = try? page() else { return nil }
        let known = found.compactMap(\.self)
        let shown = known.indices.filter(page.contains).map { index in user(known[index]) }
        return ["users": .array(shown), "total_count": .int(known.count)]
    }

    /// Assumed: the fields, after the vendor's names for them.
    private func user(_ user: DescribedUser) -> JSON {
        let groups = user.consents.sorted { $0.key < $1.key }.map { group, state -> JSON in
            ["id": .string(group), "status": .string(state.rawValue)]
        }
        return ["external_id": .string(user.user.rawValue), "subscription_groups": .array(groups)]
    }
}
