/// Makes the calls by which upstreams send messages. An implementation must follow these rules:
///
/// - a result has one outcome for each target of its call, also on cancellation and a broken peer;
/// - no call is repeated: `unsent` says that no byte of it has left, and an answer that does not say what became of the message is `indeterminate`.
package protocol UpstreamTransport: Sendable {
    /// The fields of an upstream's credential. Nil: it does not exist, or cannot be opened on this node.
    func settings(of key: CredentialKey) -> UpstreamSettings?

    /// Makes one call, within the limits of calls to upstreams.
    func call(_ call: UpstreamCall, through key: CredentialKey) async -> UpstreamResult
}

extension CredentialID {
    /// The beginning of the names of upstreams in the rows of deliveries.
    package static let upstreamPrefix = "upstream:"
}

/// A call that sends a message, as it is recorded: under which lease of its slice, and its number under this lease.
package struct UpstreamCallID: Sendable, Hashable {
    package var epoch: Int64
    package var number: Int32

    package init(epoch: Int64, number: Int32) {
        self.epoch = epoch
        self.number = number
    }
}
