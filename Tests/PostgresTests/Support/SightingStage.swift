import DatabaseSupport
import DeliveryEngine
import Foundation
import Model
import TestKit
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// Forty devices, each with two identities of one user, whose times change at random.
final class SightingStage {
    static func audiences() throws -> [Audience?] {
        [nil, .tags(try TagExpression("a")), .users((0..<40).map { UserID("u\($0)") }), .groups(["g"])]
    }

    let fixture: StoreFixture
    private(set) var devices: Set<DeviceID> = []
    private var random: SplitMix

    static func make(seed: UInt64) async throws -> SightingStage {
        let stage = SightingStage(try await .alone(), seed)
        let native = AppScope(app: "shop", vendor: .native)
        let now = try await stage.fixture.now()
        for number in 0..<40 {
            for vendor in [Vendor.rationalOwl, .braze] {
                let key = VendorDeviceKey("\(vendor)-\(number)")
                let registration = DeviceRegistration(
                    key: key,
                    platform: .ios,
                    token: DeviceToken(apns: String(format: "%064x", number + 1)),
                    user: UserID("u\(number)"),
                    tags: [Model.Tag("a")].compactMap(\.self)
                )
                let seat = try await stage.fixture.ask(
                    RegisterDevice(
                        AppScope(app: "shop", vendor: vendor),
                        key: key,
                        registration,
                        identity: IdentityID(UUID()),
                        device: DeviceID(UUID()),
                        at: now + .seconds(-3600)
                    )
                )
                stage.devices.insert(seat.device)
            }
        }
        _ = try await stage.fixture.ask(PutGroup(native, "g"))
        let users = (0..<40).map { UserID("u\($0)") }
        _ = try await stage.fixture.ask(ChangeMembers(native, "g", GroupChange(add: users)))
        #expect(stage.devices.count == 40)
        return stage
    }

    private init(_ fixture: StoreFixture, _ seed: UInt64) {
        self.fixture = fixture
        random = SplitMix(state: seed)
    }

    /// Half of the identities are seen now.
    private func see() async throws {
        let keys = (0..<40).flatMap { ["rationalowl-\($0)", "braze-\($0)"] }.filter { _ in Bool.random(using: &random) }
        let admin = try await fixture.database.admin()
        _ = try await admin.query(
            "UPDATE gateway.identity SET seen_at = clock_timestamp() WHERE tenant_id = $1 AND key = ANY ($2)",
            [.id(fixture.acme), .strings(keys)]
        )
        await admin.close()
    }

    /// Expands a message in pages of three, with sightings before each page. Returns its id.
    func queued(_ audience: Audience?) async throws -> MessageID {
        var message = try await fixture.message(
            slices: [NewSlice(number: 0, work: .expand(after: nil))],
            scope: AppScope(app: "shop", vendor: .native)
        )
        message.targets.recipients = nil
        message.targets.audience = audience
        try await fixture.accept(message)
        for _ in 0..<1000 {
            try await see()
            let lease = fixture.lease(of: message)
            guard case .page = try await fixture.delivery.expand(lease, by: fixture.node, pageSize: 3) else {
                return message.id
            }
        }
        Issue.record("no end")
        return message.id
    }

    /// Expands a message and returns the devices of its targets.
    func send(_ audience: Audience?) async throws -> [DeviceID] {
        try await targets(of: queued(audience)).map(\.0)
    }

    func targets(of message: MessageID) async throws -> [(DeviceID, TargetID)] {
        let statement = Statement(
            """
            SELECT i.device_id, t.id FROM gateway.slice s CROSS JOIN LATERAL unnest(s.targets) AS t(id)
            JOIN gateway.identity i ON i.tenant_id = s.tenant_id AND i.identity_id = t.id
            WHERE s.tenant_id = $1 AND s.message_id = $2
            """,
            [.id(fixture.acme), .id(message)]
        )
        return try await fixture.call.run(statement, tenant: fixture.acme.rawValue).rows {
            (row) throws(PostgresError) in (try row.id("device_id"), try row.id("id"))
        }
    }

    /// In place of the selection by ids and the substitution.
    static let skipping = """
        CREATE OR REPLACE FUNCTION gateway.first_of_devices(
            p_tenant text, p_app text, p_tags text[], p_cares bigint[], p_wants bigint[], p_ids uuid[],
            p_vendor text DEFAULT 'native')
        RETURNS uuid[] LANGUAGE plpgsql AS $$
        BEGIN
            RETURN ARRAY(
                SELECT i.identity_id FROM gateway.identity i
                WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (p_ids) AND NOT EXISTS (
                    SELECT FROM gateway.identity o
                    WHERE o.tenant_id = p_tenant AND o.device_id = i.device_id AND o.state = 'active'
                        AND (greatest(o.registered_at, o.seen_at), o.identity_id) > (greatest(i.registered_at, i.seen_at), i.identity_id))
                ORDER BY i.identity_id);
        END $$;
        CREATE OR REPLACE FUNCTION gateway.receiving_identities(
            p_tenant text, p_app text, p_ids uuid[], p_prefer text[], p_same_user boolean, p_all boolean)
        RETURNS uuid[] LANGUAGE plpgsql AS $$ BEGIN RETURN p_ids; END $$
        """
}
