/// How a TLS handshake was done.
package enum TLSHandshake: Sendable, Equatable {
    /// With certificates. This costs one more round trip and a signature of the peer.
    case full
    /// With the session of an earlier connection to the same host, port and name (RFC 8446 §2.2). That connection verified the certificate, at most
    /// `TLSSessionCache.maxAge` ago.
    case resumed
}

/// How many TLS handshakes of a `TLSContext` were full and how many resumed. A snapshot.
package struct TLSHandshakeCounts: Sendable, Equatable {
    /// Handshakes with certificates.
    package internal(set) var full = 0
    /// Handshakes that resumed a session.
    package internal(set) var resumed = 0

    /// Creates counts of zero.
    package init() {}
}
