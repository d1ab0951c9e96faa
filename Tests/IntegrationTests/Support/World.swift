import DatabaseSchema
import EmbeddedPostgres
import Foundation
import Logging
import Model
import NIOConcurrencyHelpers
import NIOHTTP1
import PostgresClient
import TestKit
import Testing

@testable import CommandSupport
@testable import Gateway
@testable import GatewayHTTP
@testable import Observability
@testable import Secrets

/// One simulator and one gateway as real processes in their own directory, which outlives kills of either.
///
/// Unchecked, because its processes and clients are replaced when they are killed and restarted. One test drives one world from one task at a time;
/// nothing else may call it. Groups within a test capture the values they need instead.
final class World: @unchecked Sendable {
    let directory: String
    let material: StageMaterial
    let account: String
    let service: String
    let apiKey: String
    private(set) var simulator: ChildProcess?
    private(set) var gateway: ChildProcess?
    private(set) var http: HTTPCaller
    private(set) var https: HTTPCaller
    private(set) var control: HTTPCaller
    private(set) var adminAddress = ""
    private var gatewayLogFile = ""
    private var simulatorPorts: (apns: Int, control: Int, manage: Int) = (0, 0, 0)
    private let serveArguments: [String]
    private let simulatorArguments: [String]
    /// The arguments of every command for the data directory and the database.
    private var place: [String] {
        ["--data-dir", material.path("data")] + (databaseURL.map { ["--database-url", $0] } ?? [])
    }
    private let databaseURL: String?
    /// Sessions of the statements of the test (see `row`).
    private let pool = NIOLockedValueBox<PostgresPool?>(nil)
    /// The endings of the UPMC apps that `applyUPMC` has written so far, with the URL of their pages.
    var upmcApps: [(ending: String, publicURL: String?)] = []

    /// The program for the next start or command.
    var gatewayProgram = programs + "/push-gateway" {
        // A program of another version makes a database of its own schema.
        didSet { makesDatabase = true }
    }

    /// Whether the first start creates the database, instead of a copy of one that the program has created before.
    var makesDatabase = false

    /// The directory of the programs under test: that of the test bundle, or `GATEWAY_PROGRAMS`, for example a
    /// release build.
    static let programs: String = {
        if let named = ProcessInfo.processInfo.environment["GATEWAY_PROGRAMS"] { return named }
        let own = URL(fileURLWithPath: CommandLine.arguments.first ?? "").resolvingSymlinksInPath()
        return own.deletingLastPathComponent().path
    }()

    /// - Parameters:
    ///   - simulatorArguments: in addition to ports, keys and files.
    ///   - serveArguments: in addition to directories and listeners.
    ///   - databaseURL: nil: the gateway's own cluster.
    /// - Throws: when the directory or a file in it cannot be written.
    init(
        simulatorArguments: [String] = ["--mode", "script"],
        serveArguments: [String] = [],
        databaseURL: String? = nil
    ) throws {
        self.databaseURL = databaseURL
        let identifiers = SystemIdentifiers()
        directory = "\(ScratchFolder.root)/pgw-test-" + identifiers.randomHex(byteCount: 5)
        try FileManager.default.createDirectory(
            atPath: directory,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755]
        )
        material = StageMaterial(directory: directory)
        try material.write()
        account = identifiers.uuid(at: Timestamp(milliseconds: 1_700_000_000_000)).lowercased
        service = identifiers.randomHex(byteCount: 16)
        apiKey = APIKeys.make(identifiers)
        self.serveArguments = serveArguments
        self.simulatorArguments = simulatorArguments
        http = HTTPCaller(base: "")
        https = HTTPCaller(base: "")
        control = HTTPCaller(base: "")
    }

    /// Starts the simulator; after a kill, on the same ports and with the same authority.
    func startSimulator() async throws {
        try? FileManager.default.removeItem(atPath: material.path("simulator.json"))
        let process = try ChildProcess(
            "apns-simulator",
            program: Self.programs + "/apns-simulator",
            arguments: [
                "--port", "\(simulatorPorts.apns)", "--control-port", "\(simulatorPorts.control)", "--manage-port",
                "\(simulatorPorts.manage)", "--ca-out",
                material.path("simulator-ca.pem"), "--ca-key", material.path("simulator-ca.key"), "--keys",
                material.path("simulator-keys.json"), "--address-file", material.path("simulator.json"),
            ] + simulatorArguments,
            logFile: material.path("simulator-\(UInt32.random(in: 0...9999)).log")
        )
        simulator = process
        let addresses = try await readAddressFile(material.path("simulator.json"), of: process)
        let apns = try #require(addresses["apns"]?.string.flatMap { ListenAddress($0) })
        let control = try #require(addresses["control"]?.string.flatMap { ListenAddress($0) })
        let manage = try #require(addresses["manage"]?.string.flatMap { ListenAddress($0) })
        simulatorPorts = (apns.port, control.port, manage.port)
        await self.control.close()
        self.control = HTTPCaller(base: "http://\(control)")
    }

    /// Tests make thousands of calls from one address; those of the limits name their own. In the environment, because a program of the previous version
    /// does not know the flag.
    static let unlimited = ["LIMITS_CALLS": "off"]

    /// The environment of the gateway, in addition to that of the tests.
    var serveEnvironment: [String: String] = [:]

    /// Starts the gateway on the same data directory.
    func startGateway() async throws {
        try? FileManager.default.removeItem(atPath: material.path("gateway.json"))
        if databaseURL == nil, !makesDatabase, !FileManager.default.fileExists(atPath: material.path("data/postgres")) {
            try await ClusterTemplate.shared.copy(into: material.path("data"))
        }
        gatewayLogFile = material.path("gateway-\(UInt32.random(in: 0...9999)).log")
        let process = try ChildProcess(
            "push-gateway serve",
            program: gatewayProgram,
            arguments: [
                "serve", "--listen", "127.0.0.1:0", "--tls-listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0",
                "--tls-cert", material.path("gateway-cert.pem"), "--tls-key", material.path("gateway-key.pem"),
                "--address-file", material.path("gateway.json"),
            ] + place + serveArguments,
            logFile: gatewayLogFile,
            environment: serveEnvironment.merging(
                serveArguments.contains { $0.hasPrefix("--limits-") } ? [:] : Self.unlimited
            ) { own, _ in own }
        )
        gateway = process
        let addresses = try await readAddressFile(material.path("gateway.json"), of: process)
        await http.close()
        await https.close()
        http = HTTPCaller(gateway: "http://" + (try #require(addresses["http"]?.string)))
        https = HTTPCaller(
            gateway: "https://" + (try #require(addresses["https"]?.string)),
            trustRootsFile: material.path("gateway-cert.pem")
        )
        adminAddress = try #require(addresses["admin"]?.string)
    }

    /// Provisions the demo's tenant.
    func apply(_ file: String = "tenants.yaml", environment: [String: String] = [:]) async throws -> (
        status: Int32?, log: String
    ) {
        if !FileManager.default.fileExists(atPath: material.path("tenants.yaml")) {
            try material.writeTenants(
                account: account,
                service: service,
                apnsAddress: "127.0.0.1:\(simulatorPorts.apns)",
                channelAddress: "127.0.0.1:\(simulatorPorts.manage)"
            )
        }
        return try await command(
            ["apply", "--file", material.path(file)],
            environment: ["DEMO_API_KEY": apiKey].merging(environment) { $1 }
        )
    }

    /// Runs a short command on the same directory and database until it ends.
    func command(_ arguments: [String], environment: [String: String] = [:]) async throws -> (
        status: Int32?, log: String
    ) {
        let log = material.path("command.log")
        let process = try ChildProcess(
            arguments.first ?? "",
            program: gatewayProgram,
            arguments: arguments + place,
            logFile: log,
            environment: environment
        )
        try await process.ended()
        let status = await process.stop()
        return (status, String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self))
    }

    /// Runs a command that calls the running gateway's API, until it ends.
    func apiCommand(_ arguments: [String]) async throws -> (status: Int32?, log: String) {
        let log = material.path("api-command.log")
        let process = try ChildProcess(
            arguments.first ?? "",
            program: Self.programs + "/push-gateway",
            arguments: arguments + ["--url", http.base],
            logFile: log,
            environment: ["PUSH_GATEWAY_KEY": apiKey]
        )
        try await process.ended()
        let status = await process.stop()
        return (status, String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self))
    }

    /// Creates the master key, which an operator with an external database does once.
    func makeMasterKey() throws {
        try FileManager.default.createDirectory(atPath: material.path("data"), withIntermediateDirectories: true)
        let key = SystemIdentifiers().randomHex(byteCount: 32)
        try key.write(toFile: material.path("data/master.key"), atomically: true, encoding: .utf8)
        let mode: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        try FileManager.default.setAttributes(mode, ofItemAtPath: material.path("data/master.key"))
    }

    func killGateway() async throws { try await kill(gateway) }
    func killSimulator() async throws { try await kill(simulator) }

    private func kill(_ process: ChildProcess?) async throws {
        guard let process else { return }
        process.kill()
        try await process.ended()
    }

    /// The log of the running gateway since its start.
    func gatewayLog() throws -> String { try String(contentsOfFile: gatewayLogFile, encoding: .utf8) }

    /// The embedded PostgreSQL's process id.
    func postgresPID() throws -> Int32 {
        let text = try String(contentsOfFile: material.path("data/postgres/data/postmaster.pid"), encoding: .utf8)
        return try #require(text.split(separator: "\n").first.flatMap { Int32($0) })
    }

    /// The pool of the test's statements on the gateway's own cluster, whose server the gateway runs.
    ///
    /// - Throws: when the directory of the cluster cannot be one.
    func keptPool() throws -> PostgresPool {
        let cluster = try AttachedCluster(directory: material.path("data/postgres"))
        return pool.withLockedValue { kept in
            if let kept { return kept }
            var limits = PoolLimits()
            // 30 s: as long as a server that the test has killed may take to recover.
            limits.waitTimeout = .seconds(30)
            let made = PostgresPool(
                PostgresConfiguration(cluster.connectionString(role: .engine)),
                limits: limits,
                logger: Logger(label: "test") { JSONLogHandler(label: $0, level: .error) }
            )
            kept = made
            return made
        }
    }

    /// The sum of a metric of the gateway over its series with this label.
    func metric(_ name: String, _ label: String) async throws -> Double {
        try await AdminPage.metrics(adminAddress).sum(name, label)
    }

    func stats() async throws -> JSON { try #require(try await control.call("GET", "/_simulator/stats").json) }

    func native(_ method: String, _ path: String, _ body: JSON? = nil) async throws -> HTTPCaller.Answer {
        try await http.call(method, path, body, bearer: apiKey)
    }

    /// The generation of the event log.
    func eventGeneration() async throws -> String {
        let page = try await native("GET", "/v1/events?limit=1")
        return try #require(page.headers.first(name: "X-Event-Generation"))
    }

    /// Ends both in order, including the cluster, and removes the directory.
    func close() async {
        for caller in [http, https, control] { await caller.close() }
        await pool.withLockedValue(\.self)?.close()
        _ = await gateway?.stop()
        _ = await simulator?.stop()
        // After a kill the cluster runs on without a gateway; a short command adopts and stops it.
        if let pid = try? postgresPID(), Glibc.kill(pid, 0) == 0 { Glibc.kill(pid, SIGINT) }
        try? FileManager.default.removeItem(atPath: directory)
    }
}
