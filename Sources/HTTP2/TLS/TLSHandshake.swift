/// How a TLS handshake was done.
package enum TLSHandshake: Sendable, Equatable {
    /// With certificates. This costs one more round trip and a signature of the peer.
    case full
    /// With the session of an earlier connection to the same host, port and name (RFC 8446 §2.2). That connection verified the certificate, at most
    /// `TLSSessionCache.maxAge` ago.
    case resumed
}
