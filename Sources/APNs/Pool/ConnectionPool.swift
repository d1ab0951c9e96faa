internal import HTTP2
internal import Model
internal import NIOConcurrencyHelpers

/// The connections of one (host, team, key): a `PoolMachine` behind a lock, and the hands that do what it decides.
///
/// Made by `APNsTransport` when a credential is opened, ended by `retire`. Senders call it on their own threads, connections on their
/// loop's; both encode and submit outside the lock. Nothing here waits: tokens and timers are work for `APNsTransport.run`.
final class ConnectionPool: Sendable {
    /// What may share a connection: APNs ties one to the team and the key of its first push (apns.md §3).
    struct Key: Hashable, Sendable {
        let endpoint: APNsEndpoint
        let signer: ProviderTokenSigner.ID
        let trustRootsPEM: [UInt8]?
    }

    /// What a pool needs from around it.
    struct Surroundings: Sendable {
        let limits: APNsLimits
        let configuration: ConnectionConfiguration
        let loop: EventLoop
        /// Has `APNsTransport.run` do something that waits.
        let post: @Sendable (PoolWork) -> Void
        /// Told once, when a retired pool has nothing left.
        let ended: @Sendable (ConnectionPool) -> Void
    }

    private struct State {
        var machine: PoolMachine
        var connections: [ConnectionID: Connection] = [:]
        /// Encoders that are not in use, with the memory they have grown.
        var encoders: [PushEncoder] = []
    }

    /// 256 pushes are encoded before they are handed over: several TLS records full, and 1.3 MiB at worst for the buffer.
    private static let submitCount = 256
    /// 2 buffers are kept: one for a sender, one for the loop.
    private static let keptEncoderCount = 2

    let key: Key
    let signer: ProviderTokenSigner
    private let surroundings: Surroundings
    private let blocks: HeaderBlocks
    private let state: NIOLockedValueBox<State>

    init(key: Key, signer: ProviderTokenSigner, surroundings: Surroundings) {
        self.key = key
        self.signer = signer
        self.surroundings = surroundings
        blocks = HeaderBlocks(authority: key.endpoint.authority, limit: surroundings.limits.maxHeaderBlocks)
        state = NIOLockedValueBox(State(machine: PoolMachine(limits: surroundings.limits)))
    }

    var metrics: APNsMetrics { state.withLockedValue { $0.machine.metrics } }

    var status: APNsStatus {
        state.withLockedValue { state in
            let isReachable = state.machine.lastError == nil
            return APNsStatus(isReachable: isReachable, lastError: state.machine.lastError)
        }
    }

    // MARK: From senders

    /// Takes pushes of a batch. False if the pool is retired: then another has taken its place.
    func send(_ run: FairQueue.Run) -> Bool {
        let now = ContinuousClock.now
        var isTaken = false
        perform { turn, machine in isTaken = machine.enqueued(run, now: now, &turn) }
        return isTaken
    }

    /// The caller has let go of its stream.
    func cancel(_ job: SendJob) { perform { $1.canceled(job) } }

    // MARK: From the transport

    /// Ends it: connections finish what they have. Gives back what had not been sent.
    func retire() -> [FairQueue.Run] {
        var left: [FairQueue.Run] = []
        perform { turn, machine in left = machine.retired(&turn) }
        return left
    }

    /// Breaks its connections; what was in flight completes as unknown.
    func abort() { perform { turn, machine in machine.aborted(&turn) } }

    /// Completes everything itself, because nobody reports any more.
    func abandon() { perform { turn, machine in machine.abandoned(&turn) } }

    /// The ordered time has come.
    func wake() { perform { turn, machine in machine.woke(now: .now, &turn) } }

    /// The ordered look-up is done.
    func tokenArrived(_ result: Result<AgedProviderToken, APNsError>) {
        perform { turn, machine in
            switch result {
            case .success(let token): machine.tokenObtained(token, now: .now, &turn)
            case .failure(let error): machine.tokenFailed(error, now: .now, &turn)
            }
        }
    }

    // MARK: From connections

    /// What happened on one connection since its last report; on its loop's thread.
    func reported(_ id: ConnectionID, _ report: borrowing ConnectionReport) {
        let verdicts = report.completions.map { ($0.slot, Self.verdict($0.result)) }
        let changes = report.changes
        let credits = report.credits
        let now = ContinuousClock.now
        perform { turn, machine in
            for change in changes where change == .opened { machine.opened(id) }
            for (slot, verdict) in verdicts { machine.completed(slot, verdict, now: now, &turn) }
            for change in changes {
                switch change {
                case .goAway, .exhausted, .retired: machine.leaving(id, now: now, &turn)
                case .closed(let error): machine.closed(id, error, now: now, &turn)
                case .opened, .streamLimit, .pingAnswered: break
                }
            }
            // Last: nothing leaves on a connection that this report says is gone.
            machine.credited(id, credits, now: now, &turn)
        }
    }

    private static func verdict(_ result: Result<Response, HTTP2Error>) -> PoolMachine.Verdict {
        switch result {
        case .success(let response): .answered(APNsAnswer(response))
        case .failure(let error): .failed(error)
        }
    }

    // MARK: Doing

    /// Decides inside the lock, acts outside it.
    private func perform(_ event: (inout PoolTurn, inout PoolMachine) -> Void) {
        var turn = PoolTurn()
        state.withLockedValue { event(&turn, &$0.machine) }
        if let id = turn.connection { submit(turn.tickets[...], on: id) }
        turn.deliver()
        for action in turn.actions { act(on: action) }
    }

    private func act(on action: PoolTurn.Action) {
        switch action {
        case .obtainToken(let stale): surroundings.post(.obtainToken(self, replacing: stale))
        case .connect(let id, let token): connect(id, token)
        case .setToken(let id, let token): setToken(token, on: connection(id))
        case .close(let id): connection(id)?.close()
        case .abort(let id): connection(id)?.abort()
        case .forget(let id): state.withLockedValue { $0.connections[id] = nil }
        case .wake(let time): surroundings.post(.wake(self, at: time))
        case .ended: surroundings.ended(self)
        }
    }

    private func connect(_ id: ConnectionID, _ token: ProviderToken) {
        let connection = Connection(
            surroundings.configuration,
            loop: surroundings.loop,
            observer: PoolObserver(pool: self, id: id)
        )
        // Retired since it was decided: the order to close it found nothing to close.
        let isWanted = state.withLockedValue { state in
            guard state.machine.phase == .connecting(id) else { return false }
            state.connections[id] = connection
            return true
        }
        guard isWanted else { return perform { turn, machine in machine.closed(id, nil, now: .now, &turn) } }
        setToken(token, on: connection)
        connection.open()
    }

    private func setToken(_ token: ProviderToken, on connection: Connection?) {
        // It cannot fail: a token is base64url and dots.
        guard let connection,
            let block = try? HeaderBlock(fields: [(APNsHeader.authorization, token.authorization)])
        else { return }
        connection.setDispatchFields(block)
    }

    private func connection(_ id: ConnectionID) -> Connection? { state.withLockedValue { $0.connections[id] } }

    // MARK: Submitting

    private func submit(_ tickets: ArraySlice<PoolTurn.Ticket>, on id: ConnectionID) {
        guard !tickets.isEmpty else { return }
        let (connection, spare) = state.withLockedValue { ($0.connections[id], $0.encoders.popLast()) }
        var encoder = spare ?? PushEncoder(blocks: blocks)
        var left = tickets
        while let connection, !left.isEmpty {
            for ticket in left.prefix(Self.submitCount) { encode(ticket, with: &encoder) }
            left = left.dropFirst(Self.submitCount)
            _ = connection.submit(&encoder.batch)
            guard encoder.batch.isEmpty else { break }
        }
        var refused = (0..<encoder.batch.count).map { encoder.batch.slot(at: $0) }
        refused += left.map(\.slot)
        encoder.batch.removeAll()
        let kept = encoder
        state.withLockedValue { state in
            if state.encoders.count < Self.keptEncoderCount { state.encoders.append(kept) }
        }
        if !refused.isEmpty { perform { turn, machine in machine.refused(refused, now: .now, &turn) } }
    }

    /// `PushGuard` lets only bytes through that encode; should one not, its credit comes back with the connection's next report.
    private func encode(_ ticket: PoolTurn.Ticket, with encoder: inout PushEncoder) {
        do throws(HTTP2Error) {
            try encoder.append(ticket.job.pushes[ticket.index], slot: ticket.slot, deadline: ticket.job.deadline)
        } catch {
            perform { turn, machine in machine.completed(ticket.slot, .failed(error.unsent), now: .now, &turn) }
        }
    }
}

/// What a pool has the transport do, because it waits.
enum PoolWork: Sendable {
    case obtainToken(ConnectionPool, replacing: ProviderToken?)
    case wake(ConnectionPool, at: ContinuousClock.Instant)
    /// No credential uses this signer any more.
    case forget(ProviderTokenSigner.ID)
}

/// Tells a pool which of its connections reports. Held by the connection; holds the pool until the connection has ended.
private final class PoolObserver: ConnectionObserver {
    private let pool: ConnectionPool
    private let id: ConnectionID

    init(pool: ConnectionPool, id: ConnectionID) {
        self.pool = pool
        self.id = id
    }

    func connection(_ connection: Connection, reported report: borrowing ConnectionReport) {
        pool.reported(id, report)
    }
}
