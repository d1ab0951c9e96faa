internal import CLinuxEvents
internal import NIOConcurrencyHelpers

/// Runs a connection on its loop: it performs the decisions of `ConnectionMachine` on the socket, the TLS engine and the session.
///
/// Created by `Connection.open`; the loop retains it until the last report.
// @unchecked: its state is plain. Protected by: every call except `init` and `refused` is made on the loop's thread; `init` runs before the first post, and
// `refused` only if there was no post. Callers: the loop, and `Connection.open`.
@safe
final class ConnectionDriver: LoopMember, @unchecked Sendable {
    let connection: Connection
    var machine: ConnectionMachine
    var dial = Dial()
    private var socket: Socket?
    private var address: SocketAddress?
    private var token: UInt64 = 0
    private var isWaitingToWrite = false
    private var tls: TLSEngine?
    private var session: Session?
    private var dispatched: HeaderBlock?
    /// Frames that are joined before they go to TLS.
    private var plain = RawBytes()
    /// Swapped with the mailbox's inbox.
    private var inbox = RequestBatch()
    private var report = ConnectionReport()
    private var dialDuration: Duration?
    private var pingDuration: Duration?

    init(_ connection: Connection) {
        self.connection = connection
        let timeouts = connection.configuration.timeouts.bounded
        let lifetime = timeouts.lifetime(chance: Double.random(in: 0...1))
        machine = ConnectionMachine(timeouts: timeouts, lifetime: lifetime, now: .now)
    }

    /// Called if the loop ended before it could take the connection.
    func refused() {
        _ = machine.failed(nil)
        finish(HTTP2Error(.closed, isUnsent: true, underlying: "the event loop has ended"), nil)
        publish()
    }

    // MARK: LoopMember

    var nextDeadline: ContinuousClock.Instant? {
        guard let ofMachine = machine.nextDeadline else { return nil }
        return session?.nextDeadline.map { min($0, ofMachine) } ?? ofMachine
    }

    func woken(_ core: LoopCore) {
        // A look-up may end after the connection closed.
        if machine.isClosed { return core.leave(self) }
        let mail = connection.mailbox.withLockedValue { $0.take(&inbox) }
        dispatched = mail.dispatched
        if mail.wishes.contains(.open) { perform(machine.openRequested(now: core.now), core) }
        if let addresses = mail.addresses { resolved(addresses, core) }
        enqueueInbox()
        if !mail.canceled.isEmpty { session?.cancel(mail.canceled) }
        if mail.wishes.contains(.ping) { perform(machine.pingRequested(now: core.now), core) }
        if mail.wishes.contains(.close) { perform(machine.drainRequested(now: core.now), core) }
        if mail.wishes.contains(.abort) { perform(machine.failed(HTTP2Error(.closed)), core) }
        service(core)
    }

    func socketReady(_ token: UInt64, _ mask: UInt32, _ core: LoopCore) {
        if case .connecting = machine.state {
            attemptDecided(token, core)
        } else if token == self.token, mask & ~EPOLLOUT.rawValue != 0 {
            guarded(core) { () throws(HTTP2Error) in try readSocket(core) }
        }
        service(core)
    }

    func deadlineReached(_ core: LoopCore) {
        session?.expire(at: core.now)
        perform(machine.timePassed(now: core.now), core)
        service(core)
    }

    func loopEnds(_ core: LoopCore) {
        enqueueInbox()
        perform(machine.failed(HTTP2Error(.closed, underlying: "the event loop ends")), core)
        service(core)
    }

    // MARK: Decisions of the machine

    func perform(_ action: ConnectionMachine.Action, _ core: LoopCore) {
        switch action {
        case .none: break
        case .resolve: resolve(core)
        case .connect(let index): connect(to: index, core)
        case .startTLS: startTLS(core)
        case .announceOpen: startSession(core)
        case .retire(let reason):
            report.changes.append(.retired(reason))
            session?.goAway()
        case .startDrain: session?.goAway()
        case .ping: session?.ping()
        case .announcePing(let duration):
            pingDuration = duration
            report.changes.append(.pingAnswered(duration))
        case .close(let error): finish(error, core)
        }
    }

    /// Runs a step; a failure ends the connection.
    func guarded(_ core: LoopCore, _ step: () throws(HTTP2Error) -> Void) {
        do {
            try step()
        } catch {
            // Process the events before the failure first: after a GOAWAY and the last answer, a closed socket counts as an orderly end.
            takeEvents(core)
            countStreams(core)
            perform(machine.failed(error), core)
        }
    }

    // MARK: From dialling to open

    /// Continues with the attempt that succeeded.
    func use(_ attempt: Dial.Attempt) {
        (socket, token, address) = (attempt.socket, attempt.token, attempt.address)
        isWaitingToWrite = true
        AddressBook.shared.connected(attempt.address)
    }

    private func startTLS(_ core: LoopCore) {
        let configuration = connection.configuration
        let peer = TLSSessionCache.Key(
            host: configuration.host,
            port: configuration.port,
            serverName: configuration.serverName ?? configuration.host
        )
        guarded(core) { () throws(HTTP2Error) in
            let engine = try TLSEngine(context: configuration.tls, peer: peer)
            tls = engine
            _ = try engine.handshake()
        }
    }

    private func startSession(_ core: LoopCore) {
        let configuration = connection.configuration
        guarded(core) { () throws(HTTP2Error) in
            session = try Session(
                limits: configuration.limits,
                initialStreamLimit: configuration.initialStreamLimit,
                collectedFields: configuration.collectedFields
            )
            dialDuration = dial.startedAt?.duration(to: core.now)
            report.changes.append(.opened)
        }
    }

    // MARK: Reading

    private func readSocket(_ core: LoopCore) throws(HTTP2Error) {
        for _ in 0..<HTTP2Limits.maxReadsPerTurn {
            guard let socket, let tls else { return }
            switch unsafe try socket.receive(into: core.cipherScratch) {
            case .wouldBlock: return
            case .ended: throw HTTP2Error(.connectionLost, underlying: "the peer closed the connection")
            case .bytes(let count):
                machine.bytesReceived(now: core.now)
                try unsafe tls.received(UnsafeBufferPointer(rebasing: core.cipherScratch[..<count]))
                try decrypt(tls, core)
                if unsafe count < core.cipherScratch.count { return }
            }
        }
    }

    private func decrypt(_ tls: TLSEngine, _ core: LoopCore) throws(HTTP2Error) {
        if case .handshaking = machine.state {
            guard try tls.handshake() else { return }
            perform(machine.handshakeDone(now: core.now), core)
        }
        while !machine.isClosed {
            switch unsafe try tls.read(into: core.plainScratch) {
            case .wantsMore: return
            case .ended: throw HTTP2Error(.connectionLost, underlying: "the peer closed the TLS session")
            case .bytes(let count):
                guard let session else { return }
                try unsafe session.receive(UnsafeBufferPointer(rebasing: core.plainScratch[..<count]))
            }
        }
    }

    // MARK: After each call

    /// Writes pending output, passes the session's events to the machine, and reports.
    private func service(_ core: LoopCore) {
        guarded(core) { () throws(HTTP2Error) in try flush(core) }
        takeEvents(core)
        countStreams(core)
        if let session, session.isFinished { perform(machine.failed(HTTP2Error(.protocolError)), core) }
        publish()
    }

    private func countStreams(_ core: LoopCore) {
        if let session { perform(machine.streamsCounted(session.openCount, now: core.now), core) }
    }

    private func flush(_ core: LoopCore) throws(HTTP2Error) {
        guard let tls, let socket, !machine.isClosed else { return }
        if case .connecting = machine.state { return }
        var mayHaveMore = true
        while mayHaveMore {
            mayHaveMore = try fill(tls)
            try send(tls, socket)
            // The remaining bytes wait for epoll, which calls this function again.
            if !tls.output.records.isEmpty { break }
        }
        try watchForRoom(tls, socket, core)
    }

    /// Encrypts the session's output until a few records wait for the socket, so that one call writes them all. Returns true if it stopped for that reason.
    private func fill(_ tls: TLSEngine) throws(HTTP2Error) -> Bool {
        while tls.output.records.unreadCount < connection.configuration.limits.maxPendingOutputBytes {
            try session?.write(into: &plain, dispatched: dispatched)
            let isLast = plain.unreadCount < HTTP2Limits.writeChunkBytes
            try unsafe tls.write(plain.unread)
            plain.removeAll()
            if isLast { return false }
        }
        return true
    }

    private func send(_ tls: TLSEngine, _ socket: Socket) throws(HTTP2Error) {
        while !tls.output.records.isEmpty {
            guard case .bytes(let count) = try unsafe socket.send(tls.output.records.unread) else { return }
            tls.output.records.consume(count)
        }
    }

    private func watchForRoom(_ tls: TLSEngine, _ socket: Socket, _ core: LoopCore) throws(HTTP2Error) {
        guard isWaitingToWrite == tls.output.records.isEmpty else { return }
        isWaitingToWrite.toggle()
        let mask = EPOLLIN.rawValue | (isWaitingToWrite ? EPOLLOUT.rawValue : 0)
        try core.change(socket.descriptor, token: token, mask: mask)
    }

    private func takeEvents(_ core: LoopCore) {
        guard let session, !session.events.isEmpty else { return }
        let events = session.events
        session.events.removeAll(keepingCapacity: true)
        for event in events {
            switch event {
            case .streamLimit(let limit):
                report.changes.append(.streamLimit(limit))
            case .goAway(let goAway):
                report.changes.append(.goAway(goAway))
                perform(machine.drainRequested(now: core.now), core)
            case .exhausted:
                report.changes.append(.exhausted)
                perform(machine.drainRequested(now: core.now), core)
            case .pingAnswered:
                perform(machine.pingAnswered(now: core.now), core)
            }
        }
    }

    // MARK: End

    /// Completes every request, sends GOAWAY and close_notify if that is still possible, and releases everything.
    private func finish(_ error: HTTP2Error?, _ core: LoopCore?) {
        let reason = error ?? HTTP2Error(.notSent)
        if let session {
            session.fail(reason)
            session.goAway()
        }
        writeLastBytes(isUsable: error?.code != .connectionLost && error?.code != .tlsFailed)
        if error != nil, session == nil, let address, let core { AddressBook.shared.failed(address, now: core.now) }
        report.changes.append(.closed(error))
        if let core {
            dropSocket(core)
            core.leave(self)
        }
        tls = nil
    }

    /// Writes GOAWAY and close_notify if TLS still works; otherwise the alert with the reason, if there is one. Never waits.
    private func writeLastBytes(isUsable: Bool) {
        guard let tls, let socket else { return }
        do {
            if let session, isUsable {
                try session.write(into: &plain, dispatched: nil)
                try unsafe tls.write(plain.unread)
                tls.shutdown()
            }
            try send(tls, socket)
        } catch {
            // Ignore an error: the connection is ending, and everything on it has completed.
        }
    }

    private func dropSocket(_ core: LoopCore) {
        for attempt in dial.attempts { core.forget(attempt.token) }
        dial.attempts = []
        if socket != nil { core.forget(token) }
        socket = nil
        if let address { AddressBook.shared.released(address) }
        address = nil
    }

    private func enqueueInbox() {
        guard !inbox.isEmpty else { return }
        if let session { return session.enqueue(&inbox) }
        refuseInbox()
    }

    private func refuseInbox() {
        for entry in inbox.remaining {
            let error = HTTP2Error(.notSent, isUnsent: true)
            report.completions.append(Completion(slot: entry.slot, result: .failure(error)))
        }
        inbox.removeAll()
    }

    // MARK: Reporting

    /// Updates the snapshot, and calls the observer if there is something to report.
    private func publish() {
        if let session, !session.completions.isEmpty {
            if report.completions.isEmpty {
                swap(&report.completions, &session.completions)
            } else {
                report.completions += session.completions
                session.completions.removeAll(keepingCapacity: true)
            }
        }
        let (isDue, hasWaiters) = connection.mailbox.withLockedValue { updateLoad(&$0) }
        if machine.isClosed { refuseInbox() }
        if hasWaiters { answerWaiters() }
        guard isDue || !report.completions.isEmpty || !report.changes.isEmpty else { return }
        connection.observer.connection(connection, reported: report)
        report.completions.removeAll(keepingCapacity: true)
        report.changes.removeAll(keepingCapacity: true)
    }

    /// First: whether a starved producer can continue. Second: whether `send` has waiting callers.
    private func updateLoad(_ box: inout ConnectionMailbox) -> (Bool, Bool) {
        box.load.phase = machine.phase
        let waiting = box.inbox.count
        if let session {
            box.load.credits = machine.isOpen ? max(0, session.credits - waiting) : 0
            box.load.streamLimit = session.streamLimit
            box.load.sendWindowBytes = session.sendWindowBytes
            box.load.startedCount = session.startedCount
            box.load.handshake = tls?.outcome ?? box.load.handshake
            box.load.dialDuration = dialDuration
            box.load.pingDuration = pingDuration
            box.load.pendingOutputBytes = tls?.output.records.unreadCount ?? 0
            box.load.inFlightCount = session.openCount + session.queuedCount + waiting
        }
        if machine.isClosed {
            // The last exchange: requests submitted in the meantime are refused, and no others can enter.
            swap(&box.inbox, &inbox)
            box.load.credits = 0
            box.load.inFlightCount = 0
            box.driver = nil
        }
        report.credits = box.load.credits
        defer { if report.credits > 0 { box.isStarved = false } }
        return (box.isStarved && report.credits > 0, !box.waiters.isEmpty)
    }

    private func answerWaiters() {
        let own = report.completions.filter { $0.slot >= ConnectionMailbox.firstWaiter }
        guard !own.isEmpty else { return }
        report.completions.removeAll { $0.slot >= ConnectionMailbox.firstWaiter }
        let waiters = connection.mailbox.withLockedValue { box in
            own.map { box.waiters.removeValue(forKey: $0.slot) }
        }
        for (completion, waiter) in zip(own, waiters) { waiter?.resume(returning: completion.result) }
    }
}
