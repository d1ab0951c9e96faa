/// The state machine of one connection, as a pure value: it turns events into actions. It has no I/O and no clock.
struct ConnectionMachine {
    typealias Instant = ContinuousClock.Instant

    /// The states of a connection.
    enum State: Equatable {
        /// Not opened yet. Goes to: resolving, closed.
        case idle
        /// Waits for the name look-up. Goes to: connecting, closed.
        case resolving(until: Instant)
        /// Waits for TCP to one or several of the addresses. Goes to: connecting (one more), handshaking, closed.
        case connecting(Race, until: Instant)
        /// Waits for TLS. Goes to: open, closed.
        case handshaking(until: Instant)
        /// Accepts requests. Goes to: draining, closed.
        case open
        /// Finishes the open streams. Goes to: closed.
        case draining(until: Instant)
        /// Closed.
        case closed
    }

    /// Attempts at several addresses, each started a little after the previous one (RFC 8305 §5).
    struct Race: Equatable {
        /// The first address that was not tried yet.
        var next: Int
        let count: Int
        /// Attempts that are not decided.
        var pendingCount: Int
        /// When the next address is tried if none has answered by then.
        var nextAt: Instant

        var hasMore: Bool { next < count }
    }

    /// The action that the driver must perform.
    enum Action: Equatable {
        case none
        case resolve
        /// Try this address, in addition to those that are being tried.
        case connect(address: Int)
        /// Keep the attempt that just succeeded, and drop the others.
        case startTLS
        case announceOpen
        /// Report the reason, send GOAWAY and let open streams finish.
        case retire(RetirementReason)
        /// Send GOAWAY and let open streams finish.
        case startDrain
        case ping
        case announcePing(Duration)
        case close(HTTP2Error?)
    }

    private(set) var state = State.idle
    private let timeouts: HTTP2Timeouts
    /// The start of the current silence: the time of the last received byte, or of the first stream that opened while none was open.
    private var soundAt: Instant
    private var pingSentAt: Instant?
    private var openStreamCount = 0
    /// Since when no stream has been open.
    private var idleSince: Instant
    /// How long the connection may be open.
    private let lifetime: Duration?
    private var retiresAt: Instant?

    /// - Parameters:
    ///   - timeouts: the timeouts; used in their `bounded` form.
    ///   - lifetime: how long the connection may be open, with the spread already subtracted.
    ///   - now: the time.
    init(timeouts: HTTP2Timeouts, lifetime: Duration? = nil, now: Instant) {
        self.timeouts = timeouts.bounded
        self.lifetime = lifetime
        soundAt = now
        idleSince = now
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

    /// When `timePassed` must be called next.
    var nextDeadline: Instant? {
        switch state {
        case .idle, .closed: nil
        case .resolving(let until), .handshaking(let until): until
        case .connecting(let race, let until): race.hasMore ? min(race.nextAt, until) : until
        case .open: [pingDeadline, retiresAt, idleDeadline].compactMap(\.self).min()
        case .draining(let until): min(until, pingDeadline)
        }
    }

    // MARK: Opening

    mutating func openRequested(now: Instant) -> Action {
        guard state == .idle else { return .none }
        state = .resolving(until: now + timeouts.connect)
        return .resolve
    }

    mutating func resolved(addressCount: Int, now: Instant) -> Action {
        guard case .resolving(let until) = state else { return .none }
        guard addressCount > 0 else { return close(HTTP2Error(.resolveFailed, isUnsent: true)) }
        return tryNext(Race(next: 0, count: addressCount, pendingCount: 0, nextAt: now), until: until, now: now)
    }

    /// One attempt failed; the next address is tried at once.
    mutating func connectFailed(_ error: HTTP2Error, now: Instant) -> Action {
        guard case .connecting(var race, let until) = state else { return .none }
        race.pendingCount -= 1
        if race.hasMore, now < until { return tryNext(race, until: until, now: now) }
        state = .connecting(race, until: until)
        return race.pendingCount > 0 ? .none : close(error)
    }

    /// One attempt succeeded; the first one wins.
    mutating func connected(now: Instant) -> Action {
        guard case .connecting = state else { return .none }
        state = .handshaking(until: now + timeouts.tls)
        return .startTLS
    }

    mutating func handshakeDone(now: Instant) -> Action {
        guard case .handshaking = state else { return .none }
        state = .open
        soundAt = now
        idleSince = now
        retiresAt = lifetime.map { now + $0 }
        return .announceOpen
    }

    // MARK: While it is open

    mutating func bytesReceived(now: Instant) { soundAt = now }

    /// Sets the number of open streams. After the last one of a drain, the connection closes.
    mutating func streamsCounted(_ count: Int, now: Instant) -> Action {
        if openStreamCount == 0, count > 0 { soundAt = max(soundAt, now) }
        if openStreamCount > 0, count == 0 { idleSince = now }
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

    // MARK: Closing

    /// The peer sent GOAWAY, the stream numbers are used up, or the owner called `close`.
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

    /// The socket, TLS or the session failed, or the owner called `abort`.
    mutating func failed(_ error: HTTP2Error?) -> Action {
        // A peer may close the connection once all its answers have arrived.
        if case .draining = state, openStreamCount == 0 { return close(nil) }
        return close(error)
    }

    mutating func timePassed(now: Instant) -> Action {
        guard let deadline = nextDeadline, deadline <= now else { return .none }
        switch state {
        case .resolving:
            return close(HTTP2Error(.connectTimeout, isUnsent: true, underlying: "name look-up"))
        case .connecting(let race, let until):
            guard now < until else { return close(HTTP2Error(.connectTimeout, isUnsent: true)) }
            return tryNext(race, until: until, now: now)
        case .handshaking:
            return close(HTTP2Error(.tlsTimeout, isUnsent: true))
        case .draining(let until) where until <= now:
            return close(HTTP2Error(.closed, underlying: "drain deadline"))
        case .open:
            return retire(now: now) ?? overduePing(now: now)
        case .draining:
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

    private var idleDeadline: Instant? {
        openStreamCount == 0 ? timeouts.idleClose.map { idleSince + $0 } : nil
    }

    private mutating func overduePing(now: Instant) -> Action {
        guard pingDeadline <= now else { return .none }
        guard pingSentAt == nil else { return close(HTTP2Error(.pingTimeout)) }
        pingSentAt = now
        return .ping
    }

    private mutating func retire(now: Instant) -> Action? {
        let isAged = retiresAt.map { $0 <= now } ?? false
        let isIdle = idleDeadline.map { $0 <= now } ?? false
        guard isAged || isIdle else { return nil }
        state = .draining(until: now + timeouts.drain)
        return .retire(isAged ? .age : .idle)
    }

    private mutating func tryNext(_ race: Race, until: Instant, now: Instant) -> Action {
        let address = race.next
        var race = race
        race.next += 1
        race.pendingCount += 1
        race.nextAt = now + timeouts.nextAddress
        state = .connecting(race, until: until)
        return .connect(address: address)
    }

    private mutating func close(_ error: HTTP2Error?) -> Action {
        guard state != .closed else { return .none }
        state = .closed
        return .close(error)
    }
}
