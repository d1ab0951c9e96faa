import Model

/// The calls for stored objects: campaigns, schedules and sends (docs/contracts/braze.md#5.6, docs/contracts/braze.md#5.7,
/// docs/contracts/braze.md#5.8). Calls that read before they write perform the second part in `sequel`.
struct CampaignCalls {
    private let call: BrazeCall
    private let request: VendorRequest

    init(_ call: BrazeCall, _ request: VendorRequest) {
        self.call = call
        self.request = request
    }

    private var now: Timestamp { request.receivedAt }

    // MARK: First commands

    /// - Throws: `AdapterError` with the text of the answer.
    func commands() throws(AdapterError) -> [Command] {
        switch call {
        case .track, .export, .delete, .nameAliases, .identify, .merge, .subscriptionSet, .subscriptionsSet,
            .subscriptionGet,
            .subscriptionUser:
            return []
        case .send:
            let send = MessagesSend(try request.brazeBody(), at: now)
            // A campaign is read only if the call names one.
            if let id = try send.campaignID() { return [find(id)] }
            return [.submission(.submit(try send.submission(of: nil, due: nil)))]
        case .scheduleCreate:
            let schedule = ScheduleCall(.messages, try request.brazeBody())
            if let id = try MessagesSend(schedule.body, at: now).campaignID() { return [find(id)] }
            return [.submission(.submit(try schedule.submission(of: nil, at: now, replacing: nil)))]
        case .trigger, .triggerScheduleCreate:
            return [find(try TriggerSend(try request.brazeBody(), at: now).campaignID)]
        case .scheduleUpdate, .triggerScheduleUpdate, .scheduleDelete, .triggerScheduleDelete:
            // The campaign is known only after the schedule was read.
            return [.campaign(.schedule(try scheduleID()))]
        case .scheduledBroadcasts: return [.campaign(.schedules(until: try endTime(), limit: listLimit))]
        case .sendCreate:
            let body = try request.brazeBody()
            guard let id = body["campaign_id"]?.string, !id.isEmpty else {
                throw AdapterError(.invalid, field: BrazeText.campaign)
            }
            return try SendName.read(body) == nil ? [find(id), .campaign(.makeName)] : [find(id)]
        case .dataSeries:
            let query = try SeriesQuery(request)
            return [.campaign(.series(label: query.label, days: query.days))]
        }
    }

    private func find(_ campaign: String) -> Command { .campaign(.find(campaign)) }

    private var listLimit: Int { BrazeLimits.scheduleCount }

    private func scheduleID() throws(AdapterError) -> MessageID {
        guard let id = try request.brazeBody()["schedule_id"]?.string.flatMap({ MessageID(text: $0) }) else {
            throw BrazeText.fault("schedule_id")
        }
        return id
    }

    private func endTime() throws(AdapterError) -> Timestamp? {
        guard let text = request.parameter("end_time"), !text.isEmpty else { return nil }
        guard let time = BrazeTime.parse(text) else { throw BrazeText.fault("end_time") }
        return time
    }

    // MARK: Commands after the first replies

    /// - Throws: `AdapterError` with the text of the answer.
    func sequel(to replies: [Reply]) throws(AdapterError) -> [Command] {
        switch replies.first {
        case .campaign(.found(let campaign))?: return try submit(campaign, schedule(replies), replies)
        case .campaign(.schedule(let schedule))? where replies.count == 1: return try change(schedule)
        // Another call changed the schedule, or it became due: it is read again.
        case .refused(.outdated)? where call == .scheduleUpdate || call == .triggerScheduleUpdate: return try commands()
        default: return []
        }
    }

    /// The schedule that was read together with the campaign.
    private func schedule(_ replies: [Reply]) -> Schedule? {
        guard replies.count > 1, case .campaign(.schedule(let schedule)) = replies[1] else { return nil }
        return schedule
    }

    private func submit(_ campaign: Campaign?, _ schedule: Schedule?, _ replies: [Reply]) throws(AdapterError)
        -> [Command]
    {
        guard let campaign else { throw AdapterError(.invalid, field: BrazeText.campaign) }
        let body = try request.brazeBody()
        let submission: Submission
        var recipients: TriggerRecipients?
        var found: [UserName: UserID] = [:]
        switch call {
        case .send: submission = try MessagesSend(body, at: now).submission(of: campaign, due: nil)
        case .trigger:
            let trigger = try TriggerSend(body, at: now)
            recipients = try trigger.recipients()
            found = try users(recipients, replies)
            submission = try trigger.submission(of: campaign, due: nil, users: found)
        case .scheduleCreate:
            submission = try ScheduleCall(.messages, body).submission(of: campaign, at: now, replacing: nil)
        case .triggerScheduleCreate:
            let schedule = ScheduleCall(.campaigns, body)
            recipients = try schedule.recipients(at: now)
            found = try users(recipients, replies)
            submission = try schedule.submission(of: campaign, at: now, replacing: nil, users: found)
        case .scheduleUpdate, .triggerScheduleUpdate:
            let (kept, version) = try updated(schedule)
            recipients = try kept.recipients(at: now)
            found = try users(recipients, replies)
            submission = try kept.submission(of: campaign, at: now, replacing: version, users: found)
        // `/sends/id/create` only checks that the campaign exists.
        case .sendCreate, .track, .export, .delete, .nameAliases, .identify, .merge, .scheduleDelete,
            .triggerScheduleDelete, .scheduledBroadcasts, .dataSeries, .subscriptionSet, .subscriptionsSet,
            .subscriptionGet, .subscriptionUser:
            return []
        }
        // Attributes of recipients are stored only if the message would be accepted.
        let first = try introduction(of: recipients, replies)
        if first.isEmpty { return [.submission(.submit(submission))] }
        return [find(campaign.id)] + (schedule.map { [.campaign(.schedule($0.id))] } ?? []) + first
    }

    /// The attribute changes of the recipients, and the query for the owners of their aliases; empty if neither is needed or both are done.
    private func introduction(of recipients: TriggerRecipients?, _ replies: [Reply]) throws(AdapterError) -> [Command] {
        guard let recipients, !replies.contains(where: { if case .user = $0 { true } else { false } }) else {
            return []
        }
        var commands: [Command] = []
        // A change of a schedule that names no recipients does not repeat the attribute changes.
        if !recipients.patches.isEmpty, UserFields.isGiven(try request.brazeBody()["recipients"]) {
            commands.append(.user(.track(UserBatch(patches: recipients.patches))))
        }
        if !recipients.aliases.isEmpty { commands.append(.user(.describe(recipients.aliases))) }
        return commands
    }

    /// The owners of the aliases, once they were read.
    private func users(_ recipients: TriggerRecipients?, _ replies: [Reply]) throws(AdapterError) -> [UserName: UserID]
    {
        var found: [UserName: UserID] = [:]
        for reply in replies {
            if case .user(.tracked(let patches, _)) = reply, patches.contains(where: { $0 != nil }) {
                throw BrazeText.fault("recipients.attributes")
            }
            guard case .user(.described(let described)) = reply else { continue }
            for (name, user) in zip(recipients?.aliases ?? [], described) { found[name] = user?.user }
        }
        return found
    }

    private func change(_ schedule: Schedule?) throws(AdapterError) -> [Command] {
        let (kept, version) = try updated(schedule)
        if call == .scheduleDelete || call == .triggerScheduleDelete {
            return [.campaign(.cancelSchedule(version.id))]
        }
        if let id = kept.campaignID { return [find(id), .campaign(.schedule(version.id))] }
        return [.submission(.submit(try kept.submission(of: nil, at: now, replacing: version)))]
    }

    /// The schedule after the call. The call may only name a schedule of its own kind that is not due yet.
    private func updated(_ schedule: Schedule?) throws(AdapterError) -> (ScheduleCall, ScheduleVersion) {
        guard let schedule, schedule.state == .scheduled, let kept = ScheduleCall(schedule.request), kept.kind == kind
        else { throw BrazeText.fault("schedule_id") }
        return (try kept.updated(by: try request.brazeBody()), schedule.version)
    }

    private var kind: ScheduleCall.Kind {
        switch call {
        case .trigger, .triggerScheduleCreate, .triggerScheduleUpdate, .triggerScheduleDelete: .campaigns
        case .send, .track, .export, .delete, .nameAliases, .identify, .merge, .scheduleCreate, .scheduleUpdate,
            .scheduleDelete, .scheduledBroadcasts, .sendCreate,
            .dataSeries, .subscriptionSet, .subscriptionsSet, .subscriptionGet, .subscriptionUser:
            .messages
        }
    }

    // MARK: Answers

    /// The fields of a success in addition to `message`; nil: the replies do not belong to these calls.
    func facts(_ replies: [Reply]) -> JSONObject? {
        switch (call, replies.first) {
        case (.send, .submission(.accepted(let id, recipients: _))),
            (.trigger, .submission(.accepted(let id, recipients: _))):
            return ["dispatch_id": dispatch(id)]
        case (.scheduleCreate, .submission(.accepted(let id, recipients: _))),
            (.triggerScheduleCreate, .submission(.accepted(let id, recipients: _))):
            return ["dispatch_id": dispatch(id), "schedule_id": .string(id.description)]
        case (.scheduleUpdate, .submission(.accepted)), (.triggerScheduleUpdate, .submission(.accepted)),
            (.scheduleDelete, .campaign(.removed(true))),
            (.triggerScheduleDelete, .campaign(.removed(true))):
            return JSONObject()
        case (.scheduledBroadcasts, .campaign(.schedules(let schedules))):
            return ["scheduled_broadcasts": .array(schedules.compactMap(broadcast))]
        case (.sendCreate, .campaign(.found(.some))):
            return sendName(replies).map { ["send_id": .string($0)] }
        case (.dataSeries, .campaign(.series(let days))):
            return (try? SeriesQuery(request)).map { ["data": .array($0.json(days))] }
        default: return nil
        }
    }

    /// 32 digits (docs/contracts/braze.md#5.5).
    private func dispatch(_ id: MessageID) -> JSON { .string(HexCoding.encode(id.rawValue.bytes)) }

    private func sendName(_ replies: [Reply]) -> String? {
        if let body = try? request.brazeBody(), let name = (try? SendName.read(body)) ?? nil { return name }
        guard replies.count > 1, case .campaign(.name(let name)) = replies[1] else { return nil }
        return "send-\(name)"
    }

    /// The entry of a future schedule that is for everyone; nil for other schedules. Assumed: the fields, after the vendor's names for them.
    private func broadcast(_ schedule: Schedule) -> JSON? {
        guard let kept = ScheduleCall(schedule.request), kept.isBroadcast else { return nil }
        return [
            "id": .string(schedule.id.description), "name": .string(kept.campaignID ?? ""),
            "type": .string(kept.kind == .campaigns ? "Campaign" : "Message"), "tags": [],
            "schedule_type": .string(schedule.isLocal ? "local_time_zones" : "scheduled"),
            "next_send_time": .string(BrazeTime.text(schedule.dueAt)),
        ]
    }
}
