import DatabaseSupport
import Foundation
import Model
import Routing
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// The versions of the rules of apps: only inserted, one after the other, each with its row of the audit and its event.
@Suite struct StoreRouteTests {
    private static let apns: JSONObject = ["deliveries": [["paths": ["apns"]]]]
    private static let serve: JSONObject = ["calls": [["action": "serve"]]]

    private func draft(
        after expected: Int?,
        base: JSONObject = [:],
        overlay: JSONObject = [:],
        upstreams: JSONObject = [:]
    ) -> RouteDraft {
        RouteDraft(app: "shop", after: expected, format: 1, base: base, overlay: overlay, upstreams: upstreams)
    }

    private func routes(_ fixture: StoreFixture) -> PostgresRouteStore { PostgresRouteStore(engine: fixture.engine) }

    private func put(
        _ draft: RouteDraft,
        _ fixture: StoreFixture,
        checkedWith upstreams: [CheckedUpstream] = [],
        restoring restored: Int? = nil
    ) async throws -> Int? {
        try await routes(fixture).put(
            draft,
            checkedWith: upstreams,
            restoring: restored,
            in: fixture.acme,
            by: .key("ops")
        )
    }

    private func current(_ fixture: StoreFixture) async throws -> StoredRoutes? {
        try #require(try await routes(fixture).routes(of: "shop", in: fixture.acme)).current
    }

    private func key(_ fixture: StoreFixture) -> BindingKey {
        BindingKey(vendor: .rationalOwl, kind: "account", value: "account-of-\(fixture.acme)")
    }

    @Test func aVersionFollowsTheOneThatTheCallerHasSeen() async throws {
        let fixture = try await StoreFixture.make()
        #expect(try await current(fixture) == nil)
        #expect(try await put(draft(after: 1, overlay: Self.apns), fixture) == nil)
        #expect(try await put(draft(after: nil, overlay: Self.apns), fixture) == 1)
        #expect(try await put(draft(after: nil, overlay: Self.serve), fixture) == nil)
        #expect(try await put(draft(after: 1, overlay: Self.serve), fixture) == 2)
        let stored = try #require(try await current(fixture))
        #expect(stored.version == 2 && stored.overlay == Self.serve && stored.base.isEmpty && stored.origin == .api)
        #expect(stored.actor == "key:ops" && stored.format == 1)
        var unknown = draft(after: nil)
        unknown.app = "none"
        #expect(try await put(unknown, fixture) == nil)
        let versions = try await routes(fixture).versions(of: "shop", in: fixture.acme, before: nil, limit: 10)
        #expect(versions.map(\.version) == [2, 1])
        #expect(try await routes(fixture).versions(of: "shop", in: fixture.acme, before: 2, limit: 10).count == 1)
        #expect(try await routes(fixture).version(1, of: "shop", in: fixture.acme)?.overlay == Self.apns)
    }

    @Test func theFactsOfAnAppNameItsUpstreamsAndPreferredDialects() async throws {
        let fixture = try await StoreFixture.make()
        let preferring: JSONObject = ["deliveries": [["lane": "bulk", "preferDialects": ["upmc", "braze"]]]]
        _ = try await put(draft(after: nil, base: preferring), fixture)
        var facts = try #require(try await fixture.ask(FindApp(fixture.scope)))
        #expect(facts.preferredDialects[.bulk] == [.upmc, .braze] && facts.preferredDialects[.urgent] == [])
        #expect(facts.upstreamDialects.isEmpty)
        let rows = try await fixture.database.admin().query(
            """
            SELECT gateway.preferred_dialects($1, 'shop', 'bulk') AS bulk,
                gateway.preferred_dialects($1, 'shop', 'urgent') AS urgent, gateway.preferred_dialects($1, 'shop', NULL) AS absent
            """,
            [.id(fixture.acme)]
        )
        let row = try #require(rows.first)
        #expect(try row.texts("bulk") == ["upmc", "braze"])
        #expect(try row.texts("urgent").isEmpty && row.texts("absent").isEmpty)
        // The rules of the overlay come first.
        let first: JSONObject = ["deliveries": [["preferDialects": ["ipns"]], ["paths": ["old"]]]]
        let upstreams: JSONObject = ["old": ["vendor": "rationalowl"]]
        _ = try await put(draft(after: 1, base: preferring, overlay: first, upstreams: upstreams), fixture)
        facts = try #require(try await fixture.ask(FindApp(fixture.scope)))
        #expect(facts.upstreamDialects == [.rationalOwl] && facts.preferredDialects[.bulk] == [.ipns])
    }

    @Test func ofTwoWritersOneWins() async throws {
        let fixture = try await StoreFixture.make()
        let made = try await withThrowingTaskGroup(of: Int?.self) { group in
            for _ in 0..<8 { group.addTask { try await put(draft(after: nil, overlay: Self.apns), fixture) } }
            return try await group.reduce(into: [Int]()) { made, version in
                if let version { made.append(version) }
            }
        }
        #expect(made == [1])
    }

    @Test func aVersionWritesItsAuditAndItsEvent() async throws {
        let fixture = try await StoreFixture.make()
        _ = try await put(draft(after: nil, overlay: Self.apns), fixture)
        _ = try await put(draft(after: 1, overlay: Self.serve), fixture)
        _ = try await put(draft(after: 2, overlay: Self.apns), fixture, restoring: 1)
        _ = try await put(draft(after: 2, overlay: Self.serve), fixture)
        let rows = try await fixture.audit.newest(3, in: fixture.acme)
        let shapes = rows.map { "\($0.actor) \($0.action) \($0.subject)" }
        #expect(shapes == Array(repeating: "key:ops write routes shop", count: 3))
        #expect(rows.last?.data?["version"] == 3 && rows.last?.data?["restored"] == 1)
        let page = try await fixture.queries.events(in: fixture.acme, after: 0, limit: 10)
        #expect(page.events.map(\.kind) == Array(repeating: "routes_changed", count: 3))
        let last = try #require(page.events.last)
        #expect(last.app == "shop" && last.vendor == nil && last.subject == EventSubject())
        #expect(last.data == ["version": 3, "previous": 2, "origin": "api", "restored": 1])
        #expect(page.events.first?.data?["previous"] == .null)
    }

    @Test func noLoginRoleChangesOrDeletesAVersion() async throws {
        let fixture = try await StoreFixture.make()
        _ = try await put(draft(after: nil, overlay: Self.apns), fixture)
        let place = "tenant_id = '\(fixture.acme)' AND app_id = 'shop' AND version = 1"
        let row = "('\(fixture.acme)', 'shop', 9, 1, '{}', '{}', '{}', 'api', 'x')"
        let columns = "(tenant_id, app_id, version, format, base, overlay, upstreams, origin, actor)"
        for (pool, tenant) in [(fixture.call, Optional(fixture.acme.rawValue)), (fixture.engine, nil)] {
            var refused = [
                "UPDATE gateway.route_set SET overlay = '{}' WHERE \(place)",
                "DELETE FROM gateway.route_set WHERE \(place)", "TRUNCATE gateway.route_set",
            ]
            if tenant != nil {
                refused += [
                    "INSERT INTO gateway.route_set \(columns) VALUES \(row)",
                    "UPDATE gateway.app SET route_version = NULL WHERE tenant_id = '\(fixture.acme)'",
                    "SELECT gateway.put_routes('\(fixture.acme)', 'shop', 1, 1, '{}', '{}', '{}', 'api', 'x')",
                ]
            }
            for sql in refused {
                let error = await #expect(throws: PostgresError.self, "\(sql)") {
                    try await pool.run(Statement(sql), tenant: tenant)
                }
                #expect(error?.code == .insufficientPrivilege, "\(sql)")
            }
        }
        #expect(try await current(fixture)?.overlay == Self.apns)
    }

    @Test func anotherTenantReadsNothing() async throws {
        let fixture = try await StoreFixture.make()
        _ = try await put(draft(after: nil, overlay: Self.apns), fixture)
        let count = Statement("SELECT count(*) AS n FROM gateway.route_set WHERE tenant_id = '\(fixture.acme)'")
        #expect(try await fixture.call.run(count, tenant: fixture.acme.rawValue).only().int("n") == 1)
        #expect(try await fixture.call.run(count, tenant: fixture.other.rawValue).only().int("n") == 0)
        #expect(try await fixture.directory.rules(1, of: "shop", in: fixture.acme)?.overlay == Self.apns)
        #expect(try await fixture.directory.rules(1, of: "shop", in: fixture.other) == nil)
        #expect(try await routes(fixture).routes(of: "shop", in: fixture.other)?.current == nil)
        #expect(try await routes(fixture).current(in: fixture.other).isEmpty)
        #expect(try await routes(fixture).version(1, of: "shop", in: fixture.other) == nil)
    }

    @Test func aBindingNamesTheVersionInForce() async throws {
        let fixture = try await StoreFixture.make()
        #expect(try await fixture.directory.binding(key(fixture))?.routeVersion == nil)
        _ = try await put(draft(after: nil, overlay: Self.apns), fixture)
        let bound = try #require(try await fixture.directory.binding(key(fixture)))
        #expect(bound.routeVersion == 1 && bound.app == "shop" && bound.tenant == fixture.acme)
        // Programs without rules ask as before.
        let former = Statement(
            "SELECT * FROM gateway.resolve_binding('rationalowl', 'account', 'account-of-\(fixture.acme)', NULL)"
        )
        #expect(try await fixture.call.run(former, tenant: nil).only().text("app_id") == "shop")
    }

    @Test func aRetiredAppHasNoRulesAndItsVersionsGoOn() async throws {
        let fixture = try await StoreFixture.make()
        _ = try await put(draft(after: nil, overlay: Self.apns), fixture)
        _ = try await fixture.provisioning.apply([ProvisionedTenant(id: fixture.acme)])
        #expect(try await routes(fixture).routes(of: "shop", in: fixture.acme) == nil)
        #expect(try await put(draft(after: 1, overlay: Self.serve), fixture) == nil)
        _ = try await fixture.provisioning.apply([fixture.tenant("acme")])
        #expect(try await current(fixture) == nil)
        #expect(try await put(draft(after: nil, overlay: Self.serve), fixture) == 2)
    }

    // MARK: Provisioning files

    @Test func aFileStoresTheBaseWithItsAuditAndItsEvent() async throws {
        let fixture = try await StoreFixture.make()
        var tenant = fixture.tenant("acme")
        tenant.routes = [draft(after: nil, base: Self.apns)]
        #expect(try await fixture.provisioning.apply([tenant]).routes == 1)
        let stored = try #require(try await current(fixture))
        #expect(stored.version == 1 && stored.base == Self.apns && stored.origin == .file)
        #expect(try await fixture.audit.newest(1, in: fixture.acme).first?.subject == "routes shop")
        let events = try await fixture.queries.events(in: fixture.acme, after: 0, limit: 10).events
        #expect(events.map(\.kind) == ["routes_changed"] && events.first?.data?["origin"] == "file")
        // Somebody else was faster: nothing of the file is applied.
        tenant.credentials = [fixture.credential("apple", secret: 5)]
        await #expect(throws: ProvisioningError.routesChanged) { try await fixture.provisioning.apply([tenant]) }
        let key = CredentialKey(tenant: fixture.acme, credential: "apple")
        #expect(try await fixture.directory.credential(key)?.stored.version == 1)
    }

    @Test func aFileKeepsTheUpstreamsThatRulesName() async throws {
        let fixture = try await StoreFixture.make()
        func file(_ kind: String?) -> ProvisionedTenant {
            var tenant = fixture.tenant("acme")
            guard let kind else { return tenant }
            var upstream = fixture.credential("old")
            upstream.kind = kind
            upstream.endpoint = "https://push.example.com"
            tenant.credentials.append(upstream)
            return tenant
        }
        _ = try await fixture.provisioning.apply([file("upstream-upmc")])
        let key = CredentialKey(tenant: fixture.acme, credential: "old")
        let version = try #require(try await fixture.directory.credential(key)).stored.version
        let facts: JSON = ["vendor": "upmc", "addressesUsers": false, "splitsPlatforms": false]
        let rules = draft(after: nil, overlay: ["deliveries": [["paths": ["old"]]]], upstreams: ["old": facts])
        // The credential has changed since the rules were checked.
        #expect(try await put(rules, fixture, checkedWith: [CheckedUpstream("old", version: version + 1)]) == nil)
        #expect(try await put(rules, fixture, checkedWith: [CheckedUpstream("old", version: version)]) == 1)
        for kind in [nil, "upstream-braze"] {
            await #expect(throws: ProvisioningError.routesName("old", of: "shop")) {
                try await fixture.provisioning.apply([file(kind)])
            }
        }
        #expect(try await !fixture.provisioning.apply([file("upstream-upmc")]).isChanged)
        var same = file("upstream-upmc")
        same.upstreams = ["old": facts]
        #expect(try await !fixture.provisioning.apply([same]).isChanged)
        // The rules were checked with another fact.
        var other = file("upstream-upmc")
        other.upstreams = ["old": ["vendor": "upmc", "addressesUsers": true, "splitsPlatforms": false]]
        await #expect(throws: ProvisioningError.routesName("old", of: "shop")) {
            try await fixture.provisioning.apply([other])
        }
        // With the rules goes the need.
        _ = try await put(draft(after: 1), fixture)
        #expect(try await fixture.provisioning.apply([file(nil)]).removed == 1)
    }
}
