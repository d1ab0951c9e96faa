/// All limits of a connection, each with the harm it prevents.
package struct HTTP2Limits: Sendable, Equatable {
    /// At most 900 streams, whatever the peer allows. At exactly the peer's limit, the peer's count can be ahead of ours, and Apple answers one stream too many
    /// with GOAWAY (docs/contracts/apns.md#11.1).
    package var maxConcurrentStreams = 900

    /// 256 requests may wait on a connection beyond its open streams, and never more than its stream limit. They keep the connection busy between two wake-ups;
    /// more of them would wait here while another connection has capacity.
    package var maxQueuedRequests = 256

    /// 64 KiB of body per request. This is far above any push payload; a larger body is a mistake that would delay every stream.
    package var maxRequestBodyBytes = 65_536

    /// 8 KiB for path and per-request fields together. Common servers refuse larger header blocks.
    package var maxRequestHeaderBytes = 8_192

    /// 16 KiB of a response's body are kept; the rest is read and discarded. A peer must not fill our memory, and its status is already known.
    package var maxResponseBodyBytes = 16_384

    /// 1 KiB for all kept fields of one response; further ones are discarded. It prevents the same harm.
    package var maxResponseFieldBytes = 1_024

    /// 1 KiB of a GOAWAY's debug data is kept. Apple sends a short JSON reason.
    package var maxGoAwayDebugBytes = 1_024

    /// 1 MiB of connection window for responses, so that a burst of replies never waits for WINDOW_UPDATE. A peer can make us buffer at most two thirds of it
    /// before it is consumed.
    package var receiveWindowBytes: Int32 = 1_048_576

    /// After 1,000,000,000 streams the connection drains. Stream numbers end at 2^31 - 1, and half of them are ours.
    package var maxStreamsPerConnection: UInt32 = 1_000_000_000

    /// 64 KiB of encrypted output may wait for the socket, plus or minus a record. Four records in one call cost 5 % less than one (measured); more would only
    /// let a peer that does not read use our memory.
    package var maxPendingOutputBytes = 65_536

    /// Creates the default limits, which suit a push vendor's server.
    package init() {}

    /// Up to 16 KiB are joined before one TLS record is written; a record holds at most that (RFC 8446 §5.1). One write per frame costs 6.6 times the CPU
    /// (measured).
    static let writeChunkBytes = 16_384

    /// 64 KiB per read from the socket: several records in one call.
    static let readChunkBytes = 65_536

    /// 16 reads per wake-up of one connection, so that a peer that never stops sending does not starve the other connections of the loop; epoll reports the
    /// remaining data again.
    static let maxReadsPerTurn = 16

    /// 8 fields per request in addition to the shared ones; each slot reserves the room for them.
    static let maxFieldsPerRequest = 8

    /// 24 fields per shared block, because the array for nghttp2 has a fixed size.
    static let maxFieldsPerBlock = 24

    /// 32 concurrent look-ups in the process. Each blocks its own thread; an unresponsive resolver must not use up all threads.
    static let maxConcurrentLookups = 32

    /// At most 16 addresses of one host are tried, within the connect deadline.
    static let maxAddresses = 16
}
