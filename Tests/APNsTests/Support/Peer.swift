import APNs
import APNsSimulator
import HTTP2
import Model

/// The validating simulator with one key, over real TLS and HTTP/2, and everything that a transport needs to reach
/// it.
struct Peer {
    static let credential = CredentialKey(tenant: "acme", credential: "apple")

    let key: TestKey
    let simulator: Simulator
    let addresses: Simulator.Addresses
    private let configuration: SimulatorConfiguration

    /// Starts a simulator.
    ///
    /// - Parameters:
    ///   - keys: the keys that it knows; the first one belongs to the credential.
    ///   - change: changes the configuration before the start.
    /// - Throws: the error of the simulator.
    init(keys: [TestKey] = [TestKey()], _ change: (inout SimulatorConfiguration) -> Void = { _ in }) async throws {
        var configuration = SimulatorConfiguration()
        configuration.keys = try KeyRegistry(
            keys.map { try ProviderKey(teamID: $0.teamID, keyID: $0.keyID, publicKeyPEM: $0.publicPEM) }
        )
        configuration.authority = try CertificateAuthority()
        change(&configuration)
        try await self.init(key: keys[0], configuration)
    }

    private init(key: TestKey, _ configuration: SimulatorConfiguration) async throws {
        self.key = key
        self.configuration = configuration
        simulator = try Simulator(configuration: configuration)
        addresses = try await simulator.start()
    }

    /// Another simulator on the same port, with the same keys and the same CA. The old one must have been stopped.
    func restarted() async throws -> Peer {
        var configuration = configuration
        configuration.port = addresses.apnsPort
        return try await Peer(key: key, configuration)
    }

    /// A credential for this simulator, signed by `key` or another key.
    func credential(_ other: TestKey? = nil) throws -> APNsCredential {
        let key = other ?? key
        return APNsCredential(
            teamID: key.teamID,
            keyID: key.keyID,
            privateKeyPEM: key.privatePEM,
            endpoint: try APNsEndpoint(url: "https://\(addresses.apns)"),
            trustRootsPEM: Array(simulator.caPEM.utf8)
        )
    }
}

extension RecordedRequest {
    /// The first value of a header field.
    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

/// Runs `body` with a transport, which is shut down when this returns.
func withTransport(
    tokens: any ProviderTokenSource = SelfSignedTokens(clock: TestWallClock.system),
    _ change: (inout APNsTransport.Configuration) -> Void = { _ in },
    _ body: (APNsTransport) async throws -> Void
) async throws {
    var configuration = APNsTransport.Configuration()
    // A tenth of the usual delays, because a peer in the same process is back at once.
    configuration.limits.backoff.base = .milliseconds(100)
    configuration.limits.backoff.ceiling = .milliseconds(500)
    // A simulator built without optimization is always at its capacity, so tests that are not about several
    // connections use one.
    configuration.limits.maxConnections = 1
    // The peer shares its process and threads with a thousand other tests, and must not be considered dead while they
    // run.
    configuration.timeouts.connect = .seconds(60)
    configuration.timeouts.tls = .seconds(60)
    configuration.timeouts.pingAnswer = .seconds(60)
    change(&configuration)
    let transport = try APNsTransport(configuration: configuration, tokens: tokens)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await transport.run() }
        do {
            try await body(transport)
        } catch {
            await transport.shutdown(deadline: .zero)
            throw error
        }
        await transport.shutdown(deadline: .seconds(5))
    }
}
