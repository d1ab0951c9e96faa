/// The state that a pool keeps about one of its connections.
struct PoolConnection {
    /// The phases of a connection, as the pool sees them.
    enum State {
        /// Dials. Goes to: open, draining, gone.
        case dialing
        /// Accepts pushes. Goes to: draining, gone.
        case open
        /// Accepts no new pushes and finishes its requests. Goes to: gone.
        case draining
    }

    let id: ConnectionID
    let dialedAt: ContinuousClock.Instant
    var state = State.dialing
    /// How many requests it would accept, according to its last report and the submissions since then.
    var credits = 0
    /// How many requests are in flight on it.
    var inFlightCount = 0
    /// How many streams the peer allows, as far as it is known.
    var streamLimit = 0
    /// Whether the peer has shown that it accepts our authentication. Until then only one push is in flight: APNs allows a token connection one stream before
    /// it has seen a valid provider token (docs/contracts/apns.md#11.1), whatever its first SETTINGS contain. A certificate is proven by the handshake.
    var isProven: Bool
    /// Whether any request on it was answered. If so, its end does not count as a failure to connect.
    var hasAnswered = false
    /// Answers with status 500 since the last good answer.
    var serverErrorCount = 0
    /// Whether it refused streams since the last good answer.
    var hasRefused = false
    /// Whether the peer's flow-control window is smaller than two bodies.
    var isWindowLow = false

    /// How many pushes may be submitted to it.
    var room: Int {
        guard state == .open else { return 0 }
        return isProven ? credits : min(credits, max(0, 1 - inFlightCount))
    }

    /// Whether another connection should be preferred, if there is one.
    var isDoubtful: Bool { serverErrorCount > 0 || hasRefused || isWindowLow }

    /// How many streams may be in use on it.
    var allowedCount: Int {
        guard state == .open else { return 0 }
        return isProven ? streamLimit : min(1, streamLimit)
    }
}

/// The number of a connection within its pool.
typealias ConnectionID = Int
