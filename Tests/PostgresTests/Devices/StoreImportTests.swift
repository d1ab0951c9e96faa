import Commands
import DatabaseSupport
import Foundation
import Model
import TestKit
import Testing

@testable import PostgresClient
@testable import Store

/// Devices imported from a file as sets, with the same result as if each had registered by itself.
@Suite struct StoreImportTests {
    private let identifiers = TestIdentifiers()

    private func row(
        _ key: String,
        _ token: String?,
        user: String? = nil,
        sandbox: Bool? = nil,
        tags: [String]? = nil,
        model: String? = nil
    ) -> DeviceRegistration {
        var registration = DeviceRegistration(
            key: VendorDeviceKey(key),
            platform: .ios,
            environment: sandbox.map { $0 ? .sandbox : .production },
            token: token.flatMap { DeviceToken(apns: $0) },
            user: user.map { UserID($0) },
            tags: tags.map { $0.compactMap { Tag($0) } }
        )
        registration.client.set(.model, model)
        return registration
    }

    @discardableResult
    private func importing(
        _ rows: [DeviceRegistration],
        _ fixture: StoreFixture,
        tenant: TenantID? = nil
    ) async throws -> ImportCounts {
        try await fixture.importDevices(rows, identifiers, at: try await fixture.now(), in: tenant)
    }

    private func preview(_ rows: [DeviceRegistration], _ fixture: StoreFixture) async throws
        -> ImportCounts
    {
        try await fixture.commands.run(ImportRules.preview(rows, fixture.scope), in: fixture.acme)
    }

    /// Every identity of a tenant with its bindings, by key.
    private func identities(_ fixture: StoreFixture, _ tenant: TenantID) async throws -> [String] {
        let admin = try await fixture.database.admin()
        let result = try await admin.query(
            """
            SELECT i.key || ' ' || i.state || ' ' || coalesce(i.user_id, '-') || ' ' || coalesce(d.token, '-') || ' '
                || coalesce(d.environment, '-') || ' ' || coalesce(d.token_state, '-')
                || ' ' || (SELECT min(o.key) FROM gateway.identity o
                    WHERE o.tenant_id = i.tenant_id AND o.device_id = i.device_id)
                || coalesce((SELECT ' #' || string_agg(t.tag, ',' ORDER BY t.tag) FROM gateway.identity_tag t
                    WHERE t.tenant_id = i.tenant_id AND t.identity_id = i.identity_id), '')
                || coalesce(' ' || (i.client->>'model'), '') AS text
            FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = i.tenant_id AND d.device_id = i.device_id
            WHERE i.tenant_id = $1 ORDER BY i.key
            """,
            [.id(tenant)]
        )
        return try result.map { (row) throws(PostgresError) in try row.text("text") }
    }

    /// A row without a token is not the same if another row takes the token that its device has.
    @Test func aTokenThatMovesWithinAFileChangesBothRows() async throws {
        let fixture = try await StoreFixture.make()
        let token = String(repeating: "b7", count: 32)
        #expect(try await importing([row("key-b", token)], fixture) == .init(created: 1))
        #expect(try await importing([row("key-a", token), row("key-b", nil)], fixture) == .init(created: 2))
        let states = try await identities(fixture, fixture.acme).map {
            $0.split(separator: " ").prefix(2).joined(separator: " ")
        }
        #expect(states == ["key-a active", "key-b active"])
        #expect(try await importing([row("key-a", token), row("key-b", nil)], fixture) == .init(unchanged: 2))
    }

    private func counted(_ fixture: StoreFixture, _ tenant: TenantID) async throws -> Int {
        try await fixture.ask(FindApp(fixture.scope), in: tenant)?.identityCount ?? -1
    }

    @Test func newRowsAreInsertedAndKnownRowsChanged() async throws {
        let fixture = try await StoreFixture.make()
        let rows = [row("k1", "aa01", user: "u1"), row("k2", nil), row("k3", "aa03", sandbox: true)]
        #expect(try await preview(rows, fixture) == .init(created: 3))
        #expect(try await importing(rows, fixture) == .init(created: 3))
        #expect(try await importing(rows, fixture) == .init(unchanged: 3))
        #expect(
            try await identities(fixture, fixture.acme) == [
                "k1 active u1 aa01 production active k1", "k2 active - - production none k2",
                "k3 active - aa03 sandbox active k3",
            ]
        )
        #expect(try await counted(fixture, fixture.acme) == 3)
        // A field that the file leaves out stays unchanged; a field that differs is changed.
        let later = [row("k1", "aa01"), row("k2", "aa02"), row("k3", "aa03", user: "u3"), row("k4", nil)]
        #expect(try await preview(later, fixture) == .init(created: 1, updated: 2, unchanged: 1))
    }

    @Test func ofTwoRowsWithOneTokenTheLaterKeepsIt() async throws {
        let fixture = try await StoreFixture.make()
        let rows = [
            row("k1", "aa01"), row("k2", "aa01"), row("k1", "aa02", user: "u"), row("k3", "aa01", sandbox: true),
        ]
        // The second row has replaced the identity of the third row.
        #expect(try await importing(rows, fixture) == .init(created: 4))
        #expect(
            try await identities(fixture, fixture.acme) == [
                "k1 active u aa02 production active k1", "k2 active - aa01 production active k2",
                "k3 active - aa01 sandbox active k3",
            ]
        )
    }

    @Test func importingEqualsRegisteringOneByOne() async throws {
        let fixture = try await StoreFixture.make()
        for seed in 1...6 {
            var random = SplitMix(state: UInt64(seed))
            let rows = (0..<60).map { _ in
                row(
                    "k\(Int.random(in: 0..<25, using: &random))",
                    Bool.random(using: &random)
                        ? "aa\(String(format: "%02d", Int.random(in: 0..<20, using: &random)))" : nil,
                    user: Bool.random(using: &random) ? "u\(Int.random(in: 0..<3, using: &random))" : nil,
                    sandbox: [nil, true, false].randomElement(using: &random) ?? nil,
                    tags: [nil, [], ["a"], ["b", "A"]].randomElement(using: &random) ?? nil,
                    model: [nil, nil, "m1", "m2"].randomElement(using: &random) ?? nil
                )
            }
            try await importing(rows, fixture)
            for row in rows {
                let key = try #require(row.key)
                let now = try await fixture.now()
                _ = try await fixture.commands.run(
                    RegisterDevice(
                        fixture.scope,
                        key: key,
                        row,
                        identity: IdentityID(rawValue: identifiers.uuid(at: now)),
                        device: DeviceID(rawValue: identifiers.uuid(at: now)),
                        at: now
                    ),
                    in: fixture.other
                )
            }
            let (mine, theirs) = (
                try await identities(fixture, fixture.acme), try await identities(fixture, fixture.other)
            )
            #expect(mine == theirs, "seed \(seed)")
            #expect(
                try await counted(fixture, fixture.acme) == (try await counted(fixture, fixture.other)),
                "seed \(seed)"
            )
        }
    }

    @Test func aRowReplacesAllTags() async throws {
        let fixture = try await StoreFixture.make()
        try await importing(
            [row("k1", "aa01", tags: ["VIP", "a"]), row("k2", nil, tags: ["b"]), row("k3", nil)],
            fixture
        )
        // Tags that are left out, cleared, and given for the first time.
        let again = [row("k1", "aa01"), row("k2", nil, tags: []), row("k3", nil, tags: ["c", "c"])]
        #expect(try await preview(again, fixture) == .init(updated: 2, unchanged: 1))
        try await importing(again, fixture)
        #expect(try await preview(again, fixture) == .init(unchanged: 3))
        #expect(
            try await identities(fixture, fixture.acme) == [
                "k1 active - aa01 production active k1 #a,vip", "k2 active - - production none k2",
                "k3 active - - production none k3 #c",
            ]
        )
    }

    @Test func aRowSetsTheFactsThatItNames() async throws {
        let fixture = try await StoreFixture.make()
        try await importing([row("k1", "aa01", model: "m1"), row("k2", nil), row("k3", nil, model: "m1")], fixture)
        let again = [row("k1", "aa01"), row("k2", nil, model: "m2"), row("k3", nil, model: "m1")]
        #expect(try await preview(again, fixture) == .init(updated: 1, unchanged: 2))
        try await importing(again, fixture)
        #expect(try await preview(again, fixture) == .init(unchanged: 3))
        #expect(
            try await identities(fixture, fixture.acme).map { $0.split(separator: " ").last ?? "" } == [
                "m1", "m2", "m1",
            ]
        )
    }

    @Test func knownRowsOfSeveralTransactionsAreImportedInOrder() async throws {
        let fixture = try await StoreFixture.make()
        let count = ImportRules.knownRowCount * 2 + 3
        let rows = (0..<count).map { row("k\($0)", String(format: "aa%06d", $0)) }
        #expect(try await importing(rows, fixture) == .init(created: count))
        // Every token moves to the next key, so each row takes over the token of the row before it.
        let moved = (0..<count).map { row("k\($0)", String(format: "aa%06d", ($0 + 1) % count)) }
        let counts = try await importing(moved, fixture)
        #expect(counts.created + counts.updated == count)
        let all = try await identities(fixture, fixture.acme)
        let tokens = all.filter { $0.contains(" active ") }.map { $0.split(separator: " ")[3] }.filter { $0 != "-" }
        #expect(tokens.count == count && Set(tokens).count == count)
        #expect(all.contains { $0.hasPrefix("k7 active - aa000008 ") })
    }

    // Without statistics the planner assumes that a table is small and would read all of it for each row.
    @Test func newRowsAreLookedUpByTheIndexesAlsoWithoutStatistics() async throws {
        let fixture = try await StoreFixture.alone()
        for page in 0..<3 {
            let rows = (0..<300).map { row("k\(page)-\($0)", String(format: "%02x%06x", page, $0)) }
            try await importing(rows, fixture)
        }
        let now = try await fixture.now()
        func ids() -> [UUID] { (0..<2).map { _ in identifiers.uuid(at: now) } }
        let rows = ImportedRows(
            [row("n1", "ffff"), row("k1-7", "01000007")],
            fixture.scope,
            identities: ids(),
            devices: ids(),
            at: now
        )
        let call = ImportNewDevices(rows).statement(StoreCall(tenant: fixture.acme, node: fixture.node))
        let read = Statement(
            """
            SELECT coalesce(sum(seq_tup_read), 0)::bigint AS rows FROM pg_stat_xact_user_tables
            WHERE schemaname = 'gateway' AND relname IN ('device', 'identity')
            """
        )
        let results = try await fixture.call.run([call, read], tenant: fixture.acme.rawValue)
        #expect(try results[0].only().bools("known") == [false, true])
        #expect(try results[1].only().int("rows") == 0)
    }

    @Test func anotherTenantsDevicesAreNeitherSeenNorTouched() async throws {
        let fixture = try await StoreFixture.make()
        try await importing([row("k1", "aa01")], fixture, tenant: fixture.other)
        #expect(try await preview([row("k1", "aa01")], fixture) == .init(created: 1))
        #expect(try await importing([row("k1", "aa01")], fixture) == .init(created: 1))
        #expect(try await identities(fixture, fixture.other).count == 1)
    }

    @Test func concurrentImportsAndRegistrationsLeaveOneOwner() async throws {
        let fixture = try await StoreFixture.make()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for part in 0..<4 {
                group.addTask {
                    for round in 0..<5 {
                        try await importing(
                            (0..<20).map { row("k\($0)", "aa\(10 + ($0 + part + round) % 20)") },
                            fixture
                        )
                    }
                }
            }
            try await group.waitForAll()
        }
        let all = try await identities(fixture, fixture.acme)
        let tokens = all.filter { $0.contains(" active ") }.map { $0.split(separator: " ")[3] }.filter { $0 != "-" }
        #expect(Set(tokens).count == tokens.count)
        #expect(try await counted(fixture, fixture.acme) == all.count { $0.split(separator: " ")[1] == "active" })
    }
}
