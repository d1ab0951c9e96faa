internal import NIOConcurrencyHelpers

/// The data exchanged between a connection's callers and its loop, under one lock.
struct ConnectionMailbox: Sendable {
    /// Requests that the loop has not taken yet.
    var inbox = RequestBatch()
    var canceled: [UInt64] = []
    var wishes: Set<Wish> = []
    var addresses: Result<[SocketAddress], HTTP2Error>?
    /// Fields for each request that is started from here on.
    var dispatched: HeaderBlock?
    /// Whether the loop was woken and has not taken the mail yet.
    var isScheduled = false
    /// Whether a `submit` could not take its whole batch, so that the observer waits for credits.
    var isStarved = false
    var load = ConnectionLoad()
    /// Set by `open`, cleared when the connection is closed.
    var driver: ConnectionDriver?
    /// The waiting callers of `send`, by slot.
    var waiters: [UInt64: CheckedContinuation<Result<Response, HTTP2Error>, Never>] = [:]
    var nextWaiter = ConnectionMailbox.firstWaiter

    /// Slots from this number on belong to `Connection.send`.
    static let firstWaiter: UInt64 = 1 << 63

    enum Wish: Hashable, Sendable {
        case open, close, abort, ping
    }

    /// The mail that the loop takes in one turn.
    struct Mail {
        var canceled: [UInt64]
        var wishes: Set<Wish>
        var addresses: Result<[SocketAddress], HTTP2Error>?
        var dispatched: HeaderBlock?
    }

    /// Takes all mail. The requests are swapped into `batch`, which must be empty.
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
