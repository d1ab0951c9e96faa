import CommandSupport
import Foundation
import Model
import NIOConcurrencyHelpers
import PostgresClient
import Testing

@testable import Gateway

/// I1 and I2 while PostgreSQL is killed: every answer 202 is a message in the tables, and everything that is counted equals the rows of `delivery`.
///
/// This run is short; `scripts/soak accepts` sets the number of kills of a long run.
@Suite(.serialized, .timeLimit(.minutes(60)))
struct AcceptanceKillTests {
    static let kills = Soak.size("SOAK_ACCEPT_KILLS") ?? 4
    private static let devices = 200
    private static let callers = 8

    /// The answers to all callers.
    private struct Answers {
        /// The ids of the messages that were answered with 202.
        var accepted: [String] = []
        /// Calls without an answer, and answers 503.
        var refused = 0
        var others: [String] = []
    }

    /// The process of the database that is killed.
    private enum Victim: CaseIterable {
        /// A process of a call that is in progress: the postmaster ends all others and recovers.
        case backend
        /// The postmaster; its children end with it.
        case postmaster
        /// All processes at once, without the chance to write what is in memory.
        case everything
    }

    // I1: a 202 means that the message is committed to disk.
    @Test func everyAcceptedMessageIsInTheTables() async throws {
        // One node: it continues its own slices after an outage, so nothing may be repeated. A message whose commit got no answer waits for the end of its
        // lease.
        try await World.with(serveArguments: ["--lease-seconds", "10"]) { world in
            try #require(try await world.apply().status == 0)
            _ = try await world.register(Self.devices)
            let answers = NIOLockedValueBox(Answers())
            let (http, apiKey) = (world.http, world.apiKey)
            let callers = (0..<Self.callers).map { lane in
                Task { await Self.call(http, apiKey, lane, answers) }
            }
            for round in 0..<Self.kills {
                let victim = Victim.allCases[round % Victim.allCases.count]
                let known = answers.withLockedValue(\.accepted.count)
                try await eventually("further messages are accepted", within: .seconds(120), every: .milliseconds(5)) {
                    answers.withLockedValue { $0.accepted.count } >= known + 40
                }
                try Self.kill(victim, of: try world.postgresPID())
            }
            let known = answers.withLockedValue(\.accepted.count)
            try await eventually("messages are accepted after the last kill", within: .seconds(120)) {
                answers.withLockedValue { $0.accepted.count } >= known + 40
            }
            for caller in callers { caller.cancel() }
            for caller in callers { await caller.value }
            let seen = answers.withLockedValue(\.self)
            #expect(seen.others == [])
            // Not at every kill: a transaction whose session died before its commit is repeated by the pool, so that its caller notices nothing.
            #expect(seen.refused > 0, "no kill met a call")
            print("\(Self.kills) kills: \(seen.accepted.count) accepted, \(seen.refused) calls failed")
            try await Self.expectAll(seen.accepted, world)
        }
    }

    /// Sends messages to one device each until the task is canceled.
    private static func call(_ http: HTTPCaller, _ apiKey: String, _ lane: Int, _ answers: NIOLockedValueBox<Answers>)
        async
    {
        var number = 0
        while !Task.isCancelled {
            number += 1
            let body: JSON = [
                "app": "shop", "to": ["keys": [.string("device-\((lane * 31 + number) % devices)")]],
                "body": .string("\(lane)-\(number)"),
            ]
            let answer = try? await http.call("POST", "/v1/messages", body, bearer: apiKey)
            answers.withLockedValue { answers in
                if let answer, answer.status == 202, let id = answer.json?["id"]?.string {
                    answers.accepted.append(id)
                } else if let answer, answer.status != 503 {
                    answers.others.append("\(answer.status) \(answer.text)")
                } else {
                    answers.refused += 1
                }
            }
        }
    }

    private static func kill(_ victim: Victim, of postmaster: Int32) throws {
        let text = try String(contentsOfFile: "/proc/\(postmaster)/task/\(postmaster)/children", encoding: .utf8)
        let children = text.split(separator: " ").compactMap { Int32($0) }
        switch victim {
        case .backend:
            let backend = children.first { child in
                let name = (try? String(contentsOfFile: "/proc/\(child)/cmdline", encoding: .utf8)) ?? ""
                return name.contains("gateway_call")
            }
            Glibc.kill(try #require(backend, "no process of a call"), SIGKILL)
        case .postmaster: Glibc.kill(postmaster, SIGKILL)
        case .everything: for process in [postmaster] + children { Glibc.kill(process, SIGKILL) }
        }
    }

    /// Expects that every accepted message is stored and delivered once, and that all counts are those of the rows.
    private static func expectAll(_ accepted: [String], _ world: World) async throws {
        try await world.withDatabase { database in
            let missing = Statement(
                """
                SELECT count(*) AS number FROM unnest($1::text[]) AS a(id)
                WHERE NOT EXISTS (SELECT FROM gateway.message m WHERE m.tenant_id = 'acme' AND m.message_id = a.id::uuid)
                """,
                [.texts(accepted)]
            )
            #expect(try await database.engine.run(missing, tenant: nil).only().int("number") == 0, "accepted and lost")
            let open = Statement("SELECT count(*) AS number FROM gateway.message WHERE state <> 'done'")
            try await eventually("every message is done", within: .seconds(240)) {
                try await database.engine.run(open, tenant: nil).only().int("number") == 0
            }
            let sent = Statement("SELECT count(*) AS number FROM gateway.delivery WHERE state = 'sent'")
            let stored = Statement("SELECT count(*) AS number FROM gateway.message")
            let messages = try await database.engine.run(stored, tenant: nil).only().int("number")
            #expect(try await database.engine.run(sent, tenant: nil).only().int("number") == messages)
            let pairs = try await world.pairs()
            #expect(pairs.distinct == messages)
            #expect(pairs.repeats == 0)
            try await world.expectEqualCounts(of: Array(accepted.suffix(5)), in: database)
        }
    }
}
