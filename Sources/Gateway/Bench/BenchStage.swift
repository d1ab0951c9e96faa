import Foundation
import Logging
import Model
import Postgres

/// The processes of one `bench deliver` and how to reach them.
struct BenchStage {
    static let tenant: TenantID = "acme"
    static let app: AppID = "shop"

    let directory: String
    let apiKey: String
    let material: DemoMaterial
    /// `host:port` of the accept-only server.
    let peerAddress: String
    let gateway: HTTPCaller
    let database: Database
    let nodes: [DemoProcess]
    private let processes: [DemoProcess]

    /// Starts everything in a new directory below the system's temporary one.
    ///
    /// - Throws: `DemoFailure` that says which part did not start.
    static func open(gateway program: String, peer: String, nodes count: Int) async throws -> BenchStage {
        guard FileManager.default.isExecutableFile(atPath: peer) else {
            throw DemoFailure("there is no program \(peer); 'scripts/bench deliver' builds it")
        }
        let identifiers = SystemIdentifiers()
        let directory = NSTemporaryDirectory() + "pgw-bench-" + identifiers.randomHex(byteCount: 4)
        try FileManager.default.createDirectory(
            atPath: directory,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755]
        )
        let material = DemoMaterial(directory: directory)
        try material.write()
        // The listener's own certificate, which is its issuer too: the gateways trust it as they would a simulator's.
        try FileManager.default.copyItem(
            atPath: material.path("gateway-cert.pem"),
            toPath: material.path("simulator-ca.pem")
        )
        var processes: [DemoProcess] = []
        do {
            let server = try DemoProcess(
                "apns-accept-server",
                program: peer,
                arguments: [
                    "--certificate", material.path("gateway-cert.pem"), "--key", material.path("gateway-key.pem"),
                ],
                logFile: material.path("peer.json")
            )
            processes.append(server)
            guard let port = try await readAddressFile(material.path("peer.json"), of: server)["port"]?.int else {
                throw DemoFailure("the accept server did not say its port")
            }
            var addresses: [String] = []
            for number in 1...count {
                // The first owns the private PostgreSQL; the others are told where it is.
                let shared =
                    number == 1
                    ? []
                    : [
                        "--database-url",
                        try AttachedCluster(directory: material.path("data/postgres")).adminConnectionString,
                        "--master-key-file", material.path("data/master.key"),
                    ]
                let (node, address) = try await start(program, number, shared, material)
                processes.append(node)
                addresses.append(address)
            }
            let apiKey = APIKeys.make(identifiers)
            try material.writeTenants(
                account: identifiers.uuid(at: Timestamp(milliseconds: 0)).lowercased,
                service: identifiers.randomHex(byteCount: 16),
                apnsAddress: "localhost:\(port)"
            )
            try await DemoStage.apply(program, material, apiKey)
            let configuration = try await GatewayConfiguration.load(
                flags: ["data.dir": material.path("data")],
                configFile: nil
            )
            return BenchStage(
                directory: directory,
                apiKey: apiKey,
                material: material,
                peerAddress: "localhost:\(port)",
                gateway: HTTPCaller(base: "http://\(addresses[0])"),
                database: try await Database.open(
                    configuration,
                    logger: Logger(label: "bench") { JSONLogHandler(label: $0, level: .warning) },
                    progress: { _ in }
                ),
                nodes: Array(processes.dropFirst()),
                processes: processes
            )
        } catch {
            for process in processes.reversed() { _ = await process.stop() }
            throw DemoFailure("\(error) (logs are in \(directory))")
        }
    }

    private static func start(
        _ program: String,
        _ number: Int,
        _ more: [String],
        _ material: DemoMaterial
    ) async throws -> (DemoProcess, String) {
        let addressFile = material.path("gateway-\(number).json")
        let node = try DemoProcess(
            "push-gateway serve \(number)",
            program: program,
            arguments: [
                "serve", "--data-dir", material.path(number == 1 ? "data" : "data-\(number)"), "--listen",
                "127.0.0.1:0",
                "--admin-listen", "127.0.0.1:0", "--address-file", addressFile, "--log-level", "notice",
            ] + more,
            logFile: material.path("gateway-\(number).log")
        )
        do {
            guard let address = try await readAddressFile(addressFile, of: node)["http"]?.string else {
                throw DemoFailure("\(node.name) did not say its address")
            }
            return (node, address)
        } catch {
            _ = await node.stop()
            throw error
        }
    }

    /// What decides how durable a figure is, and as whom the gateways work.
    func settings() async throws -> [(String, String)] {
        let names = ["server_version", "fsync", "full_page_writes", "synchronous_commit", "shared_buffers"]
        var settings: [(String, String)] = []
        for name in names {
            let row = try await database.engine.run(
                Statement("SELECT current_setting($1) AS value", [.text(name)]),
                tenant: nil
            )
            settings.append((name, try row.only().text("value")))
        }
        return settings + [("roles", "\(GatewayRole.call.rawValue), \(GatewayRole.engine.rawValue)")]
    }

    /// Ends everything in order and removes the directory.
    ///
    /// - Throws: `DemoFailure` when a part did not end in good order.
    func close() async throws {
        await gateway.close()
        await database.close()
        for process in processes.reversed() {
            let status = await process.stop()
            guard status == 0 else {
                throw DemoFailure("\(process.name) ended with status \(status.map(String.init) ?? "killed"), not 0")
            }
        }
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Ends everything after a failure and keeps the directory for its logs.
    func abandon() async {
        await gateway.close()
        await database.close()
        for process in processes.reversed() { _ = await process.stop() }
    }
}
