import APNsSimulator
import Foundation

/// A simulator for one test, with its CA in a file and one known key.
struct RunningSimulator {
    let simulator: Simulator
    let addresses: Simulator.Addresses
    let key: TestKey
    let folder: URL
    /// `bearer <jwt>`, issued at the start by the real clock. All pushes use the same token, as a client should.
    let bearer: String

    var caFile: String { folder.appending(path: "ca.pem").path }

    /// Starts a simulator, runs the test with it and stops it in any case.
    static func with<Value>(
        mode: SimulatorMode = .validate,
        keys: [ProviderKey] = [],
        change: (inout SimulatorConfiguration) -> Void = { _ in },
        _ body: (RunningSimulator) async throws -> Value
    ) async throws -> Value {
        let key = TestKey()
        var configuration = SimulatorConfiguration()
        configuration.mode = mode
        configuration.keys = try KeyRegistry([key.registered()] + keys)
        change(&configuration)
        let simulator = try Simulator(configuration: configuration)
        let addresses = try await simulator.start()
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(simulator.caPEM.utf8).write(to: folder.appending(path: "ca.pem"))
        do {
            let value = try await body(
                RunningSimulator(
                    simulator: simulator,
                    addresses: addresses,
                    key: key,
                    folder: folder,
                    bearer: key.bearer(issuedAt: Int(Date().timeIntervalSince1970))
                )
            )
            await simulator.stop()
            return value
        } catch {
            await simulator.stop()
            throw error
        }
    }

    /// The headers of a valid push.
    func pushHeaders(token: String = RuleBench.token, id: String? = nil) -> [(String, String)] {
        [
            (":method", "POST"), (":scheme", "https"), (":path", "/3/device/\(token)"), (":authority", "localhost"),
            ("authorization", bearer), ("apns-topic", "com.example.shop"), ("apns-push-type", "alert"),
        ] + (id.map { [("apns-id", $0)] } ?? [])
    }
}
