internal import ApplePayload
internal import HTTP2
internal import Model
internal import NIOConcurrencyHelpers

/// The connections of one `PoolKey`: a `ConnectionPoolMachine` behind a lock, and the code that performs its decisions.
///
/// `APNsTransport` creates it when a credential is opened; `retire` ends it. Senders call it on their own threads, connections on their loop's thread; both
/// encode and submit outside the lock. Nothing here waits: tokens and timers are work for `APNsTransport.run`.
final class ConnectionPool: Sendable {
    /// The dependencies of a pool.
    struct Surroundings: Sendable {
        let limits: APNsLimits
        let configuration: ConnectionConfiguration
        /// The pool's connections are spread over these loops; one loop carries several.
        let loops: [EventLoop]
        /// The index of the loop for the first connection, so that pools do not all begin at the same loop.
        let firstLoop: Int
        /// Lets `APNsTransport.run` perform work that waits.
        let post: @Sendable (PoolWork) -> Void
        /// Called once, when a retired pool has nothing left.
        let ended: @Sendable (ConnectionPool) -> Void
    }

    private struct State {
        var machine: ConnectionPoolMachine
        var connections: [ConnectionID: Connection] = [:]
        /// Encoders that are not in use; they keep the memory they have allocated.
        var encoders: [PushEncoder] = []
    }

    /// 256 pushes are encoded per submission: they fill several TLS records, and the buffer needs at most 1.3 MiB.
    private static let submitCount = 256
    /// 2 buffers are kept: one for a sender, one for the loop.
    private static let keptEncoderCount = 2
    /// Two bodies of the usual size. If the peer's window is smaller, another connection is a better choice (docs/contracts/apns.md#13.2).
    private static let lowWindowBytes = 2 * AppleLimits.payloadBytes

    /// After 60 minutes without a push, a connection other than the first ends (docs/contracts/apns.md#13.6).
    private static let extraIdleClose = Duration.seconds(3_600)

    let key: PoolKey
    /// Signs the provider tokens; nil if the pool uses a certificate.
    let signer: ProviderTokenSigner?
    private let surroundings: Surroundings
    private let blocks: HeaderBlocks
    private let state: NIOLockedValueBox<State>

    init(key: PoolKey, signer: ProviderTokenSigner?, surroundings: Surroundings) {
        self.key = key
        self.signer = signer
        self.surroundings = surroundings
        blocks = HeaderBlocks(authority: key.endpoint.authority, limit: surroundings.limits.maxHeaderBlocks)
        let machine = ConnectionPoolMachine(
            limits: surroundings.limits,
            authentication: signer == nil ? .certificate : .token
        )
        state = NIOLockedValueBox(State(machine: machine))
    }

    var metrics: APNsMetrics {
        let (metrics, oldest) = state.withLockedValue { ($0.machine.metrics, $0.machine.queue.oldest) }
        var all = metrics
        if let oldest { all.oldestWait = max(.zero, oldest.duration(to: .now)) }
        return all
    }

    var status: APNsStatus {
        state.withLockedValue { state in
            APNsStatus(isReachable: state.machine.lastError == nil, lastError: state.machine.lastError)
        }
    }

    // MARK: Calls of senders

    /// Accepts pushes of a batch. Returns false if the pool is retired; then another pool has replaced it.
    func send(_ run: FairQueue.Run) -> Bool {
        let now = ContinuousClock.now
        var isTaken = false
        perform { turn, machine in isTaken = machine.enqueued(run, now: now, &turn) }
        return isTaken
    }

    /// The caller no longer waits for its batch. Waiting pushes complete as cancelled, in case a reader remains.
    func cancel(_ job: SendJob) {
        var dropped: [Int] = []
        perform { dropped = $1.canceled(job) }
        job.complete(dropped, .unsent(TransportError(.canceled)))
    }

    // MARK: Calls of the transport

    /// Keeps this number of connections open from here on.
    func keepWarm(_ count: Int) { perform { turn, machine in machine.warmed(count, now: .now, &turn) } }

    /// Retires the pool: connections finish their requests. Returns the pushes that were not sent.
    func retire() -> [FairQueue.Run] {
        var left: [FairQueue.Run] = []
        perform { turn, machine in left = machine.retired(&turn) }
        return left
    }

    /// Aborts all connections; pushes in flight complete as unknown.
    func abort() { perform { turn, machine in machine.aborted(&turn) } }

    /// Completes all pushes itself, because no connection will report again.
    func abandon() { perform { turn, machine in machine.abandoned(&turn) } }

    /// The scheduled wake-up time has come.
    func wake() { perform { turn, machine in machine.woke(now: .now, &turn) } }

    /// The scheduled look-up of a token is done.
    func tokenArrived(_ result: Result<AgedProviderToken, APNsError>) {
        perform { turn, machine in
            switch result {
            case .success(let token): machine.tokenObtained(token, now: .now, &turn)
            case .failure(let error): machine.tokenFailed(error, now: .now, &turn)
            }
        }
    }

    // MARK: Reports of connections

    /// Processes the report of one connection; runs on the connection's loop thread.
    func reported(_ id: ConnectionID, _ report: borrowing ConnectionReport, _ load: ConnectionLoad) {
        let answers = Self.answers(report.completions)
        let changes = report.changes.map { ($0, Self.reason($0)) }
        let credits = report.credits
        let now = ContinuousClock.now
        perform { turn, machine in
            for (change, _) in changes where change == .opened {
                machine.opened(id)
                if let handshake = load.handshake { machine.shookHands(isResumed: handshake == .resumed) }
            }
            machine.limited(id, to: load.streamLimit)
            for (slot, verdict) in answers { machine.completed(slot, verdict, now: now, &turn) }
            for (change, reason) in changes {
                switch change {
                case .goAway: machine.goneAway(id, reason: reason, now: now, &turn)
                case .exhausted, .retired: machine.leaving(id, isPlanned: true, now: now, &turn)
                case .closed(let error): machine.closed(id, error, now: now, &turn)
                case .opened, .streamLimit, .pingAnswered: break
                }
            }
            // This is last, because nothing may be sent on a connection that this report has closed.
            let isWindowLow = load.sendWindowBytes < Self.lowWindowBytes
            machine.credited(id, credits, isWindowLow: isWindowLow, now: now, &turn)
        }
    }

    /// Parses the answers outside the lock.
    private static func answers(_ completions: [Completion]) -> [(slot: UInt64, verdict: ConnectionPoolMachine.Verdict)]
    {
        completions.map { completion in
            switch completion.result {
            case .success(let response):
                if let id = APNsAnswer.plainYes(response) { return (completion.slot, .accepted(id)) }
                return (completion.slot, .answered(APNsAnswer(response)))
            case .failure(let error): return (completion.slot, .failed(error))
            }
        }
    }

    /// Apple's reason in a GOAWAY; nil if it contains none, or text that is not JSON.
    private static func reason(_ change: ConnectionChange) -> APNsReason? {
        guard case .goAway(let goAway) = change else { return nil }
        let reason = AnswerBody(goAway.debugData).reason
        return reason == .unknown("") ? nil : reason
    }

    // MARK: Performing decisions

    /// Decides inside the lock and acts outside it.
    private func perform(_ event: (inout PoolTurn, inout ConnectionPoolMachine) -> Void) {
        var turn = PoolTurn()
        state.withLockedValue { event(&turn, &$0.machine) }
        for submission in turn.submissions { submit(submission) }
        turn.deliver()
        for action in turn.actions { act(on: action) }
    }

    private func act(on action: PoolTurn.Action) {
        switch action {
        case .obtainToken(let stale):
            if let signer { surroundings.post(.obtainToken(self, signer, replacing: stale)) }
        case .connect(let id, let token, let isExtra): connect(id, token, isExtra: isExtra)
        case .setToken(let id, let token): setToken(token, on: connection(id))
        case .ping(let id): connection(id)?.ping()
        case .close(let id): connection(id)?.close()
        case .abort(let id): connection(id)?.abort()
        case .forget(let id): state.withLockedValue { $0.connections[id] = nil }
        case .wake(let time): surroundings.post(.wake(self, at: time))
        case .ended: surroundings.ended(self)
        }
    }

    private func connect(_ id: ConnectionID, _ token: ProviderToken?, isExtra: Bool) {
        let loop = surroundings.loops[(surroundings.firstLoop + id) % surroundings.loops.count]
        var configuration = surroundings.configuration
        // The last connection of a pool stays open, so that the next push need not wait for a handshake.
        if isExtra { configuration.timeouts.idleClose = configuration.timeouts.idleClose ?? Self.extraIdleClose }
        let connection = Connection(
            configuration,
            loop: loop,
            observer: PoolObserver(pool: self, id: id)
        )
        // The pool may have been retired since the decision; then the order to close this connection did not find it.
        let isWanted = state.withLockedValue { state in
            guard state.machine.isWanted(id) else { return false }
            state.connections[id] = connection
            return true
        }
        guard isWanted else { return perform { turn, machine in machine.closed(id, nil, now: .now, &turn) } }
        if let token { setToken(token, on: connection) }
        connection.open()
    }

    private func setToken(_ token: ProviderToken, on connection: Connection?) {
        // It cannot fail: a token consists of base64url and dots.
        guard let connection,
            let block = try? HeaderBlock(fields: [(APNsHeader.authorization, token.authorization)])
        else { return }
        connection.setDispatchFields(block)
    }

    private func connection(_ id: ConnectionID) -> Connection? { state.withLockedValue { $0.connections[id] } }

    // MARK: Submitting

    private func submit(_ submission: PoolTurn.Submission) {
        // Swapped out and in instead of copied: with a second reference, the buffer would be copied at the first byte.
        var encoder = PushEncoder(blocks: blocks)
        let connection = state.withLockedValue { state in
            if let last = state.encoders.indices.last {
                swap(&encoder, &state.encoders[last])
                state.encoders.removeLast()
            }
            return state.connections[submission.connection]
        }
        var refused: [UInt64] = []
        for group in submission.groups {
            var left = group.tickets[...]
            while let connection, refused.isEmpty, !left.isEmpty {
                let room = Self.submitCount - encoder.batch.count
                encode(left.prefix(room), of: group.job, with: &encoder)
                left = left.dropFirst(room)
                if encoder.batch.count >= Self.submitCount { refused = hand(&encoder.batch, to: connection) }
            }
            refused += left.map(\.slot)
        }
        if let connection { refused = hand(&encoder.batch, to: connection) + refused }
        state.withLockedValue { state in
            guard state.encoders.count < Self.keptEncoderCount else { return }
            state.encoders.append(PushEncoder(blocks: blocks))
            swap(&encoder, &state.encoders[state.encoders.count - 1])
        }
        if !refused.isEmpty { perform { turn, machine in machine.refused(refused, now: .now, &turn) } }
    }

    /// Empties the batch, and returns the requests that the connection did not take.
    private func hand(_ batch: inout RequestBatch, to connection: Connection) -> [UInt64] {
        _ = connection.submit(&batch)
        let refused = (0..<batch.count).map { batch.slot(at: $0) }
        batch.removeAll()
        return refused
    }

    /// `PushGuard` accepts only bytes that can be encoded. If encoding fails anyway, the credit returns with the connection's next report.
    private func encode(_ tickets: ArraySlice<PoolTurn.Ticket>, of job: SendJob, with encoder: inout PushEncoder) {
        let pushes = job.pushes
        let span = pushes.span
        for ticket in tickets {
            do throws(HTTP2Error) {
                try encoder.append(span, at: ticket.index, slot: ticket.slot, deadline: job.requestDeadline)
            } catch {
                perform { turn, machine in machine.completed(ticket.slot, .failed(error.unsent), now: .now, &turn) }
            }
        }
    }
}
