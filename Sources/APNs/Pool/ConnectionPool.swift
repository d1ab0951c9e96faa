internal import ApplePayload
internal import HTTP2
internal import Model
internal import NIOConcurrencyHelpers

/// The connections of one `PoolKey`: a `PoolMachine` behind a lock, and the hands that do what it decides.
///
/// Made by `APNsTransport` when a credential is opened, ended by `retire`. Senders call it on their own threads, connections on their
/// loop's; both encode and submit outside the lock. Nothing here waits: tokens and timers are work for `APNsTransport.run`.
final class ConnectionPool: Sendable {
    /// What a pool needs from around it.
    struct Surroundings: Sendable {
        let limits: APNsLimits
        let configuration: ConnectionConfiguration
        /// Its connections are spread over these; one loop carries several.
        let loops: [EventLoop]
        /// Which loop has its first connection, so that pools do not all begin at the same one.
        let firstLoop: Int
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
    /// Two bodies of the usual size. With less in the peer's window another connection is better (docs/contracts/apns.md#13.2).
    private static let lowWindowBytes = 2 * AppleLimits.payloadBytes

    /// 60 minutes without a push, then a connection beyond the first ends (docs/contracts/apns.md#13.6).
    private static let extraIdleClose = Duration.seconds(3_600)

    let key: PoolKey
    /// Signs its provider tokens; nil where a certificate speaks.
    let signer: ProviderTokenSigner?
    private let surroundings: Surroundings
    private let blocks: HeaderBlocks
    private let state: NIOLockedValueBox<State>

    init(key: PoolKey, signer: ProviderTokenSigner?, surroundings: Surroundings) {
        self.key = key
        self.signer = signer
        self.surroundings = surroundings
        blocks = HeaderBlocks(authority: key.endpoint.authority, limit: surroundings.limits.maxHeaderBlocks)
        let machine = PoolMachine(
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

    // MARK: From senders

    /// Takes pushes of a batch. False if the pool is retired: then another has taken its place.
    func send(_ run: FairQueue.Run) -> Bool {
        let now = ContinuousClock.now
        var isTaken = false
        perform { turn, machine in isTaken = machine.enqueued(run, now: now, &turn) }
        return isTaken
    }

    /// The caller has let go of its batch. What was waiting completes as cancelled, for whoever still listens.
    func cancel(_ job: SendJob) {
        var dropped: [Int] = []
        perform { dropped = $1.canceled(job) }
        job.complete(dropped, .unsent(TransportError(.canceled)))
    }

    // MARK: From the transport

    /// Keeps so many connections open from now on.
    func keepWarm(_ count: Int) { perform { turn, machine in machine.warmed(count, now: .now, &turn) } }

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
            // Last: nothing leaves on a connection that this report says is gone.
            let isWindowLow = load.sendWindowBytes < Self.lowWindowBytes
            machine.credited(id, credits, isWindowLow: isWindowLow, now: now, &turn)
        }
    }

    /// Read outside the lock.
    private static func answers(_ completions: [Completion]) -> [(slot: UInt64, verdict: PoolMachine.Verdict)] {
        completions.map { completion in
            switch completion.result {
            case .success(let response):
                if let id = APNsAnswer.plainYes(response) { return (completion.slot, .accepted(id)) }
                return (completion.slot, .answered(APNsAnswer(response)))
            case .failure(let error): return (completion.slot, .failed(error))
            }
        }
    }

    /// Apple's reason in a GOAWAY; nil if it gave none, or text that is no JSON.
    private static func reason(_ change: ConnectionChange) -> APNsReason? {
        guard case .goAway(let goAway) = change else { return nil }
        let reason = AnswerBody(goAway.debugData).reason
        return reason == .unknown("") ? nil : reason
    }

    // MARK: Doing

    /// Decides inside the lock, acts outside it.
    private func perform(_ event: (inout PoolTurn, inout PoolMachine) -> Void) {
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
        // The last one of a pool stays, so that the next push need not wait for a handshake.
        if isExtra { configuration.timeouts.idleClose = configuration.timeouts.idleClose ?? Self.extraIdleClose }
        let connection = Connection(
            configuration,
            loop: loop,
            observer: PoolObserver(pool: self, id: id)
        )
        // Retired since it was decided: the order to close it found nothing to close.
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
        // It cannot fail: a token is base64url and dots.
        guard let connection,
            let block = try? HeaderBlock(fields: [(APNsHeader.authorization, token.authorization)])
        else { return }
        connection.setDispatchFields(block)
    }

    private func connection(_ id: ConnectionID) -> Connection? { state.withLockedValue { $0.connections[id] } }

    // MARK: Submitting

    private func submit(_ submission: PoolTurn.Submission) {
        // Swapped out and in, never copied: a second reference to its buffer would copy that at the first byte.
        var encoder = PushEncoder(blocks: blocks)
        let connection = state.withLockedValue { state in
            if let last = state.encoders.indices.last {
                swap(&encoder, &state.encoders[last])
                state.encoders.removeLast()
            }
            return state.connections[submission.connection]
        }
        var refused: [UInt64] = []
        for sheaf in submission.sheaves {
            var left = sheaf.tickets[...]
            while let connection, refused.isEmpty, !left.isEmpty {
                let room = Self.submitCount - encoder.batch.count
                encode(left.prefix(room), of: sheaf.job, with: &encoder)
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

    /// Empties the batch, and says what the connection did not take of it.
    private func hand(_ batch: inout RequestBatch, to connection: Connection) -> [UInt64] {
        _ = connection.submit(&batch)
        let refused = (0..<batch.count).map { batch.slot(at: $0) }
        batch.removeAll()
        return refused
    }

    /// `PushGuard` lets only bytes through that encode; should one not, its credit comes back with the connection's next report.
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
