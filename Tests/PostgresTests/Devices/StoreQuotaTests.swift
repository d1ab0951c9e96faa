import DatabaseSupport
import Foundation
import Model
import ObservationStore
import Testing

@testable import PostgresClient
@testable import Store

/// The quotas of an app, which hold exactly although registrations do not wait for each other.
@Suite struct StoreQuotaTests {
    private func set(_ fixture: StoreFixture, _ quotas: JSON) async throws {
        let sql = """
            UPDATE gateway.app SET defaults = jsonb_set(defaults, '{quotas}', $2::text::jsonb) WHERE tenant_id = $1 RETURNING app_id
            """
        let text = String(decoding: JSONWriter.bytes(quotas), as: UTF8.self)
        _ = try await fixture.engine.run(Statement(sql, [.id(fixture.acme), .text(text)]), tenant: nil)
    }

    private func count(_ fixture: StoreFixture, _ sql: String) async throws -> Int {
        let statement = Statement(
            "SELECT \(sql) AS n FROM gateway.identity_count WHERE tenant_id = $1",
            [.id(fixture.acme)]
        )
        return try await fixture.engine.run(statement, tenant: nil).only().int("n")
    }

    private func active(_ fixture: StoreFixture) async throws -> Int {
        try await count(fixture, "coalesce(sum(active), 0)::bigint")
    }

    /// The quota that refused `act`; nil: it was done.
    private func refusal(_ act: () async throws -> Void) async throws -> Quota? {
        do {
            try await act()
            return nil
        } catch let error as StoreError {
            guard case .exhausted(let quota) = error.code else { throw error }
            return quota
        }
    }

    private func token(_ number: Int) -> String { String(format: "%08x", 0xA000_0000 + number) }

    @Test func anAppHasAtMostItsIdentities() async throws {
        let fixture = try await StoreFixture.make()
        try await set(fixture, ["identities": 3])
        for number in 1...2 { try await fixture.register(VendorDeviceKey("k\(number)"), token: token(number)) }
        try await fixture.register("b", vendor: .braze)
        #expect(try await refusal { try await fixture.register("k4", token: token(4)) } == .identities)
        #expect(try await refusal { try await fixture.register("b2", vendor: .braze) } == .identities)
        #expect(try await active(fixture) == 3, "nothing of a refused registration stays")
        // A known identity is not a new one, and a token that moves ends the identity that had it.
        #expect(try await refusal { try await fixture.register("k1", token: token(1)) } == nil)
        #expect(try await refusal { try await fixture.register("k5", token: token(2)) } == nil)
        #expect(try await active(fixture) == 3)
        // The other tenant's app has its own.
        #expect(try await refusal { try await fixture.register("k4", token: token(4), in: fixture.other) } == nil)
    }

    // Registrations arrive at the same time, so that they run in groups and alone.
    @Test func concurrentRegistrationsDoNotExceedAQuota() async throws {
        let fixture = try await StoreFixture.make()
        try await set(fixture, ["identities": 20])
        let refused = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<60 {
                group.addTask {
                    try await refusal {
                        try await fixture.register(VendorDeviceKey("k\(number)"), token: token(number))
                    } != nil
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(refused == 40)
        #expect(try await active(fixture) == 20)
    }

    @Test func registrationsOfADayAreLimited() async throws {
        let fixture = try await StoreFixture.make()
        try await set(fixture, ["registrationsPerDay": 2])
        for number in 1...2 { try await fixture.register(VendorDeviceKey("k\(number)"), token: token(number)) }
        #expect(try await refusal { try await fixture.register("k3", token: token(3)) } == .registrationsPerDay)
        // An identity that ends does not give its registration back, and one that is known needs none.
        try await fixture.register("k1", token: token(1))
        _ = try await fixture.ask(
            UnregisterDevices(fixture.scope, .key("k1"))
        )
        #expect(try await refusal { try await fixture.register("k3", token: token(3)) } == .registrationsPerDay)
        let yesterday = "UPDATE gateway.identity_count SET day = day - 1 WHERE tenant_id = $1 RETURNING day"
        _ = try await fixture.engine.run(Statement(yesterday, [.id(fixture.acme)]), tenant: nil)
        #expect(try await refusal { try await fixture.register("k3", token: token(3)) } == nil)
        let today = "coalesce(sum(registered) FILTER (WHERE day = (now() AT TIME ZONE 'UTC')::date), 0)::bigint"
        #expect(try await count(fixture, today) == 1)
    }

    // Far from the quota the name is held in shared mode, so that registrations do not wait for a transaction that is not committed yet. Near the quota they do,
    // because it may have added identities that are not visible.
    @Test func onlyRegistrationsNearAQuotaWaitForOthers() async throws {
        let fixture = try await StoreFixture.alone()
        let counts = "PERFORM gateway.count_identities('acme', 'shop', 'rationalowl', ARRAY['x1', 'x2', 'x3'], 1)"
        let open = try await OpenTransaction(fixture.database, "DO $$BEGIN \(counts); END$$")
        // Another vendor has other rows of the count.
        #expect(try await refusal { try await fixture.register("k1", vendor: .braze) } == nil)
        try await set(fixture, ["identities": 4])
        let waiting = Task { try await refusal { try await fixture.register("k2", vendor: .braze) } }
        let admin = try await fixture.database.admin()
        let waits = """
            SELECT count(*) AS n FROM pg_locks l WHERE l.locktype = 'advisory' AND NOT l.granted
                AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
            """
        try await eventually("the registration waits") { try await admin.query(waits).only().int("n") == 2 }
        try await open.end()
        #expect(try await waiting.value == .identities)
        #expect(try await active(fixture) == 4)
        await admin.close()
    }

    @Test func groupsAndSendersAreLimited() async throws {
        let fixture = try await StoreFixture.make()
        try await set(fixture, ["groups": 2, "senders": 1])
        for name in ["a", "b"] as [GroupName] {
            #expect(try await refusal { _ = try await fixture.ask(PutGroup(fixture.scope, name)) } == nil)
        }
        #expect(try await refusal { _ = try await fixture.ask(PutGroup(fixture.scope, "a")) } == nil)
        #expect(try await refusal { _ = try await fixture.ask(PutGroup(fixture.scope, "c")) } == .groups)
        let numbered = AppScope(app: "shop", vendor: .upmc)
        #expect(try await refusal { _ = try await fixture.ask(CreateGroup(numbered, title: "t")) } == .groups)
        func admit(_ name: String) async throws {
            _ = try await fixture.ask(AdmitSender(fixture.scope, name: name))
            _ = try await fixture.ask(RegisterSender(fixture.scope, name: name, id: SenderID("S-\(name)")))
        }
        #expect(try await refusal { try await admit("core") } == nil)
        #expect(try await refusal { try await admit("core") } == nil)
        #expect(try await refusal { try await admit("other") } == .senders)
    }
}
