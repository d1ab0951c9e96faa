import Commands
import DatabaseSupport
import Foundation
import Model
import TestKit
import Testing
import TransferStore

@testable import PostgresClient
@testable import Store

/// Imports of files that are older than what is stored.
@Suite struct StoreImportTimeTests {
    private let identifiers = TestIdentifiers()

    private func row(_ key: String, _ token: String?, user: String? = nil) -> DeviceRegistration {
        DeviceRegistration(
            key: VendorDeviceKey(key),
            platform: .ios,
            token: token.flatMap { DeviceToken(apns: $0) },
            user: user.map { UserID($0) }
        )
    }

    /// A row with every column about the user.
    private func full(_ key: String, _ token: String, user: String) -> DeviceRegistration {
        var row = row(key, token, user: user)
        row.name = "Hong"
        row.attributes = ["a": 1]
        row.tags = ["seoul", "vip"].compactMap { Tag($0) }
        row.client.set(.appVersion, "1.2")
        row.imported = ImportedFacts(
            acceptsPush: false,
            consents: [RecordedConsent(subject: "news", state: .subscribed)],
            groups: ["g1", "g 2"],
            badge: 3,
            registeredAt: Timestamp(milliseconds: 1_577_934_245_000)
        )
        return row
    }

    /// An hour ago.
    private func hourAgo(_ fixture: StoreFixture) async throws -> Timestamp {
        try await fixture.now() + .seconds(-3600)
    }

    private func importing(
        _ rows: [DeviceRegistration],
        _ fixture: StoreFixture,
        asOf: Timestamp? = nil
    ) async throws -> ImportCounts {
        try await fixture.importDevices(rows, identifiers, at: try await fixture.now(), asOf: asOf)
    }

    /// Every identity of the tenant, by key.
    private func identities(_ fixture: StoreFixture) async throws -> [String] {
        try await lines(
            """
            SELECT concat_ws(' ', i.key, i.state, coalesce(i.user_id, '-'), coalesce(d.token, '-'), d.token_state,
                CASE WHEN i.accepts_push THEN 'on' ELSE 'off' END) AS text
            FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = i.tenant_id AND d.device_id = i.device_id
            WHERE i.tenant_id = $1 ORDER BY i.key
            """,
            fixture
        )
    }

    /// Every row about devices and users, with its version.
    private func versions(_ fixture: StoreFixture) async throws -> [String] {
        var all: [String] = []
        for table in ["device", "identity", "identity_tag", "user_profile", "user_group", "group_member", "badge"] {
            all += try await lines(
                """
                SELECT concat_ws(' ', '\(table)', t.xmin, t) AS text FROM gateway.\(table) t
                WHERE t.tenant_id = $1 ORDER BY 1
                """,
                fixture
            )
        }
        return all
    }

    private func lines(_ sql: String, _ fixture: StoreFixture) async throws -> [String] {
        let admin = try await fixture.database.admin()
        let result = try await admin.query(sql, [.id(fixture.acme)])
        await admin.close()
        return try result.map { (row) throws(PostgresError) in try row.text("text") }
    }

    private func consents(_ user: String, _ fixture: StoreFixture) async throws -> [String: ConsentState]? {
        try await fixture.ask(FindProfiles(fixture.scope, [.id(UserID(user))])).first??.consents
    }

    /// Records the decision of a user, as a call does.
    private func decide(_ user: String, _ state: ConsentState, _ fixture: StoreFixture) async throws {
        let found = try await fixture.ask(FindProfiles(fixture.scope, [.id(UserID(user))])).first ?? nil
        var profile = found ?? StoredProfile(user: UserID(user))
        profile.consents["news"] = state
        profile.decided = ["news"]
        _ = try await fixture.ask(PutUsers(fixture.scope, UserWrite(profiles: [profile])))
    }

    // MARK: Devices

    @Test func whatChangedLaterStaysAndCountsAsOlder() async throws {
        let fixture = try await StoreFixture.make()
        let asOf = try await hourAgo(fixture)
        let rows = [row("k1", "aa01", user: "u1"), row("k2", "aa02", user: "u2"), row("k3", "aa03", user: "u3")]
        #expect(try await importing(rows, fixture, asOf: asOf) == .init(created: 3))
        // The first registers again, the second gets another token only.
        try await fixture.register("k1", token: "bb01")
        let token = try #require(DeviceToken(apns: "bb02"))
        _ = try await fixture.ask(UpdateToken(fixture.scope, key: "k2", token, nil, at: try await fixture.now()))
        let later = [row("k1", "aa01", user: "x1"), row("k2", "aa02", user: "x2"), row("k3", "aa03", user: "x3")]
        let preview = ImportRules.preview(later, fixture.scope, asOf: asOf)
        #expect(try await fixture.commands.run(preview, in: fixture.acme) == .init(updated: 1, older: 2))
        #expect(try await importing(later, fixture, asOf: asOf) == .init(updated: 1, older: 2))
        #expect(
            try await identities(fixture) == [
                "k1 active u1 bb01 active on", "k2 active x2 bb02 active on", "k3 active x3 aa03 active on",
            ]
        )
        // Without a time the file is newer.
        #expect(try await importing(later, fixture) == .init(updated: 2, unchanged: 1))
        #expect(try await identities(fixture).first == "k1 active x1 aa01 active on")
    }

    @Test func aTokenThatMovedAndADeviceThatEndedStay() async throws {
        let fixture = try await StoreFixture.make()
        let asOf = try await hourAgo(fixture)
        let rows = [row("k1", "aa01", user: "u1"), row("k2", "aa02", user: "u2")]
        #expect(try await importing(rows, fixture, asOf: asOf) == .init(created: 2))
        // The first device is installed again: its token has another key, which replaces the first one.
        try await fixture.register("n1", token: "aa01")
        _ = try await fixture.ask(UnregisterDevices(fixture.scope, .key("k2")))
        let before = try await identities(fixture)
        // A key that was never seen here, with the same token.
        let late = rows + [row("k3", "aa01", user: "u3")]
        #expect(try await importing(late, fixture, asOf: asOf) == .init(older: 3))
        #expect(try await identities(fixture) == before)
        #expect(before.contains("n1 active - aa01 active on"))
    }

    // Neither a logout nor a change of user is a registration, and `registeredAt` of a row says nothing about how old its user is.
    @Test func usersWhoChangedLaterStay() async throws {
        let fixture = try await StoreFixture.make()
        let asOf = try await hourAgo(fixture)
        let names = ["u1", "u2", "u3", "u4", "u5"]
        let rows = names.enumerated().map { place, name in row("k\(place + 1)", "aa0\(place + 1)", user: name) }
        #expect(try await importing(rows, fixture, asOf: asOf) == .init(created: 5))
        _ = try await fixture.ask(AssignUser(fixture.scope, key: "k1", .clear))
        // The third device loses its user to the second one.
        _ = try await fixture.ask(AssignUser(fixture.scope, key: "k2", .set("u3", isExclusive: true)))
        _ = try await fixture.ask(PutUsers(fixture.scope, UserWrite(moves: [.init(from: "u4", to: "v4")])))
        let wanted = [
            "k1 active - aa01 active on", "k2 active u3 aa02 active on", "k3 active - aa03 active on",
            "k4 active v4 aa04 active on", "k5 active u5 aa05 active on",
        ]
        #expect(try await identities(fixture) == wanted)
        var again = rows
        let now = try await fixture.now()
        for place in again.indices.dropLast() { again[place].imported.registeredAt = now }
        let preview = ImportRules.preview(again, fixture.scope, asOf: asOf)
        #expect(try await fixture.commands.run(preview, in: fixture.acme) == .init(unchanged: 1, older: 4))
        #expect(try await importing(again, fixture, asOf: asOf) == .init(unchanged: 1, older: 4))
        #expect(try await identities(fixture) == wanted)
    }

    @Test func theRegistrationOfARowDoesNotMakeTheFileNewer() async throws {
        let fixture = try await StoreFixture.make()
        let asOf = try await hourAgo(fixture)
        try await fixture.register("k1", token: "bb01")
        let now = try await fixture.now()
        // The first is known, the second is new, and the third is registered after the second, one by one.
        var rows = [row("k1", "aa01", user: "u1"), row("k2", "aa02", user: "u2"), row("k3", "aa02", user: "u3")]
        for place in rows.indices { rows[place].imported.registeredAt = now + .seconds(60) }
        let preview = ImportRules.preview(Array(rows.prefix(1)), fixture.scope, asOf: asOf)
        #expect(try await fixture.commands.run(preview, in: fixture.acme) == .init(older: 1))
        #expect(try await importing(rows, fixture, asOf: asOf) == .init(created: 2, older: 1))
        #expect(try await identities(fixture).first == "k1 active - bb01 active on")
        let late = try await lines(
            """
            SELECT i.key AS text FROM gateway.identity i
            WHERE i.tenant_id = $1 AND i.registered_at > now() - interval '30 minutes' ORDER BY i.key
            """,
            fixture
        )
        #expect(late == ["k1"])
    }

    @Test func anOldFileAddsNoUserToAGroupThatTheUserHasLeft() async throws {
        let fixture = try await StoreFixture.make()
        let asOf = try await hourAgo(fixture)
        var rows = [
            row("k1", "aa01", user: "u1"), row("k2", "aa02", user: "u2"),
            row(DeviceRegistration.derivedKeyPrefix + "3", "aa03", user: "u3"), row("k4", "aa04", user: "u4"),
        ]
        for place in rows.indices { rows[place].imported.groups = ["g"] }
        #expect(try await importing(rows, fixture, asOf: asOf) == .init(created: 4))
        _ = try await fixture.ask(AssignUser(fixture.scope, key: "k1", .clear))
        _ = try await fixture.ask(UnregisterDevices(fixture.scope, .key("k2")))
        // The third registers with the key of the app.
        try await fixture.register("app-3", token: "aa03")
        let all = GroupChange(remove: ["u1", "u2", "u3", "u4"])
        _ = try await fixture.ask(ChangeMembers(fixture.scope, "g", all))
        #expect(try await importing(rows, fixture, asOf: asOf) == .init(updated: 1, older: 3))
        // Nothing is known that would be later than the row of the fourth.
        let members = "SELECT m.user_id AS text FROM gateway.group_member m WHERE m.tenant_id = $1 ORDER BY m.user_id"
        #expect(try await lines(members, fixture) == ["u4"])
    }

    @Test func anOptOutCountsInEveryFile() async throws {
        let fixture = try await StoreFixture.make()
        let asOf = try await hourAgo(fixture)
        try await fixture.register("k1", token: "aa01")
        try await fixture.register("k2", token: "aa02")
        let caller = DeviceCaller(key: "k2")
        _ = try await fixture.ask(SetPreferences(fixture.scope, caller, PreferenceChange(acceptsPush: false)))
        var (off, on) = (row("k1", "aa01"), row("k2", "aa02"))
        off.imported.acceptsPush = false
        on.imported.acceptsPush = true
        #expect(try await importing([off, on], fixture, asOf: asOf) == .init(older: 2))
        #expect(try await identities(fixture) == ["k1 active - aa01 active off", "k2 active - aa02 active off"])
        // Not without a time either: a file does not say when the setting was made.
        _ = try await importing([on], fixture)
        #expect(try await identities(fixture).last == "k2 active - aa02 active off")
    }

    @Test func theSameFileTwiceChangesNoRow() async throws {
        let fixture = try await StoreFixture.make()
        let asOf = try await hourAgo(fixture)
        for time in [asOf, nil] {
            let (name, digits) = time == nil ? ("n", "aa") : ("t", "bb")
            let rows = [
                full(name + "1", digits + "01", user: name + "u1"), row(name + "2", nil),
                full(name + "3", digits + "03", user: name + "u3"),
            ]
            #expect(try await importing(rows, fixture, asOf: time) == .init(created: 3))
            let before = try await versions(fixture)
            #expect(try await importing(rows, fixture, asOf: time) == .init(unchanged: 3))
            #expect(try await versions(fixture) == before)
            let preview = ImportRules.preview(rows, fixture.scope, asOf: time)
            #expect(try await fixture.commands.run(preview, in: fixture.acme) == .init(unchanged: 3))
        }
    }

    // MARK: Consents

    @Test func ofTwoConsentsTheNewerCountsAndWithoutATimeTheWithdrawal() async throws {
        let fixture = try await StoreFixture.make()
        let (past, future) = (try await hourAgo(fixture), try await fixture.now() + .seconds(3600))
        func said(_ user: String, _ state: ConsentState, at: Timestamp?) -> DeviceRegistration {
            var row = row("k-\(user)", nil, user: user)
            row.imported.consents = [RecordedConsent(subject: "news", state: state, at: at)]
            return row
        }
        let cases: [(user: String, here: ConsentState?, file: ConsentState, at: Timestamp?, wanted: ConsentState)] = [
            ("a", nil, .subscribed, nil, .subscribed), ("b", nil, .unsubscribed, past, .unsubscribed),
            ("c", .subscribed, .unsubscribed, past, .subscribed),
            ("d", .subscribed, .unsubscribed, nil, .unsubscribed),
            ("e", .unsubscribed, .subscribed, past, .unsubscribed),
            ("f", .unsubscribed, .subscribed, nil, .unsubscribed),
            // A time in the future does not count.
            ("g", .unsubscribed, .subscribed, future, .unsubscribed),
        ]
        for each in cases { if let here = each.here { try await decide(each.user, here, fixture) } }
        let rows = cases.map { said($0.user, $0.file, at: $0.at) }
        _ = try await importing(rows, fixture, asOf: past)
        for each in cases {
            #expect(try await consents(each.user, fixture) == ["news": each.wanted], "\(each.user)")
        }
        // The decision that an import brought is replaced by a newer one of another import.
        let newer = said("b", .subscribed, at: past + .seconds(60))
        #expect(try await importing([newer], fixture, asOf: past) == .init(updated: 1))
        #expect(try await consents("b", fixture) == ["news": .subscribed])
        let older = said("b", .unsubscribed, at: past + .seconds(30))
        #expect(try await importing([older], fixture, asOf: past) == .init(older: 1))
        #expect(try await consents("b", fixture) == ["news": .subscribed])
    }

    @Test func aWithdrawalThatIsRepeatedIsAsNewAsTheLastCall() async throws {
        let fixture = try await StoreFixture.make()
        try await decide("u", .unsubscribed, fixture)
        try await Task.sleep(for: .milliseconds(30))
        let between = try await fixture.now()
        try await Task.sleep(for: .milliseconds(30))
        try await decide("u", .unsubscribed, fixture)
        var row = row("k", nil, user: "u")
        row.imported.consents = [RecordedConsent(subject: "news", state: .subscribed, at: between)]
        _ = try await importing([row], fixture)
        #expect(try await consents("u", fixture) == ["news": .unsubscribed])
    }

    // With more subjects than a call may name, no call could withdraw one.
    @Test func importsKeepToTheLimitOfSubjects() async throws {
        let fixture = try await StoreFixture.make()
        func said(_ subjects: [(name: String, state: ConsentState)]) -> DeviceRegistration {
            var row = row("k", nil, user: "u")
            row.imported.consents = subjects.map { RecordedConsent(subject: $0.name, state: $0.state) }
            return row
        }
        let limit = CommandLimits.subjectsPerUser
        let first = (0..<(limit - 10)).map { (name: "a\(100 + $0)", state: ConsentState.subscribed) }
        #expect(try await importing([said(first)], fixture) == .init(created: 1))
        // Withdrawals have precedence over grants.
        let second = (0..<20).map { number in
            (name: "b\(100 + number)", state: number < 15 ? ConsentState.subscribed : .unsubscribed)
        }
        #expect(try await importing([said(second)], fixture) == .init(older: 1))
        let stored = try #require(try await consents("u", fixture))
        #expect(stored.count == limit)
        #expect(stored.values.count { $0 == .unsubscribed } == 5)
        // A subject that is there already can be changed.
        let third = [(name: "a100", state: ConsentState.unsubscribed)]
        #expect(try await importing([said(third)], fixture) == .init(updated: 1))
        #expect(try await consents("u", fixture)?["a100"] == .unsubscribed)
    }

    // MARK: Export

    @Test func anImportIsExportedAsItWas() async throws {
        let fixture = try await StoreFixture.make()
        var row = full("k1", "aa01", user: "u1")
        let time = try #require(Timestamp(rfc3339: "2020-01-02T03:04:05.678Z"))
        row.imported.consents = [
            RecordedConsent(subject: "news", state: .subscribed, at: time, source: "crm"),
            RecordedConsent(subject: "sale", state: .unsubscribed, source: "crm"),
        ]
        _ = try await importing([row], fixture)
        let page = try await fixture.devices.devices(in: fixture.acme, app: "shop", after: nil, limit: 10)
        let identity = try #require(page.first?.identities.first)
        #expect(!identity.acceptsPush && identity.registeredAt == row.imported.registeredAt)
        let store = PostgresTransferStore(call: fixture.call)
        let facts = try await store.facts(of: [identity.id], in: fixture.acme)[identity.id]
        #expect(facts?.consents == row.imported.consents)
        #expect(facts?.groups.sorted() == ["g 2", "g1"] && facts?.badge == 3)
        // Another tenant sees none of it.
        #expect(try await store.facts(of: [identity.id], in: fixture.other).isEmpty)
    }

    // MARK: While devices register

    private static let devices = 240

    /// Imports an hour-old export while the devices get other tokens and users: the first half before it begins, the others meanwhile. Every third of the first
    /// half installs the app again, which then has another key and the same token. All users opt out. Returns how many devices have lost their token, their user
    /// and their opt-out. `timed`: whether the import is given the time of the export.
    private func losses(_ seed: UInt64, timed: Bool) async throws -> (tokens: Int, users: Int, optOuts: Int) {
        let fixture = try await StoreFixture.make()
        let asOf = try await hourAgo(fixture)
        let export = (0..<Self.devices).map { row("k\($0)", String(format: "aa%06x", $0), user: "old") }
        _ = try await importing(export, fixture, asOf: asOf)
        var random = SplitMix(state: seed)
        let order = (0..<Self.devices).shuffled(using: &random)
        @Sendable func register(_ key: String, _ token: String) async throws {
            let operation = RegisterDevice(
                fixture.scope,
                key: VendorDeviceKey(key),
                row(key, token, user: "new"),
                identity: IdentityID(UUID()),
                device: DeviceID(UUID()),
                at: try await fixture.now()
            )
            _ = try await fixture.ask(operation)
            let off = PreferenceChange(acceptsPush: false)
            _ = try await fixture.ask(SetPreferences(fixture.scope, DeviceCaller(key: VendorDeviceKey(key)), off))
        }
        @Sendable func refresh(_ number: Int) async throws {
            try await register("k\(number)", String(format: "bb%06x", number))
        }
        for (place, number) in order.prefix(Self.devices / 2).enumerated() {
            if place % 3 == 0 {
                try await register("n\(number)", String(format: "aa%06x", number))
            } else {
                try await refresh(number)
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for number in order.dropFirst(Self.devices / 2) { try await refresh(number) } }
            group.addTask {
                for start in stride(from: 0, to: Self.devices, by: 40) {
                    var rows = Array(export[start..<min(start + 40, Self.devices)])
                    for place in rows.indices { rows[place].imported.acceptsPush = true }
                    _ = try await importing(rows, fixture, asOf: timed ? asOf : nil)
                }
            }
            try await group.waitForAll()
        }
        let active = try await identities(fixture).filter { $0.split(separator: " ").dropFirst().first == "active" }
        #expect(active.count == Self.devices)
        return (
            tokens: active.count { $0.hasPrefix("k") && !$0.contains(" bb") },
            users: active.count { !$0.contains(" new ") }, optOuts: active.count { !$0.hasSuffix(" off") }
        )
    }

    @Test(arguments: [1, 2] as [UInt64])
    func noFreshTokenUserOrOptOutIsLostToAnOldExport(_ seed: UInt64) async throws {
        let lost = try await losses(seed, timed: true)
        #expect(lost.tokens == 0 && lost.users == 0 && lost.optOuts == 0)
    }

    /// The control: without the time of the export, it overwrites the devices that registered before it was read. A key that was replaced gets its token back,
    /// and with it pushes that its user has declined.
    @Test func withoutItsTimeAnOldExportOverwrites() async throws {
        let lost = try await losses(1, timed: false)
        #expect(lost.tokens > 0 && lost.users > 0 && lost.optOuts > 0)
    }
}
