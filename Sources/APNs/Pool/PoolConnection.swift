/// What a pool knows of one of its connections.
struct PoolConnection {
    /// Where it is in its life, seen from the pool.
    enum State {
        /// Dials. Goes to: open, draining, gone.
        case dialing
        /// Takes pushes. Goes to: draining, gone.
        case open
        /// Takes none and finishes what it has. Goes to: gone.
        case draining
    }

    let id: ConnectionID
    let dialedAt: ContinuousClock.Instant
    var state = State.dialing
    /// How many requests it would take, by its last report and what was given to it since.
    var credits = 0
    /// How many requests it has.
    var inFlightCount = 0
    /// How many streams the peer allows, as far as it is known.
    var streamLimit = 0
    /// Whether the peer has shown that it believes us. Until then one push is in flight: APNs allows a token connection one stream before
    /// it has seen a valid provider token (docs/contracts/apns.md#11.1), whatever its SETTINGS said first. A certificate is proof by itself.
    var isProven: Bool
    /// Whether any request on it was answered: then its end is no failure to connect.
    var hasAnswered = false
    /// Answers 500 since the last good one.
    var serverErrorCount = 0
    /// Whether it refused streams since the last good answer.
    var hasRefused = false
    /// Whether the peer's flow control leaves it less than two bodies.
    var isWindowLow = false

    /// How many pushes it may get now.
    var room: Int {
        guard state == .open else { return 0 }
        return isProven ? credits : min(credits, max(0, 1 - inFlightCount))
    }

    /// Whether another one is better, if there is one.
    var isDoubtful: Bool { serverErrorCount > 0 || hasRefused || isWindowLow }

    /// How many streams may be in use on it.
    var allowedCount: Int {
        guard state == .open else { return 0 }
        return isProven ? streamLimit : min(1, streamLimit)
    }
}

/// One connection of a pool, by number.
typealias ConnectionID = Int
