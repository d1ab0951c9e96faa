import Model

/// `POST /messages/send`: a push to users by their ids, or to everyone (contract §5.5).
struct MessagesSend {
    private let body: JSONObject
    private let now: Timestamp

    init(_ body: JSONObject, at now: Timestamp) {
        self.body = body
        self.now = now
    }

    /// - Throws: `AdapterError` with the text of the answer.
    func command() throws(AdapterError) -> Command {
        let audience = try audience()
        guard (body["campaign_id"] ?? .null) == .null else { throw AdapterError(.invalid, field: BrazeText.campaign) }
        try checkSubscription()
        guard let messages = body["messages"]?.object, let apple = messages["apple_push"]?.object else {
            throw AdapterError(.invalid, field: BrazeText.nothing)
        }
        let push = try ApplePush(apple, at: now)
        var content = Content(isSilent: push.isSilent, raw: .object(push.document), isTemplate: push.isTemplate)
        content.data = push.data
        if let send = body["send_id"], send != .null {
            guard let name = send.string, (1...BrazeLimits.nameBytes).contains(name.utf8.count) else {
                throw BrazeText.fault("send_id")
            }
            content.data[BrazePayload.sendKey] = .string(name)
        }
        let submission = Submission(
            content: content,
            audience: audience,
            timeToLive: push.timeToLive,
            collapseID: push.collapseID,
            lane: audience == .everyone ? .bulk : .transactional
        )
        return .submission(.submit(submission))
    }

    private func audience() throws(AdapterError) -> Audience {
        for field in ["user_aliases", "segment_id", "audience"] where isGiven(field) { throw BrazeText.later(field) }
        let isBroadcast = body["broadcast"] == true
        guard isGiven("external_user_ids") else {
            guard isBroadcast else { throw AdapterError(.invalid, field: BrazeText.nobody) }
            return .everyone
        }
        guard !isBroadcast else { throw AdapterError(.invalid, field: BrazeText.broadcast) }
        guard let list = body["external_user_ids"]?.array else { throw BrazeText.fault("external_user_ids") }
        guard list.count <= BrazeLimits.recipientCount else {
            throw AdapterError(.invalid, field: BrazeText.tooManyRecipients)
        }
        var users: [UserID] = []
        for entry in list {
            guard let id = entry.string, !id.isEmpty else { throw BrazeText.fault("external_user_ids") }
            users.append(UserID(id))
        }
        return .users(users)
    }

    /// Null, an empty list and an empty text are the same as nothing.
    private func isGiven(_ field: String) -> Bool {
        switch body[field] {
        case nil, .null?: false
        case .array(let list)?: !list.isEmpty
        case .string(let text)?: !text.isEmpty
        case .bool?, .number?, .object?: true
        }
    }

    /// Everybody is `subscribed` until states of users are kept; who asks for those who opted in must not reach the others.
    private func checkSubscription() throws(AdapterError) {
        let field = "recipient_subscription_state"
        switch body[field] {
        case nil, .null?, "subscribed"?, "all"?: return
        case "opted_in"?: throw BrazeText.later("\(field): opted_in")
        default: throw BrazeText.fault(field)
        }
    }
}
