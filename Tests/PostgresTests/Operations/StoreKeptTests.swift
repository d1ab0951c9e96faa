import Commands
import DatabaseSupport
import Foundation
import Model
import Testing

@testable import DatabaseSchema
@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// Answers under repeat keys that several nodes use at the same time.
@Suite struct StoreKeptTests {
    // Two nodes use one key at the same time: one of them acts, and both return the same answer.
    @Test func ofConcurrentCallsOnTwoNodesOneActs() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01", phone: "0101")
        let nodes = [
            fixture.commands, OperationStore(call: fixture.database.pool(.call), node: NodeID("\(fixture.node)-b")),
        ]
        for round in 0..<10 {
            let key = IdempotencyKey(key: "round-\(round)", bodyHash: "same")
            let outcomes = try await withThrowingTaskGroup(of: Kept<DeviceFacts?>.self) { group in
                for index in 0..<8 {
                    group.addTask {
                        // Each call would store a different answer, so the stored answer shows which call acted.
                        let answer = KeptAnswer(status: 200, body: [UInt8(index)])
                        return try await nodes[index % 2].run(
                            DeviceChangeRules.change(device.device, DevicePatch(name: "name \(round).\(index)")),
                            in: fixture.acme,
                            keeping: Keep(key) { _ in answer }
                        )
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let done = outcomes.compactMap {
                if case .done(let facts) = $0 { facts?.identities.first?.name } else { nil }
            }
            let repeated = outcomes.compactMap { if case .repeated(let answer) = $0 { answer } else { nil } }
            #expect(done.count == 1 && repeated.count == 7)
            #expect(Set(repeated).count == 1)
            let now = try await fixture.devices.device(device.device, in: fixture.acme)
            #expect(now?.identities.first?.name == done.first)
            let winner = try #require(repeated.first?.body.first)
            #expect(done == ["name \(round).\(winner)"])
        }
    }

    // After a crash between commit and answer, the caller repeats the call and gets the answer of the same act.
    @Test func aRepeatedErasureIsAuditedOnce() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01")
        let keep = Keep<Bool>(IdempotencyKey(key: "gdpr", bodyHash: "h")) { $0 ? KeptAnswer(status: 204) : nil }
        for expected in [Kept<Bool>.done(true), .repeated(KeptAnswer(status: 204)), .repeated(KeptAnswer(status: 204))]
        {
            let seen = try await fixture.erase(device.device, in: fixture.acme, by: .key("k"), keeping: keep)
            #expect(seen == expected)
        }
        #expect(try await fixture.audit.newest(100, in: fixture.acme).filter { $0.action == "erase" }.count == 1)
        // Without an answer nothing is stored: the key can be used for an existing device.
        let none = Keep<Bool>(IdempotencyKey(key: "free", bodyHash: "h")) { $0 ? KeptAnswer(status: 204) : nil }
        let missing = try await fixture.erase(device.device, in: fixture.acme, by: .key("k"), keeping: none)
        #expect(missing == .done(false))
        let second = try await fixture.register("k2", token: "aa02")
        let erased = try await fixture.erase(second.device, in: fixture.acme, by: .key("k"), keeping: none)
        #expect(erased == .done(true))
    }

    @Test func keptAnswersEndWithTheirRetentionAndNotBefore() async throws {
        let fixture = try await StoreFixture.alone()
        let device = try await fixture.register("k1", token: "aa01")
        let keep = Keep<DeviceFacts?>(IdempotencyKey(key: "k", bodyHash: "h")) { _ in KeptAnswer(status: 200) }
        _ = try await fixture.patch(device.device, DevicePatch(name: "a"), in: fixture.acme, keeping: keep)
        let keeper = PostgresMaintenance(engine: fixture.engine, node: fixture.node)
        let admin = try await fixture.database.admin()
        for (age, expired) in [("24 hours", 0), ("49 hours", 1)] {
            try await admin.script("UPDATE gateway.idempotency SET created_at = now() - interval '\(age)'")
            #expect(try await keeper.run().keysExpired == expired)
        }
    }
}
