package import Model
import Routing

/// The state machine of one leased slice, from the claim to the flush that gives it back.
///
/// A pure value. Its inputs are events, named in the past tense, and its outputs are actions; it never waits, logs, sleeps or reads a clock. One
/// `SliceRunner` owns it, performs its actions in order and returns the results as events, so it needs no lock.
///
/// Guarantees:
/// - a target is pushed only while it has no outcome, always with the same `apns-id`, and gets exactly one outcome (I2);
/// - an outcome is flushed within `flushInterval`, one flush at a time, and kept until the store has it;
/// - nothing is flushed or sent once the lease is lost; if this node claims the slice again, the machine continues under the new lease;
/// - it ends: every event leads to a push in flight, a flush in flight, a wait for a tick, or `.finish`.
///
/// `DeliveryMachine+Outcomes.swift` defines the consequences of outcomes, `DeliveryMachine+Targets.swift` the targets that are not pushed,
/// `DeliveryMachine+Waits.swift` where the targets without an outcome continue, `DeliveryMachine+Upstreams.swift` the calls to upstreams.
package struct DeliveryMachine: Sendable {
    /// The settings of a machine.
    package struct Settings: Sendable {
        package var policy: EnginePolicy
        package var payloads: PayloadWriter
        package var identifiers: any IdentifierSource
        /// The name of each platform's transport.
        package var transports: [Platform: String]
        /// 0..<1, drawn once per slice, so that slices that began together do not return together.
        package var jitter: Double

        package init(
            policy: EnginePolicy,
            payloads: PayloadWriter,
            identifiers: any IdentifierSource,
            transports: [Platform: String],
            jitter: Double
        ) {
            self.policy = policy
            self.payloads = payloads
            self.identifiers = identifiers
            self.transports = transports
            self.jitter = jitter
        }
    }

    /// An action that the runner must perform, in order.
    package enum Action: Sendable {
        /// Read the work. Answered by `loaded` or `loadFailed`.
        case load
        /// Ask the gate for this number of pushes. Answered at once by `permitted`.
        case ask(PushRoute, pushes: Int)
        /// Send the pushes and return completions as they arrive. Answered by `completed`, then `sendEnded` with the number. The number is unique in
        /// this machine: when a send ends, targets of it may already be in flight in a later one.
        case send(Int, [Push], over: Platform, through: CredentialKey)
        /// Record the call, then make it. Answered by `called` with the number, which no other call or send of this machine has.
        case call(Int, UpstreamOrder, through: CredentialKey)
        /// Report evidence about a credential and a topic to the gate; this stops one that is refused.
        case judge(PushRoute, CredentialSign)
        /// Verdicts on tokens of one environment, and the answers that they were found in.
        case condemn([TokenVerdict], among: TokenAnswers)
        /// Write a flush. There is never more than one at a time. Answered by `recorded` or `recordFailed`.
        case record(SliceProgress)
        /// Give the lease back unchanged.
        case release
        /// The machine has ended; no further actions follow.
        case finish
    }

    enum Phase: Sendable {
        /// The work is being read. Goes to: sending, ended.
        case loading
        /// Pushes or flushes are in flight. Goes to: closing, ended.
        case sending
        /// The last flush is in flight. Goes to: ended.
        case closing
        /// The slice is written, given back, or lost.
        case ended
    }

    /// The state of one target within this lease.
    enum TargetState: Sendable {
        /// The payload is written; waits for a permit. Goes to: onItsWay, putBack.
        case ready
        /// In flight in the transport, in the send with this number. Goes to: ready, putBack, settled.
        case onItsWay(send: Int)
        /// Not sent under this lease; a later lease continues with the target.
        case putBack(Wait)
        /// Has an outcome, from this or an earlier lease.
        case settled
    }

    /// How long a target must wait.
    struct Wait: Sendable, Hashable {
        var duration: Duration
        /// The peer requested the wait, or may have seen the push: it counts as an attempt.
        var isPeers: Bool
        /// The credential that the target waits for: the wait ends when the credential works again.
        var heldBy: CredentialKey?
        /// The allowed number of attempts is used up; this is the peer's last reason.
        var gaveUp: String?
        /// It ends at a time of day: jitter must not lengthen it.
        var isExact = false
        /// The credential has no capacity, and no slice that uses it finishes.
        var isCrowded = false
    }

    struct Target: Sendable {
        var state: TargetState
        var push: Push?
        /// Index into `queues`.
        var queue = 0
        /// When the push was handed to the transport, for the last time.
        var sentAt: Timestamp?
        /// Resends within this lease.
        var resends: Int16 = 0
        /// The other environment, while and after the target is tried there.
        var probe: PushEnvironment?
        /// The paths of its rule, in their order. Empty: the push service alone.
        var paths: [DeliveryPath] = []
        /// The place of the present path among them.
        var path = 0
        /// How long a path may be out of order before the next one is tried.
        var coolDown = DeliveryRule.standardCoolDown
        /// The call to an upstream that contains it, by its place in `calls`.
        var call: Int?
        /// The transport of the last call that left with it.
        var calledOver: String?
        /// The paths that it has left.
        var tried: [TriedPath] = []
    }

    /// The pushes of this slice that go through one credential to one topic.
    struct Queue: Sendable {
        let route: PushRoute
        let platform: Platform
        /// Whether it leads to an upstream: `ready` then has the first target of each call.
        var isUpstream: Bool { route.isUpstream }
        var key: CredentialKey { route.key }
        var ready: [Int] = []
        var onItsWay = 0
        /// One push is in flight as a probe: the others wait for its outcome.
        var isProbing = false
        /// The time since which the credential has had no capacity for this slice.
        var fullSince: Timestamp?
        /// The time since which the credential's rate has granted less than requested.
        var meteredSince: Timestamp?
    }

    /// A flush that the store has not answered yet.
    private struct PendingFlush: Sendable {
        var epoch: Int64
        var results: [DeliveryResult]
        var calls: [UpstreamCallEnd]
        var isLast: Bool
    }

    /// The lease as this machine last held it.
    package private(set) var lease: SliceLease
    let settings: Settings
    var work: SliceWork?
    var targets: [Target]
    var queues: [Queue] = []
    /// Outcomes that are not part of a flush yet.
    var pending: [DeliveryResult] = []
    /// Calls to upstreams that are planned, in flight or over.
    var calls: [PlannedCall] = []
    /// Targets that wait for a call to be written.
    var uncalled: [Int] = []
    /// Ends of calls that are not part of a flush yet.
    var endedCalls: [UpstreamCallEnd] = []
    /// Ends of calls whose records the store may still write: the last flush has them, after which it writes none.
    var lateEnds: [UpstreamCallEnd] = []
    /// The zones of the targets.
    var hours = WeekHours()
    var isDraining = false
    /// Why nothing of the slice is sent: it is given up as a whole.
    private(set) var givenUp: SliceProgress.Disposition?
    private(set) var phase: Phase = .loading
    /// The number of sends and calls ordered so far.
    var sendCount = 0
    private var flight: PendingFlush?
    /// A newer lease on the same slice, claimed again by this node; used as soon as the store refuses the old one.
    private var successor: SliceLease?
    private var flushedAt: Timestamp?
    private var failures = 0
    /// The number of consecutive failures to read the work that a repeat does not remove.
    private var faults = 0
    /// No store call before this time.
    private(set) var retryAt: Timestamp?

    /// A machine for `lease`, whose work is `.deliver`.
    package init(_ lease: SliceLease, settings: Settings) {
        self.lease = lease
        self.settings = settings
        targets = lease.targets.indices.map { Target(state: lease.isDone($0) ? .settled : .ready) }
    }

    var policy: EnginePolicy { settings.policy }

    // MARK: Entry points, in the order of a slice's life

    /// The first event. A slice whose owners crashed repeatedly is not loaded at all.
    package mutating func started() -> [Action] {
        lease.lapses >= policy.lapseLimit ? giveUp(.lapsed) : [.load]
    }

    private mutating func giveUp(_ end: SliceProgress.Disposition) -> [Action] {
        givenUp = end
        phase = .closing
        return [flush(SliceEnd(disposition: end, countsAttempt: false), isLast: true)]
    }

    /// The work could not be read.
    ///
    /// - Parameters:
    ///   - isFault: the database answered with an error that a repeat does not remove. An outage ends a series of faults.
    ///   - now: the database's time.
    /// - Returns: nothing, or the flush that gives the slice up.
    package mutating func loadFailed(isFault: Bool = false, now: Timestamp) -> [Action] {
        guard phase == .loading else { return [] }
        faults = isFault ? faults + 1 : 0
        if faults >= policy.faultLimit { return giveUp(.unreadable) }
        backOff(now)
        return []
    }

    /// The work was read; nil: the message no longer exists.
    package mutating func loaded(_ work: SliceWork?, now: Timestamp) -> [Action] {
        guard phase == .loading else { return [] }
        self.work = work
        phase = .sending
        flushedAt = now
        failures = 0
        retryAt = nil
        if let work { prepare(work, now: now) }
        if isDraining { putBackReady() }
        return requests() + proceed(now)
    }

    /// The gate answered. `outage`: how long a stopped credential has been out of order; nil: its peer refuses it.
    package mutating func permitted(
        _ route: PushRoute,
        _ permit: Permit,
        outage: Duration? = .zero,
        now: Timestamp
    ) -> [Action] {
        guard phase == .sending, let index = queues.firstIndex(where: { $0.route == route }) else { return [] }
        let fullSince = queues[index].fullSince ?? now
        queues[index].fullSince = nil
        switch permit {
        case .go:
            queues[index].meteredSince = nil
            return send(queues[index].ready.count, from: index, now: now)
        case .metered(let count):
            let since = queues[index].meteredSince ?? now
            queues[index].meteredSince = since
            let sends = send(count, from: index, now: now)
            guard now < since || now - since >= policy.meteredStay else { return sends }
            putBackReady(of: index, for: .zero)
            return sends + proceed(now)
        case .probe:
            queues[index].isProbing = true
            return send(1, from: index, now: now)
        case .full(let wait) where wait <= policy.fullRetry && now >= fullSince && now - fullSince < wait:
            // The payloads are written, so asking again at the next tick is cheaper than starting over.
            queues[index].fullSince = fullSince
            return []
        case .full(let wait):
            for slot in queues[index].ready.flatMap(members) {
                targets[slot].state = .putBack(Wait(duration: wait, isPeers: false, isCrowded: wait > policy.fullRetry))
            }
            queues[index].ready = []
            return proceed(now)
        case .stopped(let wait):
            giveUpProbes(in: index, now: now)
            let asks = leave(index, for: wait, outage: outage, now: now)
            return asks + proceed(now)
        }
    }

    /// Some pushes have completed.
    package mutating func completed(_ batch: [PushCompletion], now: Timestamp) -> [Action] {
        guard phase == .sending else { return [] }
        let known = batch.filter { isOnItsWay($0.slot) }.map(judged)
        let actions = judgements(of: known)
        for completion in known where isOnItsWay(completion.slot) { apply(completion, now: now) }
        planCalls(now: now)
        for index in queues.indices where queues[index].onItsWay == 0 { queues[index].isProbing = false }
        return actions + requests() + proceed(now)
    }

    /// The transport has finished a send. Pushes of it that were never answered would otherwise keep the slice forever.
    package mutating func sendEnded(_ number: Int, now: Timestamp) -> [Action] {
        let lost = TransportError(.reset, "the transport ended without an answer")
        return completed(unanswered(lost) { $0 == number }, now: now)
    }

    /// Time passed.
    package mutating func ticked(now: Timestamp) -> [Action] {
        let asks = phase == .sending ? requests() : []
        guard let at = retryAt else { return asks + proceed(now) }
        // A wait longer than any backoff means that the clock was set back.
        if now < at && at - now <= policy.storeBackoff.cap * 2 { return asks }
        retryAt = nil
        return phase == .loading ? [.load] : asks + proceed(now)
    }

    /// The store answered the flush.
    package mutating func recorded(_ result: RecordResult, now: Timestamp) -> [Action] {
        guard let landed = flight, phase != .ended else { return [] }
        flight = nil
        switch result {
        case .recorded:
            failures = 0
            flushedAt = now
            return landed.isLast ? end() : proceed(now)
        case .fenced:
            guard let next = successor, next.epoch > landed.epoch else { return end() }
            // The calls of a node in between are not known here.
            if work?.isRouted ?? false, next.epoch > landed.epoch + 1 { return end() }
            adopt(next)
            takeBack(landed)
            return proceed(now)
        }
    }

    /// The store did not answer, or answered with an error. It is unknown whether the flush was written; repeating it is harmless.
    package mutating func recordFailed(now: Timestamp) -> [Action] {
        guard let lost = flight, phase != .ended else { return [] }
        flight = nil
        takeBack(lost)
        backOff(now)
        return []
    }

    /// The lease had expired, and this node claimed the slice again.
    package mutating func reclaimed(_ lease: SliceLease) {
        if lease.epoch > (successor?.epoch ?? self.lease.epoch) { successor = lease }
    }

    /// Another node holds the slice; `epoch` is the one that was refused.
    package mutating func fenced(epoch: Int64) -> [Action] {
        guard phase != .ended, epoch >= (successor?.epoch ?? lease.epoch) else { return [] }
        return end()
    }

    /// The node is stopping: nothing new is sent; pushes in flight may complete.
    package mutating func drainRequested(now: Timestamp) -> [Action] {
        guard !isDraining, phase != .ended else { return [] }
        isDraining = true
        if phase == .loading {
            phase = .ended
            return [.release, .finish]
        }
        putBackReady()
        return proceed(now)
    }

    /// The node cannot wait for answers any longer.
    package mutating func waitEnded(now: Timestamp) -> [Action] {
        let gone = TransportError(.canceled, "the node stopped before the answer came")
        return drainRequested(now: now) + completed(unanswered(gone) { _ in true }, now: now)
    }

    // MARK: Sending

    /// The requests to the gate that are due.
    func requests() -> [Action] {
        queues.filter { !$0.ready.isEmpty && !$0.isProbing }.map { .ask($0.route, pushes: $0.ready.count) }
    }

    private mutating func send(_ count: Int, from index: Int, now: Timestamp) -> [Action] {
        let slots = queues[index].ready.prefix(count)
        guard !slots.isEmpty else { return [] }
        queues[index].ready.removeFirst(slots.count)
        if queues[index].isUpstream { return slots.compactMap { call(first: $0, from: index, now: now) } }
        queues[index].onItsWay += slots.count
        sendCount += 1
        for slot in slots {
            targets[slot].state = .onItsWay(send: sendCount)
            targets[slot].sentAt = now
        }
        let pushes = slots.compactMap { targets[$0].push }
        return [.send(sendCount, pushes, over: queues[index].platform, through: queues[index].key)]
    }

    func isOnItsWay(_ slot: Int) -> Bool {
        guard targets.indices.contains(slot), case .onItsWay = targets[slot].state else { return false }
        return true
    }

    private func unanswered(_ error: TransportError, in isMeant: (_ send: Int) -> Bool) -> [PushCompletion] {
        targets.indices.compactMap { slot in
            guard case .onItsWay(let send) = targets[slot].state, isMeant(send) else { return nil }
            return PushCompletion(slot: slot, outcome: .indeterminate(error))
        }
    }

    /// The work that a crash of this node would repeat.
    package var openWork: OpenWork {
        OpenWork(
            pushes: queues.reduce(0) { $0 + $1.onItsWay },
            results: pending.count + (flight?.results.count ?? 0)
        )
    }

    /// Whether pushes are in flight.
    var hasPushesOnTheirWay: Bool { queues.contains { $0.onItsWay > 0 } }

    private mutating func putBackReady() {
        for index in queues.indices { putBackReady(of: index, for: .zero) }
    }

    mutating func putBackReady(of index: Int, for duration: Duration, heldBy key: CredentialKey? = nil) {
        for slot in queues[index].ready.flatMap(members) { putBack(slot, for: duration, isPeers: false, heldBy: key) }
        queues[index].ready = []
    }

    mutating func putBack(
        _ slot: Int,
        for duration: Duration,
        isPeers: Bool,
        heldBy key: CredentialKey? = nil,
        gaveUp: String? = nil,
        isExact: Bool = false
    ) {
        targets[slot].state = .putBack(
            Wait(duration: duration, isPeers: isPeers, heldBy: key, gaveUp: gaveUp, isExact: isExact)
        )
    }

    // MARK: Flushing

    /// The last step of every event: the last flush when nothing is left to wait for, or another flush when it is due.
    mutating func proceed(_ now: Timestamp) -> [Action] {
        guard phase == .sending || phase == .closing, flight == nil, retryAt == nil else { return [] }
        if queues.allSatisfy({ $0.onItsWay == 0 && $0.ready.isEmpty }) {
            phase = .closing
            return [flush(ending(now), isLast: true)]
        }
        // A tick comes every half interval, so a flush is due after half an interval; otherwise it could be later than a whole one.
        let isDue = flushedAt.map { now < $0 || now - $0 >= policy.flushInterval / 2 } ?? true
        guard !pending.isEmpty, isDue || pending.count >= policy.flushCount else { return [] }
        return [flush(SliceEnd(disposition: .goOn), isLast: false)]
    }

    /// Flushes all of `pending`, never a part: targets that are duplicates because of a push must not be written after that push.
    private mutating func flush(_ end: SliceEnd, isLast: Bool) -> Action {
        for result in pending { lease.markDone(result.index) }
        var progress = SliceProgress(
            lease: lease,
            app: work?.app ?? "",
            vendor: work?.notification.origin ?? .native,
            results: pending,
            disposition: end.disposition,
            countsAttempt: end.countsAttempt,
            retries: end.retries,
            movesDue: end.movesDue
        )
        if isLast { takeLateEnds() }
        progress.calls = endedCalls
        bind(&progress, isLast: isLast)
        flight = PendingFlush(epoch: lease.epoch, results: pending, calls: endedCalls, isLast: isLast)
        pending = []
        endedCalls = []
        return .record(progress)
    }

    private mutating func takeBack(_ flight: PendingFlush) {
        pending = flight.results + pending
        endedCalls = flight.calls + endedCalls
        if phase == .closing { phase = .sending }
    }

    private mutating func backOff(_ now: Timestamp) {
        failures += 1
        retryAt = now + policy.storeBackoff.delay(after: failures, jitter: settings.jitter)
    }

    /// Continues under the newer lease. Targets that another node settled in between, or that left the slice, are not pushed again. A target keeps its place
    /// in its slice for ever, so that the places of both leases mean the same targets.
    private mutating func adopt(_ next: SliceLease) {
        for index in targets.indices where next.isDone(index) && !lease.isDone(index) {
            switch targets[index].state {
            case .ready:
                withdraw(index)
                targets[index].state = .settled
            case .putBack: targets[index].state = .settled
            case .onItsWay, .settled: break
            }
            lease.markDone(index)
        }
        lease.epoch = next.epoch
        lease.attempts = max(lease.attempts, next.attempts)
        successor = nil
    }

    private mutating func end() -> [Action] {
        phase = .ended
        return [.finish]
    }
}
