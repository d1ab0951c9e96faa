/// The limits of the calls to upstreams.
package struct OutgoingLimits: Sendable {
    /// 256 calls in flight per upstream and node, whether they wait for a connection, for an answer, or for the reader of an answer. The next one is refused at once:
    /// one slow upstream must not use up the node's memory.
    package var inFlight = 256
    /// 3 s until a connection is open, TLS included. A longer wait would be most of the call's time.
    package var connect = Duration.seconds(3)
    /// 15 s for a call as a whole, from the look-up of the name to the last byte of the answer. SDKs of the vendors wait up to 30 s.
    package var call = Duration.seconds(15)
    /// 16 MiB of an answer's body. The largest documented answers are lists of some MiB; a longer one ends the call.
    package var bodyBytes = 16 << 20
    /// 4 s without a call, then a connection is closed: less than the time after which common servers close theirs. A call on a connection that closes cannot be repeated.
    package var idle = Duration.seconds(4)
    /// 30 s until the address of a name is looked up again.
    package var addressAge = Duration.seconds(30)
    /// 256 clients per node. Each holds the connections of one upstream and one address.
    package var clients = 256

    /// 64 KiB: an answer up to this stated length is collected for callers that read it whole.
    package static let collectedBytes = 64 << 10

    package init() {}
}
