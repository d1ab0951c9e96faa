/// The operations on a running simulator that its users have: tests in the same process call them, and the control port offers them over HTTP.
package struct SimulatorControl: Sendable {
    let state: SimulatorState
    let authority: CertificateAuthority

    /// The current counts.
    package var stats: SimulatorStats { state.withLedger(\.stats) }

    /// The recorded repeats of deliveries.
    package var duplicates: DuplicateReport { state.withLedger(\.duplicates) }

    /// The newest requests, oldest first; only those of `token` if it is given. Empty in mode `accept`.
    package func requests(token: String? = nil, limit: Int = 100) -> [RecordedRequest] {
        state.withLedger { $0.requests(token: token, limit: limit) }
    }

    /// Adds scripted answers.
    ///
    /// - Throws: `SimulatorError` if the mode does not support them or there are too many.
    package func script(_ answers: [ScriptedAnswer]) throws(SimulatorError) {
        try state.addScript(answers)
    }

    /// Registers device tokens. Other tokens are accepted, unless the configuration forbids it.
    ///
    /// - Throws: `SimulatorError` if there are too many.
    package func register(_ devices: [(token: String, device: RegisteredDevice)]) throws(SimulatorError) {
        try state.register(devices)
    }

    /// Revokes a provider key, or cancels the revocation.
    package func setRevoked(_ keyID: String, _ isRevoked: Bool) { state.setRevoked(keyID, isRevoked) }

    /// Injects a fault at once, into one open connection or into all of them; the numbers are those of the records.
    ///
    /// - Returns: The number of connections.
    @discardableResult
    package func play(_ fault: Fault, onConnection number: Int? = nil) -> Int {
        state.connections.play(fault, on: number)
    }

    /// Creates a push certificate in Apple's form, signed by the simulator's CA, and its private key, both in PEM.
    ///
    /// - Throws: `SimulatorError` if it cannot be created.
    package func makeClientIdentity(
        _ request: ClientCertificateRequest
    ) throws(SimulatorError) -> (certificatePEM: String, keyPEM: String) {
        try authority.makeClientIdentity(request)
    }

    /// Sets the delay of all further answers.
    package func setLatency(_ latency: Latency) { state.latency = latency }

    /// Discards the script, the registries, the counts and the requests. Connections stay open.
    package func reset() { state.reset() }
}
