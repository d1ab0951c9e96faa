@testable import APNs

/// A connection of a peer that exists in virtual time only: streams, a queue behind them, and what the HTTP/2 layer promises of both.
struct ModelConnection {
    /// One request that the connection has.
    struct Request {
        let slot: UInt64
        let deadline: Int
    }

    var isOpen = false
    var streamLimit = 1
    /// What the peer allows once it believes us.
    let fullLimit: Int
    /// On a stream: the peer may have seen it.
    var streams: [UInt64: Request] = [:]
    /// Behind the streams: surely unseen.
    var queued: [Request] = []
    /// Whether it takes nothing more.
    var isLeaving = false

    init(fullLimit: Int) { self.fullLimit = fullLimit }

    /// As `ConnectionLoad.credits`: the stream limit and as many behind it, at most 256.
    var credits: Int {
        guard isOpen, !isLeaving else { return 0 }
        return max(0, streamLimit + min(256, streamLimit) - streams.count - queued.count)
    }
}
