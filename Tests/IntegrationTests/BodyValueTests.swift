import CommandSupport
import EmbeddedPostgres
import Foundation
import Logging
import Model
import PostgresClient
import Testing

/// The memory of small bodies with many values, over a real process.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct BodyValueTests {
    /// The calls at once, each of an address of its own: the room for values and the places to wait for it are fewer.
    private static let count = 400

    private static func register(
        _ service: String,
        _ number: Int,
        _ extra: String,
        _ caller: HTTPCaller
    ) async throws -> HTTPCaller.Answer {
        let token = String(format: "%064x", 0xE0_0000 + number)
        let body = #"{"sId":"\#(service)","dt":2,"tk":"\#(token)","env":"dev","x":[\#(extra)0]}"#
        return try await caller.post(
            "/ro/v1/device/register",
            json: Array(body.utf8),
            headers: ["X-Forwarded-For": "10.9.\(number / 200).\(number % 200 + 1)"]
        )
    }

    // 60 kB of short lists take more than 1 MB when they are read. While the database does not answer, each call holds what it has read: without a bound, these
    // take 500 MB.
    @Test func manyValuesOfSmallBodiesDoNotFillTheMemory() async throws {
        try await World.with(serveArguments: ["--trusted-proxies", "127.0.0.1", "--limits-calls"]) { world in
            let applied = try await world.apply()
            try #require(applied.status == 0, "\(applied.log)")
            try await eventually("the binding is served") {
                try await Self.register(world.service, 0, "", world.http).json?["rc"] == 1
            }
            let caller = HTTPCaller(base: world.http.base, tls: nil, connections: Self.count)
            try await closing {
                await caller.close()
            } after: {
                // The connections themselves take memory.
                let service = world.service
                try await concurrently(Self.count, tasks: Self.count) {
                    try await Self.register(service, $0, "", caller)
                }
                let gateway = try #require(world.gateway).processID
                let before = try LimitTests.memory("VmRSS", of: gateway)
                try "5".write(toFile: "/proc/\(gateway)/clear_refs", atomically: false, encoding: .utf8)
                let extra = String(repeating: "[0],", count: 15_000)
                let answers = try await Self.whileIdentitiesAreLocked(world) {
                    try await concurrently(Self.count, tasks: Self.count) {
                        try await Self.register(service, $0, extra, caller)
                    }
                }
                let peak = try LimitTests.memory("VmHWM", of: gateway)
                #expect(peak - before <= 192 << 10, "\(before) kB before, \(peak) kB at most")
                let limited = answers.filter { $0.status == 429 }
                #expect(!limited.isEmpty && limited.count < Self.count)
                #expect(limited.allSatisfy { $0.json?["rc"] != nil }, "\(limited.first?.text ?? "")")
                #expect(
                    try await world.metric("calls_limited_total", "limit=\"bodies.values\"") == Double(limited.count)
                )
                // The room is free again.
                let again = try await Self.register(service, 1, extra, caller)
                #expect(again.json?["rc"] != nil && again.status != 429, "\(again.text)")
            }
        }
    }

    /// Runs `body` while no registration can be stored, for five seconds.
    private static func whileIdentitiesAreLocked<Value: Sendable>(
        _ world: World,
        _ body: () async throws -> Value
    ) async throws -> Value {
        let url = try AttachedCluster(directory: world.material.path("data/postgres")).adminConnectionString
        let logger = Logger(label: "lock")
        let holder = try await PostgresConnection.connect(PostgresConfiguration(url), logger: logger)
        let hold = Task {
            try await holder.script(
                "BEGIN; LOCK TABLE gateway.identity IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(5); COMMIT",
                timeout: .seconds(30)
            )
        }
        try await eventually("the table is locked") {
            try await world.value(
                """
                SELECT count(*)::text AS value FROM pg_locks
                WHERE relation = 'gateway.identity'::regclass AND mode = 'AccessExclusiveLock' AND granted
                """
            ) == "1"
        }
        let value = try await body()
        try await hold.value
        await holder.close()
        return value
    }
}
