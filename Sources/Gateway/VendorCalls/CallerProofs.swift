import GatewayHTTP

/// The proofs of callers: certificates, and the count of those that are refused.
struct CallerProofs: Sendable {
    /// Reads the certificates of clients. Nil: none is looked at, because no listener asks clients for one.
    var certificates: PeerCertificateReader?
    /// Counts the proofs that are refused.
    var refused = RefusedProofs()
}
