package import Model
import Routing

/// The paths of targets, and the calls to upstreams (docs/routing.md#upstream-sending).
///
/// | outcome of a call | the target |
/// |---|---|
/// | accepted | sent |
/// | rejected: content | failed, the vendor's reason |
/// | rejected: unknown target | takes its next path; without one: failed |
/// | rejected: credential | takes its next path; without one it waits for the credential |
/// | deferred | put back as by the push service; takes its next path if the message would expire before |
/// | unsent | the same call again at once, a few times, then put back |
/// | indeterminate | sent without certainty: no vendor recognizes a repeated message |
///
/// A call is recorded before it leaves (`UpstreamOrder`), and its end is written with the outcomes of its targets. A node that finds a call without an end
/// settles its targets as sent without certainty (`interrupted`).
extension DeliveryMachine {
    /// A call to an upstream: one entry of its queue.
    struct PlannedCall: Sendable {
        let upstream: CredentialID
        let call: UpstreamCall
        /// In the order of the call's targets.
        let slots: [Int]
        /// Parallel to `slots`; empty if the upstream addresses devices.
        let units: [UpstreamUnit]
        /// Targets for which another target of the call stands, because both have one user.
        let companions: Set<Int>
        let exclusive: Set<TargetID>
        var resends: Int16 = 0
        /// The send in which it is or was in flight.
        var send: Int?
        var id: UpstreamCallID?
        /// Earlier tries of which no byte has left.
        var replaced: [UpstreamCallID] = []
    }

    // MARK: Paths

    /// Finds the paths of a target by the rules of its app. A Live Activity has tokens of its own, so that only the push service can send it.
    mutating func findPaths(of slot: Int, _ work: SliceWork) {
        guard case .rules(let routed) = work.routing, work.notification.content.activity == nil,
            let facts = work.targets[slot]
        else { return }
        let delivery = RouteTable.Delivery(to: facts, lane: work.lane, tags: routed.tags[slot] ?? [])
        let decision = routed.table.decide(delivery)
        let isDirect = decision.paths == [.apns] || mayBePushed(facts, decision.paths, work)
        targets[slot].paths = isDirect ? [] : decision.paths
        targets[slot].coolDown = decision.coolDown
    }

    /// Whether the push service may have got the target under an earlier lease: then it takes no other path, because the upstream does not recognize the push.
    private func mayBePushed(_ facts: TargetFacts, _ paths: [DeliveryPath], _ work: SliceWork) -> Bool {
        let isTried = lease.followsLapse || lease.attempts > 0 && paths.first == .apns
        let platform = facts.destination.platform
        guard isTried, paths.contains(.apns), facts.destination.usableToken != nil, settings.transports[platform] != nil
        else { return false }
        let way = work.routes[platform]
        let route = Router().route(to: facts, topic: way?.topic ?? "", credentials: way?.credentials ?? [:])
        guard case .direct = route else { return false }
        return true
    }

    /// The plan for an upstream. Nil: it must not get the target.
    func call(_ slot: Int, through upstream: CredentialID, of work: SliceWork, path: Int) -> Plan? {
        guard case .rules(let routed) = work.routing else { return nil }
        guard let open = routed.upstreams[upstream], settings.payloads.upstream(of: open.vendor) != nil else {
            let key = CredentialKey(tenant: lease.key.tenant, credential: upstream)
            return .putBack(policy.retry.unknownCredential * policy.retry.scale, heldBy: key)
        }
        // The upstream pushes to all devices of a user, and the push service may have reached one of them.
        let isTried = targets[slot].sentAt != nil && targets[slot].paths.prefix(path).contains(.apns)
        if isTried, routed.table.facts(of: upstream)?.addressesUsers ?? true { return nil }
        return .call(path: path)
    }

    /// Takes the next path of a target.
    ///
    /// - Parameters:
    ///   - slot: the target, which is in no queue and not in flight.
    ///   - end: why it leaves the present path.
    ///   - now: the database's time.
    /// - Returns: false if there is none.
    mutating func goOn(_ slot: Int, _ end: PathEnd, now: Timestamp) -> Bool {
        guard let work, let facts = work.targets[slot], targets[slot].path + 1 < targets[slot].paths.count else {
            return false
        }
        if isDraining {
            putBack(slot, for: .zero, isPeers: false)
            return true
        }
        let present = targets[slot].path
        targets[slot].path += 1
        var shared = SharedWork()
        guard let plan = way(slot, to: facts, of: work, rules(of: work), sharing: &shared, now: now) else {
            targets[slot].path = present
            return false
        }
        leavePath(present, of: slot, end)
        targets[slot].probe = nil
        targets[slot].call = nil
        carryOut(plan, slot, now: now)
        return true
    }

    /// The present path of a target refused it, for a reason that is about the target. Without a reason the path cannot name it.
    mutating func fail(_ slot: Int, _ reason: String?, now: Timestamp) {
        let end = reason.map { PathEnd.refused($0) } ?? .unused(.noDevice)
        if goOn(slot, end, now: now) { return }
        if reason == nil { leavePath(targets[slot].path, of: slot, end) }
        if let reason = reason ?? targets[slot].tried.last(where: \.isRefusal)?.outcome {
            settle(slot, as: .failed, reason: reason, now: now)
        } else {
            settle(slot, as: .suppressed, reason: SuppressionReason.noDevice.rawValue, now: now)
        }
    }

    /// The credential of a queue is stopped: its targets take their next path, if it has been out of order for long enough, or wait.
    ///
    /// - Parameters:
    ///   - index: the queue.
    ///   - wait: how long the gate lets targets wait.
    ///   - outage: how long the credential has been stopped; nil: the peer refuses it, which no time heals.
    ///   - now: the database's time.
    /// - Returns: the requests to the gate that follow.
    mutating func leave(_ index: Int, for wait: Duration, outage: Duration?, now: Timestamp) -> [Action] {
        let slots = queues[index].ready.flatMap(members)
        let key = queues[index].key
        queues[index].ready = []
        let before = queues.map(\.ready.count)
        for slot in slots {
            let coolDown = targets[slot].coolDown
            let isOver = outage.map { $0 >= coolDown } ?? true
            let end = PathEnd.unused(outage == nil ? .credentialRefused : .outOfOrder)
            if isOver, goOn(slot, end, now: now) { continue }
            let hasNext = targets[slot].path + 1 < targets[slot].paths.count
            let rest = outage.map { max(policy.fullRetry, coolDown - $0) } ?? wait
            putBack(slot, for: hasNext && !isOver ? min(wait, rest) : wait, isPeers: false, heldBy: key)
        }
        planCalls(now: now)
        return queues.indices.compactMap { place -> Action? in
            let known = before.indices.contains(place) ? before[place] : 0
            guard place != index, !queues[place].isProbing, queues[place].ready.count > known else { return nil }
            return .ask(queues[place].route, pushes: queues[place].ready.count)
        }
    }

    /// Decides whether the slice keeps its rules. It returns them if nothing was tried. Pushes of a lease that lapsed may have left, so that the end of the
    /// next lease counts as an attempt. It binds the slice and those that leave it, and receipts count if their targets expire or are canceled later.
    func bind(_ progress: inout SliceProgress, isLast: Bool) {
        guard lease.followsLapse else {
            progress.returnsRouting = isLast && work?.isRouted == true && sendCount == 0 && lease.attempts == 0
            return
        }
        progress.countsAttempt = true
        for index in progress.retries.indices { progress.retries[index].countsAttempt = true }
    }

    // MARK: Planning

    /// The targets for which an entry of a queue stands.
    func members(_ slot: Int) -> [Int] { targets[slot].call.map { calls[$0].slots } ?? [slot] }

    /// Takes a target out of the queues, because another node has settled it. The call that contains it would reach it again, so its other targets return.
    mutating func withdraw(_ slot: Int) {
        let first = targets[slot].call.flatMap { calls[$0].slots.first } ?? slot
        for queue in queues.indices { queues[queue].ready.removeAll { $0 == first } }
        for other in members(slot) where other != slot {
            if case .ready = targets[other].state { putBack(other, for: .zero, isPeers: false) }
        }
    }

    /// The targets that one call can have: they get the same content.
    private struct CallGroup {
        var upstream: CredentialID
        var notification: Notification
        var slots: [Int]
    }

    /// Writes the calls for the targets that wait for one. A target comes here at most once for each of its paths, and again after a call that was not made
    /// because of other targets.
    mutating func planCalls(now: Timestamp) {
        guard !uncalled.isEmpty, let work, case .rules(let routed) = work.routing else { return }
        while !uncalled.isEmpty {
            let waiting = uncalled
            uncalled = []
            for group in callGroups(of: waiting, work, now: now) { write(group, work, routed, now: now) }
        }
    }

    private mutating func callGroups(of waiting: [Int], _ work: SliceWork, now: Timestamp) -> [CallGroup] {
        let rules = rules(of: work)
        let source = settings.payloads.adapter(of: work.notification.origin)
        var groups: [CallGroup] = []
        for slot in waiting {
            guard let facts = work.targets[slot],
                let upstream = targets[slot].paths.dropFirst(targets[slot].path).first?.upstream
            else {
                fail(slot, nil, now: now)
                continue
            }
            do throws(AdapterError) {
                let own = try notification(work, rules, for: facts).translated(for: facts, by: source).0
                if let end = own.expiresAt, end.seconds > 0, now >= end {
                    settle(slot, as: .expired, now: now)
                } else if let index = groups.firstIndex(where: { $0.upstream == upstream && $0.notification == own }) {
                    groups[index].slots.append(slot)
                } else {
                    groups.append(CallGroup(upstream: upstream, notification: own, slots: [slot]))
                }
            } catch {
                let problem = PayloadProblem(error.code)
                settle(slot, as: problem.state, reason: problem.rawValue, now: now)
            }
        }
        return groups
    }

    private mutating func write(_ group: CallGroup, _ work: SliceWork, _ routed: RoutedSlice, now: Timestamp) {
        guard let open = routed.upstreams[group.upstream], let adapter = settings.payloads.upstream(of: open.vendor)
        else {
            for slot in group.slots { fail(slot, nil, now: now) }
            return
        }
        var notification = group.notification
        notification.fallback = work.fallback
        notification.image = work.image
        do throws(AdapterError) {
            let made = try adapter.outbound(
                notification,
                to: group.slots.compactMap { work.targets[$0] },
                through: open,
                settings: work.settings[open.vendor] ?? .unbound,
                at: now
            )
            var rest = Set(group.slots)
            for call in made where call.targets.allSatisfy(group.slots.indices.contains) {
                let slots = call.targets.map { group.slots[$0] }
                guard slots.allSatisfy(rest.contains) else { continue }
                rest.subtract(slots)
                add(call, to: slots, group.upstream, work, routed)
            }
            for slot in group.slots where rest.contains(slot) { fail(slot, nil, now: now) }
        } catch {
            let problem = PayloadProblem(error.code)
            for slot in group.slots { settle(slot, as: problem.state, reason: problem.rawValue, now: now) }
        }
    }

    private mutating func add(
        _ call: UpstreamCall,
        to slots: [Int],
        _ upstream: CredentialID,
        _ work: SliceWork,
        _ routed: RoutedSlice
    ) {
        guard let first = slots.first else { return }
        var units: [UpstreamUnit] = []
        var companions: Set<Int> = []
        var exclusive: Set<TargetID> = []
        if let facts = routed.table.facts(of: upstream), facts.addressesUsers {
            var seen: Set<UpstreamUnit> = []
            for slot in slots {
                let unit = self.unit(of: slot, work, facts)
                units.append(unit)
                if !seen.insert(unit).inserted { companions.insert(slot) }
                if targets[slot].paths.prefix(targets[slot].path).contains(.apns) {
                    exclusive.insert(lease.targets[slot])
                }
            }
        }
        calls.append(
            PlannedCall(
                upstream: upstream,
                call: call,
                slots: slots,
                units: units,
                companions: companions,
                exclusive: exclusive
            )
        )
        let key = CredentialKey(tenant: lease.key.tenant, credential: upstream)
        let queue = enqueue(first, platform: .ios, PushRoute(key, app: work.app, isUpstream: true))
        for slot in slots {
            targets[slot].call = calls.count - 1
            targets[slot].queue = queue
            targets[slot].push = nil
        }
    }

    private func unit(of slot: Int, _ work: SliceWork, _ facts: UpstreamFacts) -> UpstreamUnit {
        let target = work.targets[slot]
        return UpstreamUnit(target, platform: facts.splitsPlatforms ? target?.destination.platform : nil)
    }

    // MARK: Calls

    /// Orders the call whose first target is `slot`.
    mutating func call(first slot: Int, from index: Int, now: Timestamp) -> Action? {
        guard let place = targets[slot].call else { return nil }
        sendCount += 1
        let id = UpstreamCallID(epoch: lease.epoch, number: Int32(clamping: sendCount))
        calls[place].send = sendCount
        calls[place].id = id
        let planned = calls[place]
        for slot in planned.slots {
            targets[slot].state = .onItsWay(send: sendCount)
            targets[slot].sentAt = now
            targets[slot].calledOver = planned.upstream.upstreamTransport
        }
        queues[index].onItsWay += planned.slots.count
        let order = UpstreamOrder(
            id: id,
            upstream: planned.upstream,
            call: planned.call,
            targets: planned.slots.map { lease.targets[$0] },
            units: planned.units,
            exclusive: planned.exclusive,
            replaced: planned.replaced
        )
        return .call(sendCount, order, through: queues[index].key)
    }

    /// An ordered call has ended.
    package mutating func called(_ number: Int, _ end: UpstreamEnd, now: Timestamp) -> [Action] {
        guard phase == .sending, let place = calls.firstIndex(where: { $0.send == number }), let id = calls[place].id
        else { return [] }
        let open = calls[place].slots.indices.filter { isOnItsWay(calls[place].slots[$0], in: number) }
        guard !open.isEmpty else { return [] }
        switch end {
        case .taken(let same, let withheld, let busy):
            taken(open.map { calls[place].slots[$0] }, same, withheld, busy, now: now)
            planCalls(now: now)
            for index in queues.indices where queues[index].onItsWay == 0 { queues[index].isProbing = false }
            return requests() + proceed(now)
        case .unrecorded:
            lateEnds.append(UpstreamCallEnd(id: id, isVoid: true))
            // Not the upstream's fault, which would stop its credential.
            let error = TransportError(.overloaded, "the call was not recorded")
            let slots = open.map { calls[place].slots[$0] }
            return completed(slots.map { PushCompletion(slot: $0, outcome: .unsent(error)) }, now: now)
        case .ended(let result):
            let batch = open.map { index in
                PushCompletion(
                    slot: calls[place].slots[index],
                    outcome: result.outcomes.indices.contains(index) ? result.outcomes[index] : .unclear
                )
            }
            if batch.count == calls[place].slots.count, isWorthRepeating(batch, place) {
                let actions = judgements(of: batch)
                callAgain(place, id)
                return actions + requests() + proceed(now)
            }
            let isVoid = batch.allSatisfy { !$0.outcome.mayHaveArrived }
            endedCalls.append(UpstreamCallEnd(id: id, reference: result.reference, isVoid: isVoid))
            return completed(batch, now: now)
        }
    }

    mutating func takeLateEnds() {
        endedCalls += lateEnds
        lateEnds = []
    }

    private func isOnItsWay(_ slot: Int, in number: Int) -> Bool {
        guard case .onItsWay(let send) = targets[slot].state else { return false }
        return send == number
    }

    /// Whether no byte of the call has left, so that it is made again at once.
    private func isWorthRepeating(_ batch: [PushCompletion], _ place: Int) -> Bool {
        guard !isDraining, calls[place].resends < policy.retry.immediateResends else { return false }
        return batch.allSatisfy { completion in
            guard case .unsent(let error) = completion.outcome else { return false }
            return error.code != .noCredential && error.code != .overloaded
        }
    }

    private mutating func callAgain(_ place: Int, _ id: UpstreamCallID) {
        let slots = calls[place].slots
        guard let first = slots.first else { return }
        let queue = targets[first].queue
        for slot in slots {
            targets[slot].state = .ready
            targets[slot].sentAt = nil
            targets[slot].calledOver = nil
        }
        queues[queue].onItsWay -= slots.count
        if queues[queue].onItsWay == 0 { queues[queue].isProbing = false }
        queues[queue].ready.append(first)
        calls[place].resends += 1
        calls[place].replaced.append(id)
        // There may be no next try that would end it.
        endedCalls.append(UpstreamCallEnd(id: id, isVoid: true))
        calls[place].send = nil
    }

    /// No call was made: others of the message have the users of some targets. The rest gets a call without them. A call without an end may have reached
    /// nobody, so that its users are tried again later.
    private mutating func taken(
        _ slots: [Int],
        _ same: Set<TargetID>,
        _ withheld: Set<TargetID>,
        _ busy: Set<TargetID>,
        now: Timestamp
    ) {
        let named = same.union(withheld).union(busy)
        let isProgress = slots.contains { named.contains(lease.targets[$0]) }
        for slot in slots {
            queues[targets[slot].queue].onItsWay -= 1
            targets[slot].sentAt = nil
            targets[slot].calledOver = nil
            targets[slot].call = nil
            let target = lease.targets[slot]
            if same.contains(target) {
                settle(slot, as: .suppressed, reason: SuppressionReason.sameUser.rawValue, now: now)
            } else if withheld.contains(target) {
                fail(slot, nil, now: now)
            } else if isProgress, !busy.contains(target) {
                targets[slot].state = .ready
                uncalled.append(slot)
            } else {
                putBack(slot, for: policy.retry.unsent * policy.retry.scale, isPeers: false)
            }
        }
    }

    /// Updates one target of a call, which has left its queue.
    mutating func applyAnswer(_ completion: PushCompletion, now: Timestamp) {
        let slot = completion.slot
        switch completion.outcome {
        case .accepted: settleCalled(slot, isCertain: true, now: now)
        case .indeterminate: settleCalled(slot, isCertain: false, now: now)
        case .rejected(let rejection):
            switch rejection.scope {
            case .content: settle(slot, as: .failed, reason: rejection.reason, now: now)
            case .tokenDead, .tokenDoubtful: fail(slot, rejection.reason, now: now)
            case .credential, .topic:
                if goOn(slot, .refused(rejection.reason), now: now) { return }
                let wait = policy.retry.refusedCredential.first * policy.retry.scale
                putBack(slot, for: wait, isPeers: false, heldBy: key(of: slot))
            case .service: deferTarget(slot, rejection, asked: nil, now: now)
            }
        case .deferred(let rejection, let asked): deferTarget(slot, rejection, asked: asked, now: now)
        case .unsent(let error): returnUnsent(slot, error, now: now)
        }
    }

    private mutating func returnUnsent(_ slot: Int, _ error: TransportError, now: Timestamp) {
        switch error.code {
        case .noCredential:
            if goOn(slot, .unused(.noCredential), now: now) { return }
            let wait = policy.retry.unknownCredential * policy.retry.scale
            putBack(slot, for: wait, isPeers: false, heldBy: key(of: slot))
        case .overloaded: putBack(slot, for: policy.fullRetry, isPeers: false)
        default: putBack(slot, for: isDraining ? .zero : policy.retry.unsent * policy.retry.scale, isPeers: false)
        }
    }

    private mutating func settleCalled(_ slot: Int, isCertain: Bool, now: Timestamp) {
        guard let place = targets[slot].call, calls[place].companions.contains(slot) else {
            return settle(slot, as: .sent, isCertain: isCertain, now: now)
        }
        targets[slot].calledOver = nil
        settle(slot, as: .suppressed, reason: SuppressionReason.sameUser.rawValue, now: now)
    }

    // MARK: Takeover

    /// Settles the targets of calls about whose end nothing is known: their vendor may have the message.
    mutating func settleInterrupted(_ work: SliceWork, now: Timestamp) {
        guard case .rules(let routed) = work.routing else { return }
        for call in routed.interrupted {
            for slot in targets.indices where call.targets.contains(lease.targets[slot]) {
                guard case .ready = targets[slot].state else { continue }
                targets[slot].calledOver = call.upstream.upstreamTransport
                settle(slot, as: .sent, reason: FailureReason.interrupted.rawValue, isCertain: false, now: now)
            }
            endedCalls.append(UpstreamCallEnd(id: call.id))
        }
    }
}

extension Outcome {
    /// Whether the peer has the message or may have it.
    fileprivate var mayHaveArrived: Bool {
        switch self {
        case .accepted, .indeterminate: true
        case .rejected, .deferred, .unsent: false
        }
    }
}
