import HTTP2
import Model
import TestKit

@testable import APNs

/// A pool machine, peers with every allowed behavior, and clients, in virtual time: thousands of seconds in one.
///
/// Time is in microseconds since the start. All events come from one seeded generator, so a seed determines a run.
struct VirtualWorld {
    enum Event {
        case offer(client: Int)
        case woke
        case dialed(ConnectionID)
        case answer(ConnectionID, UInt64)
        case expired(ConnectionID, UInt64)
        case settings(ConnectionID, Int)
        case trouble(ConnectionID)
        case hangUp(ConnectionID)
        case token
    }

    /// The load of one client.
    struct Client {
        let name: TenantID
        let batch: ClosedRange<Int>
        let gap: ClosedRange<Int>
    }

    /// One push that was offered.
    struct Offer {
        let client: Int
        let deadline: Int
        /// The number of pushes that had left when it was offered.
        let leftBefore: Int
        /// The number of its own client's pushes that had not completed then, including itself.
        let ownAhead: Int
        /// The number of its own client's pushes that had completed then.
        let ownEnded: Int
        var hasLeft = false
        var isDone = false
    }

    static let clients = [
        Client(name: "flood", batch: 100...500, gap: 10_000...300_000),
        Client(name: "small", batch: 1...8, gap: 20_000...200_000),
        Client(name: "other", batch: 1...40, gap: 10_000...100_000),
    ]

    var random: SplitMix
    let limits: APNsLimits
    let goal: Int
    private let start = ContinuousClock.now
    private var machine: ConnectionPoolMachine
    private var events = EventQueue<Event>()
    private var now = 0
    private var connections: [ConnectionID: ModelConnection] = [:]
    private(set) var offers: [Offer] = []
    private(set) var tally = WorldTally()
    private let template = makePush(0)
    /// Per client: the offered pushes, and how many of them have not completed.
    private var offered = Array(repeating: 0, count: VirtualWorld.clients.count)
    private var waiting = Array(repeating: 0, count: VirtualWorld.clients.count)

    /// - Parameters:
    ///   - seed: the seed of the run.
    ///   - goal: the number of offered pushes.
    init(seed: UInt64, goal: Int) {
        random = SplitMix(state: seed)
        self.goal = goal
        var limits = APNsLimits()
        limits.maxQueuedPushes = 2_000
        limits.maxPushesInFlight = Int.random(in: 200...2_000, using: &random)
        limits.maxConnections = Int.random(in: 1...4, using: &random)
        self.limits = limits
        let jitter = SharedJitter(seed)
        machine = ConnectionPoolMachine(
            limits: limits,
            authentication: Bool.random(using: &random) ? .token : .certificate
        ) { jitter.next() }
        offers.reserveCapacity(goal)
        for client in Self.clients.indices { events.add(.offer(client: client), at: client) }
    }

    /// Runs until every push has completed and no events are left.
    mutating func run() -> WorldTally {
        if Bool.random(using: &random) { perform { $0.warmed(2, now: $1, &$2) } }
        while let (time, event) = events.next() {
            now = max(now, time)
            if offers.count >= goal, tally.completedCount == offers.count { break }
            happen(event)
            check()
        }
        tally.virtualSeconds = now / 1_000_000
        tally.connectionCount = machine.metrics.connectCount
        tally.note(lost: offers.indices.first { !offers[$0].isDone })
        perform { machine, _, turn in _ = machine.retired(&turn) }
        return tally
    }

    // MARK: Events

    private mutating func happen(_ event: Event) {
        switch event {
        case .offer(let client): offer(client)
        case .woke: perform { $0.woke(now: $1, &$2) }
        case .dialed(let id): dialed(id)
        case .answer(let id, let slot): answer(id, slot)
        case .expired(let id, let slot): expire(id, slot)
        case .settings(let id, let limit):
            guard connections[id]?.isOpen == true else { return }
            connections[id]?.streamLimit = limit
            startStreams(id)
            perform { machine, _, _ in machine.limited(id, to: limit) }
            credit(id)
        case .trouble(let id): trouble(id)
        case .hangUp(let id): close(id, HTTP2Error(.connectionLost))
        case .token: token()
        }
    }

    private mutating func offer(_ number: Int) {
        guard offers.count < goal else { return }
        let client = Self.clients[number]
        let count = Int.random(in: client.batch, using: &random)
        let first = offers.count
        let deadline = now + Int.random(in: 500_000...20_000_000, using: &random)
        var pushes: [Push] = []
        for slot in first..<first + count {
            var push = template
            push.slot = slot
            pushes.append(push)
            waiting[number] += 1
            let left = tally.leftCount
            offered[number] += 1
            offers.append(
                Offer(
                    client: number,
                    deadline: deadline,
                    leftBefore: left,
                    ownAhead: waiting[number],
                    ownEnded: offered[number] - waiting[number]
                )
            )
        }
        let (_, continuation) = AsyncStream<[PushCompletion]>.makeStream()
        let job = SendJob(
            pushes,
            client: client.name,
            offeredAt: instant(now),
            deadline: instant(deadline),
            completions: continuation
        )
        let run = FairQueue.Run(job, Array(pushes.indices))
        perform { machine, now, turn in _ = machine.enqueued(run, now: now, &turn) }
        if chance(0.002) {
            // A caller that is cancelled completes the pushes that had not left.
            var dropped: [Int] = []
            perform { machine, _, _ in dropped = machine.canceled(job) }
            for index in dropped { end(first + index, .unsent(TransportError(.canceled))) }
        }
        events.add(.offer(client: number), at: now + Int.random(in: client.gap, using: &random))
    }

    private mutating func dialed(_ id: ConnectionID) {
        guard connections[id] != nil else { return }
        guard !chance(0.1) else { return close(id, HTTP2Error(.connectFailed, isUnsent: true)) }
        connections[id]?.isOpen = true
        perform { machine, _, _ in
            machine.opened(id)
            machine.limited(id, to: 1)
        }
        // Some peers allow many streams at once; Apple does after it has accepted a token.
        let full = connections[id]?.fullLimit ?? 1
        events.add(.settings(id, full), at: now + (chance(0.3) ? 1 : Int.random(in: 20_000...400_000, using: &random)))
        if chance(0.7) { events.add(.trouble(id), at: now + Int.random(in: 100_000...60_000_000, using: &random)) }
        credit(id)
    }

    private mutating func token() {
        let age = Duration.seconds(Int.random(in: 0...3_000, using: &random))
        let isFine = !chance(0.1)
        let text = "token \(Int.random(in: 0...3, using: &random))"
        let token = ProviderToken(teamID: "T", keyID: "K", issuedAt: Timestamp(seconds: 1), text: text)
        perform { machine, now, turn in
            if isFine {
                machine.tokenObtained(AgedProviderToken(token, age: age), now: now, &turn)
            } else {
                machine.tokenFailed(APNsError(.tokenUnavailable), now: now, &turn)
            }
        }
    }

    // MARK: The peer

    private mutating func answer(_ id: ConnectionID, _ slot: UInt64) {
        guard let request = connections[id]?.streams.removeValue(forKey: slot) else { return }
        let verdict = randomVerdict()
        complete(id, [(request.slot, verdict)])
    }

    private mutating func expire(_ id: ConnectionID, _ slot: UInt64) {
        let late = HTTP2Error(.deadlineExceeded)
        if connections[id]?.streams.removeValue(forKey: slot) != nil {
            complete(id, [(slot, .failed(late))])
        } else if let place = connections[id]?.queued.firstIndex(where: { $0.slot == slot }) {
            connections[id]?.queued.remove(at: place)
            complete(id, [(slot, .failed(late.unsent))])
        }
    }

    private mutating func randomVerdict() -> ConnectionPoolMachine.Verdict {
        switch Int.random(in: 0..<1_000, using: &random) {
        case ..<940: .answered(APNsAnswer(.accepted(TransportMessageID("id"))))
        case ..<955: .answered(APNsAnswer(reason: .badDeviceToken, status: 400))
        case ..<962: .answered(APNsAnswer(reason: .tooManyRequests, status: 429))
        case ..<968: .answered(APNsAnswer(reason: .serviceUnavailable, status: 503))
        case ..<972: .answered(APNsAnswer(reason: .internalServerError, status: 500))
        case ..<974: .answered(APNsAnswer(reason: .shutdown, status: 503))
        case ..<975: .answered(APNsAnswer(reason: .idleTimeout, status: 400))
        case ..<977: .answered(APNsAnswer(reason: .expiredProviderToken, status: 403))
        case ..<978: .answered(APNsAnswer(reason: .tooManyProviderTokenUpdates, status: 429))
        case ..<979: .answered(APNsAnswer(reason: .unrelatedKeyIDInToken, status: 403))
        case ..<992: .failed(HTTP2Error(.refusedStream, isUnsent: true))
        default: .failed(HTTP2Error(.streamReset, peerCode: 2))
        }
    }

    /// A fault: GOAWAY with some last stream, sometimes twice; a limit of 1 for a while; or the end of the
    /// connection.
    private mutating func trouble(_ id: ConnectionID) {
        guard let connection = connections[id], connection.isOpen, !connection.isLeaving else { return }
        switch Int.random(in: 0..<4, using: &random) {
        case 0, 1:
            connections[id]?.isLeaving = true
            // Queued requests and a part of the open ones were certainly not processed.
            let above = connection.streams.keys.sorted().filter { _ in chance(0.5) }
            var ended = above.map { ($0, ConnectionPoolMachine.Verdict.failed(HTTP2Error(.goAway, isUnsent: true))) }
            ended += connection.queued.map { ($0.slot, .failed(HTTP2Error(.goAway, isUnsent: true))) }
            for slot in above { connections[id]?.streams[slot] = nil }
            connections[id]?.queued = []
            let reason: APNsReason? = chance(0.1) ? .badCertificateEnvironment : chance(0.5) ? .shutdown : nil
            let isTwice = chance(0.3)
            perform { machine, now, turn in
                for (slot, verdict) in ended { machine.completed(slot, verdict, now: now, &turn) }
                machine.goneAway(id, reason: reason, now: now, &turn)
                if isTwice { machine.goneAway(id, reason: reason, now: now, &turn) }
                machine.credited(id, 0, now: now, &turn)
            }
            events.add(.hangUp(id), at: now + Int.random(in: 0...2_000_000, using: &random))
        case 2:
            // As after a refused push in 2016: the limit is one stream, and open streams beyond it are refused.
            connections[id]?.streamLimit = 1
            let above = connection.streams.keys.sorted().dropFirst()
            for slot in above { connections[id]?.streams[slot] = nil }
            complete(id, above.map { ($0, .failed(HTTP2Error(.refusedStream, isUnsent: true))) })
            events.add(.settings(id, connection.fullLimit), at: now + 300_000)
            events.add(.trouble(id), at: now + Int.random(in: 1_000_000...30_000_000, using: &random))
        default:
            close(id, HTTP2Error(.connectionLost))
        }
    }

    private mutating func close(_ id: ConnectionID, _ error: HTTP2Error?) {
        guard let connection = connections.removeValue(forKey: id) else { return }
        let lost = HTTP2Error(.connectionLost)
        var ended = connection.streams.keys.sorted().map { ($0, ConnectionPoolMachine.Verdict.failed(lost)) }
        ended += connection.queued.map { ($0.slot, .failed(lost.unsent)) }
        perform { machine, now, turn in
            for (slot, verdict) in ended { machine.completed(slot, verdict, now: now, &turn) }
            machine.closed(id, error, now: now, &turn)
            machine.credited(id, 0, now: now, &turn)
        }
    }

    private mutating func complete(_ id: ConnectionID, _ ended: [(UInt64, ConnectionPoolMachine.Verdict)]) {
        startStreams(id)
        let credits = connections[id]?.credits ?? 0
        perform { machine, now, turn in
            for (slot, verdict) in ended { machine.completed(slot, verdict, now: now, &turn) }
            machine.credited(id, credits, now: now, &turn)
        }
        closeIfDrained(id)
    }

    private mutating func credit(_ id: ConnectionID) {
        let credits = connections[id]?.credits ?? 0
        perform { machine, now, turn in machine.credited(id, credits, now: now, &turn) }
    }

    private mutating func closeIfDrained(_ id: ConnectionID) {
        guard let connection = connections[id], connection.isLeaving, connection.streams.isEmpty,
            connection.queued.isEmpty
        else { return }
        close(id, nil)
    }

    private mutating func startStreams(_ id: ConnectionID) {
        while let connection = connections[id], connection.isOpen, connection.streams.count < connection.streamLimit,
            !connection.queued.isEmpty
        {
            guard let request = connections[id]?.queued.removeFirst() else { return }
            connections[id]?.streams[request.slot] = request
            // One in a thousand is never answered.
            guard !chance(0.001) else { continue }
            events.add(.answer(id, request.slot), at: now + Int.random(in: 5_000...150_000, using: &random))
        }
    }

    // MARK: The machine

    private mutating func perform(
        _ event: (inout ConnectionPoolMachine, ContinuousClock.Instant, inout PoolTurn) -> Void
    ) {
        var turn = PoolTurn()
        event(&machine, instant(now), &turn)
        tally.turnBegins()
        for submission in turn.submissions { take(submission) }
        for batch in turn.finished { for completion in batch.completions { end(completion.slot, completion.outcome) } }
        for action in turn.actions { act(action) }
    }

    private mutating func take(_ submission: PoolTurn.Submission) {
        let id = submission.connection
        // A report can be older than a submission of another thread. Then the connection accepts less than it
        // promised.
        var room = connections[id]?.credits ?? 0
        if chance(0.01) { room /= 2 }
        var refused: [UInt64] = []
        for (job, ticket) in submission.groups.flatMap({ group in group.tickets.map { (group.job, $0) } }) {
            let number = job.pushes[ticket.index].slot
            leave(number)
            guard room > 0 else {
                refused.append(ticket.slot)
                continue
            }
            room -= 1
            let deadline = offers[number].deadline
            connections[id]?.queued.append(ModelConnection.Request(slot: ticket.slot, deadline: deadline))
            events.add(.expired(id, ticket.slot), at: deadline)
        }
        startStreams(id)
        if !refused.isEmpty {
            perform { machine, now, turn in machine.refused(refused, now: now, &turn) }
            credit(id)
        }
    }

    private mutating func leave(_ number: Int) {
        guard !offers[number].hasLeft else { return }
        offers[number].hasLeft = true
        // The batches of a client take turns, so every push that it has offered since may go first.
        let client = offers[number].client
        tally.left(offers[number], of: Self.clients[client].name, ownTurns: offered[client] - offers[number].ownEnded)
    }

    private mutating func act(_ action: PoolTurn.Action) {
        switch action {
        case .obtainToken: events.add(.token, at: now + Int.random(in: 1_000...300_000, using: &random))
        case .connect(let id, _, _):
            connections[id] = ModelConnection(fullLimit: Int.random(in: 20...300, using: &random))
            events.add(.dialed(id), at: now + Int.random(in: 10_000...200_000, using: &random))
        case .close(let id):
            guard connections[id]?.isOpen == true else { return close(id, nil) }
            connections[id]?.isLeaving = true
            let unsent = HTTP2Error(.notSent, isUnsent: true)
            let queued = connections[id]?.queued ?? []
            connections[id]?.queued = []
            complete(id, queued.map { ($0.slot, .failed(unsent)) })
        case .abort(let id): close(id, nil)
        case .wake(let time): events.add(.woke, at: microseconds(time))
        case .setToken, .ping, .forget, .ended: break
        }
    }

    // MARK: Checks

    private mutating func end(_ number: Int, _ outcome: Outcome) {
        if offers[number].isDone { tally.doubled.append(number) }
        if !offers[number].isDone { waiting[offers[number].client] -= 1 }
        offers[number].isDone = true
        tally.ended(offers[number], of: Self.clients[offers[number].client].name, outcome, at: now)
    }

    private mutating func check() {
        let held = machine.queue.count + machine.slots.count
        tally.heldMost = max(tally.heldMost, held)
    }

    private mutating func chance(_ probability: Double) -> Bool {
        Double.random(in: 0..<1, using: &random) < probability
    }

    private func instant(_ time: Int) -> ContinuousClock.Instant { start + .microseconds(time) }

    /// Rounded up, so that no event is early.
    private func microseconds(_ time: ContinuousClock.Instant) -> Int {
        let parts = start.duration(to: time).components
        return Int(parts.seconds) * 1_000_000 + Int((parts.attoseconds + 999_999_999_999) / 1_000_000_000_000)
    }
}
