import DatabaseSupport
import DeliveryEngine
import Foundation
import Model
import ObservationStore
import Testing

@testable import PostgresClient
@testable import Store

/// The owners of tokens, phone numbers and names.
@Suite struct StoreRegistrationTests {
    private func state(_ fixture: StoreFixture, _ key: VendorDeviceKey) async throws -> IdentityState? {
        let facts = try await fixture.ask(FindIdentity(fixture.scope, key: key))
        return facts?.state
    }

    private func active(_ fixture: StoreFixture) async throws -> Int {
        let facts = try await fixture.ask(FindApp(fixture.scope))
        return facts?.identityCount ?? -1
    }

    @Test func aSecondRegistrationFindsTheFirst() async throws {
        let fixture = try await StoreFixture.make()
        let first = try await fixture.register("k1", token: "aa01", phone: "010")
        let again = try await fixture.register("k1", token: "aa01", phone: "010")
        #expect(!first.wasActive && again.wasActive)
        #expect(first.identity == again.identity && first.device == again.device)
        #expect(try await active(fixture) == 1)
    }

    @Test func fieldsThatAreNotGivenStay() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.register("k1", token: "aa01", phone: "010")
        try await fixture.register("k1")
        guard let facts = try await fixture.ask(FindIdentity(fixture.scope, key: "k1")) else {
            Issue.record("gone")
            return
        }
        #expect(facts.phone == "010")
        let id = try #require(facts.device)
        let device = try #require(try await fixture.devices.device(id, in: fixture.acme))
        #expect(device.token?.text == "aa01" && device.tokenState == .active)
    }

    @Test func theNewestRegistrationOwnsTheToken() async throws {
        let fixture = try await StoreFixture.make()
        let old = try await fixture.register("k1", token: "aa01")
        let new = try await fixture.register("k2", token: "aa01")
        #expect(new.replaced == [old.identity] && new.device == old.device)
        #expect(try await state(fixture, "k1") == .replaced)
        #expect(try await active(fixture) == 1)
    }

    @Test func anotherDialectsIdentitySharesTheDevice() async throws {
        let fixture = try await StoreFixture.make()
        let first = try await fixture.register("k1", token: "aa01")
        let second = try await fixture.register("b1", token: "aa01", vendor: .braze)
        #expect(second.replaced.isEmpty && second.device == first.device)
        #expect(try await state(fixture, "k1") == .active)
        // A new token from one SDK becomes the device's token.
        let now = try await fixture.now()
        let token = try #require(DeviceToken(apns: "aa02"))
        #expect(try await fixture.ask(UpdateToken(fixture.scope, key: "k1", token, nil, at: now)) == 1)
        let device = try #require(try await fixture.devices.device(first.device, in: fixture.acme))
        #expect(device.token?.text == "aa02" && device.identities.count == 2)
    }

    // Others may know the key of a device: who changes its token by the key has proven nothing about its users.
    @Test(arguments: [false, true]) func aNewTokenEndsTheLevelsOfTheDevice(isRegistration: Bool) async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.register("k1", token: "aa01")
        try await fixture.register("b1", token: "aa01", vendor: .braze)
        try await fixture.register("k2", token: "aa03")
        let tenant = fixture.acme
        let vouch = Statement("UPDATE gateway.identity SET assurance = 2 WHERE tenant_id = $1", [.id(tenant)])
        _ = try await fixture.engine.run(vouch, tenant: tenant.rawValue)
        func levels() async throws -> [String] {
            let sql = """
                SELECT key || ' ' || assurance || ' ' || state AS level FROM gateway.identity
                WHERE tenant_id = $1 ORDER BY key
                """
            let rows = try await fixture.engine.run(Statement(sql, [.id(tenant)]), tenant: tenant.rawValue)
            return try rows.map { (row) throws(PostgresError) in try row.text("level") }
        }
        func change(to text: String) async throws {
            if isRegistration {
                try await fixture.register("k1", token: text)
            } else {
                let token = try #require(DeviceToken(apns: text))
                let now = try await fixture.now()
                _ = try await fixture.ask(UpdateToken(fixture.scope, key: "k1", token, nil, at: now))
            }
        }
        try await change(to: "aa01")
        #expect(try await levels() == ["b1 2 active", "k1 2 active", "k2 2 active"])
        try await change(to: "aa02")
        #expect(try await levels() == ["b1 0 active", "k1 0 active", "k2 2 active"])
        _ = try await fixture.engine.run(vouch, tenant: tenant.rawValue)
        // The device of the token has another identity, which is replaced; whose messages it gets now is a claim.
        try await change(to: "aa03")
        #expect(try await levels() == ["b1 2 active", "k1 0 active", "k2 2 replaced"])
        let replaced = Statement(
            "SELECT count(*) AS n FROM gateway.event WHERE tenant_id = $1 AND kind = 'replaced'",
            [.id(tenant)]
        )
        #expect(try await fixture.engine.run(replaced, tenant: tenant.rawValue).only().int("n") == 1)
    }

    @Test func aReplacedIdentityThatComesBackDoesNotTakeItsSuccessorsDevice() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.register("k1", token: "aa01")
        let new = try await fixture.register("k2", token: "aa01")
        let back = try await fixture.register("k1")
        #expect(back.device != new.device && !back.wasActive)
        #expect(try await state(fixture, "k2") == .active)
    }

    @Test func theSamePhoneOnANewDeviceReplacesTheOldIdentity() async throws {
        let fixture = try await StoreFixture.make()
        let old = try await fixture.register("k1", token: "aa01", phone: "010")
        let new = try await fixture.register("k2", token: "aa02", phone: "010")
        #expect(new.replaced == [old.identity])
        let both = try await fixture.register("k3", token: "aa03", phone: "010", replaces: false)
        #expect(both.replaced.isEmpty)
        let found = try await fixture.ask(ResolveAddresses(fixture.scope, [.phone("010")]))
        #expect(found.first??.identity == both.identity)
    }

    @Test func oneTokenInTwoEnvironmentsIsTwoDevices() async throws {
        let fixture = try await StoreFixture.make()
        let sandbox = try await fixture.register("k1", token: "aa01", environment: .sandbox)
        let production = try await fixture.register("k2", token: "aa01", environment: .production)
        #expect(sandbox.device != production.device && production.replaced.isEmpty)
    }

    @Test func anUnregisteredIdentityGivesUpItsTokenUnlessAnotherUsesIt() async throws {
        let fixture = try await StoreFixture.make()
        let first = try await fixture.register("k1", token: "aa01", phone: "010")
        try await fixture.register("b1", token: "aa01", vendor: .braze)
        #expect(try await fixture.ask(UnregisterDevices(fixture.scope, .phone("010"))) == 1)
        #expect(try await fixture.devices.device(first.device, in: fixture.acme)?.token != nil)
        let braze = AppScope(app: "shop", vendor: .braze)
        #expect(try await fixture.ask(UnregisterDevices(braze, .key("b1"))) == 1)
        let device = try #require(try await fixture.devices.device(first.device, in: fixture.acme))
        #expect(device.token == nil && device.tokenState == TokenState.none)
        #expect(try await fixture.ask(UnregisterDevices(fixture.scope, .key("k1"))) == 0)
        #expect(try await active(fixture) == 0)
    }

    @Test func registrationsOfOneTokenAtOnceLeaveOneActive() async throws {
        let fixture = try await StoreFixture.make()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<12 {
                group.addTask { try await fixture.register(VendorDeviceKey("k\(index)"), token: "aa01", phone: "010") }
            }
            try await group.waitForAll()
        }
        #expect(try await active(fixture) == 1)
        let devices = try await fixture.devices.devices(in: fixture.acme, app: "shop", after: nil, limit: 50)
        #expect(devices.filter { $0.token != nil }.count == 1)
        #expect(devices.flatMap(\.identities).filter { $0.state == .active }.count == 1)
    }

    @Test func aNameReturnsTheSameSenderAndItsKeyOnce() async throws {
        let fixture = try await StoreFixture.make()
        let scope = fixture.scope
        let first = try await fixture.ask(RegisterSender(scope, name: "n", id: "S1"))
        let again = try await fixture.ask(RegisterSender(scope, name: "n", id: "S2"))
        let enrolled = try #require(
            try await fixture.ask(EnrolSender(scope, "S1", key: "K1", name: nil, address: "10.0.0.1"))
        )
        let known = try #require(
            try await fixture.ask(EnrolSender(scope, "S1", key: "K2", name: nil, address: nil))
        )
        #expect(first?.id == "S1" && again?.id == "S1")
        #expect(enrolled.isNew && enrolled.enrolmentKey == "K1")
        #expect(!known.isNew && known.enrolmentKey == "K1")
        #expect(try await fixture.ask(FindSender(scope, "S9")) == nil)
        #expect(try await fixture.ask(SetCallback(scope, "S1", url: "https://example.com")) == 1)
        #expect(try await fixture.ask(SetCallback(scope, "S9", url: nil)) == 0)
    }

    // A name that a proven caller registered, also later, is not given to others.
    @Test func aProvenNameIsForProvenCallersOnly() async throws {
        let fixture = try await StoreFixture.make()
        let scope = fixture.scope
        func register(_ name: String, _ id: SenderID, isProven: Bool) async throws -> SenderID? {
            try await fixture.ask(RegisterSender(scope, name: name, id: id, isProven: isProven))?.id
        }
        #expect(try await register("bank", "S1", isProven: true) == "S1")
        #expect(try await register("bank", "S2", isProven: false) == nil)
        #expect(try await register("bank", "S3", isProven: true) == "S1")
        #expect(try await register("shop", "S4", isProven: false) == "S4")
        #expect(try await register("shop", "S5", isProven: false) == "S4")
        #expect(try await register("shop", "S6", isProven: true) == "S4")
        #expect(try await register("shop", "S7", isProven: false) == nil)
    }

    @Test func aCodeIsValidOnceAndItsTriesAreCounted() async throws {
        let fixture = try await StoreFixture.make()
        let limits = VerificationLimits(maximumTries: 2)
        let now = try await fixture.now()
        func put(_ code: String, after delay: Int64 = 0) async throws -> Bool {
            let at = now + .seconds(delay)
            return try await fixture.ask(
                PutVerification(fixture.scope, phone: "010", codeHash: code, limits: limits, at: at)
            )
        }
        func check(_ code: String, after delay: Int64 = 0) async throws -> Bool {
            let at = now + .seconds(delay)
            return try await fixture.ask(
                CheckVerification(fixture.scope, phone: "010", codeHash: code, limits: limits, at: at)
            )
        }
        let (yes, no) = (true, false)
        #expect(try await put("a") == yes)
        #expect(try await put("b", after: 10) == no)
        #expect(try await check("x") == no)
        #expect(try await check("a") == yes)
        #expect(try await check("a") == no)
        #expect(try await put("c", after: 40) == yes)
        #expect(try await check("c", after: 400) == no)
        for delay in [80, 120, 160] { #expect(try await put("d", after: Int64(delay)) == yes) }
        #expect(try await put("e", after: 200) == no)
        #expect(try await put("e", after: 3700) == yes)
    }

    @Test func factsOfAClientStayUntilTheyAreReportedAgain() async throws {
        let fixture = try await StoreFixture.make()
        func register(_ client: ClientFacts, tags: [Model.Tag]? = nil, zone: String? = nil) async throws -> JSONObject?
        {
            var registration = DeviceRegistration(key: "k", platform: .ios, tags: tags)
            registration.clock = DeviceClock(timeZone: zone.flatMap { TimeZoneName($0) })
            registration.client = client
            let statement = RegisterDevice(
                fixture.scope,
                key: "k",
                registration,
                identity: IdentityID(UUID()),
                device: DeviceID(UUID()),
                at: try await fixture.now()
            )
            let device = try await fixture.ask(statement).device
            return try await fixture.devices.device(device, in: fixture.acme)?.identities.first?.client.report
        }
        #expect(try await register(ClientFacts()) == nil, "not reported")
        #expect(
            try await register(ClientFacts([.appVersion: "1.0", .model: "m"])) == ["appVersion": "1.0", "model": "m"]
        )
        #expect(try await register(ClientFacts()) == ["appVersion": "1.0", "model": "m"])
        // Each way to register, with tags and with a time zone.
        let update = ClientFacts([.appVersion: "1.1"])
        #expect(try await register(update, tags: []) == ["appVersion": "1.1", "model": "m"])
        #expect(try await register(ClientFacts([.os: "iOS"]), zone: "Asia/Seoul")?["os"] == "iOS")
        var removal = ClientFacts()
        for field in [ClientFacts.Field.appVersion, .os, .locale] { removal.remove(field) }
        #expect(try await register(removal) == ["model": "m"])
        removal.remove(.model)
        #expect(try await register(removal) == nil)
    }

    // MARK: Client versions

    private func register(_ version: String?, key: VendorDeviceKey = "k", _ fixture: StoreFixture) async throws {
        var registration = DeviceRegistration(key: key, platform: .ios)
        registration.client.set(.appVersion, version)
        let statement = RegisterDevice(
            fixture.scope,
            key: key,
            registration,
            identity: IdentityID(UUID()),
            device: DeviceID(UUID()),
            at: try await fixture.now()
        )
        _ = try await fixture.ask(statement)
    }

    /// The version to which the identity refers, `other` for 0, and the number of stored versions with the transactions that wrote them.
    private func version(of key: String, _ fixture: StoreFixture) async throws -> (version: String?, rows: [String]) {
        let admin = try await fixture.database.admin()
        let row = try await admin.query(
            """
            SELECT CASE i.client_number WHEN 0 THEN 'other' ELSE c.app_version END AS version,
                (SELECT coalesce(array_agg(v.app_version || ' ' || v.xmin ORDER BY 1), '{}') FROM gateway.client_version v
                    WHERE v.tenant_id = i.tenant_id) AS rows
            FROM gateway.identity i
            LEFT JOIN gateway.client_version c ON c.tenant_id = i.tenant_id AND c.app_id = i.app_id AND c.client = i.client_number
            WHERE i.tenant_id = $1 AND i.key = $2
            """,
            [.text(fixture.acme.rawValue), .text(key)]
        ).only()
        return (try row.optionalText("version"), try row.texts("rows"))
    }

    @Test func aVersionIsStoredOnceAndAnUnchangedRegistrationWritesNone() async throws {
        let fixture = try await StoreFixture.make()
        try await register(nil, fixture)
        #expect(try await version(of: "k", fixture) == (nil, []))
        try await register("1.0", fixture)
        let first = try await version(of: "k", fixture)
        #expect(first.version == "1.0" && first.rows.count == 1)
        for version in ["1.0", nil, "1.0"] as [String?] { try await register(version, fixture) }
        try await register("1.0", key: "l", fixture)
        #expect(try await version(of: "k", fixture) == first)
        #expect(try await version(of: "l", fixture) == first)
        try await register("1.1", fixture)
        #expect(try await version(of: "k", fixture).version == "1.1")
        #expect(try await version(of: "l", fixture).rows.count == 2)
    }

    @Test func anAppHasFiveHundredNewVersionsADay() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        try await register("1.0", fixture)
        try await admin.script(
            """
            INSERT INTO gateway.client_version (tenant_id, app_id, client, day, app_version)
            SELECT tenant_id, app_id, n, day, 'x' FROM gateway.client_version CROSS JOIN generate_series(1, 499) AS n
            """
        )
        try await register("2.0", fixture)
        #expect(try await version(of: "k", fixture).version == "other")
        // A version that is known still has its number.
        try await register("1.0", key: "l", fixture)
        #expect(try await version(of: "l", fixture).version == "1.0")
        // On another day the next registration finds room, although its facts are unchanged.
        try await admin.script("UPDATE gateway.client_version SET day = day - 1")
        try await register(nil, fixture)
        #expect(try await version(of: "k", fixture).version == "2.0")
        let facts = try await admin.query("SELECT client->>'appVersion' AS v FROM gateway.identity WHERE key = 'k'")
            .only()
        #expect(try facts.text("v") == "2.0")
    }

    // A new version never makes a registration wait for another one.
    @Test func aVersionThatAnotherTransactionInsertsIsNotWaitedFor() async throws {
        let fixture = try await StoreFixture.alone()
        let (one, two) = (try await fixture.database.admin(), try await fixture.database.admin())
        let call = "SELECT gateway.client_number('acme', 'shop', '{\"os\": \"iOS\"}'::jsonb) AS n"
        _ = try await one.query("BEGIN")
        let number = try await one.query(call).only().int64("n")
        try await two.script("SET statement_timeout = '2s'")
        #expect(try await two.query(call).only().int64("n") == number)
        _ = try await one.query("COMMIT")
        #expect(try await two.query(call).only().int64("n") == number)
        let rows = try await two.query("SELECT count(*) AS n FROM gateway.client_version").only()
        #expect(try rows.int("n") == 1)
    }

    /// I5: no text of a caller makes the statement fail.
    @Test func textThatPostgresCannotStoreIsAdapted() async throws {
        let fixture = try await StoreFixture.make()
        let key = VendorDeviceKey("k\u{0}y")
        let registration = DeviceRegistration(
            key: key,
            platform: .ios,
            environment: .production,
            token: DeviceToken(apns: String(repeating: "0a", count: 32)),
            name: "a\u{0}b",
            attributes: JSONObject([("n", .number("1e999999")), ("z", "\u{0}"), ("e\u{0}", "\\u0000\\\u{0}")])
        )
        let statement = RegisterDevice(
            fixture.scope,
            key: key,
            registration,
            identity: IdentityID(UUID()),
            device: DeviceID(UUID()),
            at: Timestamp(milliseconds: .max)
        )
        _ = try await fixture.ask(statement)
        guard let facts = try await fixture.ask(FindIdentity(fixture.scope, key: key)) else {
            Issue.record("not found")
            return
        }
        let id = try #require(facts.device)
        let device = try #require(try await fixture.devices.device(id, in: fixture.acme))
        let attributes = try #require(device.identities.first?.attributes)
        #expect(attributes["n"] == .number("1e999999"))
        #expect(attributes["z"] == "\u{FFFD}" && attributes["e\u{FFFD}"] == "\\u0000\\\u{FFFD}")
    }
}
