@testable import APNs

/// A connection to a peer in virtual time: streams, a queue behind them, and the guarantees of the HTTP/2 layer about
/// both.
struct ModelConnection {
    /// One request on the connection.
    struct Request {
        let slot: UInt64
        let deadline: Int
    }

    var isOpen = false
    var streamLimit = 1
    /// The peer's stream limit after it has accepted a token.
    let fullLimit: Int
    /// Requests on a stream, which the peer may have seen.
    var streams: [UInt64: Request] = [:]
    /// Requests behind the streams, which the peer cannot have seen.
    var queued: [Request] = []
    /// True if the connection accepts no further requests.
    var isLeaving = false

    init(fullLimit: Int) { self.fullLimit = fullLimit }

    /// Like `ConnectionLoad.credits`: the stream limit and the same number behind it, at most 256.
    var credits: Int {
        guard isOpen, !isLeaving else { return 0 }
        return max(0, streamLimit + min(256, streamLimit) - streams.count - queued.count)
    }
}
