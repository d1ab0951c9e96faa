internal import NIOConcurrencyHelpers

/// What travels between a connection's users and its loop, under one lock.
struct ConnectionMailbox: Sendable {
    /// Requests on their way to the loop.
    var inbox = RequestBatch()
    var canceled: [UInt64] = []
    var wishes: Set<Wish> = []
    var addresses: Result<[SocketAddress], HTTP2Error>?
    /// Fields for each request that is started from now on.
    var dispatched: HeaderBlock?
    /// Whether the loop was told and has not come yet.
    var isScheduled = false
    /// Whether a `submit` could not place its whole batch, so that the observer waits for credits.
    var isStarved = false
    var load = ConnectionLoad()
    /// Set by `open`, cleared when the connection is gone.
    var driver: ConnectionDriver?
    /// The one-at-a-time door's callers, by slot.
    var waiters: [UInt64: CheckedContinuation<Result<Response, HTTP2Error>, Never>] = [:]
    var nextWaiter = ConnectionMailbox.firstWaiter

    /// Slots from here on belong to the one-at-a-time door.
    static let firstWaiter: UInt64 = 1 << 63

    enum Wish: Hashable, Sendable {
        case open, close, abort, ping
    }

    /// What the loop takes in one turn.
    struct Mail {
        var canceled: [UInt64]
        var wishes: Set<Wish>
        var addresses: Result<[SocketAddress], HTTP2Error>?
        var dispatched: HeaderBlock?
    }

    /// Hands everything over; requests are swapped into `batch`, which must be empty.
    mutating func take(_ batch: inout RequestBatch) -> Mail {
        swap(&inbox, &batch)
        let mail = Mail(canceled: canceled, wishes: wishes, addresses: addresses, dispatched: dispatched)
        canceled = []
        wishes = []
        addresses = nil
        isScheduled = false
        return mail
    }
}
