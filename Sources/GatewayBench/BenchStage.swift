import CommandSupport
import DatabaseSchema
import EmbeddedPostgres
import Foundation
import Gateway
import Logging
import Model
import NIOConcurrencyHelpers
import Observability
import PostgresClient
import Secrets

/// The processes of one `bench` and their addresses.
struct BenchStage {
    static let tenant: TenantID = "acme"
    static let app: AppID = "shop"

    let directory: String
    let apiKey: String
    let material: StageMaterial
    /// `host:port` of the accept-only server; an address without a server if there is none.
    let peerAddress: String
    let gateway: HTTPCaller
    /// Of the first gateway.
    let addresses: Addresses
    let database: Database
    let nodes: [ChildProcess]
    private let processes: [ChildProcess]
    private let helpers = HelperProcesses()

    /// The listeners of a gateway, as `host:port`.
    struct Addresses: Sendable {
        var http: String
        var admin: String
        /// Nil: the gateway has no console.
        var console: String?
    }

    /// Starts everything in a new directory below the system's temporary directory.
    ///
    /// - Parameters:
    ///   - program: this program.
    ///   - peer: the accept-only server; nil: nothing is sent, and no server is started.
    ///   - count: the number of gateways.
    ///   - core: the core of the gateways, which then have a matching number of threads; nil: all cores.
    ///   - hasConsole: whether the first gateway serves the web console.
    /// - Returns: the stage, with everything ready.
    /// - Throws: `StageFailure` that names the part that did not start.
    static func open(
        gateway program: String,
        peer: String?,
        nodes count: Int,
        core: Int?,
        hasConsole: Bool = false
    ) async throws -> BenchStage {
        if let peer, !FileManager.default.isExecutableFile(atPath: peer) {
            throw StageFailure("no program \(peer); 'scripts/bench deliver' builds it")
        }
        let identifiers = SystemIdentifiers()
        let directory = NSTemporaryDirectory() + "pgw-bench-" + identifiers.randomHex(byteCount: 4)
        let material = try material(in: directory)
        var processes: [ChildProcess] = []
        do {
            // Credentials must contain some address.
            var port = discardPort
            if let peer {
                let (server, own) = try await startPeer(peer, material)
                processes.append(server)
                port = own
            }
            let console = hasConsole ? ["--console-listen", "127.0.0.1:0"] : []
            let addresses = try await startNodes(program, count, console, material, core: core, &processes)
            let apiKey = APIKeys.make(identifiers)
            try material.writeTenants(
                account: identifiers.uuid(at: Timestamp(milliseconds: 0)).lowercased,
                service: identifiers.randomHex(byteCount: 16),
                apnsAddress: "localhost:\(port)"
            )
            try await material.apply(program, apiKey)
            return BenchStage(
                directory: directory,
                apiKey: apiKey,
                material: material,
                peerAddress: "localhost:\(port)",
                gateway: HTTPCaller(base: "http://\(addresses.http)"),
                addresses: addresses,
                database: try await openDatabase(material),
                nodes: Array(processes.suffix(count)),
                processes: processes
            )
        } catch {
            for process in processes.reversed() { _ = await process.stop() }
            throw StageFailure("\(error) (logs are in \(directory))")
        }
    }

    private static func material(in directory: String) throws -> StageMaterial {
        try FileManager.default.createDirectory(
            atPath: directory,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755]
        )
        let material = StageMaterial(directory: directory)
        try material.write()
        // The listener's own certificate is also its issuer: the gateways trust it like that of a simulator.
        try FileManager.default.copyItem(
            atPath: material.path("gateway-cert.pem"),
            toPath: material.path("simulator-ca.pem")
        )
        return material
    }

    /// Starts the gateways and returns the addresses of the first, which owns the private PostgreSQL.
    private static func startNodes(
        _ program: String,
        _ count: Int,
        _ console: [String],
        _ material: StageMaterial,
        core: Int?,
        _ processes: inout [ChildProcess]
    ) async throws -> Addresses {
        let (first, addresses) = try await start(program, 1, console, material, core: core)
        processes.append(first)
        for number in 1..<max(count, 1) {
            let cluster = try AttachedCluster(directory: material.path("data/postgres"))
            let shared = [
                "--database-url", cluster.adminConnectionString, "--master-key-file", material.path("data/master.key"),
            ]
            processes.append(try await start(program, number + 1, shared, material, core: core).0)
        }
        return addresses
    }

    private static func openDatabase(_ material: StageMaterial) async throws -> Database {
        try await Database.open(
            try await GatewayConfiguration.load(flags: ["data.dir": material.path("data")], configFile: nil),
            logger: Logger(label: "bench") { JSONLogHandler(label: $0, level: .warning) },
            progress: { _ in }
        )
    }

    /// The discard port of RFC 863, on which no server listens.
    static let discardPort: Int64 = 9

    /// Opens a stage like `open`, runs `body` on it and closes it. After a failure its directory stays, because of the logs.
    ///
    /// - Throws: the error of opening the stage or of `body`.
    static func with(
        gateway program: String? = nil,
        peer: String?,
        nodes count: Int,
        core: Int? = nil,
        hasConsole: Bool = false,
        _ body: (BenchStage) async throws -> Void
    ) async throws {
        let stage = try await open(
            gateway: program ?? Bench.program.path,
            peer: peer,
            nodes: count,
            core: core,
            hasConsole: hasConsole
        )
        // A signal that ends the bench also ends the processes that it has started.
        let children: [Int32] = stage.processes.map(\.processID).reversed()
        let helpers = stage.helpers
        let watch = Task {
            await TerminationSignal.wait()
            guard !Task.isCancelled else { return }
            // A gateway stops its PostgreSQL before it ends.
            for child in helpers.running + children { kill(child, SIGTERM) }
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

    /// Runs `body` while one more process runs, and then ends that process. A signal that ends the bench ends it too.
    ///
    /// - Throws: what `body` throws.
    func during<Value>(_ process: ChildProcess, _ body: () async throws -> Value) async throws -> Value {
        let id = process.processID
        helpers.add(id)
        do {
            let value = try await body()
            _ = await process.stop()
            helpers.remove(id)
            return value
        } catch {
            _ = await process.stop()
            helpers.remove(id)
            throw error
        }
    }

    private static func startPeer(
        _ program: String,
        _ material: StageMaterial,
        name: String = "peer",
        latency: Duration = .zero
    ) async throws -> (ChildProcess, port: Int64) {
        let file = material.path("\(name).json")
        let server = try ChildProcess(
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
                throw StageFailure("the accept server did not report its port")
            }
            return (server, port)
        } catch {
            _ = await server.stop()
            throw error
        }
    }

    /// Starts another accept-only server with delayed answers. The caller stops it.
    ///
    /// - Throws: `StageFailure` when it does not start.
    func startPeer(_ program: String, _ name: String, latency: Duration) async throws -> (ChildProcess, port: Int64) {
        try await Self.startPeer(program, material, name: name, latency: latency)
    }

    /// Provisions one more tenant with the app `shop` and a credential for `apnsAddress`.
    ///
    /// - Parameters:
    ///   - tenant: its name.
    ///   - apnsAddress: `host:port` of its push service.
    ///   - credentials: its further credentials, a line of YAML each.
    ///   - shop: further lines of the app `shop`.
    ///   - apps: its further apps, a line each.
    /// - Returns: its API key.
    /// - Throws: `StageFailure` when the file is refused.
    func addTenant(
        _ tenant: TenantID,
        apnsAddress: String,
        credentials: [String] = [],
        shop: [String] = [],
        apps: [String] = []
    ) async throws -> String {
        func lines(_ lines: [String], _ indent: String) -> String { lines.map { "\n\(indent)\($0)" }.joined() }
        let key = APIKeys.make(SystemIdentifiers())
        let first = try String(contentsOfFile: material.path("tenants.yaml"), encoding: .utf8)
        let text =
            first + """

                  - id: \(tenant)
                    apiKeys:
                      - { name: backend, secretEnv: OTHER_API_KEY, scopes: [send, devices, read] }
                    credentials:
                      - { id: apple, kind: apns-token, teamId: \(StageMaterial.teamID), keyId: \(StageMaterial.keyID),
                          privateKeyFile: AuthKey_\(StageMaterial.keyID).p8, endpoint: "https://\(apnsAddress)", trustRootsFile: simulator-ca.pem }\(lines(credentials, "      - "))
                    apps:
                      - id: \(Self.app)
                        platforms:
                          ios: { topic: \(StageMaterial.topic), production: apple }\(lines(shop, "        "))\(lines(apps, "      - "))
                """
        try Data(text.utf8).write(to: URL(fileURLWithPath: material.path("tenants.yaml")))
        try await material.apply(Bench.program.path, apiKey, environment: ["OTHER_API_KEY": key])
        return key
    }

    /// Provisions the app with one more binding, a line of YAML, and waits until `isServed` is true.
    ///
    /// - Throws: `StageFailure` when the file is refused or the binding is not served within ten seconds.
    func bind(
        _ line: String,
        environment: [String: String] = [:],
        isServed: (BenchStage) async throws -> Bool
    ) async throws {
        let first = try String(contentsOfFile: material.path("tenants.yaml"), encoding: .utf8)
        try Data("\(first)\n          \(line)\n".utf8).write(to: URL(fileURLWithPath: material.path("tenants.yaml")))
        try await material.apply(Bench.program.path, apiKey, environment: environment)
        try await untilServed(line, isServed)
    }

    /// Waits until a gateway applies what was provisioned: it does so within a second.
    ///
    /// - Throws: `StageFailure` when it does not within ten seconds.
    func untilServed(_ name: String, _ isServed: (BenchStage) async throws -> Bool) async throws {
        for _ in 0..<200 {
            if try await isServed(self) { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw StageFailure("the gateway does not serve \(name)")
    }

    /// Sends a message and returns its id.
    ///
    /// - Throws: `StageFailure` when it is not accepted.
    func send(_ body: JSON, as apiKey: String) async throws -> String {
        let answer = try await gateway.call("POST", "/v1/messages", body, bearer: apiKey)
        guard answer.status == 202, let id = answer.json?["id"]?.string else {
            throw StageFailure("sending answered \(answer.status) \(answer.text)")
        }
        return id
    }

    private static func start(
        _ program: String,
        _ number: Int,
        _ more: [String],
        _ material: StageMaterial,
        core: Int?
    ) async throws -> (ChildProcess, Addresses) {
        let addressFile = material.path("gateway-\(number).json")
        let node = try ChildProcess(
            "push-gateway serve \(number)",
            program: core == nil ? program : "/usr/bin/taskset",
            arguments: (core.map { ["-c", "\($0)", program] } ?? []) + [
                "serve", "--data-dir", material.path(number == 1 ? "data" : "data-\(number)"), "--listen",
                "127.0.0.1:0",
                "--admin-listen", "127.0.0.1:0", "--address-file", addressFile, "--log-level", "notice",
                "--webhook-allow", "127.0.0.0/8",
            ] + more,
            logFile: material.path("gateway-\(number).log"),
            // All calls come from one address. A program to compare with may not know the flags.
            environment: ["LIMITS_CALLS": "off", "UPSTREAM_ALLOW": "127.0.0.0/8"]
        )
        do {
            let found = try await readAddressFile(addressFile, of: node)
            guard let http = found["http"]?.string, let admin = found["admin"]?.string else {
                throw StageFailure("\(node.name) did not report its addresses")
            }
            return (node, Addresses(http: http, admin: admin, console: found["console"]?.string))
        } catch {
            _ = await node.stop()
            throw error
        }
    }

    /// - Throws: the error of the database.
    func settings() async throws -> BenchSettings {
        let names = ["server_version", "fsync", "full_page_writes", "synchronous_commit", "shared_buffers"]
        var settings: [(String, String)] = []
        for name in names {
            let row = try await database.engine.run(
                Statement("SELECT current_setting($1) AS value", [.text(name)]),
                tenant: nil
            )
            settings.append((name, try row.only().text("value")))
        }
        settings.append(("roles", "\(GatewayRole.call.rawValue), \(GatewayRole.engine.rawValue)"))
        return BenchSettings(values: settings)
    }

    /// - Throws: the error of the database.
    func makeAudience(_ devices: Int, of tenant: TenantID = BenchStage.tenant, vendor: Vendor = .native) async throws {
        try await BenchAudience(engine: database.engine, tenant: tenant, app: Self.app, vendor: vendor).make(devices)
    }

    /// The CPU seconds of all gateways until now.
    func gatewayCPU() -> Double { nodes.map { ProcessUsage.cpuSeconds($0.processID) }.reduce(0, +) }

    /// The CPU seconds of PostgreSQL until now, including its background processes.
    ///
    /// - Throws: when its process id cannot be read.
    func postgresCPU() throws -> Double {
        let postmaster = try ClusterProcess.postmaster(of: material.path("data/postgres"))
        return ProcessUsage.cpuSeconds(postmaster)
            + ProcessUsage.children(of: postmaster).map { ProcessUsage.cpuSeconds($0) }.reduce(0, +)
    }

    /// Runs a script with `psql` as the owner of the database.
    ///
    /// - Throws: `StageFailure` when `psql` is missing or fails.
    func psql(_ script: String) async throws {
        _ = try await PsqlScript(script, path: material.path("ceiling")).run(on: database.adminConnectionString)
    }

    /// Stops everything in order and removes the directory.
    ///
    /// - Throws: `StageFailure` when a process ended with an error.
    func close() async throws {
        await gateway.close()
        await database.close()
        for process in processes.reversed() {
            let status = await process.stop()
            guard status == 0 else {
                throw StageFailure("\(process.name) ended with status \(status.map(String.init) ?? "killed"), not 0")
            }
        }
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Stops everything after a failure and keeps the directory with the logs.
    func abandon() async {
        await gateway.close()
        await database.close()
        for process in processes.reversed() { _ = await process.stop() }
    }
}

/// The processes that run for a part of a bench.
private final class HelperProcesses: Sendable {
    private let ids = NIOLockedValueBox<Set<Int32>>([])

    var running: [Int32] { ids.withLockedValue { Array($0) } }

    func add(_ id: Int32) { ids.withLockedValue { _ = $0.insert(id) } }
    func remove(_ id: Int32) { ids.withLockedValue { _ = $0.remove(id) } }
}
