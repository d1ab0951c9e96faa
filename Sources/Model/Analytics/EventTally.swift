/// Counts events of the log, in their order. Each fact of a delivery is counted at one event, whenever the event is read: the delivery's times do not change
/// after they were written, and a state never returns to an earlier one. So counting all events once gives what a recount of the deliveries gives.
///
/// - The times of delivery and of the transport are counted with the outcome.
/// - The first receipt is counted with the event that follows the outcome: `received` after `sent`, or `read` after `sent`. A read is counted with the event `read`.
/// - A delivery is counted as reached with the outcome, or with the receipt that contradicts it, and as received and read like the latencies.
/// - Receipts before the outcome wait for it in a mark (`ReceiptMark`).
/// - A receipt that contradicts the outcome may be noted twice in the log, because an app that polls also notes receipts that do not change the state.
///   A mark remembers that it was counted.
package struct EventTally: Sendable {
    private var additions = EventAdditions()
    private var marks: [LoggedDelivery.Key: ReceiptMark]
    private let due: [MessageID: DueTime]
    private let zones: [AppID: TimeZoneName]
    private let hash: KeyedHash
    /// The local days of quarter hours. The table of zones is slow.
    private var days: [EventAdditions.DayKey: Int32] = [:]
    private var hours = WeekHours()

    /// - Parameters:
    ///   - due: when the messages of the events were due. Deliveries of others are not counted.
    ///   - zones: the time zones of apps; UTC for others.
    ///   - marks: the marks of the deliveries of the events.
    ///   - hash: hashes devices and users with the tenant's key.
    package init(
        due: [MessageID: DueTime],
        zones: [AppID: TimeZoneName],
        marks: [LoggedDelivery.Key: ReceiptMark],
        hash: KeyedHash
    ) {
        self.due = due
        self.zones = zones
        self.marks = marks
        self.hash = hash
    }

    /// Counts events.
    package static func count(
        _ events: [LoggedEvent],
        due: [MessageID: DueTime],
        zones: [AppID: TimeZoneName],
        marks: [LoggedDelivery.Key: ReceiptMark],
        hash: KeyedHash
    ) -> EventAdditions {
        var tally = EventTally(due: due, zones: zones, marks: marks, hash: hash)
        for event in events { tally.add(event) }
        return tally.additions
    }

    private mutating func add(_ event: LoggedEvent) {
        switch event.kind {
        case .registered: change(event) { $0.gained += 1 }
        case .unregistered, .replaced: change(event) { $0.lost += 1 }
        case .tokenInvalidated: change(event) { $0.invalidated += 1 }
        case .sent, .failed, .received, .read:
            guard let delivery = event.delivery, let due = due[delivery.key.message] else { return }
            switch event.kind {
            case .sent, .failed: outcome(of: delivery, event, due)
            default: receipt(of: delivery, event, due)
            }
            distinct(delivery, event, due)
        }
    }

    // MARK: Latencies

    private mutating func outcome(of delivery: LoggedDelivery, _ event: LoggedEvent, _ due: DueTime) {
        guard let sent = delivery.sentAt else { return }
        // Deliveries of slices that are older than the column have no due time of their own.
        if delivery.hasTransport, let start = delivery.dueAt ?? (due.isSingle ? due.at : nil) {
            add(.delivery, from: start, to: sent, event, due)
        }
        if let latency = delivery.transportMilliseconds { add(.transport, latency, event, due) }
        if event.kind == .sent { addCounts(delivery, event, due) { $0.reached += 1 } }
        guard let mark = marks[delivery.key], mark.isEarly else { return }
        if mark.isReceived { received(delivery, event, due) }
        if mark.isRead { read(delivery, event, due) }
        set(nil, delivery.key)
    }

    private mutating func receipt(of delivery: LoggedDelivery, _ event: LoggedEvent, _ due: DueTime) {
        // A state that is not one of these was kept: the device fetched a message that was not sent to it.
        guard delivery.isReceived else { return }
        let isRead = event.kind == .read
        if var mark = marks[delivery.key] ?? newMark(before: event.before) {
            let isNewReceipt = !mark.isReceived
            let isNewRead = isRead && delivery.isRead && !mark.isRead
            mark.isReceived = true
            if isNewRead { mark.isRead = true }
            set(mark, delivery.key)
            guard !mark.isEarly, delivery.sentAt != nil else { return }
            if isNewReceipt {
                addCounts(delivery, event, due) { $0.reached += 1 }
                received(delivery, event, due)
            }
            if isNewRead { read(delivery, event, due) }
            return
        }
        if event.before == "sent" { received(delivery, event, due) }
        if isRead { read(delivery, event, due) }
    }

    private mutating func received(_ delivery: LoggedDelivery, _ event: LoggedEvent, _ due: DueTime) {
        guard let sent = delivery.sentAt, let end = delivery.receivedAt else { return }
        add(.receipt, from: sent, to: end, event, due)
        addCounts(delivery, event, due) { $0.received += 1 }
    }

    private mutating func read(_ delivery: LoggedDelivery, _ event: LoggedEvent, _ due: DueTime) {
        guard let sent = delivery.sentAt, let end = delivery.readAt else { return }
        add(.read, from: sent, to: end, event, due)
        addCounts(delivery, event, due) { $0.read += 1 }
    }

    /// The new mark of a delivery whose state before the receipt was not one of an accepted push.
    private func newMark(before: String?) -> ReceiptMark? {
        switch before {
        case "sent", "received": nil
        case nil: ReceiptMark(isEarly: true)
        default: ReceiptMark(isEarly: false)
        }
    }

    private mutating func set(_ mark: ReceiptMark?, _ key: LoggedDelivery.Key) {
        marks[key] = mark
        additions.marks[key] = .some(mark)
    }

    private mutating func add(
        _ kind: LatencyKind,
        from start: Timestamp,
        to end: Timestamp,
        _ event: LoggedEvent,
        _ due: DueTime
    ) {
        add(kind, (end - start).milliseconds, event, due)
    }

    private mutating func add(_ kind: LatencyKind, _ milliseconds: Int64, _ event: LoggedEvent, _ due: DueTime) {
        let key = EventAdditions.LatencyKey(quarter: due.quarter, app: event.app, vendor: event.vendor, kind: kind)
        additions.latencies[key, default: LatencyHistogram()].add(milliseconds)
    }

    // MARK: Counts by property

    private mutating func addCounts(
        _ delivery: LoggedDelivery,
        _ event: LoggedEvent,
        _ due: DueTime,
        _ body: (inout ReachCounts) -> Void
    ) {
        let day = EventAdditions.DayKey(day: day(of: due.at, event.app), app: event.app)
        func add(_ property: CountedProperty, _ value: CountedValue, _ additions: inout EventAdditions) {
            body(&additions.counts[PropertyKey(day: day, property: property, value: value), default: ReachCounts()])
        }
        add(.client, CountedValue(delivery.client.map { "\($0)" } ?? ""), &additions)
        if let campaign = due.campaign { add(.campaign, campaign, &additions) }
        let hour = delivery.localHour ?? delivery.sentAt.flatMap { hours.hour(at: $0, in: zones[event.app] ?? .utc) }
        if let hour { add(.hour, CountedValue("\(hour.index)"), &additions) }
    }

    // MARK: Distinct devices and users

    /// A value that is added twice changes nothing, so the state at the time of reading decides.
    private mutating func distinct(_ delivery: LoggedDelivery, _ event: LoggedEvent, _ due: DueTime) {
        guard delivery.isReached, delivery.device != nil || delivery.user != nil else { return }
        var stages: [DistinctStage] = [.reached]
        if delivery.isReceived, event.kind != .sent, event.kind != .failed { stages.append(.received) }
        if delivery.isRead, event.kind == .read { stages.append(.read) }
        let day = EventAdditions.DayKey(day: day(of: due.at, event.app), app: event.app)
        if let device = delivery.device { add(hash(Array("device \(device)".utf8)), .device, stages, day) }
        if let user = delivery.user { add(hash(Array("user \(user.rawValue)".utf8)), .user, stages, day) }
    }

    private mutating func add(
        _ hash: UInt64,
        _ subject: DistinctSubject,
        _ stages: [DistinctStage],
        _ day: EventAdditions.DayKey
    ) {
        for stage in stages {
            let key = EventAdditions.SketchKey(day: day, subject: subject, stage: stage)
            additions.sketches[key, default: DistinctSketch()].add(hash)
        }
    }

    // MARK: Devices gained and lost

    private mutating func change(_ event: LoggedEvent, _ body: (inout DeviceChanges) -> Void) {
        let key = EventAdditions.DayKey(day: day(of: event.at, event.app), app: event.app)
        body(&additions.changes[key, default: DeviceChanges()])
    }

    /// The day in the app's time zone. Its offset only changes at the beginning of a quarter hour.
    private mutating func day(of time: Timestamp, _ app: AppID) -> Int32 {
        let quarter = time.seconds / QuarterRange.seconds
        let key = EventAdditions.DayKey(day: Int32(clamping: quarter), app: app)
        if let day = days[key] { return day }
        let start = Timestamp(seconds: quarter * QuarterRange.seconds)
        let day = (start + .seconds(zones[app]?.offset(at: start) ?? 0)).day
        days[key] = day
        return day
    }
}
