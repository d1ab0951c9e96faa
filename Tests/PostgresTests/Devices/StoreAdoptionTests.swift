import Commands
import DatabaseSupport
import DeliveryEngine
import Foundation
import Model
import Routing
import TestKit
import Testing
import TransferStore

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// Identities that were imported without a key, and take the key of the app when it registers with their token.
@Suite struct StoreAdoptionTests {
    /// A row without a key of its own.
    private func row(_ number: Int, user: String? = nil) -> DeviceRegistration {
        var row = DeviceRegistration(
            key: VendorDeviceKey("\(DeviceRegistration.derivedKeyPrefix)\(number)"),
            platform: .ios,
            token: DeviceToken(apns: "aa0\(number)"),
            user: user.map { UserID($0) },
            attributes: ["plan": "gold"],
            tags: ["seoul", "vip"].compactMap { Tag($0) }
        )
        row.imported.badge = 4
        if user != nil { row.imported.groups = ["g"] }
        return row
    }

    private func importing(_ rows: [DeviceRegistration], _ fixture: StoreFixture) async throws -> ImportCounts {
        try await fixture.importDevices(rows, TestIdentifiers(), at: try await fixture.now())
    }

    private func registration(
        _ key: VendorDeviceKey,
        _ token: String,
        _ fixture: StoreFixture,
        user: UserID? = nil,
        attributes: JSONObject = JSONObject(),
        moves: UserMoves = .notify
    ) async throws -> RegisterDevice {
        RegisterDevice(
            fixture.scope,
            key: key,
            DeviceRegistration(
                key: key,
                platform: .ios,
                token: DeviceToken(apns: token),
                user: user,
                attributes: attributes
            ),
            identity: IdentityID(UUID()),
            device: DeviceID(UUID()),
            at: try await fixture.now(),
            moves: moves
        )
    }

    /// Every identity of the tenant, by key: user, attributes and tags.
    private func identities(_ fixture: StoreFixture) async throws -> [String] {
        try await lines(
            """
            SELECT concat_ws(' ', i.key, i.state, coalesce(i.user_id, '-'), i.attributes, (
                SELECT string_agg(t.tag, ',' ORDER BY t.tag) FROM gateway.identity_tag t
                WHERE t.tenant_id = i.tenant_id AND t.identity_id = i.identity_id)) AS text
            FROM gateway.identity i WHERE i.tenant_id = $1 ORDER BY i.key
            """,
            fixture
        )
    }

    private func badges(_ fixture: StoreFixture) async throws -> [String] {
        try await lines(
            "SELECT holder || ' ' || count AS text FROM gateway.badge WHERE tenant_id = $1 ORDER BY holder",
            fixture
        )
    }

    private func lines(_ sql: String, _ fixture: StoreFixture) async throws -> [String] {
        let admin = try await fixture.database.admin()
        let result = try await admin.query(sql, [.id(fixture.acme)])
        await admin.close()
        return try result.map { (row) throws(PostgresError) in try row.text("text") }
    }

    private func counted(_ fixture: StoreFixture) async throws -> Int? {
        try await fixture.ask(FindApp(fixture.scope))?.identityCount
    }

    /// A message to an identity, sent and not read.
    private func send(to identity: IdentityID, on device: DeviceID, _ fixture: StoreFixture) async throws {
        let (_, lease) = try await fixture.sending(to: [identity])
        var progress = try await fixture.progress(lease, [0])
        for place in progress.results.indices { progress.results[place].device = device }
        _ = try await fixture.delivery.record(progress, by: fixture.node)
    }

    @Test func anImportedIdentityTakesTheKeyOfTheAppAndKeepsWhatItHas() async throws {
        let fixture = try await StoreFixture.make()
        #expect(try await importing([row(1), row(2, user: "u2")], fixture) == .init(created: 2))
        let page = try await fixture.devices.devices(in: fixture.acme, app: "shop", after: nil, limit: 10)
        let device = try #require(page.first { $0.token?.text == "aa01" })
        let identity = try #require(device.identities.first)
        try await send(to: identity.id, on: device.id, fixture)

        let registered = try await fixture.register("app-1", token: "aa01")
        #expect(registered.identity == identity.id && registered.device == device.id && registered.wasActive)
        #expect(registered.replaced.isEmpty)
        #expect(
            try await identities(fixture) == [
                #"app-1 active - {"$rolloutKey":"token-1","plan":"gold"} seoul,vip"#,
                #"token-2 active u2 {"plan":"gold"} seoul,vip"#,
            ]
        )
        #expect(try await badges(fixture) == ["key:app-1 4", "user:u2 4"])
        #expect(try await fixture.devices.device(device.id, in: fixture.acme)?.unread == 1)
        #expect(try await counted(fixture) == 2)
        #expect(try await fixture.log().allSatisfy { $0.kind != "replaced" })

        // A user keeps the groups.
        let other = try await fixture.register("app-2", token: "aa02")
        let store = PostgresTransferStore(call: fixture.call)
        let facts = try await store.facts(of: [other.identity], in: fixture.acme)[other.identity]
        #expect(facts?.groups == ["g"] && facts?.badge == 4)
        // The same file again is about the same identities.
        #expect(try await importing([row(1), row(2, user: "u2")], fixture) == .init(unchanged: 2))
        #expect(try await identities(fixture).count == 2)
    }

    // A message of before, in a dialect whose devices fetch their messages.
    @Test func theAppFetchesUnderItsKeyWhatWasSentToTheImportedOne() async throws {
        let fixture = try await StoreFixture.make()
        let inbox = AppScope(app: "shop", vendor: .ipns)
        let time = try await fixture.now()
        let counts = try await fixture.importDevices([row(1)], TestIdentifiers(), at: time, scope: inbox)
        #expect(counts == .init(created: 1))
        let page = try await fixture.devices.devices(in: fixture.acme, app: "shop", after: nil, limit: 10)
        let device = try #require(page.first)
        let identity = try #require(device.identities.first)
        let message = try await fixture.message(to: [(TargetID(identity.id), nil)], scope: inbox)
        try await fixture.accept(message)
        var progress = try await fixture.progress(fixture.lease(of: message), [0])
        progress.results[0].device = device.id
        progress.results[0].dialect = .ipns
        _ = try await fixture.delivery.record(progress, by: fixture.node)

        #expect(try await fixture.register("app-1", token: "aa01", vendor: .ipns).identity == identity.id)
        let now = try await fixture.now()
        func fetched(_ key: VendorDeviceKey) async throws -> [MessageID] {
            let poll = PollInbox(inbox, DeviceCaller(key: key), limit: 10, at: now)
            return try await fixture.ask(poll).map(\.notification.message)
        }
        func isUnread() async throws -> Bool {
            try await fixture.devices.device(device.id, in: fixture.acme)?.unread == 1
        }
        #expect(try await fetched("token-1").isEmpty)
        #expect(try await fetched("app-1") == [message.id])
        #expect(try await fetched("app-1").isEmpty, "once")
        let history = ListHistory(inbox, DeviceCaller(key: "app-1"), HistoryPage(.device, count: 3), at: now)
        #expect(try await fixture.ask(history).map(\.notification.message) == [message.id])
        #expect(try await isUnread())

        let read = RecordReceipt(inbox, message.id, Reporter(key: "app-1"), .read, at: now)
        #expect(try await fixture.ask(read) == .recorded)
        #expect(try await !isUnread())
        let shown = try await fixture.ask(history).first
        #expect(shown?.readAt != nil && shown?.notification.message == message.id)
    }

    @Test func theKeyOfTheRolloutStaysWhenTheAppRegistersAgain() async throws {
        let fixture = try await StoreFixture.make()
        _ = try await importing([row(1)], fixture)
        let alone = try await registration("app-1", "aa01", fixture, attributes: ["v": 1])
        #expect(try await fixture.ask(alone).wasActive)
        #expect(try await identities(fixture) == [#"app-1 active - {"$rolloutKey":"token-1","v":1} seoul,vip"#])
        // In a group of registrations, and with attributes or without.
        let second = try await registration("app-1", "aa01", fixture, attributes: ["v": 2])
        let fresh = try await registration("app-9", "aa09", fixture)
        _ = try await fixture.call.run(try fixture.joined([second, fresh]), tenant: fixture.acme.rawValue)
        let wanted = #"app-1 active - {"$rolloutKey":"token-1","v":2} seoul,vip"#
        #expect(try await identities(fixture).first == wanted)
        _ = try await fixture.ask(try await registration("app-1", "bb01", fixture))
        #expect(try await identities(fixture).first == wanted)
    }

    /// The target of a message to an identity, as a node that sends it reads it.
    private func target(_ identity: IdentityID, _ fixture: StoreFixture) async throws -> TargetFacts {
        let (_, lease) = try await fixture.sending(to: [identity])
        return try #require(try await fixture.delivery.load(lease)?.targets[0])
    }

    // docs/routing.md#imported-devices: with this salt, token-1 is at 0.9 % and app-2 at 86.2 %.
    @Test func theSideOfARolloutStaysWhenTheAppRegisters() async throws {
        let fixture = try await StoreFixture.make()
        let rollout = try #require(Rollout(hundredths: 5000, by: .device, salt: "spring"))
        let table = RouteTable(
            RouteRules(deliveries: [DeliveryRule(rollout: rollout, paths: [.apns]), DeliveryRule(paths: [.none])]),
            upstreams: [:]
        )
        func rule(_ target: TargetFacts) -> Int? {
            table.decide(RouteTable.Delivery(to: target, lane: .transactional)).rule
        }
        _ = try await importing([row(1)], fixture)
        let page = try await fixture.devices.devices(in: fixture.acme, app: "shop", after: nil, limit: 10)
        let identity = try #require(page.first?.identities.first).id
        let before = try await target(identity, fixture)
        #expect(before.key == "token-1" && before.firstKey == nil && rule(before) == 0)

        for _ in 0..<2 {
            #expect(try await fixture.register("app-2", token: "aa01").identity == identity)
            let after = try await target(identity, fixture)
            #expect(after.key == "app-2" && after.firstKey == "token-1" && rule(after) == 0)
        }
        // The control: its own key is outside.
        var unpinned = try await target(identity, fixture)
        unpinned.firstKey = nil
        #expect(rule(unpinned) == 1)
    }

    // Calls name a device by the key of the app.
    @Test func callsFindTheFirstKeysOfAnAppThatHasSome() async throws {
        let fixture = try await StoreFixture.make()
        func flags() async throws -> [String] {
            try await lines("SELECT a.has_first_keys::text AS text FROM gateway.app a WHERE a.tenant_id = $1", fixture)
        }
        func found(_ vendor: Vendor = .rationalOwl) async throws -> [String: String] {
            let devices = ["app-1", "app-9", "none"]
            return try await fixture.directory.firstKeys(of: devices, vendor, of: "shop", in: fixture.acme)
        }
        _ = try await importing([row(1), row(2)], fixture)
        try await fixture.register("app-9", token: "aa09")
        #expect(try await found().isEmpty)
        #expect(try await flags().allSatisfy { $0 == "false" })
        try await fixture.register("app-1", token: "aa01")
        #expect(try await found() == ["app-1": "token-1"])
        #expect(try await flags().contains("true"))
        #expect(try await found(.ipns).isEmpty)
    }

    // A move to another gateway keeps the side too: an export has the first key as an attribute.
    @Test func anImportOfAnExportedIdentityKeepsItsFirstKey() async throws {
        let fixture = try await StoreFixture.make()
        let sql = """
            SELECT i.key || ' ' || coalesce(i.first_key, '-') AS text FROM gateway.identity i
            WHERE i.tenant_id = $1 ORDER BY i.key
            """
        func moved(_ key: VendorDeviceKey, _ token: String) -> DeviceRegistration {
            let attributes: JSONObject = ["$rolloutKey": "token-7", "plan": "gold"]
            return DeviceRegistration(
                key: key,
                platform: .ios,
                token: DeviceToken(apns: token),
                attributes: attributes
            )
        }
        // As a new row, and as one whose token another device has.
        #expect(try await importing([moved("app-7", "aa07")], fixture) == .init(created: 1))
        try await fixture.register("app-8", token: "aa08")
        _ = try await importing([moved("app-9", "aa08")], fixture)
        #expect(try await lines(sql, fixture) == ["app-7 token-7", "app-8 -", "app-9 token-7"])
        let flag = "SELECT a.has_first_keys::text AS text FROM gateway.app a WHERE a.tenant_id = $1"
        #expect(try await lines(flag, fixture).contains("true"))
    }

    @Test func aGroupOfRegistrationsLeavesItToTheSinglePath() async throws {
        let fixture = try await StoreFixture.make()
        _ = try await importing([row(1)], fixture)
        let operations = [
            try await registration("app-1", "aa01", fixture), try await registration("app-9", "aa09", fixture),
        ]
        let answers = try await fixture.call.run(try fixture.joined(operations), tenant: fixture.acme.rawValue)
        let alone = try answers.map { (row) throws(PostgresError) in try row.isNull("device_id") }
        #expect(alone == [true, false])
        // The operation as it runs, alone or in a group, whatever else arrives.
        _ = try await fixture.ask(try await registration("app-1", "aa01", fixture))
        #expect(
            try await identities(fixture) == [
                #"app-1 active - {"$rolloutKey":"token-1","plan":"gold"} seoul,vip"#, "app-9 active - {}",
            ]
        )
    }

    // A token without a key says nothing about who registers with it.
    @Test func aUserOfAnotherDeviceWaitsForTheBackEnd() async throws {
        let fixture = try await StoreFixture.make()
        _ = try await fixture.ask(try await registration("owner", "bb01", fixture, user: "kim"))
        _ = try await importing([row(1, user: "kim"), row(2, user: "lee")], fixture)
        for number in 1...2 {
            let key = VendorDeviceKey("app-\(number)")
            let claim = try await registration(key, "aa0\(number)", fixture, moves: .vouch)
            #expect(try await fixture.ask(claim).wasActive)
        }
        let levels = try await lines(
            "SELECT i.key || ' ' || i.assurance AS text FROM gateway.identity i WHERE i.tenant_id = $1 ORDER BY i.key",
            fixture
        )
        #expect(levels == ["app-1 -1", "app-2 0", "owner 0"])
    }

    // The key of the app may also come in a file, with the time of an earlier registration.
    @Test func aRowOfAFileTakesTheKeyWithoutGoingBackInTime() async throws {
        let fixture = try await StoreFixture.make()
        let now = try await fixture.now()
        let asOf = now + .seconds(-3600)
        let sql = "SELECT i.key || ' ' || i.registered_at AS text FROM gateway.identity i WHERE i.tenant_id = $1"
        _ = try await fixture.importDevices([row(1)], TestIdentifiers(), at: now, asOf: asOf)
        let before = try await lines(sql, fixture)
        var keyed = DeviceRegistration(key: "app-1", platform: .ios, token: DeviceToken(apns: "aa01"))
        keyed.imported.registeredAt = Timestamp(milliseconds: 1_577_934_245_000)
        let counts = try await fixture.importDevices([keyed], TestIdentifiers(), at: now, asOf: asOf)
        #expect(counts == .init(updated: 1))
        #expect(try await lines(sql, fixture) == before.map { $0.replacing("token-1", with: "app-1") })
    }

    @Test func otherIdentitiesAreReplacedAsBefore() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.register("known", token: "bb01")
        _ = try await importing([row(1), row(2)], fixture)
        // A key that has an identity keeps it, and an identity with a key of its own is replaced.
        let known = try await fixture.register("known", token: "aa01")
        #expect(known.replaced.count == 1)
        let first = try await fixture.register("app-2", token: "aa02")
        #expect(first.replaced.isEmpty)
        let second = try await fixture.register("app-3", token: "aa02")
        #expect(second.replaced == [first.identity])
        #expect(try await counted(fixture) == 2)
        // Another dialect has identities of its own.
        let other = try await fixture.register("app-3", token: "aa02", vendor: .ipns)
        #expect(other.replaced.isEmpty && other.identity != second.identity)
    }

    @Test func ofTwoKeysThatArriveTogetherOneTakesTheIdentity() async throws {
        let fixture = try await StoreFixture.make()
        for round in 1...5 {
            _ = try await importing([row(round)], fixture)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for part in 0..<3 {
                    group.addTask {
                        let key = VendorDeviceKey("app-\(round)-\(part)")
                        _ = try await fixture.ask(try await registration(key, "aa0\(round)", fixture))
                    }
                }
                try await group.waitForAll()
            }
        }
        let all = try await identities(fixture)
        #expect(all.count == 15 && all.count { $0.contains(" active ") } == 5)
        #expect(all.count { $0.contains("$rolloutKey") } == 5)
        #expect(try await counted(fixture) == 5)
    }
}
