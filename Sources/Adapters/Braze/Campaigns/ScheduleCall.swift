import Model

/// The stored request of a schedule: the kind of its calls, and the body after all changes.
struct ScheduleCall {
    enum Kind: String {
        case messages, campaigns
    }

    private static let kindKey = "kind"
    private static let bodyKey = "body"
    /// A caller's key is never stored, and the schedule has its own id.
    private static let dropped = ["api_key", "schedule_id"]

    var kind: Kind
    var body: JSONObject

    init(_ kind: Kind, _ body: JSONObject) {
        self.kind = kind
        self.body = body
        for name in Self.dropped { self.body[name] = nil }
    }

    /// Reads a stored request; nil for anything else.
    init?(_ request: JSONObject) {
        guard let kind = request[Self.kindKey]?.string.flatMap(Kind.init), let body = request[Self.bodyKey]?.object
        else { return nil }
        self.init(kind, body)
    }

    var request: JSONObject { [Self.kindKey: .string(kind.rawValue), Self.bodyKey: .object(body)] }

    /// The campaign that is sent or counted.
    var campaignID: String? { body["campaign_id"]?.string }

    var isBroadcast: Bool { body["broadcast"] == true }

    /// The body with the fields of an update; other fields are unchanged.
    ///
    /// - Throws: `AdapterError` with the text of the answer.
    func updated(by update: JSONObject) throws(AdapterError) -> ScheduleCall {
        var body = body
        switch kind {
        case .messages:
            for name in ["schedule", "messages"] where (update[name] ?? .null) != .null { body[name] = update[name] }
        case .campaigns:
            guard update["campaign_id"]?.string == campaignID else {
                throw AdapterError(.invalid, field: BrazeText.campaign)
            }
            // The audience is replaced as a whole.
            let audience = ["recipients", "audience", "broadcast"]
            if audience.contains(where: { (update[$0] ?? .null) != .null }) {
                for name in audience { body[name] = nil }
            }
            for name in audience + ["schedule", "trigger_properties"] where (update[name] ?? .null) != .null {
                body[name] = update[name]
            }
        }
        return ScheduleCall(kind, body)
    }

    /// Its recipients; nil if it has none or is not a trigger's schedule.
    ///
    /// - Throws: `AdapterError` with the text of the answer.
    func recipients(at now: Timestamp) throws(AdapterError) -> TriggerRecipients? {
        kind == .campaigns ? try TriggerSend(body, at: now).recipients() : nil
    }

    /// The message of the current body.
    ///
    /// - Throws: `AdapterError` with the text of the answer.
    func submission(
        of campaign: Campaign?,
        at now: Timestamp,
        replacing: ScheduleVersion?,
        users found: [UserName: UserID] = [:]
    ) throws(AdapterError) -> Submission {
        let due = try ScheduleTime(body["schedule"], at: now)
        var submission =
            switch kind {
            case .messages: try MessagesSend(body, at: now).submission(of: campaign, due: due)
            case .campaigns: try TriggerSend(body, at: now).submission(of: campaign, due: due, users: found)
            }
        submission.schedule = ScheduleDraft(replaced: replacing, request: request)
        return submission
    }
}
