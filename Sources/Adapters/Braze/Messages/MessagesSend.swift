import Model

/// `POST /messages/send`: a push to users by their ids, or to everyone (docs/contracts/braze.md#5.5).
struct MessagesSend {
    private let body: JSONObject
    private let now: Timestamp

    init(_ body: JSONObject, at now: Timestamp) {
        self.body = body
        self.now = now
    }

    /// The campaign for which the send is counted; nil if none is named.
    ///
    /// - Throws: `AdapterError` with the text of the answer.
    func campaignID() throws(AdapterError) -> String? {
        guard let value = body["campaign_id"], value != .null else { return nil }
        guard let id = value.string, !id.isEmpty else { throw AdapterError(.invalid, field: BrazeText.campaign) }
        return id
    }

    /// - Parameters:
    ///   - campaign: the campaign for which the send is counted, if the call names one.
    ///   - due: the due time; nil: now.
    /// - Returns: the message.
    /// - Throws: `AdapterError` with the text of the answer.
    func submission(of campaign: Campaign?, due: ScheduleTime?) throws(AdapterError) -> Submission {
        let audience = try audience()
        guard let messages = body["messages"]?.object, let apple = messages["apple_push"]?.object else {
            throw AdapterError(.invalid, field: BrazeText.nothing)
        }
        let push = try ApplePush(apple, at: due?.start ?? now)
        var content = Content(isSilent: push.isSilent, raw: .object(push.document))
        content.isTemplate = push.isTemplate
        content.data = push.data
        content.data[BrazePayload.androidKey] = Self.android(messages)
        if let campaign {
            content.data[BrazePayload.campaignKey] = try facts(of: campaign, for: push)
            content.campaign = campaign.id
            content.campaignVariant = push.data[BrazePayload.variationKey]?.string
        }
        content.consent = try SubscriptionFields.rule(body)
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
        if isGiven("user_aliases") { submission.naming = .names }
        submission.labels = SendLabel.all(campaign: campaign?.id, send: send)
        return submission
    }

    /// If a campaign is named, the variation must be named and must exist (docs/contracts/braze.md#5.5).
    private func facts(of campaign: Campaign, for push: ApplePush) throws(AdapterError) -> JSON {
        guard let own = BrazeCampaign(campaign) else { throw AdapterError(.invalid, field: BrazeText.campaign) }
        guard let variation = push.data[BrazePayload.variationKey]?.string else {
            throw AdapterError(.invalid, field: BrazeText.variationMissing)
        }
        guard own.variations.contains(where: { $0.id == variation }) else {
            throw AdapterError(.invalid, field: BrazeText.variation)
        }
        return own.facts
    }

    /// The caller's object for Android, which is kept for the case that the vendor sends the message. One that the vendor would refuse is left out.
    private static func android(_ messages: JSONObject) -> JSON? {
        guard let android = messages["android_push"], android.object?.isEmpty == false,
            JSONWriter.bytes(android).count <= BrazeLimits.androidBytes
        else { return nil }
        return android
    }

    private func audience() throws(AdapterError) -> Audience {
        if let names = try recipients() { return .users(names.map(\.text)) }
        return .everyone
    }

    /// The users that the call names; nil: it is for everyone.
    ///
    /// - Throws: `AdapterError` with the text of the answer.
    func recipients() throws(AdapterError) -> [UserName]? {
        if isGiven("segment_id") { throw BrazeText.later("segment_id") }
        let filter = try AudienceFilter.read(body)
        let isBroadcast = filter != nil || body["broadcast"] == true
        guard isGiven("external_user_ids") || isGiven("user_aliases") else {
            guard isBroadcast else { throw AdapterError(.invalid, field: BrazeText.nobody) }
            return nil
        }
        guard !isBroadcast else { throw AdapterError(.invalid, field: BrazeText.broadcast) }
        let ids = try UserFields.list(body["external_user_ids"], "external_user_ids")
        let aliases = try UserFields.list(body["user_aliases"], "user_aliases")
        guard ids.count + aliases.count <= BrazeLimits.recipientCount else {
            throw AdapterError(.invalid, field: BrazeText.tooManyRecipients)
        }
        var names: [UserName] = []
        for entry in ids { names.append(.id(try UserFields.id(entry, "external_user_ids"))) }
        for entry in aliases { names.append(.alias(try UserFields.alias(entry))) }
        return names
    }

    /// Null, an empty list and an empty text count as absent.
    private func isGiven(_ field: String) -> Bool {
        switch body[field] {
        case nil, .null?: false
        case .array(let list)?: !list.isEmpty
        case .string(let text)?: !text.isEmpty
        case .bool?, .number?, .object?: true
        }
    }
}
