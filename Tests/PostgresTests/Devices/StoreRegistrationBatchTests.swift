import DatabaseSupport
import Foundation
import Model
import TestKit
import Testing

@testable import PostgresClient
@testable import Store

/// Registrations of several callers as one set, with the same result as if each had registered by itself.
@Suite struct StoreRegistrationBatchTests {
    private struct Row {
        var key: String
        var registration: DeviceRegistration
    }

    private func row(
        _ key: String,
        _ token: String?,
        user: String? = nil,
        environment: PushEnvironment? = nil,
        platform: Platform = .ios,
        attributes: JSONObject = JSONObject(),
        client: ClientFacts = ClientFacts()
    ) -> Row {
        var registration = DeviceRegistration(
            key: VendorDeviceKey(key),
            platform: platform,
            environment: environment,
            token: token.flatMap { DeviceToken(apns: $0) },
            user: user.map { UserID($0) },
            phone: user.map { "+82 \($0)" }
        )
        registration.name = "of \(key)"
        registration.attributes = attributes
        registration.client = client
        return Row(key: key, registration: registration)
    }

    private func statement(_ row: Row, _ scope: AppScope, _ id: IdentityID? = nil, at: Timestamp)
        -> RegisterDevice
    {
        RegisterDevice(
            scope,
            key: VendorDeviceKey(row.key),
            row.registration,
            identity: id ?? IdentityID(UUID()),
            device: DeviceID(UUID()),
            at: at
        )
    }

    private func registered(_ row: Row, _ scope: AppScope, _ fixture: StoreFixture, in tenant: TenantID) async throws
        -> Registered?
    {
        let statement = statement(row, scope, at: try await fixture.now())
        return try await fixture.ask(statement, in: tenant)
    }

    /// The statement for several registrations, called directly, because no other test knows which calls meet in a
    /// group. Returns nil for a registration that must run alone.
    private func together(_ rows: [Row], _ scope: AppScope, _ fixture: StoreFixture) async throws -> [Bool?] {
        let at = try await fixture.now()
        let statement = try fixture.joined(rows.map { self.statement($0, scope, at: at) })
        return try await fixture.call.run(statement, tenant: fixture.acme.rawValue).map { (row) throws(PostgresError) in
            guard try !row.isNull("device_id") else { return nil }
            #expect(try row.uuids("replaced").isEmpty)
            return try row.bool("was_active")
        }
    }

    /// Every identity of a tenant with its bindings, one line each.
    private func identities(_ fixture: StoreFixture, _ tenant: TenantID) async throws -> [String] {
        try await lines(
            """
            SELECT concat_ws(' ', i.vendor, i.key, i.state, i.user_id, '/', i.name, '/', i.phone, i.accepts_push, i.attributes, i.client, '/', i.client_number, '/', d.token, d.platform,
                d.environment, d.token_state, d.token_registered_at IS NULL, '|', (SELECT min(o.vendor || ':' || o.key)
                    FROM gateway.identity o WHERE o.tenant_id = i.tenant_id AND o.device_id = i.device_id)) AS text
            FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = i.tenant_id AND d.device_id = i.device_id
            WHERE i.tenant_id = $1 ORDER BY i.vendor, i.key
            """,
            fixture,
            tenant
        )
    }

    private func versions(_ fixture: StoreFixture, _ tenant: TenantID) async throws -> [String] {
        try await lines(
            "SELECT concat_ws(' ', client, app_version, '/', model) AS text FROM gateway.client_version WHERE tenant_id = $1 ORDER BY client",
            fixture,
            tenant
        )
    }

    private func counts(_ fixture: StoreFixture, _ tenant: TenantID) async throws -> [String] {
        try await lines(
            """
            SELECT c.vendor || ' ' || sum(c.active) AS text FROM gateway.identity_count c WHERE c.tenant_id = $1
            GROUP BY c.vendor ORDER BY c.vendor
            """,
            fixture,
            tenant
        )
    }

    private func lines(_ sql: String, _ fixture: StoreFixture, _ tenant: TenantID) async throws -> [String] {
        let admin = try await fixture.database.admin()
        let result = try await admin.query(sql, [.id(tenant)])
        await admin.close()
        return try result.map { (row) throws(PostgresError) in try row.text("text") }
    }

    /// Each fact is reported, removed or not named.
    private func client(_ random: inout SplitMix) -> ClientFacts {
        var client = ClientFacts()
        for field in [ClientFacts.Field.appVersion, .model] {
            switch Int.random(in: 0..<6, using: &random) {
            case 0: client.remove(field)
            case 1, 2: client.set(field, "\(Int.random(in: 0..<9, using: &random))")
            default: break  // not named
            }
        }
        return client
    }

    /// The oracle is the same calls, made one by one in the other tenant.
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func aSetOfRegistrationsEqualsSingleRegistrations(_ seed: UInt64) async throws {
        let fixture = try await StoreFixture.make()
        var random = SplitMix(state: seed)
        var (news, kept, alone) = (0, 0, 0)
        for _ in 0..<12 {
            let scope = AppScope(app: "shop", vendor: Int.random(in: 0..<4, using: &random) == 0 ? .braze : .ipns)
            let keys = (0..<14).shuffled(using: &random).prefix(8)
            let rows = keys.map { key in
                let chance = Int.random(in: 0..<10, using: &random)
                // Usually the key's own token, sometimes that of another key.
                let number = chance < 6 ? key : Int.random(in: 0..<24, using: &random)
                let environment: PushEnvironment? =
                    [nil, nil, .production, .sandbox].randomElement(using: &random) ?? nil
                let shares = Int.random(in: 0..<3, using: &random) == 0
                return row(
                    "k\(key)",
                    chance == 9 ? nil : String(format: "%064x", number),
                    user: Bool.random(using: &random) ? "u\(key % 3)" : nil,
                    environment: environment,
                    platform: Int.random(in: 0..<6, using: &random) == 0 ? .android : .ios,
                    attributes: shares ? ["sharesDevice": true] : chance < 3 ? ["v": .int(chance)] : JSONObject(),
                    client: client(&random)
                )
            }
            let answers = try await together(rows, scope, fixture)
            try #require(answers.count == rows.count)
            // Registrations that must run alone run afterwards.
            for (row, answer) in zip(rows, answers).filter({ $0.1 != nil }) + zip(rows, answers).filter({ $0.1 == nil })
            {
                let oracle = try #require(try await registered(row, scope, fixture, in: fixture.other))
                if let answer {
                    #expect(answer == oracle.wasActive && oracle.replaced.isEmpty, "seed \(seed): \(row.key)")
                    if answer { kept += 1 } else { news += 1 }
                } else {
                    alone += 1
                    #expect(try await registered(row, scope, fixture, in: fixture.acme)?.wasActive == oracle.wasActive)
                }
            }
            #expect(try await identities(fixture, fixture.acme) == identities(fixture, fixture.other), "seed \(seed)")
            if let key = keys.first, Bool.random(using: &random) {
                for tenant in [fixture.acme, fixture.other] {
                    let leaving = UnregisterDevices(scope, .key(VendorDeviceKey("k\(key)")))
                    _ = try await fixture.ask(leaving, in: tenant)
                }
            }
        }
        #expect(try await counts(fixture, fixture.acme) == counts(fixture, fixture.other))
        let clients = try await versions(fixture, fixture.acme)
        #expect(clients.count > 20)
        #expect(try await versions(fixture, fixture.other) == clients)
        let (log, oracle) = (try await fixture.log(in: fixture.acme), try await fixture.log(in: fixture.other))
        #expect(log.map(\.kind).sorted() == oracle.map(\.kind).sorted())
        #expect(log.map(\.offset) == Array(1...Int64(log.count)))
        #expect(news > 5 && kept > 10 && alone > 10, "\(news) new, \(kept) kept, \(alone) alone")
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func aSetOfUserChangesEqualsSingleChanges(_ seed: UInt64) async throws {
        let fixture = try await StoreFixture.make()
        let scope = AppScope(app: "shop", vendor: .upmc)
        var random = SplitMix(state: seed)
        for tenant in [fixture.acme, fixture.other] {
            for number in 0..<8 {
                let seat = row("k\(number)", String(format: "%064x", number), user: number < 3 ? "u\(number)" : nil)
                _ = try await registered(seat, scope, fixture, in: tenant)
            }
            let leaving = UnregisterDevices(scope, .key("k7"))
            _ = try await fixture.ask(leaving, in: tenant)
        }
        for _ in 0..<20 {
            let count = [1, 5].randomElement(using: &random) ?? 1
            let changes = (0..<9).shuffled(using: &random).prefix(count).map { number in
                let user = UserID("u\(Int.random(in: 0..<4, using: &random))")
                let change: UserChange =
                    switch Int.random(in: 0..<7, using: &random) {
                    case 0: .keep
                    case 1, 2: .clear
                    case 3: .set(user, name: "n\(number)", phone: nil, isExclusive: false)
                    default: .set(user, name: nil, phone: Bool.random(using: &random) ? "p" : nil, isExclusive: false)
                    }
                return (key: "k\(number)", change: change)
            }
            let statement = try fixture.joined(
                changes.map { AssignUser(scope, key: VendorDeviceKey($0.key), $0.change) }
            )
            let answers = try await fixture.call.run(statement, tenant: fixture.acme.rawValue)
            try #require(answers.rowCount == changes.count)
            for (answer, change) in zip(answers, changes) {
                let statement = AssignUser(scope, key: VendorDeviceKey(change.key), change.change)
                let oracle = try await fixture.ask(statement, in: fixture.other)
                #expect(try answer.isNull("ordinal") == (oracle == nil), "seed \(seed): \(change)")
                guard let oracle else { continue }
                #expect(try answer.optionalText("user_id") == oracle.user?.rawValue)
                // Of concurrent calls, one may leave a user before or after another call gets it.
                let hasMoved = try answer.bool("has_moved")
                #expect(hasMoved == oracle.hasMoved || hasMoved && changes.count > 1, "seed \(seed): \(change)")
            }
            #expect(try await identities(fixture, fixture.acme) == identities(fixture, fixture.other), "seed \(seed)")
        }
    }

    /// A key is known to others: a stranger, who has neither its token nor its user, does not get it, alone or in a set.
    @Test func aKeyStaysWithItsOwner() async throws {
        let fixture = try await StoreFixture.make()
        let scope = AppScope(app: "shop", vendor: .ipns)
        let first = ["k1", "k2", "k3", "k4"].enumerated().map {
            row($1, "aa0\($0)", user: $1 == "k4" ? nil : "of \($1)")
        }
        _ = try await together(first, scope, fixture)
        let dead = Statement(
            "UPDATE gateway.device SET token_state = 'invalid' WHERE tenant_id = $1 AND token = 'aa02'",
            [.id(fixture.acme)]
        )
        _ = try await fixture.engine.run(dead, tenant: nil)
        func owned(_ key: String, _ token: String, _ user: String?) -> Row {
            var row = row(key, token, user: user)
            row.registration.keepsOwner = true
            return row
        }
        let strangers = [owned("k1", "bb01", "x"), owned("k2", "bb02", nil)]
        #expect(try await together(strangers, scope, fixture) == [nil, nil])
        for stranger in strangers {
            await #expect { try await registered(stranger, scope, fixture, in: fixture.acme) } throws: { error in
                (error as? StoreError)?.code == .taken
            }
        }
        // Nor do the statements behind the registration of a stranger change anything.
        let at = try await fixture.now()
        let silence = strangers.map {
            SetPreferences(scope, DeviceCaller(key: VendorDeviceKey($0.key)), PreferenceChange(acceptsPush: false))
        }
        let calls = Transaction(
            tenant: fixture.acme.rawValue,
            [try fixture.joined(strangers.map { statement($0, scope, at: at) }), try fixture.joined(silence)]
        )
        let answers = try await fixture.call.run(calls).result(1)
        #expect(try answers.map { (row) throws(PostgresError) in try row.isNull("ordinal") } == [true, true])
        #expect(try await fixture.log().filter { $0.kind == "preference_changed" }.isEmpty)
        // Its token or its user, a dead token, a device without a user, and a new key.
        let owners = [
            owned("k1", "aa00", "x"), owned("k2", "bb03", "of k2"), owned("k4", "bb04", "x"), owned("k5", "bb05", "y"),
        ]
        #expect(try await together(owners, scope, fixture) == [true, true, true, false])
        #expect(try await registered(owned("k3", "bb06", "x"), scope, fixture, in: fixture.acme)?.wasActive == true)
    }

    @Test func anExpectedUserRunsAlone() async throws {
        let fixture = try await StoreFixture.make()
        let scope = AppScope(app: "shop", vendor: .upmc)
        let ends = Timestamp(milliseconds: try await fixture.now().milliseconds + 60_000)
        let expected = [ExpectedUser(user: "u1", endsAt: ends)]
        _ = try await fixture.ask(PutExpectedUsers("shop", expected, limit: 9, by: .provisioning), in: fixture.acme)
        let rows = [row("k1", "aa01", user: "u1"), row("k2", "aa02", user: "u2"), row("k3", "aa03")]
        #expect(try await together(rows, scope, fixture) == [nil, false, false])
        let changes: [(String, UserID)] = [("k2", "u3"), ("k3", "u1")]
        let statement = try fixture.joined(
            changes.map { AssignUser(scope, key: VendorDeviceKey($0.0), .set($0.1, isExclusive: false)) }
        )
        let alone = try await fixture.call.run(statement, tenant: fixture.acme.rawValue).map {
            (row) throws(PostgresError) in try row.isNull("ordinal")
        }
        #expect(alone == [false, true])
        let users = try await lines(
            "SELECT concat_ws(' ', key, user_id) AS text FROM gateway.identity WHERE tenant_id = $1 ORDER BY key",
            fixture,
            fixture.acme
        )
        #expect(users == ["k2 u3", "k3"], "nothing changed for the rows that run alone")
    }

    @Test func pushPreferencesOfASetAreWrittenOnce() async throws {
        let fixture = try await StoreFixture.make()
        let scope = AppScope(app: "shop", vendor: .ipns)
        _ = try await together([row("k1", "aa01"), row("k2", "aa02"), row("k3", "aa03")], scope, fixture)
        func said(_ accepts: Bool, _ keys: [String]) async throws -> [Int?] {
            let statement = try fixture.joined(
                keys.map { key in
                    let caller = DeviceCaller(key: VendorDeviceKey(key))
                    return SetPreferences(scope, caller, PreferenceChange(acceptsPush: accepts))
                }
            )
            return try await fixture.call.run(statement, tenant: fixture.acme.rawValue).map {
                (row) throws(PostgresError) in
                try row.isNull("ordinal") ? nil : try row.int("count")
            }
        }
        #expect(try await said(false, ["k2", "nobody", "k1"]) == [1, nil, 1])
        #expect(try await said(false, ["k1", "k3"]) == [1, 1])
        #expect(try await said(true, ["k3"]) == [1])
        let read = try fixture.joined(
            ["k3", "nobody", "k1"].map { FindPreferences(scope, DeviceCaller(key: VendorDeviceKey($0))) }
        )
        let accepts = try await fixture.call.run(read, tenant: fixture.acme.rawValue).map {
            (row) throws(PostgresError) in
            try row.isNull("ordinal") ? nil : try row.bool("accepts_push")
        }
        #expect(accepts == [true, nil, false])
        #expect(try await fixture.log().filter { $0.kind == "preference_changed" }.count == 4)
    }

    @Test func standingsOfASetAreThoseOfSingleCalls() async throws {
        let fixture = try await StoreFixture.make()
        let scope = AppScope(app: "shop", vendor: .ipns)
        _ = try await together([row("k1", "aa01", user: "u1"), row("k2", "aa02")], scope, fixture)
        let replaced = Statement(
            "UPDATE gateway.identity SET state = 'replaced' WHERE tenant_id = $1 AND key = 'k2'",
            [.id(fixture.acme)]
        )
        _ = try await fixture.engine.run(replaced, tenant: nil)
        let keys = ["k2", "nobody", "k1", "k2"]
        let reads = keys.map { FindStanding(scope, key: VendorDeviceKey($0)) }
        let found = try await fixture.call.run(fixture.joined(reads), tenant: fixture.acme.rawValue)
        try #require(found.rowCount == keys.count)
        for (place, read) in reads.enumerated() {
            // A null here would make the call run alone.
            #expect(try !found[place].isNull(1))
            let own = try await fixture.ask(read, in: fixture.acme)
            let isKnown = try !found[place].isNull("state")
            #expect(isKnown == (own != nil))
            if isKnown { #expect(try FindStanding.standing(found[place]) == own) }
        }
    }

    /// One transaction per call, like the calls of a dialect's apps: register, set preferences, read.
    @Test func concurrentCallsAnswerLikeSingleCalls() async throws {
        let fixture = try await StoreFixture.make()
        let scope = AppScope(app: "shop", vendor: .ipns)
        let at = try await fixture.now()
        let taken = try await fixture.register("other", token: "aa01").identity
        let calls = (0..<60).map { number in
            // Two calls of every key, with different tokens.
            (
                row(number == 7 ? "refused" : "k\(number % 30)", String(format: "%064x", number), user: "u\(number)"),
                number % 2 == 0
            )
        }
        typealias Answer = (Registered, Int, DevicePreferences?)
        let answers = await withTaskGroup(of: (Int, Answer?).self) { group in
            for (number, call) in calls.enumerated() {
                group.addTask {
                    let caller = DeviceCaller(key: VendorDeviceKey(call.0.key), token: call.0.registration.token)
                    let answer = try? await fixture.commands.run(
                        // A call that the database refuses.
                        self.statement(call.0, scope, number == 7 ? taken : nil, at: at),
                        SetPreferences(scope, caller, PreferenceChange(acceptsPush: call.1)),
                        FindPreferences(scope, caller),
                        in: fixture.acme
                    )
                    return (number, answer)
                }
            }
            return await group.reduce(into: [Int: Answer]()) { $0[$1.0] = $1.1 }
        }
        for (number, call) in calls.enumerated() where number != 7 {
            let (registered, _, preferences) = try #require(answers[number], "\(number)")
            #expect(registered.key.rawValue == call.0.key)
            #expect(preferences?.acceptsPush == call.1 && preferences?.user?.rawValue == "u\(number)", "\(number)")
        }
        #expect(answers[7] == nil)
        let counted = try await counts(fixture, fixture.acme)
        #expect(counted == ["ipns 30", "rationalowl 1"])
        #expect(try await fixture.log().filter { $0.kind == "registered" }.count == 31)
    }
}
