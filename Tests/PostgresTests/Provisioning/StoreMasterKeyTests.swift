import DatabaseSupport
import Foundation
import Model
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// The rotation of the master key: who has which key, which one seals, and the pages of sealed secrets.
@Suite struct StoreMasterKeyTests {
    private func store(_ fixture: StoreFixture) -> PostgresMasterKeyStore {
        PostgresMasterKeyStore(engine: fixture.engine)
    }

    private func entries(
        _ fixture: StoreFixture,
        _ table: SealedTable,
        by limit: Int = 1
    ) async throws -> [SealedEntry] {
        var all: [SealedEntry] = []
        while true {
            let page = try await store(fixture).page(of: table, after: all.last, limit: limit)
            all += page
            if page.count < limit { return all }
        }
    }

    @Test func nodesReportTheirKeysAndFollowTheNamedOne() async throws {
        let fixture = try await StoreFixture.alone()
        let store = store(fixture)
        #expect(try await store.follow("n", having: ["a"]) == nil)
        let first = MasterKeyCheck(keyID: "a", checkValue: [1])
        _ = try await fixture.directory.adoptMasterKey(first)
        _ = try await fixture.delivery.heartbeat("n")
        _ = try await fixture.delivery.heartbeat("old")
        #expect(try await store.follow("n", having: ["a", "b"]) == first)
        // Another heartbeat keeps the report.
        _ = try await fixture.delivery.heartbeat("n")
        #expect(
            try await store.nodes().filter { ["n", "old"].contains($0.node) }
                == [NodeKeys(node: "n", ids: ["a", "b"]), NodeKeys(node: "old", ids: nil)]
        )
        try await store.want("b")
        #expect(try await store.follow("n", having: ["a", "b"])?.wanted == "b")
        let next = MasterKeyCheck(keyID: "b", checkValue: [2], root: [3])
        #expect(try await !store.replace("x", by: next, actor: .command(user: 0)))
        #expect(try await store.replace("a", by: next, actor: .command(user: 0, name: "kim")))
        #expect(try await !store.replace("a", by: next, actor: .command(user: 0)), "only once")
        #expect(try await store.follow("n", having: ["b", "a"]) == next)
    }

    // An apply that sealed with the key of before would leave a secret that no pass of the rotation finds.
    @Test func aFileSealedByAReplacedKeyIsNotStored() async throws {
        let fixture = try await StoreFixture.alone()
        let tenant = ProvisionedTenant(id: "late")
        _ = try await fixture.directory.adoptMasterKey(MasterKeyCheck(keyID: "b", checkValue: [1]))
        await #expect(throws: ProvisioningError.masterKeyReplaced) {
            try await fixture.provisioning.apply([tenant], sealedBy: "a")
        }
        let summary = try await fixture.provisioning.apply([tenant], sealedBy: "b")
        #expect(summary.tenants == 1, "nothing was written before")
    }

    @Test func aRotationIsInTheAuditOfEveryTenant() async throws {
        let fixture = try await StoreFixture.alone()
        _ = try await fixture.directory.adoptMasterKey(MasterKeyCheck(keyID: "a", checkValue: [1]))
        let next = MasterKeyCheck(keyID: "b", checkValue: [2], root: [3])
        #expect(try await store(fixture).replace("a", by: next, actor: .command(user: 0, name: "kim")))
        for tenant in [fixture.acme, fixture.other] {
            let rows = try await fixture.engine.run(
                Statement(
                    "SELECT actor, action, data::text AS data FROM gateway.audit WHERE tenant_id = $1 AND subject = 'master key'",
                    [.id(tenant)]
                ),
                tenant: nil
            )
            let row = try rows.only()
            #expect(try row.text("actor").contains("kim") && row.text("action") == "rotate")
            #expect(try row.text("data").contains("\"b\""))
        }
    }

    @Test func everySealedSecretIsOnAPageAndReplacedIfUnchanged() async throws {
        let fixture = try await StoreFixture.alone()
        let tenant = fixture.tenant("acme")
        _ = try await fixture.provisioning.apply([tenant, fixture.tenant("other")])
        let key = ProviderTokenKey(teamID: "T", keyID: "K", fingerprint: [1, 255])
        let token = StoredProviderToken(sealed: [7], issuedAt: Timestamp(milliseconds: 1_800_000_000_000))
        _ = try await fixture.directory.offerProviderToken(token, for: key, replacingOlderThan: token.issuedAt)
        for name in ["w1", "w2"] {
            let sql = """
                INSERT INTO gateway.webhook (tenant_id, webhook_id, url, sealed, key_id, cursor, previous_sealed)
                VALUES ($1, gen_random_uuid(), 'https://a.example', $2, 'k', 0, $3)
                """
            let statement = Statement(
                sql,
                [.id(tenant.id), .bytes(Array(name.utf8)), .bytes(name == "w1" ? [5] : nil)]
            )
            _ = try await fixture.engine.run(statement, tenant: nil)
        }
        let counts: [SealedTable: Int] = [
            .credential: 2, .binding: tenant.apps[0].bindings.count * 2, .webhook: 2, .formerWebhook: 1,
            .providerToken: 1,
        ]
        for table in SealedTable.allCases {
            let found = try await entries(fixture, table)
            #expect(found.count == counts[table], "\(table)")
            #expect(try await entries(fixture, table, by: 100) == found)
            let changed = { (entry: SealedEntry) -> [UInt8] in
                table == .binding ? Array("{\"z\":1,\"a\":2}".utf8) : entry.stored + [0]
            }
            try await store(fixture).replace(found.map { ($0, changed($0)) }, in: table)
            let after = try await entries(fixture, table)
            #expect(after.map(\.stored) == found.map(changed))
            // The bytes that were read before are no longer there.
            try await store(fixture).replace(found.map { ($0, $0.stored) }, in: table)
            #expect(try await entries(fixture, table) == after)
        }
    }

    @Test func aWebhookSignsWithBothSecretsDuringTheOverlap() async throws {
        let fixture = try await StoreFixture.make()
        let webhook = WebhookID(rawValue: UUID())
        let sql = """
            INSERT INTO gateway.webhook (tenant_id, webhook_id, url, sealed, key_id, cursor)
            VALUES ($1, $2, 'https://a.example', '\\x01', 'k1', -1)
            """
        _ = try await fixture.engine.run(Statement(sql, [.id(fixture.acme), .id(webhook)]), tenant: nil)
        let store = PostgresWebhookSecretStore(engine: fixture.engine)
        func rotate(_ byte: UInt8, _ overlap: Duration, in tenant: TenantID) async throws -> Bool {
            try await store.rotate(
                webhook,
                to: SealedSecret(keyID: "k\(byte)", bytes: [byte]),
                overlap: overlap,
                in: tenant,
                by: .key("ops")
            )
        }
        func secrets() async throws -> [SealedSecret?] {
            let key = WebhookKey(tenant: fixture.acme, webhook: webhook)
            let results = try await fixture.engine.run(
                key.claiming("n", .zero),
                tenant: fixture.acme.rawValue
            )
            let lease = try key.lease(try results.result(0).only(), results)
            guard case .sealed(let sealed) = lease.secret else { return [] }
            return [sealed, lease.previous]
        }
        #expect(try await !rotate(2, .seconds(60), in: fixture.other))
        #expect(try await rotate(2, .seconds(60), in: fixture.acme))
        #expect(
            try await secrets() == [SealedSecret(keyID: "k2", bytes: [2]), SealedSecret(keyID: "k1", bytes: [1])]
        )
        #expect(try await rotate(3, .zero, in: fixture.acme))
        #expect(try await secrets() == [SealedSecret(keyID: "k3", bytes: [3]), nil])
    }
}
