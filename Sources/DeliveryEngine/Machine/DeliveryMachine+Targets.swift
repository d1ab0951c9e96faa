import FoundationEssentials
import Model
import Routing

/// Decides which targets are pushed, and which have an outcome without a push.
extension DeliveryMachine {
    /// Processes every target that is not done: settles it, puts it back, or writes its payload.
    mutating func prepare(_ work: SliceWork, now: Timestamp) {
        settleInterrupted(work, now: now)
        // The first target with a token notifies the device; further targets of this message on the same device are duplicates.
        var notified: Set<DeviceAddress> = []
        var shared = SharedWork()
        let rules = rules(of: work)
        for slot in targets.indices {
            guard case .ready = targets[slot].state else { continue }
            findPaths(of: slot, work)
            let plan = self.plan(slot, of: work, rules, notified: notified, sharing: &shared, now: now)
            if plan.isSend, let facts = work.targets[slot] { notified.insert(DeviceAddress(facts)) }
            carryOut(plan, slot, now: now)
        }
        planCalls(now: now)
    }

    private struct DeviceAddress: Hashable {
        var platform: Platform
        var token: DeviceToken?
        /// The device, or else the identity, of a target without a token.
        var holder: UUID?
        /// Each variant of an identity may notify its device once.
        var variant: String?

        init(_ facts: TargetFacts) {
            platform = facts.destination.platform
            token = facts.destination.usableToken
            if token == nil { holder = facts.device?.rawValue ?? facts.identity.rawValue }
            variant = facts.variant
        }
    }

    enum Plan {
        case settle(DeliveryState, reason: String?)
        case putBack(Duration, heldBy: CredentialKey? = nil)
        /// Puts the target back until its hours begin.
        case hold(Duration)
        case push(Push, over: Platform, PushRoute, path: Int)
        /// Through the upstream of this path.
        case call(path: Int)

        /// Whether the path cannot be used now.
        var isWaiting: Bool {
            switch self {
            case .putBack, .settle(.failed, FailureReason.noTransport.rawValue): true
            case .settle, .hold, .push, .call: false
            }
        }

        var isSend: Bool {
            switch self {
            case .push, .call: true
            case .settle, .putBack, .hold: false
            }
        }
    }

    mutating func carryOut(_ plan: Plan, _ slot: Int, now: Timestamp) {
        switch plan {
        case .settle(let state, let reason): settle(slot, as: state, reason: reason, now: now)
        case .putBack(let duration, let key): putBack(slot, for: duration, isPeers: false, heldBy: key)
        case .hold(let duration): putBack(slot, for: duration, isPeers: false, isExact: true)
        case .push(let push, let platform, let route, let path):
            targets[slot].push = push
            skipPaths(of: slot, to: path)
            targets[slot].path = path
            targets[slot].state = .ready
            targets[slot].queue = enqueue(slot, platform: platform, route)
        case .call(let path):
            skipPaths(of: slot, to: path)
            targets[slot].path = path
            targets[slot].state = .ready
            uncalled.append(slot)
        }
    }

    /// Applies the rules in order of precedence.
    private func plan(
        _ slot: Int,
        of work: SliceWork,
        _ rules: TimingRules,
        notified: Set<DeviceAddress>,
        sharing shared: inout SharedWork,
        now: Timestamp
    ) -> Plan {
        if work.state == .canceled { return .settle(.canceled, reason: nil) }
        if work.state == .expired || now >= end(of: work) { return .settle(.expired, reason: nil) }
        // The store keeps it back until the message is resumed.
        if work.state == .paused { return .putBack(.zero) }
        if case .unread = work.routing { return .putBack(policy.retry.noRoute * policy.retry.scale) }
        guard let facts = work.targets[slot], facts.identityState == .active,
            facts.destination.usableToken != nil || targets[slot].paths.contains(where: { $0 != .apns })
        else { return .settle(.suppressed, reason: SuppressionReason.noDevice.rawValue) }
        guard facts.assurance >= work.notification.content.minAssurance else {
            return .settle(.suppressed, reason: SuppressionReason.assurance.rawValue)
        }
        guard work.notification.content.consent.allows(facts) else {
            return .settle(.suppressed, reason: SuppressionReason.preference.rawValue)
        }
        guard !work.duplicates.contains(slot), !notified.contains(DeviceAddress(facts)) else {
            return .settle(.suppressed, reason: SuppressionReason.duplicate.rawValue)
        }
        if let plan = timing(facts, rules, sharing: &shared, now: now) { return plan }
        guard !work.capped.contains(slot) else {
            return .settle(.suppressed, reason: SuppressionReason.frequencyCap.rawValue)
        }
        if let plan = duplicate(slot, of: work, now: now) { return plan }
        return way(slot, to: facts, of: work, rules, sharing: &shared, now: now)
            ?? .settle(.suppressed, reason: SuppressionReason.noDevice.rawValue)
    }

    /// The plan for the first path, from the target's present one on, that can be used, or else the wait for one that will be usable later. Nil: there is none.
    func way(
        _ slot: Int,
        to facts: TargetFacts,
        of work: SliceWork,
        _ rules: TimingRules,
        sharing shared: inout SharedWork,
        now: Timestamp
    ) -> Plan? {
        let paths = targets[slot].paths.isEmpty ? [DeliveryPath.apns] : targets[slot].paths
        var later: Plan?
        for place in paths.indices.dropFirst(targets[slot].path) {
            let found: Plan?
            switch paths[place] {
            case .none: found = .settle(.suppressed, reason: SuppressionReason.routed.rawValue)
            case .apns:
                guard let token = facts.destination.usableToken else { continue }
                if let plan = reached(slot, of: work, path: place) { return plan }
                found = push(slot, to: facts, token: token, of: work, rules, path: place, sharing: &shared, now: now)
            case .upstream(let id): found = call(slot, through: id, of: work, path: place)
            }
            guard let plan = found else { continue }
            // A missing transport or credential lets the next path be tried at once.
            guard plan.isWaiting else { return plan }
            later = later ?? plan
        }
        return later
    }

    /// The plan for a target whose user a call of the message has, by rules of another version: a push would be the second one. A call without an end may have
    /// reached nobody. Nil: the push service may get the target.
    private func reached(_ slot: Int, of work: SliceWork, path: Int) -> Plan? {
        guard case .rules(let routed) = work.routing, let isAnswered = routed.called[slot],
            targets[slot].paths.prefix(path).allSatisfy({ $0.upstream == nil })
        else { return nil }
        if isAnswered { return .settle(.suppressed, reason: SuppressionReason.sameUser.rawValue) }
        return .putBack(policy.retry.unsent * policy.retry.scale)
    }

    /// The plan for a target of a message whose text came before through another entry point; nil: the earlier messages do not keep it from being pushed. A target
    /// waits for earlier messages only, never for a later one, and no longer than its own message lives.
    private func duplicate(_ slot: Int, of work: SliceWork, now: Timestamp) -> Plan? {
        guard let earlier = work.earlier else { return nil }
        if earlier.sent.contains(slot) {
            return .settle(.suppressed, reason: SuppressionReason.crossVendorDuplicate.rawValue)
        }
        // The jitter adds up to a quarter.
        let wait = policy.retry.duplicate * policy.retry.scale
        guard earlier.open.contains(slot), earlier.waited < policy.retry.duplicateLongest * policy.retry.scale,
            now + wait * 2 < end(of: work)
        else { return nil }
        return .putBack(wait)
    }

    func rules(of work: SliceWork) -> TimingRules {
        TimingRules(
            app: work.timing,
            lane: work.lane,
            dueAt: work.notification.sentAt,
            localDue: work.localDue,
            expiresAt: end(of: work)
        )
    }

    /// The decision by time of day; nil: the push may be sent. It is made at each sending, because a slice may be late and a preference may have changed.
    private func timing(
        _ facts: TargetFacts,
        _ rules: TimingRules,
        sharing shared: inout SharedWork,
        now: Timestamp
    ) -> Plan? {
        guard rules.concerns(facts.clock.window) else { return nil }
        let verdict = shared.verdicts[facts.clock] ?? rules.verdict(facts.clock, now: now)
        shared.verdicts[facts.clock] = verdict
        switch verdict {
        case .open: return nil
        case .expired: return .settle(.expired, reason: nil)
        case .suppress(let reason): return .settle(.suppressed, reason: reason.rawValue)
        // Two clocks are involved: the slice is due by the database's clock, and this node's copy may be behind.
        case .wait(let until, _): return until - now <= policy.timingSlack ? nil : .hold(until - now)
        }
    }

    /// Results that serve several targets: payloads, if the targets have the message's times in common, and the time-of-day decision for one
    /// combination of zone and window, which many devices share.
    struct SharedWork {
        var verdicts: [DeviceClock: TimingRules.Verdict] = [:]
        var payloads = PayloadWriter.Shared()
        private var sentAt: Timestamp?

        init() {}

        mutating func serve(_ notification: Notification) {
            if notification.sentAt != sentAt { payloads = PayloadWriter.Shared() }
            sentAt = notification.sentAt
        }
    }

    /// The message as it applies to a target: with a local due time each zone has its own time and expiry.
    func notification(_ work: SliceWork, _ rules: TimingRules, for facts: TargetFacts) -> Notification {
        guard work.localDue != nil else { return work.notification }
        var notification = work.notification
        notification.sentAt = rules.due(facts.clock)
        if notification.expiresAt != nil { notification.expiresAt = rules.end(facts.clock) }
        return notification
    }

    /// The push to the device, or the wait for a credential of the app.
    private func push(
        _ slot: Int,
        to facts: TargetFacts,
        token: DeviceToken,
        of work: SliceWork,
        _ rules: TimingRules,
        path: Int,
        sharing shared: inout SharedWork,
        now: Timestamp
    ) -> Plan {
        guard settings.transports[facts.destination.platform] != nil else {
            return .settle(.failed, reason: FailureReason.noTransport.rawValue)
        }
        let way = work.routes[facts.destination.platform]
        let route = Router().route(to: facts, topic: way?.topic ?? "", credentials: way?.credentials ?? [:])
        guard case .direct(let credential) = route else {
            return .putBack(policy.retry.noRoute * policy.retry.scale)
        }
        let notification = notification(work, rules, for: facts)
        shared.serve(notification)
        do {
            let payload = try settings.payloads.payload(
                for: notification,
                to: facts,
                settings: work.settings[facts.vendor] ?? .unbound,
                sharing: &shared.payloads
            )
            // A target's own expiry may be before the message's. Zero is not an expiry: it requests a single attempt.
            if let end = payload.expiresAt, end.seconds > 0, now >= end { return .settle(.expired, reason: nil) }
            let push = Push(
                slot: slot,
                token: token,
                environment: facts.destination.environment,
                topic: way?.topic ?? "",
                id: PushID(settings.identifiers.transportID(message: lease.key.message, target: lease.targets[slot])),
                payload: payload,
                expiresAt: payload.expiresAt ?? notification.expiresAt
            )
            let key = CredentialKey(tenant: lease.key.tenant, credential: credential)
            return .push(push, over: facts.destination.platform, self.route(of: push, through: key), path: path)
        } catch {
            return .settle(error.state, reason: error.rawValue)
        }
    }

    func route(of push: Push, through key: CredentialKey) -> PushRoute {
        PushRoute(
            key,
            app: work?.app ?? "",
            topic: push.topic,
            environment: push.environment,
            type: push.payload.type
        )
    }

    mutating func enqueue(_ slot: Int, platform: Platform, _ route: PushRoute) -> Int {
        let known = queues.firstIndex { $0.route == route }
        let index = known ?? queues.count
        if known == nil { queues.append(Queue(route: route, platform: platform)) }
        queues[index].ready.append(slot)
        return index
    }

    /// The number of this attempt, from one.
    var attempt: Int { Int(lease.attempts) + 1 }

    /// The time after which the message may not be delivered.
    func end(of work: SliceWork) -> Timestamp {
        work.notification.expiresAt ?? work.notification.sentAt + policy.retry.longestLife
    }

    /// Gives a target its outcome. The payload is released, because outcomes that wait for a flush must be small.
    mutating func settle(
        _ slot: Int,
        as state: DeliveryState,
        reason: String? = nil,
        isCertain: Bool = true,
        now: Timestamp
    ) {
        let facts = work?.targets[slot]
        // A target in a slice had an identity. If it has none now, the person was erased, and with it the name that the caller used.
        let isErased = work != nil && facts == nil
        let push = targets[slot].push
        let calledOver = push == nil ? targets[slot].calledOver : nil
        var result = DeliveryResult(
            index: slot,
            target: lease.targets[slot],
            identity: facts?.identity,
            // No SDK of a vendor shows a Live Activity, so that it does not belong into the vendor's inbox.
            dialect: work?.notification.content.activity == nil ? facts?.vendor : nil,
            device: facts?.device,
            user: facts?.person.user,
            address: isErased || !lease.addresses.indices.contains(slot) ? nil : lease.addresses[slot],
            state: state,
            reason: reason,
            attempt: DeliveryAttempt(
                count: push == nil && calledOver == nil
                    ? earlierAttempts(state) : Int16(clamping: attempt + Int(targets[slot].resends)),
                transport: push == nil
                    ? calledOver : facts.flatMap { settings.transports[$0.destination.platform] },
                transportID: push?.id.uuid,
                isCertain: isCertain,
                payloadBytes: Int32(clamping: push?.payload.bytes.count ?? 0),
                reduced: TriedPath.entries(push?.payload.reduced ?? [], targets[slot].tried),
                latency: isCertain ? latency(of: slot, now: now) : nil
            ),
            at: now
        )
        result.client = facts?.client
        result.localHour = facts?.clock.timeZone.flatMap { hours.hour(at: now, in: $0) }
        pending.append(result)
        targets[slot].state = .settled
        targets[slot].push = nil
    }
}

extension DeliveryMachine {
    /// The attempts of earlier leases at a target that was not sent in this one. A lease that lapsed may have sent it, so that a receipt of a target that
    /// expires or is canceled now still counts.
    private func earlierAttempts(_ state: DeliveryState) -> Int16 {
        guard lease.followsLapse, state == .expired || state == .canceled else { return lease.attempts }
        return Int16(clamping: attempt)
    }

    /// Milliseconds since the push was handed over; nil: it was not.
    private func latency(of slot: Int, now: Timestamp) -> Int32? {
        targets[slot].sentAt.map { Int32(clamping: max(0, (now - $0).milliseconds)) }
    }
}
