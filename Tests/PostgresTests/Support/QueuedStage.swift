import DatabaseSupport
import DeliveryEngine
import Foundation
import Model

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// Devices with several identities, and messages to lists and audiences in every state of the queue.
struct QueuedStage {
    private static let users = (0..<8).map { UserID("u\($0)") }
    private static let dialects: [Vendor] = [.rationalOwl, .ipns, .braze]

    let fixture: StoreFixture
    let native = AppScope(app: "shop", vendor: .native)
    /// The identities of the fixture's scope.
    private(set) var identities: [IdentityID] = []

    /// With `crosses`, a vendor's send reaches all dialects.
    static func make(crosses: Bool) async throws -> QueuedStage {
        var stage = QueuedStage(fixture: try await .make())
        let fixture = stage.fixture
        for number in 0..<8 {
            for (place, vendor) in dialects.enumerated() where (number + place) % 4 > 0 {
                let seat = try await stage.register(number, vendor)
                if vendor == fixture.scope.vendor { stage.identities.append(seat.identity) }
            }
        }
        for scope in [stage.native, fixture.scope] {
            _ = try await fixture.ask(PutGroup(scope, "g"))
            _ = try await fixture.ask(ChangeMembers(scope, "g", GroupChange(add: Array(users.prefix(5)))))
        }
        _ = try await fixture.ask(UnregisterDevices(AppScope(app: "shop", vendor: .ipns), .key("ipns-5")))
        let tenant = "tenant_id = '\(fixture.acme)'"
        try await stage.change(
            """
            UPDATE gateway.app SET defaults = defaults || '{"crossDialectSends": \(crosses)}' WHERE \(tenant);
            UPDATE gateway.identity SET accepts_push = false WHERE \(tenant) AND key = 'braze-1';
            UPDATE gateway.identity SET assurance = 2 WHERE \(tenant) AND key = 'ipns-2';
            UPDATE gateway.identity SET user_id = 'u0' WHERE \(tenant) AND key = 'braze-3';
            UPDATE gateway.identity SET seen_at = now() + interval '1 minute'
                WHERE \(tenant) AND key IN ('rationalowl-1', 'braze-3', 'rationalowl-5')
            """
        )
        return stage
    }

    private func change(_ sql: String) async throws {
        let admin = try await fixture.database.admin()
        try await admin.script(sql)
        await admin.close()
    }

    /// Registers a device in a dialect. Some of the fixture's scope have variants.
    private func register(_ number: Int, _ vendor: Vendor) async throws -> Registered {
        let key = VendorDeviceKey("\(vendor.rawValue)-\(number)")
        let hasVariants = vendor == fixture.scope.vendor && !number.isMultiple(of: 2)
        var tags: [Tag] = number == 6 ? [] : [Tag("a")].compactMap(\.self)
        if hasVariants { tags += [Tag.hasVariants] + tags.map(Tag.ofVariant) }
        let registration = DeviceRegistration(
            key: key,
            platform: .ios,
            token: DeviceToken(apns: String(format: "%064x", number + 1)),
            user: Self.users[number],
            attributes: hasVariants ? [Variants.attribute: ["one": ["a"], "two": ["a", "b"]]] : JSONObject(),
            tags: tags
        )
        return try await fixture.ask(
            RegisterDevice(
                AppScope(app: "shop", vendor: vendor),
                key: key,
                registration,
                identity: IdentityID(UUID()),
                device: DeviceID(UUID()),
                at: try await fixture.now()
            )
        )
    }

    // MARK: Messages

    /// Sends messages of every kind. Some are paused or canceled, some of their slices leased, given up or done.
    func send() async throws {
        var sent: [(AppScope, MessageID)] = []
        let users: Audience = .users(Array(Self.users.prefix(5)))
        let audiences: [Audience?] = [nil, .tags(try TagExpression("a")), .groups(["g"]), users]
        let depths: [(Int, Pace?)] = [(0, nil), (1, nil), (9, nil), (9, Pace(count: 2, delay: .seconds(600)))]
        for scope in [native, fixture.scope] {
            for audience in audiences {
                for (pages, pace) in depths {
                    sent.append((scope, try await send(audience, from: scope, pages: pages, pace: pace)))
                }
            }
        }
        var toAll = Content(title: "t", body: "b")
        toAll.consent = .all
        sent.append((native, try await send(users, from: native, pages: 9, content: toAll)))
        let variants = try TagExpression("a")
        var toVariants = Content(title: "t", body: "b")
        toVariants.variants = TagTerms(variants)
        for pages in [0, 1, 9] {
            let audience: Audience = .tags(variants.overVariants)
            let message = try await send(audience, from: fixture.scope, pages: pages, content: toVariants)
            sent.append((fixture.scope, message))
        }
        for leased in [false, true] { sent.append((fixture.scope, try await list(leased: leased))) }
        for (place, (scope, message)) in sent.enumerated() where place % 5 == 1 || place % 5 == 3 {
            _ = try await fixture.ask(ControlMessage(scope, message, place % 5 == 1 ? .pause : .cancel, by: nil))
        }
        let slices = "WHERE tenant_id = '\(fixture.acme)' AND kind = 'deliver' AND state = 'ready'"
        try await change(
            """
            UPDATE gateway.slice SET state = 'leased', owner = 'n' \(slices) AND no % 4 = 1;
            UPDATE gateway.slice SET dead_reason = 'ServiceUnavailable' \(slices) AND no % 4 = 2;
            UPDATE gateway.slice SET state = 'done' \(slices) AND no % 4 = 3
            """
        )
    }

    /// A message to an audience, of which up to `pages` pages are expanded.
    private func send(
        _ audience: Audience?,
        from scope: AppScope,
        pages: Int,
        pace: Pace? = nil,
        content: Content = Content(title: "t", body: "b")
    ) async throws -> MessageID {
        let slice = NewSlice(number: 0, work: .expand(after: nil))
        var message = try await fixture.message(slices: [slice], content: content, scope: scope)
        message.targets.recipients = nil
        message.targets.audience = audience
        try await fixture.accept(message)
        if let pace { _ = try await fixture.ask(SetPace(message.id, pace)) }
        for _ in 0..<pages {
            let lease = fixture.lease(of: message)
            guard case .page = try await fixture.delivery.expand(lease, by: fixture.node, pageSize: 3) else { break }
        }
        return message.id
    }

    /// A message to identities and to phones that nobody has.
    private func list(leased: Bool) async throws -> MessageID {
        let listed = identities.map { TargetID($0) }
        let slices = [
            NewSlice(number: 0, work: .deliver, targets: listed, addresses: Array(repeating: nil, count: listed.count)),
            NewSlice(
                number: 1,
                work: .deliver,
                targets: [TargetID(UUID()), TargetID(UUID())],
                addresses: [.phone("0101"), .phone("0102")]
            ),
        ]
        let message = try await fixture.message(slices: slices, leased: leased, recipients: listed.count + 2)
        try await fixture.accept(message)
        return message.id
    }

    // MARK: Questions

    /// The queued targets of all messages, as "message target slice", by the way of asking.
    func found() async throws -> [String: [String]] {
        let admin = try await fixture.database.admin()
        try await admin.script(Self.definition)
        let rows = try await admin.query(Self.question, [.id(fixture.acme)])
        await admin.close()
        var found: [String: [String]] = [:]
        for row in rows {
            let way = try row.text("way")
            found[way, default: []].append(try row.text("line"))
        }
        return found
    }

    /// Whether one target is queued, from all rows of its message: without a limit, an index or other targets.
    private static let definition = """
        CREATE FUNCTION pg_temp.queued(p_tenant text, p_message uuid, p_target uuid) RETURNS TABLE (no integer) LANGUAGE sql AS $$
            WITH m AS (
                SELECT x.app_id, x.vendor, x.state, x.audience, x.content, x.recipients IS NOT NULL AND x.expanded = 0 AS is_listed,
                    x.content->'variants' IS NULL AND (x.audience IS NULL OR x.audience->'tags' IS NOT NULL) AS is_ordered,
                    x.vendor = 'native' OR x.content->'variants' IS NULL AND a.defaults->>'crossDialectSends' IS NOT DISTINCT FROM 'true' AS crosses,
                    coalesce(v.identity_id, p_target) AS identity_id
                FROM gateway.message x JOIN gateway.app a USING (tenant_id, app_id)
                LEFT JOIN gateway.variant v ON v.tenant_id = x.tenant_id AND v.target_id = p_target
                WHERE x.tenant_id = p_tenant AND x.message_id = p_message),
            s AS (
                SELECT s.no FROM gateway.slice s, m
                WHERE s.tenant_id = p_tenant AND s.message_id = p_message AND p_target = ANY (s.targets)
                    AND (s.state = 'leased' OR s.state = 'ready' AND (m.is_listed OR m.is_ordered))),
            i AS (
                SELECT o.identity_id FROM gateway.identity o WHERE o.tenant_id = p_tenant AND (o.identity_id = p_target OR o.device_id = (
                    SELECT t.device_id FROM gateway.identity t WHERE t.tenant_id = p_tenant AND t.identity_id = p_target)))
            SELECT s.no FROM s
            UNION ALL
            SELECT NULL FROM m JOIN gateway.identity x ON x.tenant_id = p_tenant AND x.app_id = m.app_id AND x.identity_id = m.identity_id
            WHERE NOT EXISTS (SELECT FROM s) AND NOT m.is_listed AND NOT m.is_ordered AND m.state NOT IN ('done', 'canceled', 'expired')
                AND x.state = 'active' AND (m.crosses OR x.vendor = m.vendor)
                AND (m.audience->'groups' IS NULL AND m.audience->'users' IS NULL
                    OR NOT m.crosses AND cardinality(gateway.meant(p_tenant, m.app_id, m.vendor, m.audience, ARRAY[m.identity_id], false)) = 1
                    OR m.crosses AND m.identity_id = ANY (gateway.receiving_identities(
                        p_tenant, m.app_id, gateway.meant(p_tenant, m.app_id, m.vendor, m.audience, ARRAY(SELECT identity_id FROM i), true),
                        NULL, true, m.content->>'consent' IS NOT DISTINCT FROM 'all')));
        $$
        """

    private static let question = """
        WITH t AS (
            SELECT u.id, row_number() OVER (ORDER BY u.id) % 4 AS part FROM (
                SELECT identity_id AS id FROM gateway.identity WHERE tenant_id = $1
                UNION SELECT target_id FROM gateway.variant WHERE tenant_id = $1
                UNION SELECT unnest(targets) FROM gateway.slice WHERE tenant_id = $1
                UNION SELECT gen_random_uuid()) u),
        m AS (SELECT message_id FROM gateway.message WHERE tenant_id = $1),
        f AS (
            SELECT 'together' AS way, m.message_id, q.target_id, q.no FROM m CROSS JOIN (SELECT array_agg(id) AS ids FROM t) a
            CROSS JOIN LATERAL gateway.find_queued_targets($1, m.message_id, a.ids) q
            UNION ALL
            SELECT 'in parts', m.message_id, q.target_id, q.no FROM m CROSS JOIN (SELECT array_agg(id) AS ids FROM t GROUP BY part) a
            CROSS JOIN LATERAL gateway.find_queued_targets($1, m.message_id, a.ids) q
            UNION ALL
            SELECT 'alone', m.message_id, t.id, q.no FROM m CROSS JOIN t CROSS JOIN LATERAL gateway.find_queued($1, m.message_id, t.id) q
            UNION ALL
            SELECT 'by definition', m.message_id, t.id, q.no FROM m CROSS JOIN t CROSS JOIN LATERAL pg_temp.queued($1, m.message_id, t.id) q)
        SELECT way, concat_ws(' ', message_id, target_id, coalesce(no::text, '-')) AS line FROM f ORDER BY 1, 2
        """
}
