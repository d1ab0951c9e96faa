import HTTP2

extension Certificates {
    /// The configuration for a client that trusts these certificates and connects to `peer`: 100 streams before the
    /// peer's SETTINGS arrive.
    func configuration(for peer: TLSPeer) throws -> ConnectionConfiguration {
        let tls = try TLSContext(trustRoots: .pem(authorityPEM))
        var configuration = ConnectionConfiguration(host: "localhost", port: peer.port, tls: tls)
        configuration.initialStreamLimit = 100
        return configuration
    }
}
