package import Model

/// The facts that the vendor's answers to proxied calls establish (docs/routing.md#observation).
extension BrazeAdapter {
    package func observedCommands(
        _ request: VendorRequest,
        response: VendorResponse,
        settings: BindingSettings
    ) -> [Command] {
        // 202: accepted during maintenance (docs/contracts/braze.md#4.2).
        guard (200...202).contains(response.status), let answer = (try? JSONParser.parse(response.body))?.object,
            BrazeObservation.isAccepted(answer)
        else { return [] }
        if let call = SDKCall(path: request) {
            // The adapter asks for the device's user first, as in a call that the gateway serves.
            guard call == .data else { return [] }
            return (try? decode(request, settings: settings)) ?? []
        }
        guard let call = try? BrazeCall(request) else { return [] }
        return (try? BrazeObservation(call, request, answer).commands()) ?? []
    }

    /// `schedule_id`.
    package func reference(in request: VendorRequest, settings: BindingSettings) -> String? {
        guard BrazeCallKind.kind(of: request) == .message, let body = try? request.brazeBody() else { return nil }
        return UpstreamResult.reference(body["schedule_id"])
    }
}

/// One call with the vendor's answer. The vendor has checked the REST key and its permissions.
struct BrazeObservation {
    private let call: BrazeCall
    private let request: VendorRequest
    private let answer: JSONObject

    init(_ call: BrazeCall, _ request: VendorRequest, _ answer: JSONObject) {
        self.call = call
        self.request = request
        self.answer = answer
    }

    /// - Throws: `AdapterError` for a call that the gateway cannot read, although the vendor accepted it.
    func commands() throws(AdapterError) -> [Command] {
        switch call {
        case .track: return try UserTrack(accepted()).commands
        // A deletion or merge cannot be undone here: the vendor must say that it has made it.
        case .delete, .nameAliases, .identify, .merge:
            guard answer["message"] == Self.success else { return [] }
            return try UserCalls(call, request).commands()
        case .subscriptionSet, .subscriptionsSet: return try SubscriptionCalls(call, request).commands()
        case .send: return try observed(messages(due: nil))
        case .scheduleCreate:
            let due = try ScheduleTime(try request.brazeBody()["schedule"], at: request.receivedAt)
            return try observed(messages(due: due))
        case .trigger: return try observed(trigger(due: nil))
        case .triggerScheduleCreate:
            let due = try ScheduleTime(try request.brazeBody()["schedule"], at: request.receivedAt)
            return try observed(trigger(due: due))
        // Reads, names of sends, and changes of schedules, whose messages have no deliveries yet.
        case .export, .scheduleUpdate, .scheduleDelete, .scheduledBroadcasts, .triggerScheduleUpdate,
            .triggerScheduleDelete, .sendCreate, .dataSeries, .subscriptionGet, .subscriptionUser:
            return []
        }
    }

    /// Clients treat any other message than `success` as a failure (docs/contracts/braze.md#4.2). Answers of the SDK have no message (docs/contracts/braze.md#3.5).
    static func isAccepted(_ answer: JSONObject) -> Bool {
        guard answer["error"] == nil else { return false }
        return answer["message"].map { $0 == success } ?? true
    }

    private static let success: JSON = "success"

    // MARK: Users

    /// The call without the elements that the vendor refused: `errors` names them (docs/contracts/braze.md#4.2).
    private func accepted() throws(AdapterError) -> VendorRequest {
        let errors = answer["errors"]?.array ?? []
        guard !errors.isEmpty else { return request }
        var refused: [String: Set<Int>] = [:]
        // At most one for each element of the three arrays.
        for error in errors.prefix(3 * BrazeLimits.trackCount) {
            guard let array = error["input_array"]?.string,
                let index = error["index"]?.int.flatMap({ Int(exactly: $0) })
            else { continue }
            refused[array, default: []].insert(index)
        }
        var body = try request.brazeBody()
        for (name, indexes) in refused {
            guard let list = body[name]?.array else { continue }
            body[name] = .array(list.enumerated().filter { !indexes.contains($0.offset) }.map(\.element))
        }
        var accepted = request
        accepted.body = JSONWriter.bytes(.object(body))
        return accepted
    }

    // MARK: Sends

    private func messages(due: ScheduleTime?) throws(AdapterError) -> Submission {
        let send = MessagesSend(try request.brazeBody(), at: request.receivedAt)
        var submission = try send.submission(of: nil, due: due)
        submission.content.campaign = try send.campaignID()
        return submission
    }

    /// The text of a campaign is stored at the vendor only, so that the message has none.
    private func trigger(due: ScheduleTime?) throws(AdapterError) -> Submission {
        let body = try request.brazeBody()
        let trigger = try TriggerSend(body, at: request.receivedAt)
        var content = Content()
        content.campaign = trigger.campaignID
        content.data[BrazePayload.triggerKey] = true
        let send = try SendName.read(body)
        content.data[BrazePayload.sendKey] = send.map { .string($0) }
        let names = try trigger.recipients()?.all.map(\.user)
        var submission = Submission(
            content: content,
            audience: names.map { Audience.users($0.map(\.text)) } ?? .everyone,
            timing: SubmissionTiming(dueAt: due?.dueAt, localDue: due?.localDue)
        )
        submission.naming = .names
        submission.labels = SendLabel.all(campaign: trigger.campaignID, send: send)
        return submission
    }

    private func observed(_ submission: Submission) throws(AdapterError) -> [Command] {
        let words = [answer["dispatch_id"], answer["schedule_id"]].compactMap { UpstreamResult.reference($0) }
        return [.submission(.observe(ObservedMessage(submission, references: words)))]
    }
}
