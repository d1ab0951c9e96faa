/// The life of one connection as a pure value: what happened goes in, what to do comes out. No I/O and no clock.
struct ConnectionMachine {
    typealias Instant = ContinuousClock.Instant

    /// Where it is.
    enum State: Equatable {
        /// Not asked to open. Goes to: resolving, closed.
        case idle
        /// Waits for the name look-up. Goes to: connecting, closed.
        case resolving(until: Instant)
        /// Waits for TCP to one of the addresses. Goes to: connecting (the next one), handshaking, closed.
        case connecting(address: Int, of: Int, attemptUntil: Instant, until: Instant)
        /// Waits for TLS. Goes to: open, closed.
        case handshaking(until: Instant)
        /// Takes requests. Goes to: draining, closed.
        case open
        /// Finishes what is open. Goes to: closed.
        case draining(until: Instant)
        /// Gone.
        case closed
    }

    /// What the driver has to do.
    enum Action: Equatable {
        case none
        case resolve
        case connect(address: Int)
        case startTLS
        case announceOpen
        /// Send GOAWAY and let open streams finish.
        case startDrain
        case ping
        case announcePing(Duration)
        case close(HTTP2Error?)
    }

    private(set) var state = State.idle
    private let timeouts: HTTP2Timeouts
    /// When it was last not silent: a byte came, or the first stream opened after none was.
    private var soundAt: Instant
    private var pingSentAt: Instant?
    private var openStreamCount = 0

    init(timeouts: HTTP2Timeouts, now: Instant) {
        self.timeouts = timeouts
        soundAt = now
    }

    var isOpen: Bool { state == .open }
    var isClosed: Bool { state == .closed }

    var phase: ConnectionLoad.Phase {
        switch state {
        case .idle, .resolving, .connecting, .handshaking: .opening
        case .open: .open
        case .draining: .draining
        case .closed: .closed
        }
    }

    /// When `timePassed` has something to do.
    var nextDeadline: Instant? {
        switch state {
        case .idle, .closed: nil
        case .resolving(let until), .handshaking(let until): until
        case .connecting(_, _, let attemptUntil, _): attemptUntil
        case .open: pingDeadline
        case .draining(let until): min(until, pingDeadline)
        }
    }

    // MARK: On the way to open

    mutating func openRequested(now: Instant) -> Action {
        guard state == .idle else { return .none }
        state = .resolving(until: now + timeouts.connect)
        return .resolve
    }

    mutating func resolved(addressCount: Int, now: Instant) -> Action {
        guard case .resolving(let until) = state else { return .none }
        guard addressCount > 0 else { return close(HTTP2Error(.resolveFailed, isUnsent: true)) }
        return connect(to: 0, of: addressCount, until: until, now: now)
    }

    mutating func connectFailed(_ error: HTTP2Error, now: Instant) -> Action {
        guard case .connecting(let address, let count, _, let until) = state else { return .none }
        guard address + 1 < count, now < until else { return close(error) }
        return connect(to: address + 1, of: count, until: until, now: now)
    }

    mutating func connected(now: Instant) -> Action {
        guard case .connecting = state else { return .none }
        state = .handshaking(until: now + timeouts.tls)
        return .startTLS
    }

    mutating func handshakeDone(now: Instant) -> Action {
        guard case .handshaking = state else { return .none }
        state = .open
        soundAt = now
        return .announceOpen
    }

    // MARK: While it is open

    mutating func bytesReceived(now: Instant) { soundAt = now }

    /// Tells how many streams are open; after a drain's last one the connection closes.
    mutating func streamsCounted(_ count: Int, now: Instant) -> Action {
        if openStreamCount == 0, count > 0 { soundAt = max(soundAt, now) }
        openStreamCount = count
        guard case .draining = state, count == 0 else { return .none }
        return close(nil)
    }

    mutating func pingRequested(now: Instant) -> Action {
        guard isOpen, pingSentAt == nil else { return .none }
        pingSentAt = now
        return .ping
    }

    mutating func pingAnswered(now: Instant) -> Action {
        guard let sentAt = pingSentAt else { return .none }
        pingSentAt = nil
        return .announcePing(sentAt.duration(to: now))
    }

    // MARK: On the way to closed

    /// The peer sent GOAWAY, the stream numbers are used up, or the owner asked for an orderly end.
    mutating func drainRequested(now: Instant) -> Action {
        switch state {
        case .open:
            state = .draining(until: now + timeouts.drain)
            return .startDrain
        case .draining, .closed:
            return .none
        case .idle, .resolving, .connecting, .handshaking:
            return close(nil)
        }
    }

    /// The socket, TLS or the session broke, or the owner gave up.
    mutating func failed(_ error: HTTP2Error?) -> Action {
        // A peer may hang up once everything it owed us is here.
        if case .draining = state, openStreamCount == 0 { return close(nil) }
        return close(error)
    }

    mutating func timePassed(now: Instant) -> Action {
        guard let deadline = nextDeadline, deadline <= now else { return .none }
        switch state {
        case .resolving:
            return close(HTTP2Error(.connectTimeout, isUnsent: true, underlying: "name look-up"))
        case .connecting:
            return connectFailed(HTTP2Error(.connectTimeout, isUnsent: true), now: now)
        case .handshaking:
            return close(HTTP2Error(.tlsTimeout, isUnsent: true))
        case .draining(let until) where until <= now:
            return close(HTTP2Error(.closed, underlying: "drain deadline"))
        case .open, .draining:
            return overduePing(now: now)
        case .idle, .closed:
            return .none
        }
    }

    // MARK: Private

    private var pingDeadline: Instant {
        if let pingSentAt { return pingSentAt + timeouts.pingAnswer }
        return soundAt + (openStreamCount > 0 ? timeouts.pingWhenSilent : timeouts.pingWhenIdle)
    }

    private mutating func overduePing(now: Instant) -> Action {
        guard pingSentAt == nil else { return close(HTTP2Error(.pingTimeout)) }
        pingSentAt = now
        return .ping
    }

    /// Splits what is left of the connect deadline evenly over the addresses that are left: a silent first one must not use
    /// it up.
    private mutating func connect(to address: Int, of count: Int, until: Instant, now: Instant) -> Action {
        let share = now.duration(to: until) / (count - address)
        state = .connecting(address: address, of: count, attemptUntil: now + share, until: until)
        return .connect(address: address)
    }

    private mutating func close(_ error: HTTP2Error?) -> Action {
        guard state != .closed else { return .none }
        state = .closed
        return .close(error)
    }
}
