/// How a TLS handshake went.
package enum TLSHandshake: Sendable, Equatable {
    /// With certificates: a round trip and a signature more on the peer's side.
    case full
    /// With a session that an earlier connection to the same host, port and name left (RFC 8446 §2.2). The certificate was
    /// verified by that one, at most `TLSSessionCache.maxAge` ago.
    case resumed
}

/// How many TLS handshakes a `TLSContext` has done, by their end. A snapshot.
package struct TLSHandshakeCounts: Sendable, Equatable {
    /// Done with certificates.
    package internal(set) var full = 0
    /// Done by resuming.
    package internal(set) var resumed = 0

    /// None yet.
    package init() {}
}
