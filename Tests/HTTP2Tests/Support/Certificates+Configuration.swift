import HTTP2

extension Certificates {
    /// How a client that trusts these certificates reaches `peer`: 100 streams before the peer's SETTINGS are here.
    func configuration(for peer: TLSPeer) throws -> ConnectionConfiguration {
        let tls = try TLSContext(trustRoots: .pem(authorityPEM))
        var configuration = ConnectionConfiguration(host: "localhost", port: peer.port, tls: tls)
        configuration.initialStreamLimit = 100
        return configuration
    }
}
