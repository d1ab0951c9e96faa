import Model

/// Calls about what is kept: campaigns, schedules and sends (contract §5.6–5.8). Those that read before they write do the second part in `sequel`.
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
            // Only what names a campaign must read one.
            if let id = try send.campaignID() { return [find(id)] }
            return [.submission(.submit(try send.submission(of: nil, due: nil)))]
        case .scheduleCreate:
            let schedule = ScheduleCall(.messages, try request.brazeBody())
            if let id = try MessagesSend(schedule.body, at: now).campaignID() { return [find(id)] }
            return [.submission(.submit(try schedule.submission(of: nil, at: now, replacing: nil)))]
        case .trigger, .triggerScheduleCreate:
            return [find(try TriggerSend(try request.brazeBody(), at: now).campaignID)]
        case .scheduleUpdate, .triggerScheduleUpdate, .scheduleDelete, .triggerScheduleDelete:
            // Which campaign is counted is only known when the schedule is.
            return [.submission(.campaign(.schedule(try scheduleID())))]
        case .scheduledBroadcasts: return [.submission(.campaign(.schedules(until: try endTime(), limit: listLimit)))]
        case .sendCreate:
            let body = try request.brazeBody()
            guard let id = body["campaign_id"]?.string, !id.isEmpty else {
                throw AdapterError(.invalid, field: BrazeText.campaign)
            }
            return try SendName.read(body) == nil ? [find(id), .submission(.campaign(.makeName))] : [find(id)]
        case .dataSeries:
            let query = try SeriesQuery(request)
            return [.submission(.campaign(.series(label: query.label, days: query.days)))]
        }
    }

    private func find(_ campaign: String) -> Command { .submission(.campaign(.find(campaign))) }

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

    // MARK: What follows

    /// - Throws: `AdapterError` with the text of the answer.
    func sequel(to replies: [Reply]) throws(AdapterError) -> [Command] {
        switch replies.first {
        case .submission(.campaign(.found(let campaign)))?: return try submit(campaign, schedule(replies))
        case .submission(.campaign(.schedule(let schedule)))? where replies.count == 1: return try change(schedule)
        // Somebody else changed the schedule, or it became due: it is read again.
        case .refused(.outdated)? where call == .scheduleUpdate || call == .triggerScheduleUpdate: return try commands()
        default: return []
        }
    }

    /// The schedule that came along with the campaign.
    private func schedule(_ replies: [Reply]) -> Schedule? {
        guard replies.count > 1, case .submission(.campaign(.schedule(let schedule))) = replies[1] else { return nil }
        return schedule
    }

    private func submit(_ campaign: Campaign?, _ schedule: Schedule?) throws(AdapterError) -> [Command] {
        guard let campaign else { throw AdapterError(.invalid, field: BrazeText.campaign) }
        let body = try request.brazeBody()
        let submission: Submission
        switch call {
        case .send: submission = try MessagesSend(body, at: now).submission(of: campaign, due: nil)
        case .trigger: submission = try TriggerSend(body, at: now).submission(of: campaign, due: nil)
        case .scheduleCreate:
            submission = try ScheduleCall(.messages, body).submission(of: campaign, at: now, replacing: nil)
        case .triggerScheduleCreate:
            submission = try ScheduleCall(.campaigns, body).submission(of: campaign, at: now, replacing: nil)
        case .scheduleUpdate, .triggerScheduleUpdate:
            let (kept, version) = try updated(schedule)
            submission = try kept.submission(of: campaign, at: now, replacing: version)
        // `/sends/id/create` only asks whether there is one.
        case .sendCreate, .track, .export, .delete, .nameAliases, .identify, .merge, .scheduleDelete,
            .triggerScheduleDelete,
            .scheduledBroadcasts, .dataSeries, .subscriptionSet, .subscriptionsSet, .subscriptionGet, .subscriptionUser:
            return []
        }
        return [.submission(.submit(submission))]
    }

    private func change(_ schedule: Schedule?) throws(AdapterError) -> [Command] {
        let (kept, version) = try updated(schedule)
        if call == .scheduleDelete || call == .triggerScheduleDelete {
            return [.submission(.campaign(.cancelSchedule(version.id)))]
        }
        if let id = kept.campaignID { return [find(id), .submission(.campaign(.schedule(version.id)))] }
        return [.submission(.submit(try kept.submission(of: nil, at: now, replacing: version)))]
    }

    /// The schedule as the call leaves it. Only one of the call's own kind that is still to come may be named.
    private func updated(_ schedule: Schedule?) throws(AdapterError) -> (ScheduleCall, Schedule.Version) {
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

    /// What a success says beside `message`; nil: the replies are not of this call.
    func facts(_ replies: [Reply]) -> JSONObject? {
        switch (call, replies.first) {
        case (.send, .submission(.accepted(let id, recipients: _))),
            (.trigger, .submission(.accepted(let id, recipients: _))):
            return ["dispatch_id": dispatch(id)]
        case (.scheduleCreate, .submission(.accepted(let id, recipients: _))),
            (.triggerScheduleCreate, .submission(.accepted(let id, recipients: _))):
            return ["dispatch_id": dispatch(id), "schedule_id": .string(id.description)]
        case (.scheduleUpdate, .submission(.accepted)), (.triggerScheduleUpdate, .submission(.accepted)),
            (.scheduleDelete, .submission(.campaign(.removed(true)))),
            (.triggerScheduleDelete, .submission(.campaign(.removed(true)))):
            return JSONObject()
        case (.scheduledBroadcasts, .submission(.campaign(.schedules(let schedules)))):
            return ["scheduled_broadcasts": .array(schedules.compactMap(broadcast))]
        case (.sendCreate, .submission(.campaign(.found(.some)))):
            return sendName(replies).map { ["send_id": .string($0)] }
        case (.dataSeries, .submission(.campaign(.series(let days)))):
            return (try? SeriesQuery(request)).map { ["data": .array($0.json(days))] }
        default: return nil
        }
    }

    /// 32 digits (contract §5.5).
    private func dispatch(_ id: MessageID) -> JSON { .string(HexCoding.encode(id.rawValue.bytes)) }

    private func sendName(_ replies: [Reply]) -> String? {
        if let body = try? request.brazeBody(), let name = (try? SendName.read(body)) ?? nil { return name }
        guard replies.count > 1, case .submission(.campaign(.name(let name))) = replies[1] else { return nil }
        return "send-\(name)"
    }

    /// Of those to come the ones that are for everyone. Assumed: the fields, after the vendor's names for them.
    private func broadcast(_ schedule: Schedule) -> JSON? {
        guard let kept = ScheduleCall(schedule.request), kept.isBroadcast else { return nil }
        return [
            "id": .string(schedule.id.description), "name": .string(kept.campaignID ?? ""),
            "type": .string(kept.kind == .campaigns ? "Campaign" : "Message"), "tags": [],
            "schedule_type": .string(schedule.isLocal ? "local_time_zones" : "scheduled"),
            "next_send_time": .string(ScheduleTime.spelled(schedule.dueAt)),
        ]
    }
}
