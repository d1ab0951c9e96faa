/// Every bound of a connection, each with the harm it avoids.
package struct HTTP2Limits: Sendable, Equatable {
    /// 900 streams at most, whatever the peer allows. At exactly its limit a peer's own count can be ahead of ours, and Apple
    /// answers one stream too many with GOAWAY (docs/contracts/apns.md#11.1).
    package var maxConcurrentStreams = 900

    /// 256 requests may wait on a connection beyond its open streams, and never more than its stream limit. They keep the
    /// pipe full between two wake-ups; more of them would be stuck here while another connection has room.
    package var maxQueuedRequests = 256

    /// 64 KiB of body per request. Far above any push payload; a bigger one is a mistake that would stall every stream.
    package var maxRequestBodyBytes = 65_536

    /// 8 KiB for path and per-request fields together. Larger header blocks are refused by common servers.
    package var maxRequestHeaderBytes = 8_192

    /// 16 KiB of a response's body are kept, the rest is read and dropped: a peer must not fill our memory, and its status is
    /// already known.
    package var maxResponseBodyBytes = 16_384

    /// 1 KiB for all kept fields of one response; further ones are dropped. Same harm.
    package var maxResponseFieldBytes = 1_024

    /// 1 KiB of a GOAWAY's debug data is kept. Apple's is a short JSON reason.
    package var maxGoAwayDebugBytes = 1_024

    /// 1 MiB of connection window for responses, so that a burst of replies never waits for WINDOW_UPDATE. Two thirds of it
    /// is what a peer can make us read ahead of consuming.
    package var receiveWindowBytes: Int32 = 1_048_576

    /// 1,000,000,000 streams, then the connection drains. Stream numbers end at 2^31 - 1, half of them are ours.
    package var maxStreamsPerConnection: UInt32 = 1_000_000_000

    /// 64 KiB of encrypted output may wait for the socket, give or take a record. Four records in one call cost 5 % less than
    /// one (engineering notes); more would only let a peer that does not read cost us memory.
    package var maxPendingOutputBytes = 65_536

    /// The defaults, which suit a push vendor's server.
    package init() {}

    /// 16 KiB: what is joined before one TLS record is written, because a record holds no more (RFC 8446 §5.1).
    /// One write per frame costs 6.6 times the CPU (engineering notes).
    static let writeChunkBytes = 16_384

    /// 64 KiB per read from the socket: several records in one call.
    static let readChunkBytes = 65_536

    /// 16 reads per wake-up of one connection, so that a peer that never stops sending does not starve its neighbours on
    /// the same loop; epoll reports the rest again.
    static let maxReadsPerTurn = 16

    /// 8 fields per request beside the shared ones: the room for them is set aside per slot.
    static let maxFieldsPerRequest = 8

    /// 24 fields per shared block: the array handed to nghttp2 has a fixed size.
    static let maxFieldsPerBlock = 24

    /// 32 look-ups at once in the process. Each blocks a thread of its own; a dead resolver must not eat all threads.
    static let maxConcurrentLookups = 32

    /// 16 addresses of one host are tried at most, inside the connect deadline.
    static let maxAddresses = 16
}
