import Model

/// `POST /campaigns/trigger/send` and its schedule: a stored campaign to users, each with properties of his own (contract §5.6).
struct TriggerSend {
    private let body: JSONObject
    private let now: Timestamp
    let campaignID: String

    /// - Throws: `AdapterError` with the text of the answer.
    init(_ body: JSONObject, at now: Timestamp) throws(AdapterError) {
        self.body = body
        self.now = now
        guard let id = body["campaign_id"]?.string, !id.isEmpty else {
            throw AdapterError(.invalid, field: BrazeText.campaign)
        }
        campaignID = id
    }

    /// The message of `campaign`, nil where there is none of that id.
    ///
    /// - Throws: `AdapterError` with the text of the answer.
    func submission(of campaign: Campaign?, due: ScheduleTime?) throws(AdapterError) -> Submission {
        guard let campaign, let own = BrazeCampaign(campaign), let variation = own.variations.first else {
            throw AdapterError(.invalid, field: BrazeText.campaign)
        }
        let (audience, variables) = try recipients()
        let push = try ApplePush(variation.push, at: due?.start ?? now)
        var content = Content(isSilent: push.isSilent, raw: .object(push.document), isTemplate: push.isTemplate)
        content.data = push.data
        content.data[BrazePayload.variationKey] = .string(variation.id)
        content.data[BrazePayload.campaignKey] = own.facts
        let properties = try object(body, "trigger_properties")
        if !properties.isEmpty { content.data[BrazePayload.propertiesKey] = .object(properties) }
        content.consent = try own.consent(body)
        let send = try SendName.read(body)
        content.data[BrazePayload.sendKey] = send.map { .string($0) }
        var submission = Submission(
            content: content,
            audience: audience,
            dueAt: due?.dueAt,
            localDue: due?.localDue,
            timeToLive: push.timeToLive,
            collapseID: push.collapseID,
            lane: audience == .everyone ? .bulk : .transactional
        )
        submission.variables = variables
        submission.labels = SendLabel.all(campaign: campaignID, send: send)
        return submission
    }

    private func recipients() throws(AdapterError) -> (Audience, [UserVariables]) {
        if let audience = body["audience"], audience != .null, audience != [:] { throw BrazeText.later("audience") }
        let list = body["recipients"] ?? .null
        guard list != .null, list != [] else {
            guard body["broadcast"] == true else { throw AdapterError(.invalid, field: BrazeText.nobody) }
            return (.everyone, [])
        }
        guard body["broadcast"] != true else { throw AdapterError(.invalid, field: BrazeText.broadcast) }
        guard let list = list.array else { throw BrazeText.fault("recipients") }
        guard list.count <= BrazeLimits.recipientCount else {
            throw AdapterError(.invalid, field: BrazeText.tooManyRecipients)
        }
        var users: [UserID] = []
        var variables: [UserVariables] = []
        for entry in list {
            guard let fields = entry.object else { throw BrazeText.fault("recipients") }
            for name in ["user_alias", "email", "braze_id", "attributes"] {
                if let value = fields[name], value != .null { throw BrazeText.later("recipients.\(name)") }
            }
            guard let id = fields["external_user_id"]?.string, !id.isEmpty else {
                throw BrazeText.fault("external_user_id")
            }
            let properties = try object(fields, "trigger_properties")
            let user = UserID(id)
            // Who is named twice is sent one message, the first.
            guard !users.contains(user) else { continue }
            users.append(user)
            if !properties.isEmpty { variables.append(UserVariables(user: user, values: properties)) }
        }
        return (.users(users), variables)
    }

    private func object(_ fields: JSONObject, _ name: String) throws(AdapterError) -> JSONObject {
        guard let value = fields[name], value != .null else { return JSONObject() }
        guard let object = value.object else { throw BrazeText.fault(name) }
        return object
    }
}

/// `send_id`: by what a caller counts sends together.
enum SendName {
    /// Nil: none is given.
    ///
    /// - Throws: `AdapterError` with the text of the answer.
    static func read(_ body: JSONObject) throws(AdapterError) -> String? {
        guard let value = body["send_id"], value != .null else { return nil }
        guard let name = value.string, (1...BrazeLimits.nameBytes).contains(name.utf8.count) else {
            throw BrazeText.fault("send_id")
        }
        return name
    }
}
