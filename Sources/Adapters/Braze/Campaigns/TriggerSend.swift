import Model

/// `POST /campaigns/trigger/send` and its schedule: sends a stored campaign to users, each with individual properties (docs/contracts/braze.md#5.6).
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

    /// The message of `campaign`; nil means that the id is unknown. `found` contains the owners of the recipients' aliases.
    ///
    /// - Throws: `AdapterError` with the text of the answer.
    func submission(of campaign: Campaign?, due: ScheduleTime?, users found: [UserName: UserID] = [:])
        throws(AdapterError) -> Submission
    {
        guard let campaign, let own = BrazeCampaign(campaign), let variation = own.variations.first else {
            throw AdapterError(.invalid, field: BrazeText.campaign)
        }
        let recipients = try recipients()
        let (users, variables) = recipients?.audience(found) ?? ([], [])
        let audience = recipients == nil ? Audience.everyone : .users(users)
        let push = try ApplePush(variation.push, at: due?.start ?? now)
        var content = Content(isSilent: push.isSilent, raw: .object(push.document))
        content.isTemplate = push.isTemplate
        content.data = push.data
        content.data[BrazePayload.triggerKey] = true
        content.data[BrazePayload.variationKey] = .string(variation.id)
        content.data[BrazePayload.campaignKey] = own.facts
        content.campaign = campaignID
        content.campaignVariant = variation.id
        let properties = try object(body, "trigger_properties")
        if !properties.isEmpty { content.data[BrazePayload.propertiesKey] = .object(properties) }
        content.consent = try own.consent(body)
        try content.narrow(by: body)
        let send = try SendName.read(body)
        content.data[BrazePayload.sendKey] = send.map { .string($0) }
        var submission = Submission(
            content: content,
            audience: audience,
            timing: SubmissionTiming(dueAt: due?.dueAt, localDue: due?.localDue, timeToLive: push.timeToLive),
            collapseID: push.collapseID,
            lane: audience == .everyone ? .bulk : .transactional
        )
        submission.variables = variables
        if recipients?.aliases.isEmpty == false { submission.naming = .names }
        submission.labels = SendLabel.all(campaign: campaignID, send: send)
        return submission
    }

    /// Nil: the message is for everyone.
    ///
    /// - Throws: `AdapterError` with the text of the answer.
    func recipients() throws(AdapterError) -> TriggerRecipients? {
        let filter = try AudienceFilter.read(body)
        let isBroadcast = filter != nil || body["broadcast"] == true
        let list = body["recipients"] ?? .null
        guard list != .null, list != [] else {
            guard isBroadcast else { throw AdapterError(.invalid, field: BrazeText.nobody) }
            return nil
        }
        guard !isBroadcast else { throw AdapterError(.invalid, field: BrazeText.broadcast) }
        return try TriggerRecipients(list)
    }

    private func object(_ fields: JSONObject, _ name: String) throws(AdapterError) -> JSONObject {
        guard let value = fields[name], value != .null else { return JSONObject() }
        guard let object = value.object else { throw BrazeText.fault(name) }
        return object
    }
}
