import CommandSupport
import DeliveryEngine
import EngineStore
import Foundation
import GatewayHTTP
import Model
import NIOHTTP1
import PostgresClient
import Routing
import Store
import Testing

@testable import Gateway

/// The versions of an app's rules (docs/routing.md#versions), through the API on real PostgreSQL.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct RouteVersionTests {
    private static let path = "/v1/apps/shop/routes"
    private static let serve: JSON = ["calls": [["kinds": ["send"], "action": "serve"]]]
    private static let apns: JSON = ["deliveries": [["paths": ["apns"]]]]

    @Test func anOverlayIsReplacedByWhoeverHasSeenIt() async throws {
        try await NativeStage.on { stage in
            let none = try await stage.native(.GET, Self.path)
            #expect(none.status == 200 && none.json?["version"] == .null && none.json?["rules"] == [:], "\(none.text)")
            let blind = try await stage.native(.PUT, Self.path, Self.serve)
            #expect(blind.status == 428 && blind.json?["code"] == "PG-1018", "\(blind.text)")
            let first = try await stage.native(.PUT, Self.path, Self.serve, ifMatch: "\"0\"")
            #expect(first.status == 200 && first.json?["version"] == 1, "\(first.text)")
            #expect(first.json?["overlay"] == Self.serve && first.json?["rules"] == Self.serve)
            #expect(first.json?["origin"] == "api" && first.json?["actor"] == "key:backend")
            let late = try await stage.native(.PUT, Self.path, Self.apns, ifMatch: "\"0\"")
            #expect(late.status == 412 && late.json?["code"] == "PG-1017", "\(late.text)")
            #expect(late.text.contains("version 1 is in force"), "\(late.text)")
            for tag in ["1", "*", "W/\"1\"", "\"one\"", "\"-1\""] {
                #expect(try await stage.native(.PUT, Self.path, Self.apns, ifMatch: tag).status == 422, "\(tag)")
            }
            // The same content makes no version.
            #expect(try await stage.native(.PUT, Self.path, Self.serve, ifMatch: "\"1\"").json?["version"] == 1)
            #expect(try await stage.native(.PUT, Self.path, Self.apns, ifMatch: "\"1\"", node: 1).json?["version"] == 2)
            let shown = try await stage.native(.GET, Self.path, as: stage.readKey)
            #expect(shown.headers.first(name: "etag") == "\"2\"")
            let former = try await stage.native(.GET, Self.path + "?version=1")
            #expect(former.json?["rules"] == Self.serve && former.json?["inForce"] == false, "\(former.text)")
            #expect(try await stage.native(.GET, Self.path + "?version=9").status == 404)
            let audit = try await stage.audit()
            #expect(audit.suffix(2) == Array(repeating: "key:backend write routes shop", count: 2), "\(audit)")
            let events = try await stage.native(.GET, "/v1/events?kinds=routes_changed")
            #expect(events.text.split(separator: "\n").count == 2, "\(events.text)")
        }
    }

    @Test func rulesAreCheckedBeforeTheyAreStored() async throws {
        try await NativeStage.on { stage in
            let refused: [(JSON, String)] = [
                (["calls": [["action": "guess"]]], "calls[0].action: must be one of"),
                (["calls": [["action": "serve"], ["action": "serve"]]], "calls[1]: no call reaches it"),
                (["calls": [["action": "proxy", "upstream": "old"]]], "calls[0]: 'old' is not a credential"),
                (
                    ["calls": [["kinds": ["device"], "action": "followMessage", "upstream": "old"]]],
                    "calls[0]: 'old' is not a credential"
                ),
                (["duplicateGuard": ["window": "1d"]], "duplicateGuard.window: must be a time"),
                (["rules": []], "rules: is not a known field"), (["calls": "serve"], "calls: must be a list"),
            ]
            for (body, fault) in refused {
                let answer = try await stage.native(.PUT, Self.path, body, ifMatch: "\"0\"")
                #expect(answer.status == 422 && answer.text.contains(fault), "\(fault): \(answer.text)")
            }
            #expect(try await stage.count("gateway.route_set") == 0)
            let unknown = try await stage.native(.PUT, "/v1/apps/none/routes", Self.serve, ifMatch: "\"0\"")
            #expect(unknown.status == 404, "\(unknown.text)")
            #expect(try await stage.native(.GET, "/v1/apps/none/routes").status == 404)
        }
    }

    @Test func aRollbackIsANewVersion() async throws {
        try await NativeStage.on { stage in
            for (body, version) in [(Self.serve, 0), (Self.apns, 1), ([:], 2)] {
                let answer = try await stage.native(.PUT, Self.path, body, ifMatch: "\"\(version)\"")
                try #require(answer.status == 200, "\(answer.text)")
            }
            let back = try await stage.native(.POST, Self.path + "/rollback", ["version": 1])
            #expect(back.json?["version"] == 4 && back.json?["rules"] == Self.serve, "\(back.text)")
            #expect(try await stage.native(.POST, Self.path + "/rollback", ["version": 1]).json?["version"] == 4)
            let late = try await stage.native(.POST, Self.path + "/rollback", ["version": 2], ifMatch: "\"3\"")
            #expect(late.status == 412, "\(late.text)")
            let none = try await stage.native(.POST, Self.path + "/rollback", ["version": 9])
            #expect(none.status == 422 && none.text.contains("version: the app does not have it"), "\(none.text)")
            let page = try await stage.native(.GET, Self.path + "/versions?limit=3")
            let numbers = (page.json?["versions"]?.array ?? []).compactMap { $0["version"]?.int }
            #expect(numbers == [4, 3, 2] && page.json?["next"] == 2, "\(page.text)")
            let rest = try await stage.native(.GET, Self.path + "/versions?after=2")
            #expect(rest.json?["versions"]?.array?.count == 1 && rest.json?["next"] == .null, "\(rest.text)")
        }
    }

    @Test func callsMakeALimitedNumberOfVersions() async throws {
        try await NativeStage.on { stage in
            #expect(try await stage.native(.PUT, Self.path, Self.serve, ifMatch: "\"0\"").status == 200)
            let last = Statement(
                """
                INSERT INTO gateway.route_set (tenant_id, app_id, version, format, base, overlay, upstreams, origin, actor)
                VALUES ('own', 'shop', \(RouteLimits.versions), 1, '{}', '{}', '{}', 'api', 'key:test')
                """
            )
            _ = try await stage.database.engine.run(last, tenant: nil)
            let full = try await stage.native(.PUT, Self.path, Self.apns, ifMatch: "\"1\"")
            #expect(full.status == 422 && full.text.contains("at most 10000 versions"), "\(full.text)")
            let back = try await stage.native(.POST, Self.path + "/rollback", ["version": 10_000])
            #expect(back.status == 422 && back.text.contains("at most 10000 versions"), "\(back.text)")
            // The same content needs no version.
            #expect(try await stage.native(.PUT, Self.path, Self.serve, ifMatch: "\"1\"").status == 200)
        }
    }

    @Test func aKeyOfAnotherTenantSeesAndChangesItsOwnAppOnly() async throws {
        try await NativeStage.on { stage in
            #expect(try await stage.native(.PUT, Self.path, Self.serve, ifMatch: "\"0\"").status == 200)
            let other = try await stage.native(.GET, Self.path, as: stage.otherKey)
            #expect(other.json?["version"] == .null, "\(other.text)")
            let rollback = try await stage.native(
                .POST,
                Self.path + "/rollback",
                ["version": 1],
                as: stage.otherKey
            )
            #expect(rollback.status == 422, "\(rollback.text)")
            let reader = try await stage.native(.PUT, Self.path, Self.apns, as: stage.readKey, ifMatch: "\"1\"")
            #expect(reader.status == 403)
        }
    }

    @Test func aTrialShowsDecisionsAndStoresNothing() async throws {
        try await NativeStage.on { stage in
            let now = try await stage.native(
                .POST,
                Self.path + "/test",
                ["vendor": "braze", "users": ["user-1"]],
                as: stage.readKey
            )
            #expect(now.status == 200 && now.json?["call"]?["rule"] == .null, "\(now.text)")
            let rollout: JSON = ["percent": 30, "by": "user", "salt": "spring"]
            let overlay: JSON = ["deliveries": [["rollout": rollout, "paths": ["apns"]], ["paths": ["old"]]]]
            let tried = try await stage.native(
                .POST,
                Self.path + "/test",
                ["vendor": "braze", "users": ["user-1", "user-2"], "overlay": overlay]
            )
            #expect(tried.json?["deliveries"]?.array?.first?["bucket"] == 1_182_305_394, "\(tried.text)")
            #expect(tried.json?["faults"]?.array?.first?["rule"] == "deliveries[1]", "\(tried.text)")
            #expect(tried.json?["unsupported"] == .null)
            #expect(try await stage.count("gateway.route_set") == 0)
        }
    }

    // docs/routing.md#rollouts: a member at one node is a member at every other one.
    @Test func twoNodesTakeTheSameMembers() async throws {
        try await NativeStage.on { stage in
            let rollout: JSON = ["percent": 30, "by": "user", "salt": "spring"]
            let rules: JSON = ["deliveries": [["rollout": rollout, "paths": ["none"]], ["paths": ["apns"]]]]
            let put = try await stage.native(.PUT, Self.path, rules, ifMatch: "\"0\"")
            try #require(put.status == 200, "\(put.text)")
            let users = (0..<100).map { "u\($0)" }
            let question: JSON = ["vendor": "braze", "users": .array(users.map { .string($0) })]
            let buckets = users.map { Rollout.bucket(of: $0, salt: "spring") }
            // 30 % of 2³², rounded down.
            let members = buckets.map { $0 < 1_288_490_188 }
            let wanted = buckets.map { Int64($0) }
            #expect((20...40).contains(members.count { $0 }))
            for node in 0..<2 {
                let answer = try await stage.native(.POST, Self.path + "/test", question, node: node)
                let deliveries = answer.json?["deliveries"]?.array ?? []
                let found: [Int64] = deliveries.map { $0["bucket"]?.int ?? -1 }
                let taken: [Bool] = deliveries.map { $0["paths"] == ["none"] }
                #expect(found == wanted && taken == members, "node \(node): \(answer.text)")
            }
        }
    }

    @Test func anUpstreamThatRulesNameIsNeitherRemovedNorChanged() async throws {
        try await NativeStage.on { stage in
            let upmc: JSON = ["kind": "upstream-upmc", "url": "https://push.example.com"]
            try #require(try await stage.native(.PUT, "/v1/credentials/old", upmc).status == 201)
            let facts: JSON = ["vendor": "upmc", "addressesUsers": false, "splitsPlatforms": false]
            let draft = RouteDraft(
                app: "shop",
                after: nil,
                format: 1,
                base: [:],
                overlay: ["deliveries": [["paths": ["old"]]]],
                upstreams: ["old": facts]
            )
            let store = PostgresRouteStore(engine: stage.database.engine)
            _ = try await store.put(draft, checkedWith: [], in: NativeStage.tenant, by: .key("test"))
            let changed = try await stage.native(
                .PUT,
                "/v1/credentials/old",
                ["kind": "upstream-upmc", "url": "https://push.example.com", "byDevice": false]
            )
            #expect(changed.status == 422 && changed.text.contains("the routes of app shop"), "\(changed.text)")
            let removed = try await stage.native(.DELETE, "/v1/credentials/old")
            #expect(removed.status == 422 && removed.text.contains("the routes of app shop"), "\(removed.text)")
            let moved: JSON = ["kind": "upstream-upmc", "url": "https://other.example.com"]
            #expect(try await stage.native(.PUT, "/v1/credentials/old", moved).status == 200)
            // A rollback to none of these rules frees it.
            #expect(try await stage.native(.PUT, Self.path, [:], ifMatch: "\"1\"").status == 200)
            #expect(try await stage.native(.DELETE, "/v1/credentials/old").status == 204)
        }
    }

    // MARK: The call side

    @Test func aCallHasTheRulesInForceAndNoneOfAnUnknownFormat() async throws {
        try await NativeStage.on { stage in
            let directory = PostgresDirectory(call: stage.database.call, engine: stage.database.engine)
            let cache = CachedDirectory(store: directory, clock: DatabaseClock())
            let key = BindingKey(vendor: .notificationHubs, kind: "hub", value: "native-hub")
            func bound() async throws -> BoundCall {
                cache.forget()
                let found = try await cache.binding(key)
                return try #require(found)
            }
            #expect(try await bound().routes == nil)
            let overlay: JSON = [
                "calls": [["vendor": "notificationhubs", "kinds": ["send"], "action": "serve"]],
                "deliveries": [["paths": ["apns"]]],
            ]
            _ = try await stage.native(.PUT, Self.path, overlay, ifMatch: "\"0\"")
            let routes = try #require(try await bound().routes)
            #expect(routes.version == 1 && routes.table?.rules.deliveries.count == 1)
            #expect(routes.counts(.notificationHubs) && !routes.counts(.upmc))
            #expect(cache.remembered(key)??.routes == routes)
            // No rules are no routes, though they have a version.
            _ = try await stage.native(.PUT, Self.path, [:], ifMatch: "\"1\"")
            #expect(try await bound().routes == nil)
            let newer = Statement(
                "SELECT gateway.put_routes('own', 'shop', 2, 99, '{}', '{\"calls\": []}', '{}', 'api', 'later')"
            )
            _ = try await stage.database.engine.run(newer, tenant: nil)
            let unread = try #require(try await bound().routes)
            #expect(unread.version == 3 && unread.table == nil)
            let read = try await stage.native(.GET, Self.path)
            #expect(read.status == 422 && read.text.contains("newer version"), "\(read.text)")
            // The way back needs no understanding of it.
            let back = try await stage.native(.POST, Self.path + "/rollback", ["version": 1])
            #expect(back.json?["version"] == 4, "\(back.text)")
            #expect(try await bound().routes?.version == 4)
        }
    }
}

/// The rules of a file and the overlay of an operator, with commands and a running gateway.
@Suite(.serialized, .sharedWorld(), .timeLimit(.minutes(10)))
struct RouteCommandTests {
    private func write(_ text: String, _ name: String, _ world: World) throws -> String {
        try text.write(toFile: world.material.path(name), atomically: true, encoding: .utf8)
        return world.material.path(name)
    }

    @Test func theFileOwnsTheBaseAndCommandsTheOverlay() async throws {
        let world = try SharedWorld.current
        let yaml = try String(contentsOfFile: world.material.path("tenants.yaml"), encoding: .utf8)
            .replacing("read, content]", with: "read, content, admin]")
        func file(_ routes: String) throws -> String {
            let app = "      - id: shop\n"
            try #require(yaml.contains(app))
            _ = try write(yaml.replacing(app, with: "\(app)        routes: \(routes)\n"), "routes.yaml", world)
            return "routes.yaml"
        }
        let place = ["--app", "shop"]
        #expect(try await world.apiCommand(["routes", "show"] + place).log.contains("no rules"))
        let first = try await world.apply(try file("{ deliveries: [{ paths: [apns] }] }"))
        try #require(first.status == 0 && first.log.contains("1 version(s) of routes"), "\(first.log)")
        try await eventually("the key administers") { try await world.native("GET", "/v1/audit").status == 200 }
        let again = try await world.apply("routes.yaml")
        #expect(again.log.contains("nothing to change"), "\(again.log)")

        let overlay = try write("calls:\n  - { kinds: [send], action: serve }\n", "overlay.yaml", world)
        let set = try await world.apiCommand(["routes", "set", "--file", overlay] + place)
        #expect(set.status == 0 && set.log.contains("version 2, in force: api"), "\(set.log)")
        #expect(set.log.contains("overlay.calls[0]") && set.log.contains("base.deliveries[0]"), "\(set.log)")
        let late = try await world.apiCommand(["routes", "set", "--none", "--if-version", "1"] + place)
        #expect(late.status == 1 && late.log.contains("PG-1017"), "\(late.log)")

        let other = try await world.apply(try file("{ calls: [{ kinds: [read], action: serve }] }"))
        #expect(other.status == 0 && other.log.contains("the overlay of version 2 is in front"), "\(other.log)")
        let shown = try await world.apiCommand(["routes", "show"] + place)
        #expect(shown.log.contains("version 3, in force: file"), "\(shown.log)")
        #expect(shown.log.contains("overlay.calls[0]"), "\(shown.log)")
        #expect(shown.log.contains("base.calls[0]") && !shown.log.contains("deliveries"), "\(shown.log)")

        let tried = try await world.apiCommand(["routes", "test", "--vendor", "braze", "--user", "u"] + place)
        #expect(tried.status == 0 && tried.log.contains("call: serve (calls[0])"), "\(tried.log)")
        let back = try await world.apiCommand(["routes", "rollback", "--to", "1"] + place)
        #expect(back.log.contains("version 4, in force: api") && !back.log.contains("overlay."), "\(back.log)")
        let history = try await world.apiCommand(["routes", "history"] + place)
        #expect(history.log.split(separator: "\n").filter { $0.contains("file") }.count == 2, "\(history.log)")
        // Without routes, the base is empty.
        let last = try await world.apply()
        #expect(last.status == 0 && last.log.contains("1 version(s) of routes"), "\(last.log)")
        #expect(try await world.apiCommand(["routes", "show"] + place).log.contains("version 5, in force: file"))
    }

    @Test func aRuleThatIsNotCarriedOutIsRefusedWithItsPlace() async throws {
        let world = try SharedWorld.current
        let yaml = try String(contentsOfFile: world.material.path("tenants.yaml"), encoding: .utf8)
        let app = "      - id: shop\n"
        let routes = "        routes: { calls: [{ kinds: [read], action: serveAndForward, upstream: old }] }\n"
        _ = try write(yaml.replacing(app, with: app + routes), "refused.yaml", world)
        let refused = try await world.apply("refused.yaml")
        #expect(refused.status == 1 && refused.log.contains("apps[0].routes.calls[0]"), "\(refused.log)")
    }
}
