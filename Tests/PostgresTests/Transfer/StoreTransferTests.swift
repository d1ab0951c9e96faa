import Commands
import DatabaseSupport
import Foundation
import Model
import TestKit
import Testing

@testable import PostgresClient
@testable import Store
@testable import TransferStore

/// The users and groups of a tenant that moves to another gateway.
@Suite struct StoreTransferTests {
    private let identifiers = TestIdentifiers()

    /// Imports users and returns the new ones.
    private func importing(_ users: [ImportedUser], _ fixture: StoreFixture) async throws -> [UserID] {
        let stored = try await fixture.commands.run(
            UserImportRules.profiles(of: users, fixture.scope),
            in: fixture.acme
        )
        let new = UserImportRules.new(users, stored)
        if !new.isEmpty {
            try await fixture.commands.run(UserImportRules.create(new, fixture.scope), in: fixture.acme)
        }
        let people = users.map { ImportPeople.Person($0.user, consents: $0.consents) }
        _ = try await fixture.commands.run(UserImportRules.people(people, fixture.scope), in: fixture.acme)
        return new.map(\.user)
    }

    private func users(_ fixture: StoreFixture) async throws -> [ImportedUser] {
        let store = PostgresTransferStore(call: fixture.call)
        let first = try await store.users(of: fixture.scope, in: fixture.acme, after: nil, limit: 1)
        let rest = try await store.users(of: fixture.scope, in: fixture.acme, after: first.last?.user, limit: 10)
        return first + rest
    }

    @Test func usersAreReadAsTheyWereImportedAndAreNotOverwritten() async throws {
        let fixture = try await StoreFixture.make()
        var user = ImportedUser(user: "u1")
        user.attributes = ["a": 1, "b": ["c": .null]]
        (user.acceptsPush, user.isOptedIn) = (true, true)
        user.consents = [
            RecordedConsent(subject: "news", state: .subscribed, at: Timestamp(rfc3339: "2026-03-01T00:00:00.250Z")),
            RecordedConsent(subject: "sale", state: .unsubscribed, source: "crm"),
        ]
        user.aliases = [UserAlias(label: "crm", name: "7"), UserAlias(label: "shop", name: "a \"b\"")]
        let other = ImportedUser(user: "u2", isAnonymous: true, acceptsPush: false)
        #expect(try await importing([user, other], fixture) == ["u1", "u2"])
        #expect(try await users(fixture) == [user, other])
        // A user that exists keeps its attributes and settings; consents are compared.
        var changed = user
        (changed.attributes, changed.acceptsPush, changed.aliases) = (["a": 2], false, [])
        changed.consents = [RecordedConsent(subject: "news", state: .unsubscribed)]
        #expect(try await importing([changed, other], fixture) == [])
        user.consents[0] = RecordedConsent(subject: "news", state: .unsubscribed)
        #expect(try await users(fixture) == [user, other])
    }

    @Test func groupsKeepTheirTitlesAndNoNewGroupGetsTheirNumbers() async throws {
        let fixture = try await StoreFixture.make()
        for (isNew, title) in [(true, "VIP"), (false, "Other")] {
            let request = UserImportRules.group("12", title: title, fixture.scope)
            #expect(try await fixture.commands.run(request, in: fixture.acme) == isNew)
        }
        _ = try await fixture.commands.run(UserImportRules.group("all", title: nil, fixture.scope), in: fixture.acme)
        let store = PostgresTransferStore(call: fixture.call)
        let groups = try await store.groups(of: fixture.scope, in: fixture.acme, after: nil, limit: 10)
        #expect(groups == [TitledGroup(name: "12", title: "VIP"), TitledGroup(name: "all", title: "")])
        #expect(try await fixture.ask(CreateGroup(fixture.scope, title: "new")) == "13")
        // An import of devices brings numbers too; a lower one takes none back.
        var row = DeviceRegistration(key: "k1", platform: .ios, token: DeviceToken(apns: "aa01"), user: "u1")
        for (group, next) in [("40", "41"), ("20", "42"), ("020", "43"), ("99999999999", "44")] {
            row.imported.groups = [group]
            _ = try await fixture.importDevices([row], identifiers, at: try await fixture.now())
            #expect(try await fixture.ask(CreateGroup(fixture.scope, title: "new")) == GroupName(next))
        }
    }

    @Test func identitiesAreReadInTheOrderOfTheirKeys() async throws {
        let fixture = try await StoreFixture.make()
        let rows = ["b", "a", "C", "가", "a b"].enumerated().map { place, key in
            DeviceRegistration(
                key: VendorDeviceKey(key),
                platform: .ios,
                token: DeviceToken(apns: "aa0\(place)"),
                tags: ["t"].compactMap { Tag($0) } + [Tag(Platform.ios)]
            )
        }
        _ = try await fixture.importDevices(rows, identifiers, at: try await fixture.now())
        let store = PostgresTransferStore(call: fixture.call)
        var found: [ExportedIdentity] = []
        var after: ExportedIdentities.Place?
        repeat {
            let page = try await store.identities(of: fixture.scope, in: fixture.acme, after: after, limit: 2)
            found += page.items
            after = page.next
        } while after != nil
        #expect(found.map(\.identity.key) == ["C", "a", "a b", "b", "가"])
        #expect(found.allSatisfy { $0.facts.ownTags == [Tag(Platform.ios)] && $0.identity.tags.map(\.text) == ["t"] })
        #expect(found.allSatisfy { $0.device.token != nil })
        // All dialects, with one key in two of them at the end of a page.
        let app = fixture.scope.app
        try await fixture.register("a b", token: "bb01", vendor: .ipns)
        try await fixture.register("B", token: "bb02", vendor: .ipns)
        for limit in 1...4 {
            var all: [ExportedIdentity] = []
            var after: ExportedIdentities.Place?
            repeat {
                let page = try await store.identities(of: app, in: fixture.acme, after: after, limit: limit)
                all += page.items
                after = page.next
            } while after != nil
            #expect(all.map(\.identity.key) == ["B", "C", "a", "a b", "a b", "b", "가"])
            #expect(all.filter { $0.identity.key == "a b" }.map(\.identity.vendor) == [.ipns, fixture.scope.vendor])
        }
    }

    // The rows of a page are found first, and then read.
    @Test func anExportContinuesAfterAPageThatIsErasedMeanwhile() async throws {
        let fixture = try await StoreFixture.make()
        for (place, key) in ["a", "b", "c", "d", "e"].enumerated() {
            try await fixture.register(VendorDeviceKey(key), token: "aa0\(place)")
        }
        let store = PostgresTransferStore(call: fixture.call)
        let app = fixture.scope.app
        let rows = try await store.rows(of: app, in: fixture.acme, after: nil, limit: 2)
        #expect(rows.map(\.place.key) == ["a", "b"])
        for row in rows { _ = try await fixture.erase(row.device, in: fixture.acme, by: .key("test")) }
        let page = try await store.page(rows, in: fixture.acme, limit: 2)
        #expect(page.items.isEmpty && page.next == rows.last?.place)
        let next = try await store.identities(of: app, in: fixture.acme, after: page.next, limit: 2)
        #expect(next.items.map(\.identity.key) == ["c", "d"])
        let last = try await store.identities(of: fixture.scope, in: fixture.acme, after: next.next, limit: 2)
        #expect(last.items.map(\.identity.key) == ["e"] && last.next == nil)
    }

    // MARK: Unread messages

    private func unread(_ fixture: StoreFixture) async throws -> [UnreadMessage] {
        let store = PostgresTransferStore(call: fixture.call)
        var found: [UnreadMessage] = []
        var after: VendorDeviceKey?
        while let page = try await store.unread(of: fixture.scope, in: fixture.acme, after: after) {
            found += page.messages
            after = page.last
        }
        return found
    }

    private func put(
        _ messages: [UnreadMessage],
        _ fixture: StoreFixture
    ) async throws -> [ImportUnread.Outcome] {
        try await fixture.commands.run(UserImportRules.unread(messages, fixture.scope), in: fixture.acme)
    }

    @Test func unreadMessagesAreReadAsTheyWereImported() async throws {
        let fixture = try await StoreFixture.make()
        // More devices than are read at a time.
        let rows = (10..<35).map { number in
            DeviceRegistration(
                key: VendorDeviceKey("k\(number)"),
                platform: .ios,
                token: DeviceToken(apns: "bb\(number)"),
                user: UserID("u\(number)")
            )
        }
        _ = try await fixture.importDevices(rows, identifiers, at: try await fixture.now())
        let due = try #require(Timestamp(rfc3339: "2026-03-02T01:00:00.250Z"))
        func message(_ key: String, _ number: Int) -> UnreadMessage {
            var content = Content(title: "t\(number)", body: "b")
            content.data = ["a": ["b": 1]]
            return UnreadMessage(
                key: VendorDeviceKey(key),
                message: MessageID(rawValue: identifiers.uuid(at: due + .seconds(number))),
                number: "\(1000 + number)",
                content: content,
                collapseID: number == 1 ? "c" : nil,
                dueAt: due + .seconds(number),
                expiresAt: due + .seconds(86_400),
                variables: number == 1 ? ["name": "Mina"] : JSONObject()
            )
        }
        var first = message("k10", 1)
        let second = message("k10", 2)
        let last = message("k34", 3)
        // One message to two devices.
        var shared = first
        shared.key = "k11"
        let all = [first, second, shared, last]
        #expect(try await put(all + [message("k99", 4)], fixture) == [.new, .new, .new, .new, .unknown])
        #expect(try await unread(fixture) == all)
        // A second import changes nothing.
        #expect(try await put(all, fixture) == [.known, .known, .known, .known])
        #expect(try await unread(fixture) == all)
        // The number belongs to another message here.
        var other = message("k12", 5)
        other.number = first.number
        #expect(try await put([other], fixture) == [.taken])
        // A device fetches its messages once, oldest first.
        let caller = DeviceCaller(key: "k10")
        let polled = try await fixture.ask(
            PollInbox(fixture.scope, caller, limit: 10, at: try await fixture.now())
        )
        #expect(polled.map(\.notification.content.title) == ["t1", "t2"])
        #expect(polled.map { $0.notification.number(for: fixture.scope.vendor) } == ["1001", "1002"])
        #expect(try await unread(fixture) == [shared, last])
        first.number = nil
        #expect(try await put([first], fixture) == [.known])
    }
}
