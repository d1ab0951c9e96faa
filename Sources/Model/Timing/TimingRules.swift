/// When one message may reach each device: depends on its schedule, the app's quiet hours, and the device's receiving window.
///
/// A value without a clock. `gateway.due_of` implements the same rules in SQL, for expansion. A test compares both.
package struct TimingRules: Sendable, Hashable {
    /// The reason why a target waits.
    package enum Wait: String, Sendable, Hashable, CaseIterable {
        case localTime, quietHours, receivingWindow
    }

    /// The next action for a target.
    package enum Verdict: Sendable, Hashable {
        case open
        case wait(until: Timestamp, Wait)
        case suppress(SuppressionReason)
        /// The message has expired in this zone.
        case expired
    }

    package var app: AppTiming
    package var lane: Lane
    /// When the first target is due.
    package var dueAt: Timestamp
    /// The scheduled time in each device's own zone.
    package var localDue: LocalTime?
    /// When the last target expires.
    package var expiresAt: Timestamp

    package init(app: AppTiming, lane: Lane, dueAt: Timestamp, localDue: LocalTime?, expiresAt: Timestamp) {
        self.app = app
        self.lane = lane
        self.dueAt = dueAt
        self.localDue = localDue
        self.expiresAt = expiresAt
    }

    /// Whether any rule applies to a device with `window`. For most devices none does.
    package func concerns(_ window: DailyWindow?) -> Bool {
        localDue != nil || quiet != nil || window.map { heeds($0) } ?? false
    }

    /// When the message is due on a device, without regard to hours: never before it was accepted.
    package func due(_ device: DeviceClock) -> Timestamp {
        guard let localDue else { return dueAt }
        return max(dueAt, localDue.moment(in: app.zone(of: device)))
    }

    /// When the message expires on a device. The message has the same lifetime in each zone.
    package func end(_ device: DeviceClock) -> Timestamp {
        guard let localDue else { return expiresAt }
        return min(expiresAt, due(device) + (expiresAt - localDue.latest))
    }

    /// When a device's slice should be due: as soon as the hours permit if the app lets messages wait, otherwise together with the message, so that the
    /// outcome is written then.
    package func slot(_ device: DeviceClock, now: Timestamp) -> Timestamp {
        let start = max(now, due(device))
        guard concerns(device.window), let opening = opening(device, from: start), opening < end(device) else {
            return start
        }
        return opening
    }

    /// The action for a device's target at `now`.
    package func verdict(_ device: DeviceClock, now: Timestamp) -> Verdict {
        let due = due(device)
        if now < due { return .wait(until: slot(device, now: now), wait(device, at: due) ?? .localTime) }
        if localDue != nil, now >= end(device) { return .expired }
        guard let (wait, hold) = closed(device, at: now) else { return .open }
        if hold == .suppress { return .suppress(wait == .quietHours ? .quietHours : .receivingWindow) }
        guard let opening = opening(device, from: now), opening < end(device) else { return .suppress(.opensTooLate) }
        return .wait(until: opening, wait)
    }

    // MARK: Hours

    private var quiet: AppTiming.QuietHours? { app.quietHours.flatMap { $0.lanes.contains(lane) ? $0 : nil } }

    private func heeds(_ window: DailyWindow) -> Bool { app.windows.lanes.contains(lane) && !window.isWholeDay }

    /// The reason why a target waits that is not due yet, if the hours delay it further.
    private func wait(_ device: DeviceClock, at due: Timestamp) -> Wait? {
        closed(device, at: due).flatMap { $0.1 == .delay ? $0.0 : nil }
    }

    /// The restriction that applies at `moment`. One that suppresses the message takes precedence over one that delays it.
    private func closed(_ device: DeviceClock, at moment: Timestamp) -> (Wait, AppTiming.Hold)? {
        var found: [(Wait, AppTiming.Hold)] = []
        let zone = app.zone(of: device)
        if let quiet, !quiet.loud.contains(moment, in: quietZone(quiet, zone)) {
            found.append((.quietHours, quiet.hold))
        }
        if let window = device.window, heeds(window), !window.contains(moment, in: zone) {
            found.append((.receivingWindow, app.windows.hold))
        }
        return found.first { $0.1 == .suppress } ?? found.first
    }

    /// The first moment from `start` on at which no delaying restriction applies. Nil: no such moment exists.
    ///
    /// Two daily windows overlap at the beginning of one of them, or not at all, so a few steps between them suffice. The fourth step is for days on which
    /// the clock is changed.
    private func opening(_ device: DeviceClock, from start: Timestamp) -> Timestamp? {
        let zone = app.zone(of: device)
        var moment = start
        for _ in 0..<4 {
            let before = moment
            if let quiet, quiet.hold == .delay { moment = quiet.loud.opening(from: moment, in: quietZone(quiet, zone)) }
            if let window = device.window, heeds(window), app.windows.hold == .delay {
                moment = window.opening(from: moment, in: zone)
            }
            if moment == before { return moment }
        }
        return nil
    }

    private func quietZone(_ quiet: AppTiming.QuietHours, _ device: TimeZoneName) -> TimeZoneName {
        guard let own = quiet.zone else { return device }
        return own.isKnown ? own : app.zone(of: .unset)
    }

    // MARK: Slices

    /// A quarter of an hour, which limits the number of slices to the quarters of a day and its zones, regardless of the windows that users choose. A target
    /// that is due a few minutes after the first of its slice is put back.
    package static let slotLength: Duration = .seconds(900)

    /// Groups `items` by the slice time that they share, the earliest first, each group in the given order.
    package static func grouped<Item>(
        _ items: [Item],
        by slot: (Item) -> Timestamp
    ) -> [(due: Timestamp, items: [Item])] {
        var groups: [Int64: (due: Timestamp, items: [Item])] = [:]
        for item in items {
            let due = slot(item)
            let key = due.milliseconds / slotLength.milliseconds
            var group = groups.removeValue(forKey: key) ?? (due, [])
            group.due = min(group.due, due)
            group.items.append(item)
            groups[key] = group
        }
        return groups.sorted { $0.key < $1.key }.map(\.value)
    }
}
