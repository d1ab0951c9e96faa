import CommandSupport
import EmbeddedPostgres
import Foundation
import Logging
import Model
import PostgresClient
import Testing

@testable import Gateway
@testable import Observability

/// An answer of the admin listener of one node.
struct AdminPage {
    let status: Int
    let text: String

    static func metrics(_ address: String) async throws -> AdminPage { try await get("/metrics", address) }

    static func readiness(_ address: String) async throws -> AdminPage { try await get("/readyz", address) }

    private static func get(_ path: String, _ address: String) async throws -> AdminPage {
        let answer = try? await HTTPCaller(base: "http://\(address)").closing { try await $0.call("GET", path) }
        guard let answer else { throw StageFailure("\(address) does not answer") }
        return AdminPage(status: answer.status, text: answer.text)
    }

    /// The sum of a metric over its series with this label.
    func sum(_ name: String, _ label: String = "") -> Double {
        let series = text.split(separator: "\n").filter {
            ($0.hasPrefix(name + "{") || $0.hasPrefix(name + " ")) && $0.contains(label)
        }
        return series.compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }.reduce(0, +)
    }

    /// Outcomes that are not written, and pushes that have left the transport's queue without an answer.
    var openWork: Int {
        let pushes = sum("delivery_pushes_in_flight") - sum("apns_waiting")
        return Int(sum("delivery_results_unflushed") + max(pushes, sum("apns_streams_in_use")))
    }
}

extension World {
    /// Opens the gateway's own cluster.
    func withDatabase<Value: Sendable>(_ body: (Database) async throws -> Value) async throws -> Value {
        let configuration = try await GatewayConfiguration.load(
            flags: ["data.dir": material.path("data")],
            configFile: nil
        )
        return try await Database.with(
            configuration,
            logger: Logger(label: "test") { JSONLogHandler(label: $0, level: .error) },
            progress: { _ in },
            body
        )
    }

    /// The single row that a statement returns from the gateway's own cluster.
    ///
    /// While the gateway runs, all statements of a world share a pool, which keeps its session: tests poll with them, and a new session costs a process of the
    /// server with empty caches. The pool replaces a session that the server has ended. Without a gateway, the cluster is opened for the statement.
    func row(_ sql: String) async throws -> Row {
        let statement = Statement(sql)
        guard gateway?.isRunning == true else {
            return try await withDatabase { try await $0.engine.run(statement, tenant: nil).only() }
        }
        return try await keptPool().run(statement, tenant: nil).only()
    }

    /// Runs `body` while the gateway's own cluster is kept open.
    func expectEqualCounts(of messages: [String]) async throws {
        try await withDatabase { try await expectEqualCounts(of: messages, in: $0) }
    }

    /// The reports with this text in the log of the gateway's own cluster, each with the lines that follow it, which name the sessions and their
    /// statements.
    func reports(of text: String, lines: Int = 30) throws -> [String] {
        let log = try String(contentsOfFile: material.path("data/postgres/log/postgres.log"), encoding: .utf8)
            .split(separator: "\n")
        return log.indices.filter { log[$0].contains(text) }
            .map { log[$0..<min($0 + lines, log.endIndex)].joined(separator: "\n") }
    }
}
