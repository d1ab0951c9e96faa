import DatabaseSupport
import DeliveryEngine
import Foundation
import Model
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// The audit: written together with the action, read in order, and never changed by a login role.
@Suite struct StoreAuditTests {
    private func entries(_ fixture: StoreFixture, in tenant: TenantID? = nil) async throws -> [AuditEntry] {
        try await fixture.audit.entries(in: tenant ?? fixture.acme, after: 0, limit: 1000)
    }

    private func shape(_ entry: AuditEntry) -> String { "\(entry.actor) \(entry.action) \(entry.subject)" }

    @Test func provisioningAuditsEachChangeAndNoSecret() async throws {
        let fixture = try await StoreFixture.alone()
        let first = try await entries(fixture)
        #expect(
            Set(first.map(shape)) == [
                "provisioning create tenant acme", "provisioning write key backend", "provisioning write app shop",
                "provisioning write credential apple", "provisioning write binding rationalowl account acco…acme",
            ]
        )
        #expect(first.map(\.position) == Array(1...5))
        // The same file changes nothing, so nothing is audited.
        _ = try await fixture.provisioning.apply([fixture.tenant("acme"), fixture.tenant("other")])
        #expect(try await entries(fixture) == first)

        var tenant = fixture.tenant("acme")
        tenant.credentials = [fixture.credential("apple", secret: 9)]
        tenant.apps = []
        tenant.apiKeys = []
        tenant.retention = TenantRetention([.events: .seconds(2 * 86_400)])
        _ = try await fixture.provisioning.apply([tenant])
        let second = try await fixture.audit.entries(in: fixture.acme, after: 5, limit: 1000)
        #expect(
            second.map(shape) == [
                "provisioning remove binding rationalowl account acco…acme", "provisioning remove key backend",
                "provisioning write retention", "provisioning write credential apple", "provisioning retire app shop",
            ]
        )
        let retention = second.first { $0.subject == "retention" }?.data
        #expect(retention?["events"] == 172_800)
        #expect(retention?["changes"] == [["setting": "events", "before": .null, "after": 172_800]])
        // I7: neither the hash of the key, nor the sealed secret, nor the whole vendor key is in the audit.
        let all = (first + second).map { "\($0)" }.joined()
        for secret in ["hash-acme", "account-of-acme", "\(tenant.credentials[0].sealed)"] {
            #expect(!all.contains(secret), "\(secret)")
        }
    }

    /// `setting: before -> after`.
    private func changes(_ entry: AuditEntry?) -> [String] {
        (entry?.data?["changes"]?.array ?? []).map { change in
            func text(_ name: String) -> String { change[name].map(JSONWriter.text) ?? "" }
            return "\(change["setting"]?.string ?? ""): \(text("before")) -> \(text("after"))"
        }
    }

    @Test func anApplyRecordsTheSettingsBeforeAndAfterWithoutSecrets() async throws {
        let fixture = try await StoreFixture.alone()
        var tenant = fixture.tenant("acme")
        tenant.apps[0].bindings[0].settings["openSends"] = true
        tenant.apps[0].bindings[0].settings["sealed"] = ["sendKey": "Zmlyc3Q="]
        tenant.apps[0].approvalAbove = 1000
        tenant.apiKeys[0].scopes = ["read"]
        tenant.apiKeys[0].networks = ["10.0.0.0/8"]
        tenant.apiKeys[0].hash = [9, 9, 9]
        tenant.credentials = [fixture.credential("apple", secret: 9)]
        tenant.credentials[0].pushesPerSecond = 5
        tenant.pushesPerSecond = 7
        let before = fixture.tenant("acme")
        _ = try await fixture.provisioning.apply([tenant])
        let rows = try await fixture.audit.entries(in: fixture.acme, after: 5, limit: 100)
        func row(_ subject: String) -> AuditEntry? { rows.first { $0.subject.hasPrefix(subject) } }
        let binding = changes(row("binding"))
        #expect(binding.contains("openSends: null -> true") && binding.contains(#"sealed.sendKey: null -> "***""#))
        let scopes = JSONWriter.text(.array(before.apiKeys[0].scopes.map { .string($0) }))
        #expect(
            changes(row("key backend")) == [
                #"networks: [] -> ["10.0.0.0/8"]"#, "scopes: \(scopes) -> [\"read\"]", #"secret: "***" -> "***""#,
            ]
        )
        #expect(changes(row("app shop")) == ["defaults.approvalAbove: null -> 1000"])
        #expect(
            changes(row("credential apple")) == ["pushesPerSecond: null -> 5", #"secret: "***" -> "***""#]
        )
        #expect(changes(row("rate")) == ["pushesPerSecond: null -> 7"])
        // The next change of one setting shows only that one.
        tenant.apps[0].bindings[0].settings["sealed"] = ["sendKey": "c2Vjb25k"]
        _ = try await fixture.provisioning.apply([tenant])
        let last = try await fixture.audit.newest(1, in: fixture.acme)
        #expect(changes(last.first) == [#"sealed.sendKey: "***" -> "***""#])
        let all = (rows + last).map { "\($0)" }.joined()
        for secret in ["Zmlyc3Q", "c2Vjb25k", "090909"] { #expect(!all.contains(secret), "\(secret)") }
    }

    @Test func aRefusedApplyLeavesNoTrace() async throws {
        let fixture = try await StoreFixture.make()
        var thief = fixture.tenant("thief")
        thief.apps[0].bindings = fixture.tenant("acme").apps[0].bindings
        await #expect(throws: ProvisioningError.self) { try await fixture.provisioning.apply([thief]) }
        #expect(try await entries(fixture, in: thief.id).isEmpty)
    }

    @Test func changesOfWebhooksShowWhatWasBefore() async throws {
        let fixture = try await StoreFixture.alone()
        let webhook = NewWebhook(
            id: WebhookID(rawValue: UUID()),
            url: "https://a.example/hook?key=k1",
            filter: EventFilter(),
            secret: SealedSecret(keyID: "whk_1", bytes: [1]),
            isActive: true
        )
        let acts = fixture.subscriptions
        #expect(try await acts.create(webhook, in: fixture.acme, limit: 5))
        let change = WebhookChange(url: "https://a.example/hook?key=k2", kinds: ["sent"])
        #expect(try await acts.change(webhook.id, change, in: fixture.acme))
        #expect(try await acts.change(webhook.id, WebhookChange(isActive: false), in: fixture.acme))
        #expect(try await acts.replay(webhook.id, from: 0, in: fixture.acme) == .moved)
        #expect(try await acts.remove(webhook.id, in: fixture.acme))
        let rows = try await fixture.audit.newest(5, in: fixture.acme)
        #expect(rows.map(\.action) == ["create", "write", "write", "replay", "remove"])
        #expect(rows.allSatisfy { $0.subject == "webhook \(webhook.id)" })
        #expect(changes(rows[1]) == [#"kinds: [] -> ["sent"]"#, #"pathAndQuery: "***" -> "***""#])
        #expect(changes(rows[2]) == ["active: true -> false"])
        #expect(!rows.map { "\($0)" }.joined().contains("key="))
    }

    @Test func manualChangesOfKeysAreAudited() async throws {
        let fixture = try await StoreFixture.make()
        let keys = PostgresKeyStore(engine: fixture.engine)
        let made = ProvisionedKey(name: "cli", hash: [7, 7, 7], scopes: ["read"])
        let id = try #require(try await keys.create(made, in: fixture.acme, by: .command(user: 1000)))
        _ = try await keys.create(made, in: fixture.acme, by: .command(user: 1000))
        _ = try await keys.revoke(id.uuidString.lowercased(), in: fixture.acme, by: .command(user: 1001))
        _ = try await keys.revoke("cli", in: fixture.acme, by: .command(user: 1001))
        let audited = try await fixture.audit.newest(2, in: fixture.acme)
        #expect(audited.map(shape) == ["cli:1000 create key cli", "cli:1001 revoke key cli"])
        #expect(audited.first?.data?["scopes"] == ["read"])
    }

    // I6 and the audit's own rule: a running process can neither change nor delete an audit row.
    @Test func noLoginRoleChangesOrDeletesAnAuditRow() async throws {
        let fixture = try await StoreFixture.make()
        let before = try await entries(fixture)
        try #require(!before.isEmpty)
        for (pool, tenant) in [(fixture.call, Optional(fixture.acme.rawValue)), (fixture.engine, nil)] {
            for sql in [
                "UPDATE gateway.audit SET actor = 'nobody' WHERE tenant_id = '\(fixture.acme)'",
                "DELETE FROM gateway.audit WHERE tenant_id = '\(fixture.acme)'", "TRUNCATE gateway.audit",
            ] {
                let error = await #expect(throws: PostgresError.self, "\(sql)") {
                    try await pool.run(Statement(sql), tenant: tenant)
                }
                #expect(error?.code == .insufficientPrivilege, "\(sql)")
            }
        }
        let forged = [AuditRecord(.create, "tenant \(fixture.other)")].written(by: .provisioning, in: fixture.other)
        let error = await #expect(throws: PostgresError.self) {
            try await fixture.call.run(forged, tenant: fixture.acme.rawValue)
        }
        #expect(error?.code == .insufficientPrivilege)
        // Erasure replaces the subject of rows without a digest only.
        let renamed =
            "UPDATE gateway.audit SET subject = 'nobody' WHERE tenant_id = '\(fixture.acme)' RETURNING position"
        #expect(try await fixture.call.run(Statement(renamed), tenant: fixture.acme.rawValue).isEmpty)
        // The engine's retention keeps rows younger than 30 days, whatever interval it requests.
        let drop = MaintenanceSQL.dropAudit(.id(fixture.acme), .interval(.zero))
        #expect(try await fixture.engine.run(drop, tenant: nil).only().int("count") == 0)
        #expect(try await entries(fixture) == before)
        #expect(
            try await fixture.audit.entries(in: fixture.other, after: 0, limit: 10).map(\.subject).contains(
                "tenant \(fixture.acme)"
            ) == false
        )
    }

    @Test func readingFromAPositionMissesNothing() async throws {
        let fixture = try await StoreFixture.make()
        let start = try await entries(fixture).last?.position ?? 0
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<8 {
                group.addTask {
                    for number in 0..<10 {
                        let record = AuditRecord(.write, "test \(writer).\(number)")
                        try await fixture.ask(WriteAudit([record, record], by: .key("k\(writer)")))
                    }
                }
            }
            group.addTask {
                // Once a position is read, no lower position appears later. The time limit ends the test if a row is
                // lost.
                var last = start
                let end = ContinuousClock.now + .seconds(120)
                while last < start + 160, ContinuousClock.now < end {
                    let page = try await fixture.audit.entries(in: fixture.acme, after: last, limit: 7)
                    #expect(page.map(\.position) == page.indices.map { last + Int64($0) + 1 })
                    last = page.last?.position ?? last
                }
                #expect(last == start + 160)
            }
            try await group.waitForAll()
        }
    }

    /// Rows without a digest, as programs of version 49 and older wrote them.
    private func removeDigests(_ fixture: StoreFixture, _ change: String = "") async throws -> PostgresConnection {
        let admin = try await fixture.database.admin()
        try await admin.script("UPDATE gateway.audit SET hash = NULL\(change) WHERE tenant_id = 'acme'")
        return admin
    }

    @Test func retentionDeletesOldEntriesAndPositionsAreNotReused() async throws {
        let fixture = try await StoreFixture.alone()
        _ = try await removeDigests(fixture, ", at = at - interval '401 days'")
        let keeper = PostgresMaintenance(engine: fixture.engine, node: fixture.node)
        #expect(try await keeper.run().auditRemoved == 4)
        #expect(try await entries(fixture).map(\.position) == [5])
        #expect(try await entries(fixture, in: fixture.other).count == 5)
        try await fixture.ask(WriteAudit([AuditRecord(.write, "x")], by: .provisioning))
        #expect(try await entries(fixture).map(\.position) == [5, 6])
    }

    @Test func retentionStopsAtACheckpoint() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        try await admin.script("UPDATE gateway.audit SET at = at - interval '401 days' WHERE tenant_id = 'acme'")
        let keeper = PostgresMaintenance(engine: fixture.engine, node: fixture.node)
        #expect(try await keeper.run().auditRemoved == 0, "nothing is signed")
        let links = try await fixture.audit.links(in: fixture.acme, after: 0, limit: 100)
        let checkpoints = PostgresAuditKeeper(engine: fixture.engine, node: fixture.node)
        for position in [2, 3] {
            let hash = try #require(links[position - 1].hash)
            let checkpoint = AuditCheckpoint(
                position: Int64(position),
                hash: hash,
                micros: 0,
                signer: [1],
                signature: [2]
            )
            try await checkpoints.store(checkpoint, in: fixture.acme)
        }
        #expect(try await keeper.run().auditRemoved == 3)
        #expect(try await entries(fixture).map(\.position) == [4, 5])
        let left = try await fixture.audit.checkpoints(in: fixture.acme, after: 0, limit: 10)
        #expect(left.map(\.position) == [3])
    }

    // Before its erasure a person is shown by name; afterwards nothing leads back to it, also in rows without a digest.
    @Test func anErasedPersonIsNotNamedByTheAudit() async throws {
        let fixture = try await StoreFixture.alone()
        let device = try await fixture.register("k1", token: "aa01")
        _ = try await fixture.patch(device.device, DevicePatch(user: "kim"), in: fixture.acme)
        try await fixture.ask(WriteAudit([AuditRecord(.write, "user kim")], by: .key("old")))
        let admin = try await removeDigests(fixture)
        try await admin.script(
            "UPDATE gateway.audit SET subject = 'user kim' WHERE tenant_id = 'acme' AND actor = 'key:old'"
        )
        try await fixture.ask(WriteAudit([AuditRecord(.write, "user kim")], by: .key("new")))
        #expect(try await fixture.audit.newest(1, in: fixture.acme).map(\.subject) == ["user kim"])
        #expect(try await fixture.eraseUser("kim", in: fixture.acme, by: .key("dpo")) == .done(1))
        let last = try await fixture.audit.newest(3, in: fixture.acme)
        #expect(last.map(\.actor).sorted() == ["key:dpo", "key:new", "key:old"])
        #expect(Set(last.map(\.subject)).count == 1, "the same person has the same pseudonym")
        let named = try await admin.query(
            "SELECT (SELECT count(*) FROM gateway.audit a WHERE a::text ~ 'kim') + (SELECT count(*) FROM gateway.audit_subject) AS n"
        )
        #expect(try named.only().int("n") == 0)
    }

    // Only users have a stored name, from acts; who knows a phone number finds its rows all the same.
    @Test func rowsAreFoundByTheirSubject() async throws {
        let fixture = try await StoreFixture.alone()
        for subject in ["user kim", "phone 01012345678", "user lee", "app shop"] {
            try await fixture.ask(WriteAudit([AuditRecord(.read, subject)], by: .key("crm")))
        }
        func found(_ subject: String) async throws -> [String] {
            try await fixture.audit.newest(10, about: subject, in: fixture.acme).filter { $0.action == "read" }
                .map(\.subject)
        }
        // Whoever asks for an erased user must not bring the name back, so a read stores none.
        let user = try await found("user kim")
        #expect(user.count == 1 && user[0].wholeMatch(of: /user ~[0-9a-f]{32}/) != nil, "\(user)")
        try await fixture.ask(WriteAudit([AuditRecord(.export, "user kim")], by: .key("crm")))
        #expect(try await found("user kim") == ["user kim"], "the name is known from another act")
        #expect(try await found("app shop") == ["app shop"])
        let phone = try await found("phone 01012345678")
        #expect(phone.count == 1 && phone[0].wholeMatch(of: /phone ~[0-9a-f]{32}/) != nil, "\(phone)")
        #expect(try await found("phone 0101234567").isEmpty)
    }

    @Test func anotherTenantsNamesCannotBeRemoved() async throws {
        let fixture = try await StoreFixture.make()
        let error = await #expect(throws: PostgresError.self) {
            try await fixture.call.run(
                Statement("SELECT gateway.forget_subjects('\(fixture.other)', ARRAY['user kim'])"),
                tenant: fixture.acme.rawValue
            )
        }
        #expect(error?.code == .insufficientPrivilege)
    }

    // The erasure covers the history, the names that callers gave targets, and pending verification codes; for a user
    // also identities without a device.
    @Test func erasingAUserRemovesAllTracesAndIsAudited() async throws {
        let fixture = try await StoreFixture.alone()
        let kept = try await fixture.register("k0", token: "aa00", phone: "01033332222")
        let gone = try await fixture.register("k1", token: "feedfacefeedface", phone: "01044445555")
        _ = try await fixture.patch(gone.device, DevicePatch(user: "kim"), in: fixture.acme)
        let (sent, lease) = try await fixture.sending(
            to: [kept.identity, gone.identity],
            addresses: [.phone("01033332222"), .phone("01044445555")]
        )
        var progress = try await fixture.progress(lease, [0, 1])
        progress.results[1].device = gone.device
        _ = try await fixture.delivery.record(progress, by: fixture.node)
        let waiting = try await fixture.message(
            to: [(TargetID(gone.identity), .phone("01044445555"))],
            dueIn: .seconds(600),
            leased: false
        )
        try await fixture.accept(waiting)
        _ = try await fixture.ask(
            PutVerification(
                fixture.scope,
                phone: "01044445555",
                codeHash: "h",
                limits: VerificationLimits(),
                at: try await fixture.now()
            )
        )
        let admin = try await fixture.database.admin()
        try await admin.script(
            """
            INSERT INTO gateway.identity (tenant_id, identity_id, app_id, vendor, key, state, user_id, registered_at, created_at)
            VALUES ('acme', gen_random_uuid(), 'shop', 'upmc', 'lonely', 'removed', 'kim', now(), now())
            """
        )
        #expect(try await fixture.eraseUser("kim", in: fixture.acme, by: .key("dpo")) == .done(2))
        for table in ["identity", "device", "delivery", "slice", "verification"] {
            let rows = try await admin.query(
                "SELECT count(*) AS n FROM gateway.\(table) t WHERE t::text ~ '01044445555|kim|lonely|feedface'"
            )
            #expect(try rows.only().int("n") == 0, "\(table)")
        }
        let left = try await fixture.queries.deliveries(of: sent.id, in: fixture.acme, limit: 10)
        #expect(Set(left.map(\.snapshot.address)) == [nil, .phone("01033332222")])
        let audited = try #require(try await fixture.audit.newest(1, in: fixture.acme).first)
        #expect(audited.actor == "key:dpo" && audited.action == "erase")
        #expect(audited.data == ["devices": 1, "identities": 2, "groups": 0])
        #expect(
            audited.subject.wholeMatch(of: /user ~[0-9a-f]{32}/) != nil,
            "the erased person is not named: \(audited.subject)"
        )
        #expect(try await fixture.devices.device(kept.device, in: fixture.acme) != nil)
    }

    // A message to several people keeps its content for the others; an answer keeps its key, so that a repeated call changes nothing.
    @Test func erasingAUserRemovesContentAndAnswersOfThatUserAlone() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        let kept = try await fixture.register("k0", token: "aa00", phone: "01033332222")
        let gone = try await fixture.register("k1", token: "feedfacefeedface", phone: "01044445555")
        _ = try await fixture.patch(gone.device, DevicePatch(user: "kim"), in: fixture.acme)
        func send(_ identities: [IdentityID]) async throws -> NewMessage {
            let (message, lease) = try await fixture.sending(to: identities)
            let progress = try await fixture.progress(lease, Array(identities.indices))
            _ = try await fixture.delivery.record(progress, by: fixture.node)
            return message
        }
        let alone = try await send([gone.identity])
        let shared = try await send([gone.identity, kept.identity])
        let others = try await send([kept.identity])
        func waiting(_ identities: [IdentityID]) async throws -> NewMessage {
            let targets = identities.map { (TargetID($0), Address?.none) }
            let message = try await fixture.message(to: targets, dueIn: .seconds(600), leased: false)
            try await fixture.accept(message)
            return message
        }
        let scheduled = try await waiting([gone.identity])
        let scheduledForTwo = try await waiting([gone.identity, kept.identity])
        let everyone = try await fixture.message(
            slices: [NewSlice(number: 0, work: .expand(after: nil))],
            dueIn: .seconds(600),
            leased: false
        )
        try await fixture.accept(everyone)
        try await admin.script(
            """
            INSERT INTO gateway.page (tenant_id, page_id, message_id, name, body, expires_at)
            SELECT 'acme', m::text, m::uuid, 'p', 'secret', now() + interval '1 day'
            FROM unnest(ARRAY['\(alone.id)', '\(shared.id)']) AS m;
            """
        )
        func answer(_ key: String, _ body: String) async throws {
            let keep = Keep<DeviceFacts?>(IdempotencyKey(key: key, bodyHash: "h")) { _ in
                KeptAnswer(status: 200, body: Array(body.utf8))
            }
            _ = try await fixture.patch(kept.device, DevicePatch(name: key), in: fixture.acme, keeping: keep)
        }
        let answers = [
            "key": #"{"key":"k1"}"#, "user": #"{"user":"kim"}"#, "device": #"{"device":"\#(gone.device)"}"#,
            "other": #"{"key":"k0","user":"kimberly","name":"k1 and kim"}"#,
        ]
        for (key, body) in answers { try await answer(key, body) }
        #expect(try await fixture.eraseUser("kim", in: fixture.acme, by: .key("dpo")) == .done(1))

        let rows = try await admin.query(
            "SELECT message_id::text AS id, content::text AS content FROM gateway.message WHERE tenant_id = 'acme'"
        )
        let empty = try rows.filter { try $0.text("content") == "{}" }.map { try $0.text("id") }
        #expect(Set(empty) == ["\(alone.id)", "\(scheduled.id)"])
        for message in [shared, others, scheduledForTwo, everyone] {
            #expect(try rows.contains { try $0.text("id") == "\(message.id)" && $0.text("content").contains("title") })
        }
        let pages = try await admin.query("SELECT message_id::text AS id FROM gateway.page WHERE tenant_id = 'acme'")
        #expect(try pages.map { try $0.text("id") } == ["\(shared.id)"])
        for key in answers.keys.sorted() {
            let keep = Keep<DeviceFacts?>(IdempotencyKey(key: key, bodyHash: "h")) { _ in nil }
            let again = try await fixture.patch(kept.device, DevicePatch(name: "x"), in: fixture.acme, keeping: keep)
            let body = key == "other" ? Array((answers[key] ?? "").utf8) : []
            #expect(again == .repeated(KeptAnswer(status: 200, body: body)), "\(key)")
        }
    }

    // Deliveries of a tenant with a shorter retention are deleted row by row; the week stays while another tenant
    // keeps it.
    @Test func aTenantsRetentionAffectsItsOwnRowsOnly() async throws {
        let fixture = try await StoreFixture.alone()
        var acme = fixture.tenant("acme")
        acme.retention = TenantRetention([
            .deliveries: .seconds(2 * 86_400), .events: .seconds(86_400), .idempotency: .seconds(86_400),
        ])
        _ = try await fixture.provisioning.apply([acme])
        let suppressed = SuppressedTarget(
            target: TargetID(rawValue: UUID()),
            identity: nil,
            device: nil,
            address: .phone("010"),
            reason: .noDevice
        )
        let key = IdempotencyKey(key: "once", bodyHash: "a")
        for tenant in [fixture.acme, fixture.other] {
            for _ in 0..<3 {
                try await fixture.accept(try await fixture.message(suppressed: [suppressed]), in: tenant)
            }
            try await fixture.accept(try await fixture.message(suppressed: [suppressed], idempotency: key), in: tenant)
        }
        let admin = try await fixture.database.admin()
        try await admin.script(
            """
            UPDATE gateway.delivery SET due_day = due_day - 5;
            \(EventAge.older(by: 3));
            UPDATE gateway.idempotency SET created_at = now() - interval '30 hours';
            """
        )
        let keeper = PostgresMaintenance(engine: fixture.engine, node: fixture.node)
        let report = try await keeper.run()
        #expect(report.deliveriesRemoved == 4 && report.eventsRemoved == 8 && report.keysExpired == 1)
        for (tenant, kept) in [("acme", 0), ("other", 1)] {
            // Each message was accepted, and its one delivery suppressed.
            for (table, count) in [("delivery", 4 * kept), ("event", 8 * kept)] {
                let rows = try await admin.query(
                    "SELECT count(*) AS n FROM gateway.\(table) WHERE tenant_id = '\(tenant)'"
                )
                #expect(try rows.only().int("n") == count, "\(tenant) \(table)")
            }
        }
        // A tenant with a longer retention keeps the weeks for itself alone.
        var other = fixture.tenant("other")
        other.retention = TenantRetention([.deliveries: .seconds(3650 * 86_400)])
        _ = try await fixture.provisioning.apply([other])
        let long = try await keeper.run(RetentionPolicy(deliveries: .seconds(86_400)))
        #expect(long.partitionsDropped == 0)
        let rows = try await admin.query("SELECT count(*) AS n FROM gateway.delivery WHERE tenant_id = 'other'")
        #expect(try rows.only().int("n") == 4)
    }

    @Test func retentionSettingsAreReadAsWritten() throws {
        let own = TenantRetention([.audit: .seconds(400 * 86_400), .deliveries: .seconds(86_400)])
        #expect(TenantRetention(json: own.json) == own)
        // Keys of a newer program and invalid values are ignored.
        #expect(TenantRetention(json: JSONObject([("inbox", 5), ("events", "x"), ("audit", -1)])) == TenantRetention())
        let policy = RetentionPolicy().overlaid(by: own)
        #expect(policy.audit == .seconds(400 * 86_400) && policy.deliveries == .seconds(86_400))
        #expect(policy.events == RetentionPolicy().events)
    }
}
