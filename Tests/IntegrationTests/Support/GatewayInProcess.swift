import Adapters
import EngineStore
import Foundation
import Logging
import Model
import ServiceLifecycle
import Testing

@testable import CommandSupport
@testable import Gateway
@testable import Observability
@testable import Provisioning
@testable import Secrets

/// One gateway with the vendors of the test, in the test's own process, with its own PostgreSQL and the simulator.
/// Its tenant `acme` has the app `shop`.
final class GatewayInProcess: Sendable {
    let world: World
    let http: HTTPCaller
    private let group: ServiceGroup
    private let running: Task<Void, any Error>

    private struct Runtime: Service {
        let runtime: GatewayRuntime
        func run() async throws { try await runtime.run() }
    }

    /// - Parameters:
    ///   - vendors: the vendors that the gateway serves.
    ///   - binding: a line of YAML that binds one of them to the app: `stub: { app: pigeon }`.
    ///   - secrets: by the names of the files to which the binding's keys `…File` refer.
    /// - Throws: when a part does not start, or the binding cannot be applied.
    init(_ vendors: VendorCatalog, binding: String, secrets: [String: String]) async throws {
        world = try World()
        let material = world.material
        try await world.startSimulator()
        for (name, secret) in secrets.merging(["api.key": world.apiKey], uniquingKeysWith: { $1 }) {
            try secret.write(toFile: material.path(name), atomically: true, encoding: .utf8)
        }
        let configuration = try await GatewayConfiguration.load(
            flags: [
                "data.dir": material.path("data"), "listen": "127.0.0.1:0", "admin.listen": "127.0.0.1:0",
                "address.file": material.path("gateway.json"), "log.level": "error", "limits.calls": "off",
            ],
            configFile: nil
        )
        let runtime = GatewayRuntime(configuration: configuration, registry: PrometheusRegistry(), vendors: vendors)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let group = ServiceGroup(services: [Runtime(runtime: runtime)], logger: logger)
        self.group = group
        running = Task { try await group.run() }
        let served = try await Self.addresses(material.path("gateway.json"))
        http = HTTPCaller(gateway: "http://" + (try #require(served["http"]?.string)))
        try await Self.apply(vendors, binding, world, configuration)
    }

    /// The contents of an address file, which a program writes when it is ready.
    private static func addresses(_ path: String) async throws -> JSON {
        try await first("the address file \(path)", within: .seconds(60)) {
            FileManager.default.contents(atPath: path).flatMap { try? JSONParser.parse(Array($0)) }
        }
    }

    private static func apply(
        _ vendors: VendorCatalog,
        _ binding: String,
        _ world: World,
        _ configuration: GatewayConfiguration
    ) async throws {
        let material = world.material
        let simulated = try await addresses(material.path("simulator.json"))
        let apns = try #require(simulated["apns"]?.string)
        try material.writeTenants(account: world.account, service: world.service, apnsAddress: apns)
        let file = try String(contentsOfFile: material.path("tenants.yaml"), encoding: .utf8)
            .replacingOccurrences(of: "secretEnv: DEMO_API_KEY", with: "secretFile: api.key")
        try (file + "\n          \(binding)\n")
            .write(toFile: material.path("tenants.yaml"), atomically: true, encoding: .utf8)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        try await Database.with(configuration, logger: logger, progress: { _ in }) { database in
            let provisioner = Provisioner(
                store: PostgresProvisioningStore(engine: database.engine),
                directory: PostgresDirectory(call: database.call, engine: database.engine),
                keyRing: try await database.keyRing(configuration),
                vendors: vendors
            )
            _ = try await provisioner.apply(fileAt: material.path("tenants.yaml"), allowsInlineSecrets: false)
        }
    }

    /// Ends all parts in order and removes the directory.
    func close() async {
        await http.close()
        await group.triggerGracefulShutdown()
        _ = try? await running.value
        await world.close()
    }
}
