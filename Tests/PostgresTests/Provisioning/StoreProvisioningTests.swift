import DatabaseSchema
import DatabaseSupport
import DeliveryEngine
import Foundation
import Model
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// Provisioning files, keys and bindings.
@Suite struct StoreProvisioningTests {
    /// The vendor key that leads to a tenant.
    private func key(_ tenant: TenantID) -> BindingKey {
        BindingKey(vendor: .rationalOwl, kind: "account", value: "account-of-\(tenant)")
    }

    private func credentials(_ fixture: StoreFixture) async throws -> [StoredCredential] {
        try await fixture.directory.credentials().filter { [fixture.acme, fixture.other].contains($0.key.tenant) }
    }

    @Test func theSameFileAgainChangesNothing() async throws {
        let fixture = try await StoreFixture.make()
        let before = try await credentials(fixture)
        let summary = try await fixture.provisioning.apply([fixture.tenant("acme"), fixture.tenant("other")])
        #expect(!summary.isChanged)
        #expect(try await credentials(fixture) == before)
    }

    @Test func anotherSecretIsAnotherVersionAndAnotherSealingIsNot() async throws {
        let fixture = try await StoreFixture.make()
        var tenant = fixture.tenant("acme")
        tenant.credentials = [fixture.credential("apple")]
        #expect(try await !fixture.provisioning.apply([tenant]).isChanged)
        let rejection = Rejection(scope: .credential, reason: "InvalidProviderToken", status: 403)
        let id = CredentialKey(tenant: fixture.acme, credential: "apple")
        try await fixture.delivery.noteCredential(id, refusal: rejection)
        tenant.credentials = [fixture.credential("apple", secret: 2)]
        #expect(try await fixture.provisioning.apply([tenant]).credentials == 1)
        let stored = try #require(try await fixture.directory.credentials().first { $0.key == id })
        #expect(stored.version == 2 && stored.refusal == nil && stored.sealed == tenant.credentials[0].sealed)
    }

    @Test func routesAreFoundForTheirOwnTenantOnly() async throws {
        let fixture = try await StoreFixture.make()
        let expected = fixture.tenant("acme").apps[0].platforms
        #expect(try await fixture.directory.routes(of: "shop", in: fixture.acme) == expected)
        #expect(try await fixture.directory.routes(of: "none", in: fixture.acme).isEmpty)
        #expect(try await fixture.directory.routes(of: "shop", in: "nobody").isEmpty)
    }

    @Test func removedEntriesAreDeletedAndHistoryStays() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01")
        let summary = try await fixture.provisioning.apply([ProvisionedTenant(id: fixture.acme)])
        #expect(summary.removed == 4 && summary.apps == 0)
        #expect(try await fixture.directory.binding(key(fixture.acme)) == nil)
        #expect(try await fixture.directory.apiKey(hash: Array("hash-\(fixture.acme)".utf8)) == nil)
        #expect(try await credentials(fixture).map(\.key.tenant) == [fixture.other])
        #expect(try await fixture.ask(FindApp(fixture.scope)) == nil)
        #expect(try await fixture.devices.device(device.device, in: fixture.acme) != nil)
        // When the app is listed again, its previous state returns.
        #expect(try await fixture.provisioning.apply([fixture.tenant("acme")]).apps == 1)
        let facts = AppFacts(hasCredential: true, identityCount: 1, dialects: [.rationalOwl])
        #expect(try await fixture.ask(FindApp(fixture.scope)) == facts)
    }

    @Test func aBindingOfAnotherTenantIsRefusedAndNothingIsChanged() async throws {
        let fixture = try await StoreFixture.make()
        let key = key(fixture.acme)
        var thief = fixture.tenant("thief")
        thief.apps[0].bindings = [ProvisionedBinding(key: key)]
        var acme = fixture.tenant("acme")
        acme.apiKeys = []
        acme.apps[0].bindings.append(
            ProvisionedBinding(key: self.key(fixture.other))
        )
        await #expect(throws: ProvisioningError.bindingTaken(key)) { try await fixture.provisioning.apply([thief]) }
        await #expect(throws: ProvisioningError.self) { try await fixture.provisioning.apply([acme]) }
        #expect(try await fixture.directory.binding(key)?.tenant == fixture.acme)
        #expect(try await fixture.directory.apiKey(hash: Array("hash-\(fixture.acme)".utf8)) != nil)
        let admin = try await fixture.database.admin()
        let made = try await admin.query("SELECT 1 FROM gateway.tenant WHERE tenant_id = $1", [.id(thief.id)])
        #expect(made.isEmpty)
    }

    @Test func aBindingMovesWhenItsOwnerGivesItUpInTheSameFile() async throws {
        let fixture = try await StoreFixture.make()
        let key = key(fixture.acme)
        var acme = fixture.tenant("acme")
        var other = fixture.tenant("other")
        other.apps[0].bindings.append(ProvisionedBinding(key: key))
        acme.apps[0].bindings = []
        _ = try await fixture.provisioning.apply([other, acme])
        #expect(try await fixture.directory.binding(key)?.tenant == fixture.other)
    }

    @Test func aSecretOfAnotherKeyAndADoubleEntryAreRefused() async throws {
        let fixture = try await StoreFixture.make()
        var other = fixture.tenant("other")
        other.apiKeys[0].hash = Array("hash-\(fixture.acme)".utf8)
        await #expect(throws: ProvisioningError.keyTaken("backend")) { try await fixture.provisioning.apply([other]) }
        var double = fixture.tenant("acme")
        double.apps[0].bindings += double.apps[0].bindings
        await #expect(throws: ProvisioningError.self) { try await fixture.provisioning.apply([double]) }
    }

    /// Objects of the tenant as the API creates them: the app `web` with a binding and a credential of the file, the credential `own`, the key `cli`.
    private func createOtherwise(_ fixture: StoreFixture) async throws {
        let tenant = fixture.acme
        let admin = try await fixture.database.admin()
        try await admin.script(
            """
            INSERT INTO gateway.app (tenant_id, app_id, platforms, origin) VALUES
                ('\(tenant)', 'web', '{"ios": {"topic": "a.b", "credentials": {"production": "apple"}}}', 'api');
            INSERT INTO gateway.credential (tenant_id, credential_id, kind, sealed, fingerprint, origin) VALUES
                ('\(tenant)', 'own', 'apns-token', '\\x01', '\\x01', 'api');
            INSERT INTO gateway.binding (tenant_id, app_id, vendor, kind, value, origin) VALUES
                ('\(tenant)', 'web', 'rationalowl', 'account', 'web-of-\(tenant)', 'api');
            """
        )
        let key = ProvisionedKey(name: "cli", hash: Array("cli \(tenant)".utf8), scopes: ["read"])
        let keys = PostgresKeyStore(engine: fixture.engine)
        _ = try #require(try await keys.create(key, in: tenant, by: .command(user: 0)))
    }

    @Test func aFileLeavesWhatItDidNotCreate() async throws {
        let fixture = try await StoreFixture.make()
        try await createOtherwise(fixture)
        let file = fixture.tenant("acme")
        #expect(try await !fixture.provisioning.apply([file]).isChanged)
        var other = file
        other.apiKeys = []
        other.apps = []
        let summary = try await fixture.provisioning.apply([other])
        #expect(summary.removed == 3)
        let web = BindingKey(vendor: .rationalOwl, kind: "account", value: "web-of-\(fixture.acme)")
        #expect(try await fixture.directory.binding(web)?.app == "web")
        #expect(try await fixture.directory.routes(of: "web", in: fixture.acme)[.ios]?.topic == "a.b")
        #expect(try await credentials(fixture).contains { $0.key.credential == "own" && $0.origin == .api })
        #expect(try await fixture.directory.apiKey(hash: Array("cli \(fixture.acme)".utf8)) != nil)
        // The app of the API uses the file's credential, which is neither removed nor made an upstream.
        var upstream = fixture.credential("apple")
        upstream.kind = "upstream-braze"
        for credentials in [[], [upstream]] {
            other.credentials = credentials
            await #expect(throws: ProvisioningError.usedOtherwise("apple", by: "web")) {
                try await fixture.provisioning.apply([other])
            }
        }
    }

    @Test func aFileThatNamesAnObjectOfTheAPIIsRefused() async throws {
        let fixture = try await StoreFixture.make()
        try await createOtherwise(fixture)
        let file = fixture.tenant("acme")
        let before = try await fixture.audit.newest(1, in: fixture.acme)
        var key = file
        key.apiKeys.append(ProvisionedKey(name: "cli", hash: Array("x \(fixture.acme)".utf8), scopes: []))
        var credential = file
        credential.credentials.append(fixture.credential("own"))
        var app = file
        app.apps.append(ProvisionedApp(id: "web"))
        var binding = file
        let web = BindingKey(vendor: .rationalOwl, kind: "account", value: "web-of-\(fixture.acme)")
        binding.apps[0].bindings.append(ProvisionedBinding(key: web))
        let refused = [
            (key, "key", "cli"), (credential, "credential", "own"), (app, "app", "web"),
            (binding, "binding", "rationalowl account web-of-\(fixture.acme)"),
        ]
        for (tenant, kind, name) in refused {
            let expected = ProvisioningError.createdOtherwise(kind: kind, name: name)
            await #expect(throws: expected) { try await fixture.provisioning.apply([tenant]) }
            #expect(expected.description.contains("a file does not change it"))
        }
        #expect(try await fixture.audit.newest(1, in: fixture.acme) == before)
        // The name of a deleted app is free.
        let admin = try await fixture.database.admin()
        try await admin.script(
            "UPDATE gateway.app SET retired_at = now() WHERE tenant_id = '\(fixture.acme)' AND app_id = 'web'"
        )
        #expect(try await fixture.provisioning.apply([app]).apps == 1)
        app.apps.removeLast()
        #expect(try await fixture.provisioning.apply([app]).removed == 1)
    }

    @Test func aListedSenderKeepsItsIdAndCountsAsProven() async throws {
        let fixture = try await StoreFixture.make()
        let scope = fixture.scope
        func senders(_ senders: [ProvisionedSender]) async throws -> Int {
            var tenant = fixture.tenant("acme")
            tenant.apps[0].senders = senders
            return try await fixture.provisioning.apply([tenant]).senders
        }
        func register(_ name: String, _ id: SenderID, isProven: Bool) async throws -> SenderID? {
            try await fixture.ask(RegisterSender(scope, name: name, id: id, isProven: isProven))?.id
        }
        _ = try await register("old", "S0", isProven: false)
        let listed = [
            ProvisionedSender(vendor: .rationalOwl, name: "core", id: "S1"),
            ProvisionedSender(vendor: .rationalOwl, name: "new"), ProvisionedSender(vendor: .rationalOwl, name: "old"),
        ]
        #expect(try await senders(listed) == 3)
        #expect(try await senders(listed) == 0)
        #expect(try await register("core", "S2", isProven: true) == "S1")
        #expect(try await register("old", "S2", isProven: true) == "S0")
        #expect(try await register("new", "S2", isProven: true)?.rawValue.hasPrefix("SVR") == true)
        for name in ["core", "new", "old"] {
            #expect(try await register(name, "S2", isProven: false) == nil, "\(name)")
        }
        // A sender that the file no longer lists stays, because messages name it.
        #expect(try await senders([]) == 0)
        #expect(try await register("core", "S2", isProven: true) == "S1")
        for wrong in [("core", "S9"), ("other", "S1")] as [(String, SenderID)] {
            let taken = [ProvisionedSender(vendor: .rationalOwl, name: wrong.0, id: wrong.1)]
            await #expect(throws: ProvisioningError.senderTaken(wrong.0)) { try await senders(taken) }
        }
    }

    @Test func aBindingOfTheHostWinsOverOneOfAnyHost() async throws {
        let fixture = try await StoreFixture.make()
        var other = fixture.tenant("other")
        var hosted = key(fixture.acme)
        hosted.host = "push.example.com"
        other.apps[0].bindings = [ProvisionedBinding(key: hosted)]
        _ = try await fixture.provisioning.apply([other])
        #expect(try await fixture.directory.binding(hosted)?.tenant == fixture.other)
        hosted.host = "elsewhere.example.com"
        let found = try #require(try await fixture.directory.binding(hosted))
        #expect(found.tenant == fixture.acme && found.settings["compat"]?.string == "legacy")
        #expect(try await fixture.directory.binding(BindingKey(vendor: .ipns, kind: "account", value: "x")) == nil)
    }

    @Test func keysAreFoundUntilTheyExpireOrAreRevoked() async throws {
        let fixture = try await StoreFixture.make()
        let store = PostgresKeyStore(engine: fixture.engine)
        let now = try await fixture.now()
        let made = ProvisionedKey(name: "cli", hash: [1, 2], scopes: ["read"], expiresAt: now + .seconds(60))
        let root = AuditActor.command(user: 0)
        let id = try #require(try await store.create(made, in: fixture.acme, by: root))
        #expect(try await store.create(made, in: fixture.acme, by: root) == nil)
        #expect(try await store.create(made, in: "nobody", by: root) == nil)
        let found = try #require(try await fixture.directory.apiKey(hash: [1, 2]))
        #expect(found.id == id && found.tenant == fixture.acme && found.scopes == ["read"])
        let old = ProvisionedKey(name: "old", hash: [3], scopes: [], expiresAt: now + .seconds(-60))
        #expect(try await store.create(old, in: fixture.acme, by: root) != nil)
        #expect(try await fixture.directory.apiKey(hash: [3]) == nil)

        try await fixture.directory.touch([
            KeyUse(tenant: fixture.acme, key: id, at: now),
            KeyUse(tenant: fixture.acme, key: id, at: now + .seconds(5)),
        ])
        let listed = try await store.list(fixture.acme)
        #expect(listed.map(\.name) == ["backend", "cli", "old"])
        #expect(listed.first { $0.id == id }?.lastUsedAt == now + .seconds(5))
        // A file that does not list the key leaves it unchanged.
        _ = try await fixture.provisioning.apply([fixture.tenant("acme")])
        let ours = try await store.list(nil).filter { [fixture.acme, fixture.other].contains($0.tenant) }
        #expect(ours.count == 4)
        #expect(try await store.revoke("cli", in: fixture.acme, by: root))
        #expect(try await !store.revoke("cli", in: fixture.acme, by: root))
        #expect(try await fixture.directory.apiKey(hash: [1, 2]) == nil)
    }

    // Whoever made a secret of a key can act as the key, so that its approval is not a second one.
    @Test func aKeyIsFollowedToWhoeverHadItsSecret() async throws {
        let fixture = try await StoreFixture.make()
        let store = PostgresKeyStore(engine: fixture.engine)
        let root = AuditActor.command(user: 0)
        func secret(_ name: String) -> [UInt8] { Array("\(fixture.acme) \(name)".utf8) }
        func make(_ name: String, _ actor: AuditActor) async throws {
            let key = ProvisionedKey(name: name, hash: secret(name), scopes: ["send"])
            _ = try #require(try await store.create(key, in: fixture.acme, by: actor))
        }
        func mayBeOne(_ first: String, _ second: String) async throws -> Bool {
            try await store.mayBeOne(first, second, in: fixture.acme)
        }
        for (name, actor) in [
            ("a", root), ("b", .key("a")), ("c", .key("b")), ("d", .key("a")), ("e", root), ("f", .account("mina")),
            ("g", .account("mina")), ("h", .account("hong")),
        ] as [(String, AuditActor)] {
            try await make(name, actor)
        }
        for (first, second) in [
            ("key:a", "key:a"), ("key:a", "key:b"), ("key:c", "key:a"), ("key:c", "key:d"), ("account:mina", "key:f"),
            ("key:f", "key:g"),
        ] {
            #expect(try await mayBeOne(first, second), "\(first) \(second)")
            #expect(try await mayBeOne(second, first), "\(second) \(first)")
        }
        for (first, second) in [
            ("key:a", "key:e"), ("key:f", "key:h"), ("account:mina", "key:h"), ("account:mina", "account:hong"),
            ("key:backend", "key:c"), ("cli:0", "key:a"),
        ] {
            #expect(try await !mayBeOne(first, second), "\(first) \(second)")
        }
        // A rotation shows the new secret to whoever asked for it.
        #expect(try await store.rotate("e", to: secret("e2"), overlap: .zero, in: fixture.acme, by: .key("c")))
        #expect(try await mayBeOne("key:a", "key:e"))
        // The key of another tenant with the same name is another one.
        #expect(try await !store.mayBeOne("key:a", "key:b", in: fixture.other))
    }

    @Test func aLongChainOfKeysIsNotFollowedAndNotTrusted() async throws {
        let fixture = try await StoreFixture.make()
        let store = PostgresKeyStore(engine: fixture.engine)
        var actor = AuditActor.command(user: 0)
        for number in 0...65 {
            let name = "k\(number)"
            let key = ProvisionedKey(name: name, hash: Array("\(fixture.acme) \(name)".utf8), scopes: ["send"])
            _ = try #require(try await store.create(key, in: fixture.acme, by: actor))
            actor = .key(name)
        }
        #expect(try await store.mayBeOne("key:k65", "key:backend", in: fixture.acme))
        #expect(try await !store.mayBeOne("key:k60", "key:backend", in: fixture.acme))
    }

    @Test func aRotatedKeyHasTwoSecretsUntilTheOldOneEnds() async throws {
        let fixture = try await StoreFixture.make()
        let store = PostgresKeyStore(engine: fixture.engine)
        let root = AuditActor.command(user: 0)
        func secret(_ name: String) -> [UInt8] { Array("\(fixture.acme) \(name)".utf8) }
        func isValid(_ name: String) async throws -> Bool {
            try await fixture.directory.apiKey(hash: secret(name)) != nil
        }
        func rotate(_ key: String, to name: String, _ overlap: Duration) async throws -> Bool {
            try await store.rotate(key, to: secret(name), overlap: overlap, in: fixture.acme, by: root)
        }
        let made = ProvisionedKey(name: "cli", hash: secret("first"), scopes: ["read"], networks: ["10.0.0.0/8"])
        _ = try #require(try await store.create(made, in: fixture.acme, by: root))
        #expect(try await fixture.directory.apiKey(hash: secret("first"))?.networks == ["10.0.0.0/8"])

        #expect(try await rotate("cli", to: "second", .seconds(3600)))
        #expect(try await isValid("first"))
        #expect(try await isValid("second"))
        #expect(try await fixture.directory.apiKey(hash: secret("first"))?.networks == ["10.0.0.0/8"])
        let listed = try #require(try await store.list(fixture.acme).first { $0.name == "cli" })
        #expect(listed.hasPrevious && listed.previousUntil != nil && listed.networks == ["10.0.0.0/8"])

        #expect(try await rotate("cli", to: "third", .seconds(3600)))
        #expect(try await !isValid("first"), "never three secrets")
        #expect(try await isValid("second"))
        #expect(try await isValid("third"))
        #expect(try await rotate("cli", to: "fourth", .zero))
        #expect(try await !isValid("third"))
        #expect(try await isValid("fourth"))
        #expect(try await store.list(fixture.acme).first { $0.name == "cli" }?.hasPrevious == false)

        #expect(try await !rotate("none", to: "fifth", .zero))
        #expect(try await !rotate("backend", to: "fifth", .zero), "the key of a file is rotated in the file")
        #expect(try await store.revoke("cli", in: fixture.acme, by: root))
        #expect(try await !isValid("fourth"))
    }

    @Test func aFilesKeyHasTheSecretsNetworksAndScopesOfTheFile() async throws {
        let fixture = try await StoreFixture.make()
        func secret(_ name: String) -> [UInt8] { Array("\(fixture.acme) \(name)".utf8) }
        func apply(_ key: ProvisionedKey) async throws {
            var tenant = fixture.tenant("acme")
            tenant.apiKeys = [key]
            _ = try await fixture.provisioning.apply([tenant])
        }
        try await apply(ProvisionedKey(name: "file", hash: secret("1"), scopes: ["send:app/shop", "read"]))
        let plain = try #require(try await fixture.directory.apiKey(hash: secret("1")))
        #expect(plain.scopes == ["send:app/shop", "read"] && plain.networks == [])

        let networks = ["10.0.0.0/8", "2001:db8::/32"]
        try await apply(
            ProvisionedKey(
                name: "file",
                hash: secret("2"),
                scopes: ["read"],
                networks: networks,
                previousHash: secret("1")
            )
        )
        for name in ["1", "2"] {
            let key = try #require(try await fixture.directory.apiKey(hash: secret(name)))
            #expect(key.scopes == ["read"] && key.networks == networks)
        }
        try await apply(ProvisionedKey(name: "file", hash: secret("2"), scopes: ["read"]))
        #expect(try await fixture.directory.apiKey(hash: secret("1")) == nil)
        #expect(try await fixture.directory.apiKey(hash: secret("2"))?.networks == [])
    }

    // Otherwise `keys.age.days` would have no effect on two secrets that change places.
    @Test func aSecretKeepsItsAgeWhenTheFileSwapsItBack() async throws {
        let fixture = try await StoreFixture.make()
        func secret(_ name: String) -> [UInt8] { Array("\(fixture.acme) \(name)".utf8) }
        func apply(_ name: String, previous: String? = nil) async throws {
            var tenant = fixture.tenant("acme")
            let former = previous.map { secret($0) }
            tenant.apiKeys = [
                ProvisionedKey(name: "file", hash: secret(name), scopes: ["read"], previousHash: former)
            ]
            _ = try await fixture.provisioning.apply([tenant])
        }
        func since(_ name: String) async throws -> Timestamp {
            try #require(try await fixture.directory.apiKey(hash: secret(name))).secretAt
        }
        try await apply("1")
        let sql = """
            UPDATE gateway.api_key SET secret_at = secret_at - interval '50 days' WHERE tenant_id = $1 AND name = 'file'
            """
        _ = try await fixture.engine.run(Statement(sql, [.id(fixture.acme)]), tenant: nil)
        let old = try await since("1")
        try await apply("2", previous: "1")
        let young = try await since("2")
        #expect(young > old + .seconds(49 * 86_400))
        for (present, other) in [("2", "1"), ("1", "2"), ("2", "1"), ("1", nil)] as [(String, String?)] {
            try await apply(present, previous: other)
            #expect(try await since(present) == (present == "1" ? old : young), "\(present)")
            if let other { #expect(try await since(other) == (other == "1" ? old : young), "\(other)") }
        }
        // A secret that the key no longer had is a new one.
        try await apply("2", previous: "1")
        #expect(try await since("2") >= young)
        #expect(try await since("1") == old)
    }

    @Test func theListShowsTheAgeOfBothSecrets() async throws {
        let fixture = try await StoreFixture.make()
        let store = PostgresKeyStore(engine: fixture.engine)
        let root = AuditActor.command(user: 0)
        func secret(_ name: String) -> [UInt8] { Array("\(fixture.acme) \(name)".utf8) }
        let made = ProvisionedKey(name: "cli", hash: secret("first"), scopes: ["read"])
        _ = try #require(try await store.create(made, in: fixture.acme, by: root))
        let created = try #require(try await store.key("cli", of: fixture.acme))
        #expect(created.secretAt == created.createdAt && created.previousAt == nil)
        let overlap = Duration.seconds(3600)
        #expect(try await store.rotate("cli", to: secret("second"), overlap: overlap, in: fixture.acme, by: root))
        let rotated = try #require(try await store.key("cli", of: fixture.acme))
        #expect(rotated.previousAt == created.createdAt)
        #expect(try await store.rotate("cli", to: secret("third"), overlap: .zero, in: fixture.acme, by: root))
        #expect(try await store.key("cli", of: fixture.acme)?.previousAt == nil, "it has ended")
    }

    @Test func listenersAreNotifiedOnlyOfAChange() async throws {
        let fixture = try await StoreFixture.alone()
        let listener = PostgresListener(
            fixture.database.configuration(.engine),
            channels: [PostgresChannel.provisioning],
            logger: TestCluster.logger
        )
        var events = listener.events().makeAsyncIterator()
        #expect(await events.next() == .mayHaveMissed)
        _ = try await fixture.provisioning.apply([fixture.tenant("acme")])
        _ = try await fixture.provisioning.apply([fixture.tenant("third")])
        _ = try await fixture.engine.run(Statement("SELECT pg_notify('gateway_provisioning', 'end')"), tenant: nil)
        #expect(await events.next() == .notification(channel: PostgresChannel.provisioning, payload: ""))
        #expect(await events.next() == .notification(channel: PostgresChannel.provisioning, payload: "end"))
        listener.stop()
    }

    /// I8: a provider token is signed once per (team, key) over the whole cluster.
    @Test func ofTwoNodesThatRenewAProviderTokenOneWins() async throws {
        let fixture = try await StoreFixture.make()
        let key = ProviderTokenKey(teamID: "T", keyID: "K", fingerprint: [1])
        #expect(try await fixture.directory.providerToken(key) == nil)
        let now = try await fixture.now()
        let tokens = try await withThrowingTaskGroup(of: StoredProviderToken.self) { group in
            for node in 0..<6 {
                group.addTask {
                    try await fixture.directory.offerProviderToken(
                        StoredProviderToken(sealed: [UInt8(node)], issuedAt: now),
                        for: key,
                        replacingOlderThan: now + .seconds(-1200)
                    )
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(tokens.count == 1)
        let renewed = StoredProviderToken(sealed: [9], issuedAt: now + .seconds(3000))
        let winner = try await fixture.directory.offerProviderToken(
            renewed,
            for: key,
            replacingOlderThan: now + .seconds(1800)
        )
        #expect(winner == renewed)
        let foreign = ProviderTokenKey(teamID: "T", keyID: "K", fingerprint: [2])
        #expect(try await fixture.directory.providerToken(foreign) == nil)
    }

    @Test func theFirstMasterKeyIsKept() async throws {
        let fixture = try await StoreFixture.alone()
        let first = MasterKeyCheck(keyID: "a", checkValue: [1])
        #expect(try await fixture.directory.adoptMasterKey(first) == first)
        #expect(try await fixture.directory.adoptMasterKey(MasterKeyCheck(keyID: "b", checkValue: [2])) == first)
    }
}
