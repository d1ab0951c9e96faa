import DatabaseSchema
import EmbeddedPostgres
import Foundation
import Logging
import Model
import PostgresClient

/// The processes of one `bench` and how to reach them.
struct BenchStage {
    static let tenant: TenantID = "acme"
    static let app: AppID = "shop"

    let directory: String
    let apiKey: String
    let material: DemoMaterial
    /// `host:port` of the accept-only server; of none when there is none.
    let peerAddress: String
    let gateway: HTTPCaller
    let database: Database
    let nodes: [DemoProcess]
    private let processes: [DemoProcess]

    /// Starts everything in a new directory below the system's temporary one.
    ///
    /// - Parameters:
    ///   - program: this program.
    ///   - peer: the accept-only server; nil: nothing is sent, and none is started.
    ///   - count: how many gateways.
    ///   - core: the one that the gateways start on, with as many threads as fit it; nil: all.
    /// - Returns: the stage, with everything ready.
    /// - Throws: `DemoFailure` that says which part did not start.
    static func open(gateway program: String, peer: String?, nodes count: Int, core: Int?) async throws -> BenchStage {
        if let peer, !FileManager.default.isExecutableFile(atPath: peer) {
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
            // Credentials must name some address.
            var port = discardPort
            if let peer {
                let (server, own) = try await startPeer(peer, material)
                processes.append(server)
                port = own
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
                let (node, address) = try await start(program, number, shared, material, core: core)
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
                nodes: Array(processes.suffix(count)),
                processes: processes
            )
        } catch {
            for process in processes.reversed() { _ = await process.stop() }
            throw DemoFailure("\(error) (logs are in \(directory))")
        }
    }

    /// RFC 863: nobody listens.
    static let discardPort: Int64 = 9

    /// Opens a stage, as `open` does, runs `body` on it and ends it; after a failure its directory stays, for its logs.
    ///
    /// - Throws: what the opening or `body` throws.
    static func with(
        gateway program: String? = nil,
        peer: String?,
        nodes count: Int,
        core: Int? = nil,
        _ body: (BenchStage) async throws -> Void
    ) async throws {
        let stage = try await open(
            gateway: program ?? Bench.program.path,
            peer: peer,
            nodes: count,
            core: core
        )
        // Who ends a bench ends what it has started.
        let children = stage.processes.map(\.processID)
        let watch = Task {
            await Interrupt.wait()
            guard !Task.isCancelled else { return }
            // A gateway ends its PostgreSQL with it.
            for child in children.reversed() { kill(child, SIGTERM) }
            exit(130)
        }
        defer { watch.cancel() }
        do {
            try await body(stage)
            try await stage.close()
        } catch {
            await stage.abandon()
            throw error
        }
    }

    private static func startPeer(
        _ program: String,
        _ material: DemoMaterial,
        name: String = "peer",
        latency: Duration = .zero
    ) async throws -> (DemoProcess, port: Int64) {
        let file = material.path("\(name).json")
        let server = try DemoProcess(
            "apns-accept-server \(name)",
            program: program,
            arguments: [
                "--certificate", material.path("gateway-cert.pem"), "--key", material.path("gateway-key.pem"),
                "--latency-ms", "\(Int(latency / .milliseconds(1)))",
            ],
            logFile: file
        )
        do {
            guard let port = try await readAddressFile(file, of: server)["port"]?.int else {
                throw DemoFailure("the accept server did not say its port")
            }
            return (server, port)
        } catch {
            _ = await server.stop()
            throw error
        }
    }

    /// Another accept-only server, that answers later; the caller stops it.
    ///
    /// - Throws: `DemoFailure` when it does not start.
    func startPeer(_ program: String, _ name: String, latency: Duration) async throws -> (DemoProcess, port: Int64) {
        try await Self.startPeer(program, material, name: name, latency: latency)
    }

    /// Provisions one more tenant with the app `shop` and a credential that leads to `apnsAddress`; returns its API key.
    ///
    /// - Throws: `DemoFailure` when the file is refused.
    func addTenant(_ tenant: TenantID, apnsAddress: String) async throws -> String {
        let key = APIKeys.make(SystemIdentifiers())
        let first = try String(contentsOfFile: material.path("tenants.yaml"), encoding: .utf8)
        let text =
            first + """

                  - id: \(tenant)
                    apiKeys:
                      - { name: backend, secretEnv: OTHER_API_KEY, scopes: [send, devices, read] }
                    credentials:
                      - { id: apple, kind: apns-token, teamId: \(DemoMaterial.teamID), keyId: \(DemoMaterial.keyID),
                          privateKeyFile: AuthKey_\(DemoMaterial.keyID).p8, endpoint: "https://\(apnsAddress)", trustRootsFile: simulator-ca.pem }
                    apps:
                      - id: \(Self.app)
                        platforms:
                          ios: { topic: \(DemoMaterial.topic), production: apple }
                """
        try Data(text.utf8).write(to: URL(fileURLWithPath: material.path("tenants.yaml")))
        try await DemoStage.apply(Bench.program.path, material, apiKey, environment: ["OTHER_API_KEY": key])
        return key
    }

    /// Provisions the app with one more binding, a line of YAML, and waits until it `isServed`: a gateway follows within a second.
    ///
    /// - Throws: `DemoFailure` when the file is refused or the binding is not served within ten seconds.
    func bind(
        _ line: String,
        environment: [String: String] = [:],
        isServed: (BenchStage) async throws -> Bool
    ) async throws {
        let first = try String(contentsOfFile: material.path("tenants.yaml"), encoding: .utf8)
        try Data("\(first)\n          \(line)\n".utf8).write(to: URL(fileURLWithPath: material.path("tenants.yaml")))
        try await DemoStage.apply(Bench.program.path, material, apiKey, environment: environment)
        for _ in 0..<200 {
            if try await isServed(self) { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw DemoFailure("the gateway does not serve \(line)")
    }

    /// Sends a message and returns its id.
    ///
    /// - Throws: `DemoFailure` when it is not accepted.
    func send(_ body: JSON, as apiKey: String) async throws -> String {
        let answer = try await gateway.call("POST", "/v1/messages", body, bearer: apiKey)
        guard answer.status == 202, let id = answer.json?["id"]?.string else {
            throw DemoFailure("sending answered \(answer.status) \(answer.text)")
        }
        return id
    }

    private static func start(
        _ program: String,
        _ number: Int,
        _ more: [String],
        _ material: DemoMaterial,
        core: Int?
    ) async throws -> (DemoProcess, String) {
        let addressFile = material.path("gateway-\(number).json")
        let node = try DemoProcess(
            "push-gateway serve \(number)",
            program: core == nil ? program : "/usr/bin/taskset",
            arguments: (core.map { ["-c", "\($0)", program] } ?? []) + [
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

    /// - Throws: what the database says.
    func makeAudience(_ devices: Int, of tenant: TenantID = BenchStage.tenant, vendor: Vendor = .native) async throws {
        try await BenchAudience(engine: database.engine, tenant: tenant, app: Self.app, vendor: vendor).make(devices)
    }

    /// CPU seconds of PostgreSQL so far, its background processes included.
    ///
    /// - Throws: when its process id cannot be read.
    func postgresCPU() throws -> Double {
        let postmaster = try ClusterProcess.postmaster(of: material.path("data/postgres"))
        return ProcessUsage.cpuSeconds(postmaster)
            + ProcessUsage.children(of: postmaster).map { ProcessUsage.cpuSeconds($0) }.reduce(0, +)
    }

    /// Runs a script as the database's owner, by the client that everybody has.
    ///
    /// - Throws: `DemoFailure` when `psql` is missing or refuses.
    func psql(_ script: String) async throws {
        let file = material.path("ceiling.sql")
        try Data(script.utf8).write(to: URL(fileURLWithPath: file))
        let log = material.path("ceiling.log")
        let process = try DemoProcess(
            "psql",
            program: "/usr/bin/psql",
            arguments: ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", database.adminConnectionString, "-f", file],
            logFile: log
        )
        while process.isRunning { try await Task.sleep(for: .milliseconds(5)) }
        guard await process.stop() == 0 else {
            let text = FileManager.default.contents(atPath: log) ?? Data()
            throw DemoFailure("psql failed: \(String(decoding: text.suffix(500), as: UTF8.self))")
        }
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
