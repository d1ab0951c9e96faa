import Model

/// The format of users in `/users/export/ids` (docs/contracts/braze.md#5.4). Fields that the gateway does not know are omitted.
struct UserExport {
    /// Nil: every field.
    private let fields: Set<String>?

    /// - Throws: `AdapterError` with the text of the answer.
    init(_ body: JSONObject) throws(AdapterError) {
        let list = try UserFields.list(body["fields_to_export"], "fields_to_export")
        let names = list.compactMap(\.string)
        guard names.count == list.count else { throw BrazeText.fault("fields_to_export") }
        fields = names.isEmpty ? nil : Set(names)
    }

    /// The keys of a message's data that identify its campaign; empty if no campaigns are requested.
    var messageData: [String] { wants("campaigns_received") ? ReceivedCampaigns.messageData : [] }

    /// A user who is named twice appears once; unknown ids are listed separately.
    func facts(_ names: [UserName], _ users: [DescribedUser?]) -> JSONObject {
        var seen: Set<UserID> = []
        let known = users.compactMap(\.self).filter { seen.insert($0.user).inserted }
        var facts: JSONObject = ["users": .array(known.map { .object(shown($0)) })]
        let strangers = zip(names, users).compactMap { name, user -> JSON? in
            guard user == nil, case .id(let id) = name else { return nil }
            return .string(id.rawValue)
        }
        if !strangers.isEmpty { facts["invalid_user_ids"] = .array(strangers) }
        return facts
    }

    private func wants(_ field: String) -> Bool { fields?.contains(field) ?? true }

    private func shown(_ user: DescribedUser) -> JSONObject {
        var shown = JSONObject()
        // Missing values are omitted.
        func add(_ field: String, _ value: JSON?) {
            if wants(field), let value { shown[field] = value }
        }
        func list(_ values: [JSON]) -> JSON? { values.isEmpty ? nil : .array(values) }
        add("external_id", user.isAnonymous ? nil : .string(user.user.rawValue))
        add(
            "user_aliases",
            // The alias for the device's id is internal to the gateway.
            list(
                user.aliases.filter { $0.label != UserFields.deviceLabel }.map {
                    ["alias_name": .string($0.name), "alias_label": .string($0.label)]
                }
            )
        )
        var custom = JSONObject()
        for (name, value) in user.attributes.pairs {
            if UserAttributes.standard.contains(name) { add(name, value) } else { custom[name] = value }
        }
        add("custom_attributes", custom.isEmpty ? nil : .object(custom))
        add("custom_events", list(tallies(of: user, .event)))
        add("purchases", list(tallies(of: user, .purchase)))
        add("devices", list(user.devices.map { .object(ExportedDevice($0).facts) }))
        add("push_tokens", list(user.devices.compactMap { ExportedDevice($0).token(of: user.app) }))
        add("apps", ExportedApp(user).facts.map { [.object($0)] })
        // Shown even if it is empty, as the vendor does, because the gateway has the complete data.
        add("campaigns_received", .array(ReceivedCampaigns(user.messages).all))
        return shown
    }

    private func tallies(of user: DescribedUser, _ kind: UserAct.Kind) -> [JSON] {
        user.tallies.filter { $0.kind == kind }.map { tally in
            [
                "name": .string(tally.name), "first": .string(BrazeTime.text(tally.firstAt)),
                "last": .string(BrazeTime.text(tally.lastAt)),
                "count": .int(tally.count),
            ]
        }
    }
}
