import EmbeddedPostgres
import EngineStore
import Foundation
import Logging
import Model
import PostgresClient
import Testing

@testable import CommandSupport
@testable import Gateway
@testable import Observability

/// Several gateways on one database, as real processes. The first one owns the embedded PostgreSQL; the others get its URL.
///
/// As with its world, one test drives it from one task at a time.
final class Cluster: @unchecked Sendable {
    /// The options for starting one node.
    struct Start {
        /// Arguments in addition to directories and listeners.
        var arguments: [String] = []
        /// The error of its clock, in seconds.
        var clockError: Int?
    }

    /// A gateway other than the first.
    private struct Node {
        var process: ChildProcess
        var http: HTTPCaller
        /// The address of `/readyz` and `/metrics`.
        var admin: String
    }

    /// Debian's `faketime`; nil: it is not installed.
    static let clockLibrary = [
        "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
        "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
    ].first { FileManager.default.fileExists(atPath: $0) }

    /// The environment of a program whose clock is wrong by the given number of seconds. Deadlines and sleeps are
    /// correct.
    private static func wrongClock(_ seconds: Int) -> [String: String] {
        [
            "LD_PRELOAD": clockLibrary ?? "", "FAKETIME": String(format: "%+ds", seconds),
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        ]
    }

    let world: World
    private var others: [Int: Node] = [:]
    private let starts: [Start]
    /// Changes the demo's tenants before the nodes after the first one start. nil: the tenants do not change.
    var changeTenants: ((String) throws -> String)?
    /// The secrets that the changed tenants name.
    var applyEnvironment: [String: String] = [:]

    /// - Parameters:
    ///   - starts: one per node. The first node's clock is right.
    ///   - simulatorArguments: beyond ports, keys and files.
    /// - Throws: when a directory cannot be made.
    init(_ starts: [Start], simulatorArguments: [String] = ["--mode", "accept"]) throws {
        self.starts = starts
        world = try World(simulatorArguments: simulatorArguments, serveArguments: starts[0].arguments)
    }

    convenience init(
        nodes: Int,
        arguments: [String] = [],
        simulatorArguments: [String] = ["--mode", "accept"]
    ) throws {
        try self.init(
            Array(repeating: Start(arguments: arguments), count: nodes),
            simulatorArguments: simulatorArguments
        )
    }

    var count: Int { starts.count }

    /// Starts everything and provisions the demo's tenant.
    func start() async throws {
        try await world.startSimulator()
        try await world.startGateway()
        let applied = try await world.apply()
        try #require(applied.status == 0, "\(applied.log)")
        if let changeTenants {
            let file = world.material.path("tenants.yaml")
            let text = try changeTenants(String(contentsOfFile: file, encoding: .utf8))
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            let changed = try await world.apply(environment: applyEnvironment)
            try #require(changed.status == 0, "\(changed.log)")
        }
        for number in 1..<count { try await startNode(number) }
    }

    /// Starts a node, also after a kill.
    func startNode(_ number: Int) async throws {
        guard number > 0 else { return try await world.startGateway() }
        let address = world.material.path("gateway-\(number).json")
        try? FileManager.default.removeItem(atPath: address)
        // PostgreSQL may be recovering from a kill of the test's own, and a node does not start without it.
        let url = try await first("PostgreSQL accepts connections") { await connectableURL() }
        let log = world.material.path("gateway-\(number)-\(UInt32.random(in: 0...9999)).log")
        let error = starts[number].clockError
        let process = try ChildProcess(
            "push-gateway serve \(number)",
            // The library creates its own environment in the first program that loads it, and Swift then misses its
            // arguments.
            program: error == nil ? World.programs + "/push-gateway" : "/usr/bin/env",
            arguments: (error == nil ? [] : [World.programs + "/push-gateway"]) + [
                "serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--address-file", address,
                "--data-dir", world.material.path("data-\(number)"), "--database-url", url, "--master-key-file",
                world.material.path("data/master.key"),
            ] + starts[number].arguments,
            logFile: log,
            environment: World.unlimited.merging(error.map(Self.wrongClock) ?? [:]) { $1 }
        )
        guard let addresses = try? await readAddressFile(address, of: process) else {
            let text = FileManager.default.contents(atPath: log) ?? Data()
            throw StageFailure("node \(number) did not start: \(String(decoding: text.suffix(800), as: UTF8.self))")
        }
        let http = try #require(addresses["http"]?.string)
        let admin = try #require(addresses["admin"]?.string)
        others[number] = Node(process: process, http: HTTPCaller(gateway: "http://\(http)"), admin: admin)
    }

    /// Sends SIGKILL and waits until the process has ended.
    func killNode(_ number: Int) async throws {
        guard number > 0 else { return try await world.killGateway() }
        guard let node = others.removeValue(forKey: number) else { return }
        node.process.kill()
        try await node.process.ended()
        await node.http.close()
    }

    /// Stops PostgreSQL immediately: sessions are cut and recovery follows. The first node starts it again.
    func stopPostgresImmediately() throws { kill(try world.postgresPID(), SIGQUIT) }

    /// Whether PostgreSQL accepts connections.
    var isConnectable: Bool { get async { await connectableURL() != nil } }

    /// The URL of an administrator's connection; nil while PostgreSQL accepts no connections.
    private func connectableURL() async -> String? {
        guard let url = try? AttachedCluster(directory: world.material.path("data/postgres")).adminConnectionString,
            let connection = try? await PostgresConnection.connect(
                PostgresConfiguration(url),
                logger: Logger(label: "cluster")
            )
        else { return nil }
        await connection.close()
        return url
    }

    /// The native API of one node.
    func http(_ number: Int) throws -> HTTPCaller {
        number == 0 ? world.http : try #require(others[number]?.http)
    }

    /// A number from the database.
    func number(_ sql: String) async throws -> Int { try await world.row(sql).int("number") }

    /// The number of slices that are not done.
    func openSlices() async throws -> Int {
        try await number("SELECT count(*) AS number FROM gateway.slice WHERE state <> 'done'")
    }

    func withDatabase<Value: Sendable>(_ body: (Database) async throws -> Value) async throws -> Value {
        try await world.withDatabase(body)
    }

    /// The number of pushes that a kill of this node repeats at most, by its own metrics.
    func openWork(of number: Int) async throws -> Int {
        try await AdminPage.metrics(number == 0 ? world.adminAddress : try #require(others[number]?.admin)).openWork
    }

    /// Ends all processes and removes the directory.
    func close() async {
        for (number, node) in others {
            await node.http.close()
            // `faketime` shifts monotonic timers too. A node whose clock is behind ends its sleeps minutes late, and
            // its drain as well.
            if starts[number].clockError.map({ $0 < 0 }) == true { node.process.kill() }
            if starts[number].clockError != nil {
                _ = await node.process.stop()
                continue
            }
            let status = await node.process.stop()
            #expect(status == 0, "\(node.process.name) ended with \(status.map(String.init) ?? "a kill")")
        }
        await world.close()
    }
}
