import HTTP2
import Model

@testable import APNs

/// A pool machine with a manual clock, and its completions so far.
struct PoolDriver {
    var machine: ConnectionPoolMachine
    var now = ContinuousClock.now
    /// Completions by slot. No slot may appear twice.
    var completions: [PushCompletion] = []
    var lastTurn = PoolTurn()
    /// Tickets that the connections have and have not answered, by connection.
    var inFlight: [ConnectionID: [PoolTurn.Ticket]] = [:]

    init(
        limits: APNsLimits = .oneConnection,
        authentication: ConnectionPoolMachine.Authentication = .token,
        jitter: Double = 0.5
    ) {
        machine = ConnectionPoolMachine(limits: limits, authentication: authentication) { jitter }
    }

    /// A batch of `count` valid pushes whose slots start at `first`.
    func job(
        _ count: Int,
        first: Int = 0,
        client: TenantID = "acme",
        deadline: Duration = .seconds(20)
    ) -> SendJob {
        let (_, continuation) = AsyncStream<[PushCompletion]>.makeStream()
        return SendJob(
            (first..<first + count).map { makePush($0) },
            client: client,
            offeredAt: now,
            deadline: now + deadline,
            completions: continuation
        )
    }

    @discardableResult
    mutating func perform(_ event: (inout ConnectionPoolMachine, inout PoolTurn) -> Void) -> PoolTurn {
        var turn = PoolTurn()
        event(&machine, &turn)
        for batch in turn.finished { completions += batch.completions }
        for submission in turn.submissions { inFlight[submission.connection, default: []] += submission.tickets }
        lastTurn = turn
        return turn
    }

    @discardableResult
    mutating func enqueue(_ job: SendJob) -> PoolTurn {
        let run = FairQueue.Run(job, Array(job.pushes.indices))
        let now = now
        return perform { machine, turn in _ = machine.enqueued(run, now: now, &turn) }
    }

    mutating func obtain(_ token: ProviderToken, age: Duration = .zero) {
        let now = now
        perform { machine, turn in machine.tokenObtained(AgedProviderToken(token, age: age), now: now, &turn) }
    }

    /// Opens the connection that the machine dials, with this many credits.
    mutating func open(_ id: ConnectionID, credits: Int) {
        perform { machine, _ in machine.opened(id) }
        credit(id, credits)
    }

    mutating func credit(_ id: ConnectionID, _ credits: Int) {
        let now = now
        perform { machine, turn in machine.credited(id, credits, now: now, &turn) }
    }

    /// A pool with an open connection 1.
    mutating func start(credits: Int) {
        enqueue(job(1, first: 9_999))
        obtain(Self.token)
        open(1, credits: 1)
        answer(1, .accepted)
        completions = []
        credit(1, credits)
    }

    /// Answers everything in flight on a connection.
    mutating func answer(_ id: ConnectionID, _ answer: APNsAnswer) { end(id, .answered(answer)) }

    mutating func fail(_ id: ConnectionID, _ error: HTTP2Error) { end(id, .failed(error)) }

    private mutating func end(_ id: ConnectionID, _ verdict: ConnectionPoolMachine.Verdict) {
        let now = now
        let tickets = inFlight.removeValue(forKey: id) ?? []
        perform { machine, turn in
            for ticket in tickets { machine.completed(ticket.slot, verdict, now: now, &turn) }
        }
    }

    mutating func close(_ id: ConnectionID, _ error: HTTP2Error? = nil) {
        let now = now
        perform { machine, turn in
            machine.closed(id, error, now: now, &turn)
            machine.credited(id, 0, now: now, &turn)
        }
    }

    mutating func pass(_ duration: Duration) {
        now += duration
        let now = now
        perform { machine, turn in machine.woke(now: now, &turn) }
    }

    static let token = ProviderToken(teamID: "T", keyID: "K", issuedAt: Timestamp(seconds: 1), text: "first")
    static let nextToken = ProviderToken(teamID: "T", keyID: "K", issuedAt: Timestamp(seconds: 2), text: "second")
}

extension APNsAnswer {
    static let accepted = APNsAnswer(.accepted(TransportMessageID("id")))
}

extension APNsLimits {
    /// Limits for rules that are not about several connections.
    static var oneConnection: APNsLimits {
        var limits = APNsLimits()
        limits.maxConnections = 1
        return limits
    }
}

extension PoolTurn.Submission {
    /// The tickets that leave on the connection.
    var tickets: [PoolTurn.Ticket] { groups.flatMap(\.tickets) }
}

extension PoolTurn {
    /// The tickets that leave, on any connection.
    var tickets: [Ticket] { submissions.flatMap(\.tickets) }
    var pinged: [ConnectionID] {
        actions.compactMap { if case .ping(let id) = $0 { id } else { nil } }
    }
    /// The connections it dials.
    var dialled: [ConnectionID] {
        actions.compactMap { if case .connect(let id, _, _) = $0 { id } else { nil } }
    }
    var closedConnections: [ConnectionID] {
        actions.compactMap { if case .close(let id) = $0 { id } else { nil } }
    }
    /// The token requests, each with the token to replace.
    var tokenRequests: [ProviderToken?] {
        actions.compactMap { if case .obtainToken(let stale) = $0 { .some(stale) } else { nil } }
    }
    var wakes: [ContinuousClock.Instant] {
        actions.compactMap { if case .wake(let time) = $0 { time } else { nil } }
    }
    var hasEnded: Bool { actions.contains { if case .ended = $0 { true } else { false } } }
}
