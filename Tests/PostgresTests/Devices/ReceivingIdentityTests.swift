import DatabaseSupport
import DeliveryEngine
import Foundation
import Model
import TestKit
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// Which identity of a device receives a native send (docs/schema.md#the-identity-that-receives-a-send).
@Suite struct ReceivingIdentityTests {
    // MARK: The choice

    @Test func theIdentitySeenLastReceivesWhateverTheOrderOfIDs() async throws {
        for _ in 0..<4 {
            let phone = try await SharedPhone.make()
            #expect(try await phone.receivers() == ["braze"])
        }
    }

    @Test func preferredDialectsComeBeforeTheTimes() async throws {
        let phone = try await SharedPhone.make()
        #expect(try await phone.receivers(ReceivingRule(preferred: [.rationalOwl, .braze])) == ["rationalowl"])
        #expect(try await phone.receivers(ReceivingRule(preferred: [.upmc, .ipns])) == ["ipns"])
        #expect(try await phone.receivers(ReceivingRule(preferred: [.upmc])) == ["braze"])
    }

    // Lists and audiences use the rules in force of the app, by the lane of the message.
    @Test func theRulesOfTheAppPreferDialectsByLane() async throws {
        let phone = try await SharedPhone.make()
        let (fixture, native) = (phone.fixture, AppScope(app: "shop", vendor: .native))
        let draft = RouteDraft(
            app: "shop",
            after: nil,
            format: 1,
            base: ["deliveries": [["lane": "bulk", "preferDialects": ["rationalowl"]]]],
            overlay: [:],
            upstreams: [:]
        )
        let routes = PostgresRouteStore(engine: fixture.engine)
        #expect(try await routes.put(draft, checkedWith: [], in: fixture.acme, by: .key("ops")) == 1)
        for address in [Address.user("u"), .phone("0101")] {
            for lists in [[address], [address, .user("nobody")]] {
                let bulk = try await fixture.ask(ResolveAddresses(native, lists, by: ReceivingRule(lane: .bulk)))
                #expect(bulk.first.flatMap(\.self).map(phone.dialect) == "rationalowl")
                let urgent = try await fixture.ask(ResolveAddresses(native, lists, by: ReceivingRule(lane: .urgent)))
                #expect(urgent.first.flatMap(\.self).map(phone.dialect) == "braze")
            }
        }
    }

    @Test func anExpansionUsesTheRulesOfItsFirstPage() async throws {
        let phone = try await SharedPhone.make()
        let fixture = phone.fixture
        let routes = PostgresRouteStore(engine: fixture.engine)
        let rule = ReceivingRule(lane: .transactional)
        let (first, lease) = try await phone.expanding(nil, rule)
        for (version, dialect) in [(0, "rationalowl"), (1, "ipns")] {
            let draft = RouteDraft(
                app: "shop",
                after: version == 0 ? nil : version,
                format: 1,
                base: ["deliveries": [["lane": "transactional", "preferDialects": [.string(dialect)]]]],
                overlay: [:],
                upstreams: [:]
            )
            _ = try await routes.put(draft, checkedWith: [], in: fixture.acme, by: .key("ops"))
            if version == 0 {
                _ = try await fixture.delivery.expand(lease, by: fixture.node, pageSize: 1, preferring: nil)
            }
        }
        try await phone.expand(lease, rule, pageSize: 1)
        #expect(try await phone.targets(of: first) == ["rationalowl"])
        let (second, next) = try await phone.expanding(nil, rule)
        try await phone.expand(next, rule, pageSize: 1)
        #expect(try await phone.targets(of: second) == ["ipns"])
    }

    @Test func aRegistrationAgainMovesTheChoice() async throws {
        let phone = try await SharedPhone.make()
        try await phone.register(.ipns, ago: .seconds(60))
        #expect(try await phone.receivers() == ["ipns"])
    }

    /// The ways of addressing a device that an import has given one more identity, of UPMC.
    private func waysAfterImport(asOf: Duration?, registered: Duration?) async throws -> [String: String] {
        let phone = try await SharedPhone.make()
        let now = try await phone.fixture.now()
        var row = DeviceRegistration(
            key: VendorDeviceKey("upmc"),
            platform: .ios,
            token: DeviceToken(apns: "aa01"),
            user: "u",
            phone: "0101",
            tags: ["a"].compactMap { Model.Tag($0) }
        )
        row.imported.registeredAt = registered.map { now + (.zero - $0) }
        let imported = try await phone.fixture.importDevices(
            [row],
            TestIdentifiers(),
            at: now,
            asOf: asOf.map { now + (.zero - $0) },
            scope: phone.scope(.upmc)
        )
        #expect(imported == .init(created: 1))
        return try await phone.ways()
    }

    // An old export must not take the sends of the SDK that the app uses now.
    @Test func anImportedIdentityIsAsOldAsItsFile() async throws {
        let old = Duration.seconds(3 * 3600)
        #expect(try await Set(waysAfterImport(asOf: old, registered: nil).values) == ["braze"])
        #expect(try await Set(waysAfterImport(asOf: nil, registered: old).values) == ["braze"])
        // The control: without a time the file is of now.
        let ways = try await waysAfterImport(asOf: nil, registered: nil)
        #expect(ways["everyone"] == "upmc" && ways["users"] == "upmc", "\(ways)")
    }

    @Test func anIdentityThatLeavesIsNotChosen() async throws {
        let phone = try await SharedPhone.make()
        _ = try await phone.fixture.ask(UnregisterDevices(phone.scope(.braze), .key("braze")))
        #expect(try await phone.receivers() == ["ipns"])
        // Its end is an hour ago, and upkeep has not unregistered it yet.
        try await phone.change(.ipns, "attributes = '{\"$endsAt\": 1700000000}'")
        #expect(try await phone.receivers() == ["rationalowl"])
    }

    @Test func anIdentityOfAnotherUserDoesNotGetTheMessagesOfAUser() async throws {
        let phone = try await SharedPhone.make()
        try await phone.change(.braze, "user_id = 'next owner', phone = '0999'")
        let ways = try await phone.ways()
        #expect(ways.filter { Ways.ofUser.contains($0.key) }.allSatisfy { $0.value == "ipns" }, "\(ways)")
        // These are not about a person.
        #expect(ways.filter { !Ways.ofUser.contains($0.key) }.allSatisfy { $0.value == "braze" }, "\(ways)")
        #expect(ways.count == Ways.all.count)
        try await phone.change(.braze, "user_id = NULL")
        #expect(try await phone.ways().filter { Ways.ofUser.contains($0.key) }.allSatisfy { $0.value == "ipns" })
    }

    /// Notification Hubs name a user by a tag.
    @Test(arguments: ["$UserId:{u}", "$UserId:u && a", "(b || $userid:{u}) && !c"])
    func anIdentityOfAnotherUserDoesNotGetTheMessagesToTheTagOfAUser(_ expression: String) async throws {
        let phone = try await SharedPhone.make()
        try await phone.register(.rationalOwl, ago: .seconds(7200), tags: ["a", "$UserId:{u}"])
        try await phone.change(.ipns, "seen_at = now()")
        try await phone.change(.braze, "user_id = 'next owner', phone = '0999', seen_at = now() + interval '1 second'")
        let (message, lease) = try await phone.expanding(.tags(try TagExpression(expression)), ReceivingRule())
        try await phone.expand(lease, pageSize: 10)
        #expect(try await phone.targets(of: message) == ["ipns"])
    }

    @Test func anIdentityOfALowerLevelDoesNotReplaceOneOfAHigherLevel() async throws {
        let phone = try await SharedPhone.make()
        try await phone.change(.rationalOwl, "assurance = 2")
        #expect(try await phone.ways().filter { Ways.ofUser.contains($0.key) }.allSatisfy { $0.value == "rationalowl" })
        try await phone.change(.ipns, "assurance = 2")
        #expect(try await phone.ways().filter { $0.key != "device" }.allSatisfy { $0.value == "ipns" })
    }

    /// The first identity is the one by which an audience selects the device.
    @Test func aWithdrawalIsKeptUnlessTheMessageIsForAll() async throws {
        let phone = try await SharedPhone.make()
        let first = try await phone.firstDialect()
        try await phone.change(first, "accepts_push = false")
        let users = try await phone.ways().filter { Ways.expansions.contains($0.key) || $0.key == "list of users" }
        #expect(users.count == 5 && users.allSatisfy { $0.value == first.rawValue }, "\(users)")
        let all = ReceivingRule(includesWithdrawn: true)
        #expect(try await phone.receivers(all) == ["braze"])
        if first != .braze {
            try await phone.change(first, "accepts_push = true")
            // The own consent of the receiving identity counts when the push is sent.
            try await phone.change(.braze, "accepts_push = false")
            let expanded = try await phone.ways().filter { Ways.expansions.contains($0.key) }
            #expect(expanded.allSatisfy { $0.value == "braze" }, "\(expanded)")
        }
    }

    @Test func aVendorsSendReachesItsOwnDialectOnly() async throws {
        let phone = try await SharedPhone.make()
        let (message, lease) = try await phone.expanding(nil, ReceivingRule(), scope: phone.scope(.rationalOwl))
        try await phone.expand(lease, pageSize: 10)
        #expect(try await phone.targets(of: message) == ["rationalowl"])
        let found = try await phone.fixture.ask(ResolveAddresses(phone.scope(.rationalOwl), [.user("u")]))
        #expect(found.map { $0.map(phone.dialect) } == ["rationalowl"])
        #expect(try await phone.fixture.ask(ResolveAddresses(phone.scope(.ipns), [.deviceKey("braze")])) == [nil])
    }

    @Test func aVendorsSendReachesAllDialectsWhereTheAppSaysSo() async throws {
        let phone = try await SharedPhone.make()
        let owl = phone.scope(.rationalOwl)
        _ = try await phone.fixture.ask(PutGroup(owl, "g"))
        _ = try await phone.fixture.ask(ChangeMembers(owl, "g", GroupChange(add: ["u"])))
        _ = try await phone.fixture.register("alone", token: "ff08", phone: "0198", vendor: .braze)
        let admin = try await phone.fixture.database.admin()
        try await admin.script(
            "UPDATE gateway.app SET defaults = defaults || '{\"crossDialectSends\": true}' WHERE tenant_id = '\(phone.fixture.acme)'"
        )
        await admin.close()
        let audiences: [(Audience?, [String])] = [
            (nil, ["alone", "braze"]), (.tags(try TagExpression("a")), ["braze"]),
            (.tags(try TagExpression("!b")), ["braze"]),
            (.users(["u"]), ["braze"]), (.groups(["g"]), ["braze"]),
        ]
        for (audience, wanted) in audiences {
            for pageSize in [1, 10] {
                let (message, lease) = try await phone.expanding(audience, ReceivingRule(), scope: owl)
                try await phone.expand(lease, pageSize: pageSize)
                #expect(try await phone.targets(of: message) == wanted, "\(String(describing: audience))")
            }
        }
        for naming in [.ids, .names, .aliases] as [ResolveUsers.Naming] {
            let resolve = ResolveUsers(owl, ["u"], by: naming, limit: 10, isCrossing: true)
            let found = try await phone.fixture.ask(resolve).map(\.found)
            let receivers = ReceivingRule().receivers(among: found).map(phone.dialect)
            #expect(found.count == 3 && receivers == ["braze"], "\(naming)")
        }
        let addresses: [Address] = [
            .user("u"), .phone("0101"), .phone("0198"), .deviceKey("rationalowl"), .deviceKey("braze"),
        ]
        let wanted = ["braze", "braze", "another", "braze", nil]
        let found = try await phone.fixture.ask(ResolveAddresses(owl, addresses, by: ReceivingRule()))
        #expect(found.map { $0.map(phone.dialect) } == wanted)
        for (address, dialect) in zip(addresses, wanted) {
            let one = try await phone.fixture.ask(ResolveAddresses(owl, [address], by: ReceivingRule()))
            #expect(one.map { $0.map(phone.dialect) } == [dialect], "\(address)")
        }
    }

    @Test func aListOfAddressesIsAnsweredInItsOrder() async throws {
        let phone = try await SharedPhone.make()
        let alone = try await phone.fixture.register("alone", token: "ff09", phone: "0199")
        let addresses: [Address] = [
            .deviceKey("rationalowl"), .phone("none"), .phone("0199"), .user("u"), .device(try #require(phone.device)),
            .deviceKey("nobody"),
        ]
        let found = try await phone.fixture.ask(ResolveAddresses(phone.native, addresses))
        #expect(found.map { $0.map(phone.dialect) } == ["braze", nil, "another", "braze", "braze", nil])
        #expect(found[2]?.identity == alone.identity)
    }

    // MARK: Sightings

    @Test(arguments: [false, true])
    func receiptsMoveTheChoiceAtMostOnceAnHour(asGroup: Bool) async throws {
        let phone = try await SharedPhone.make()
        func report(_ vendor: Vendor) async throws {
            let message = try await phone.sent(to: vendor)
            let now = try await phone.fixture.now()
            let key = VendorDeviceKey(vendor.rawValue)
            let receipt = RecordReceipt(phone.scope(vendor), message, Reporter(key: key), .received, at: now)
            guard asGroup else {
                #expect(try await phone.fixture.ask(receipt) == .recorded)
                return
            }
            let statement = try phone.fixture.joined([receipt, receipt])
            _ = try await phone.fixture.call.run(statement, tenant: phone.fixture.acme.rawValue)
        }
        #expect(try await phone.sighting(.rationalOwl) == nil)
        try await report(.rationalOwl)
        #expect(try await phone.receivers() == ["rationalowl"])
        let first = try #require(try await phone.sighting(.rationalOwl))
        try await report(.rationalOwl)
        #expect(try await phone.sighting(.rationalOwl) == first, "a second one within the hour")
        try await phone.change(.rationalOwl, "seen_at = seen_at - interval '61 minutes'")
        try await report(.rationalOwl)
        #expect(try await phone.sighting(.rationalOwl) ?? 0 >= first, "one after an hour")
        try await report(.ipns)
        #expect(try await phone.receivers() == ["ipns"])
        try await report(.rationalOwl)
        #expect(try await phone.receivers() == ["rationalowl"], "within the hour, because another was seen since")
    }

    @Test func aTokenMovesTheChoice() async throws {
        let phone = try await SharedPhone.make()
        let token = DeviceToken(stored: "bb02")
        let now = try await phone.fixture.now()
        let update = UpdateToken(phone.scope(.rationalOwl), key: "rationalowl", token, nil, at: now)
        #expect(try await phone.fixture.ask(update) == 1)
        #expect(try await phone.receivers() == ["rationalowl"])
        #expect(try await phone.sighting(.rationalOwl) != nil)
    }

    @Test func nothingIsWrittenWhereNoDeviceIsShared() async throws {
        let fixture = try await StoreFixture.make()
        let phone = try await SharedPhone.alone(in: fixture, [.rationalOwl])
        let message = try await phone.sent(to: .rationalOwl)
        #expect(try await fixture.receipt(message, "rationalowl") == .recorded)
        let update = UpdateToken(
            fixture.scope,
            key: "rationalowl",
            DeviceToken(stored: "cc"),
            nil,
            at: try await fixture.now()
        )
        #expect(try await fixture.ask(update) == 1)
        #expect(try await phone.sighting(.rationalOwl) == nil)
    }

    /// A receipt holds its delivery, which comes behind identities in the lock order.
    @Test func aReceiptDoesNotWaitForAnIdentity() async throws {
        let phone = try await SharedPhone.make()
        let message = try await phone.sent(to: .rationalOwl)
        let row = "gateway.identity WHERE tenant_id = '\(phone.fixture.acme)' AND key = 'rationalowl' FOR UPDATE"
        // If the receipt waited for it, the time limit of locks would end it, and `end` would throw.
        let holder = try await OpenTransaction(phone.fixture.database, "SELECT FROM \(row)")
        #expect(try await phone.fixture.receipt(message, "rationalowl") == .recorded)
        #expect(try await phone.sighting(.rationalOwl) == nil)
        try await holder.end()
        #expect(try await phone.receivers() == ["braze"])
    }

    // MARK: Expansions

    @Test(arguments: [1, 2] as [UInt64])
    func sightingsDuringAnExpansionNeitherSkipNorRepeatADevice(_ seed: UInt64) async throws {
        let stage = try await SightingStage.make(seed: seed)
        for audience in try SightingStage.audiences() {
            let devices = try await stage.send(audience)
            #expect(Set(devices).count == devices.count, "\(String(describing: audience)): a repeated device")
            #expect(Set(devices) == stage.devices, "\(String(describing: audience)): \(devices.count)")
        }
    }

    /// The control: an expansion that skips every identity but the one that was seen last.
    @Test func skippingByTheTimesLosesDevices() async throws {
        let stage = try await SightingStage.make(seed: 1)
        let admin = try await stage.fixture.database.admin()
        try await admin.script(SightingStage.skipping)
        await admin.close()
        var lost = 0
        for audience in try SightingStage.audiences() {
            let reached = try await stage.send(audience)
            lost += stage.devices.subtracting(reached).count
        }
        #expect(lost > 0)
    }

    /// The identity by which a page selected the device leaves before the cursor reaches the others.
    @Test(arguments: [false, true])
    func aDeviceThatIsSelectedAgainIsPushedOnce(byTag: Bool) async throws {
        let phone = try await SharedPhone.make()
        let store = phone.fixture.delivery
        let first = try await phone.firstDialect()
        let last = try #require(SharedPhone.order.first { $0 != first })
        try await phone.change(last, "seen_at = now()")
        let audience: Audience? = byTag ? .tags(try TagExpression("a")) : nil
        let (message, expansion) = try await phone.expanding(audience, ReceivingRule())
        _ = try await store.expand(expansion, by: phone.fixture.node, pageSize: 1)
        #expect(try await phone.targets(of: message) == [last.rawValue])
        let key = VendorDeviceKey(first.rawValue)
        _ = try await phone.fixture.ask(UnregisterDevices(phone.scope(first), .key(key)))
        try await phone.expand(expansion, pageSize: 1)
        #expect(try await phone.targets(of: message) == [last.rawValue, last.rawValue])

        let leases = try await phone.claims().sorted { $0.key.number < $1.key.number }
        try #require(leases.count == 2)
        for lease in leases { #expect(try await store.load(lease)?.duplicates == []) }
        var progress = try await phone.fixture.progress(leases[0], [0])
        progress.results[0].device = phone.device
        #expect(try await store.record(progress, by: phone.fixture.node) == .recorded(1))
        #expect(try await store.load(leases[1])?.duplicates == [0])

        // A receipt without an outcome is not a push of another slice.
        let admin = try await phone.fixture.database.admin()
        try await admin.script(
            "UPDATE gateway.delivery SET state = 'received', sent_at = NULL WHERE tenant_id = '\(phone.fixture.acme)'"
        )
        await admin.close()
        #expect(try await store.load(leases[1])?.duplicates == [])
    }

    /// Another identity is seen between the two selections, so that the targets differ.
    @Test func aDeviceThatIsSelectedAgainForAnotherIdentityIsPushedOnce() async throws {
        let phone = try await SharedPhone.make()
        let store = phone.fixture.delivery
        let first = try await phone.firstDialect()
        let others = SharedPhone.order.filter { $0 != first }
        try await phone.change(others[0], "seen_at = now()")
        let (_, expansion) = try await phone.expanding(nil, ReceivingRule())
        _ = try await store.expand(expansion, by: phone.fixture.node, pageSize: 1)
        let key = VendorDeviceKey(first.rawValue)
        _ = try await phone.fixture.ask(UnregisterDevices(phone.scope(first), .key(key)))
        try await phone.change(others[1], "seen_at = now()")
        try await phone.expand(expansion, pageSize: 1)
        let leases = try await phone.claims().sorted { $0.key.number < $1.key.number }
        try #require(leases.count == 2)
        #expect(leases[0].targets != leases[1].targets)
        var progress = try await phone.fixture.progress(leases[0], [0])
        progress.results[0].device = phone.device
        #expect(try await store.record(progress, by: phone.fixture.node) == .recorded(1))
        #expect(try await store.load(leases[1])?.duplicates == [0])
    }

    @Test func aQueuedTargetOfASharedDeviceIsFound() async throws {
        let stage = try await SightingStage.make(seed: 3)
        for (audience, hasPlace) in zip(try SightingStage.audiences(), [true, true, false, false]) {
            let message = try await stage.queued(audience)
            let facts = try await stage.fixture.facts(message)
            for (device, target) in try await stage.targets(of: message).prefix(12) {
                let found = try await stage.fixture.queries.targets(
                    of: facts,
                    device: "\(device)",
                    in: stage.fixture.acme
                )
                // Without a place, the identity that was seen last by now counts.
                #expect(hasPlace ? found == [target] : found.count == 1, "\(String(describing: audience))")
                guard let shown = found.first else { continue }
                let trail = try await stage.fixture.queries.trail(of: facts, target: shown, in: stage.fixture.acme)
                #expect((trail?.queue != nil) == hasPlace, "\(String(describing: audience))")
            }
        }
    }
}
