import DatabaseSupport
import DeliveryEngine
import Foundation
import Model
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// The ways to address the device of `SharedPhone`.
enum Ways {
    static let expansions: Set = ["everyone", "tags", "users", "groups"]
    static let ofUser: Set = ["users", "groups", "list of users", "user", "phone"]
    static let all = expansions.union(ofUser).union(["key", "device"])
}

/// A device with one identity each of RationalOwl, iPNS and Braze, registered in this order. The dialect is the key of each.
struct SharedPhone {
    static let order: [Vendor] = [.rationalOwl, .ipns, .braze]

    let fixture: StoreFixture
    let native = AppScope(app: "shop", vendor: .native)
    private(set) var seats: [Vendor: Registered] = [:]

    var device: DeviceID? { seats.values.first?.device }

    static func make() async throws -> SharedPhone { try await alone(in: .make(), order) }

    static func alone(in fixture: StoreFixture, _ vendors: [Vendor]) async throws -> SharedPhone {
        var phone = SharedPhone(fixture: fixture)
        for (place, vendor) in vendors.enumerated() {
            phone.seats[vendor] = try await phone.register(vendor, ago: .seconds(7200 - 600 * place))
        }
        _ = try await fixture.ask(PutGroup(phone.native, "g"))
        _ = try await fixture.ask(ChangeMembers(phone.native, "g", GroupChange(add: ["u"])))
        return phone
    }

    private init(fixture: StoreFixture) { self.fixture = fixture }

    func scope(_ vendor: Vendor) -> AppScope { AppScope(app: "shop", vendor: vendor) }

    @discardableResult
    func register(_ vendor: Vendor, ago: Duration, tags: [String] = ["a"]) async throws -> Registered {
        let registration = DeviceRegistration(
            key: VendorDeviceKey(vendor.rawValue),
            platform: .ios,
            token: DeviceToken(apns: "aa01"),
            user: "u",
            phone: "0101",
            tags: tags.compactMap { Model.Tag($0) }
        )
        return try await fixture.ask(
            RegisterDevice(
                scope(vendor),
                key: VendorDeviceKey(vendor.rawValue),
                registration,
                identity: IdentityID(UUID()),
                device: DeviceID(UUID()),
                at: try await fixture.now() + .seconds(-ago.components.seconds)
            )
        )
    }

    /// Changes columns of the identity of a dialect.
    func change(_ vendor: Vendor, _ columns: String) async throws {
        let admin = try await fixture.database.admin()
        try await admin.script(
            "UPDATE gateway.identity SET \(columns) WHERE tenant_id = '\(fixture.acme)' AND vendor = '\(vendor.rawValue)'"
        )
        await admin.close()
    }

    /// `seen_at` of the identity of a dialect. Unit: microseconds since 1970.
    func sighting(_ vendor: Vendor) async throws -> Int64? {
        let statement = Statement(
            "SELECT (extract(epoch FROM seen_at) * 1000000)::bigint AS seen FROM gateway.identity WHERE vendor = $1",
            [.id(vendor)]
        )
        let row = try await fixture.call.run(statement, tenant: fixture.acme.rawValue).only()
        return try row.optionalInt("seen").map { Int64($0) }
    }

    /// The dialect of the identity with the smallest id.
    func firstDialect() async throws -> Vendor {
        try #require(seats.min { $0.value.identity < $1.value.identity }).key
    }

    func dialect(_ found: ResolvedTarget) -> String {
        seats.first { $0.value.identity == found.identity }?.key.rawValue ?? "another"
    }

    /// A message to the identity of a dialect whose push was sent.
    func sent(to vendor: Vendor) async throws -> MessageID {
        let seat = try #require(seats[vendor])
        let (message, lease) = try await fixture.sending(to: [seat.identity])
        _ = try await fixture.delivery.record(try await fixture.progress(lease, [0]), by: fixture.node)
        return message.id
    }

    // MARK: Sends

    /// The receiving identities by every way of addressing the device; one if all agree.
    func receivers(_ rule: ReceivingRule = ReceivingRule()) async throws -> Set<String> {
        let ways = try await ways(rule)
        #expect(Set(ways.keys) == Ways.all)
        return Set(ways.values)
    }

    /// The receiving identity by each way of addressing the device. Several are joined.
    func ways(_ rule: ReceivingRule = ReceivingRule()) async throws -> [String: String] {
        var found: [String: String] = [:]
        let audiences: [(String, Audience?)] = [
            ("everyone", nil), ("tags", .tags(try TagExpression("a"))), ("users", .users(["u"])),
            ("groups", .groups(["g"])),
        ]
        for (name, audience) in audiences {
            let (message, lease) = try await expanding(audience, rule)
            try await expand(lease, rule, pageSize: 1)
            found[name] = try await targets(of: message).joined(separator: "+")
        }
        let all = try await fixture.ask(ResolveUsers(native, ["u"], limit: 10)).map(\.found)
        let highest = all.map(\.assurance).max() ?? .claimed
        let reached = rule.receivers(among: all.filter { $0.assurance == highest })
        found["list of users"] = reached.map(dialect).joined(separator: "+")
        let addresses: [(String, Address)] = [
            ("user", .user("u")), ("phone", .phone("0101")), ("key", .deviceKey("rationalowl")),
            ("device", .device(try #require(device))),
        ]
        for (name, address) in addresses {
            let resolved = try await fixture.ask(ResolveAddresses(native, [address], by: rule))
            found[name] = resolved.compactMap { $0.map(dialect) }.joined(separator: "+")
        }
        return found
    }

    func expanding(
        _ audience: Audience?,
        _ rule: ReceivingRule,
        scope: AppScope? = nil
    ) async throws -> (MessageID, SliceLease) {
        var content = Content(title: "t", body: "b")
        content.consent = rule.includesWithdrawn ? .all : .subscribed
        var message = try await fixture.message(
            slices: [NewSlice(number: 0, work: .expand(after: nil))],
            content: content,
            scope: scope ?? native
        )
        message.targets.recipients = nil
        message.targets.audience = audience
        try await fixture.accept(message)
        return (message.id, fixture.lease(of: message))
    }

    func expand(_ lease: SliceLease, _ rule: ReceivingRule = ReceivingRule(), pageSize: Int) async throws {
        for _ in 0..<1000 {
            let page = try await fixture.delivery.expand(
                lease,
                by: fixture.node,
                pageSize: pageSize,
                // With a lane, those of the app's rules.
                preferring: rule.lane == nil ? rule.preferred : nil
            )
            guard case .page = page else { return }
        }
        Issue.record("no end")
    }

    /// Leases of the slices that are due.
    func claims() async throws -> [SliceLease] {
        try await fixture.delivery.claim(
            tenant: fixture.acme,
            lane: .transactional,
            limit: 100,
            by: fixture.node,
            lease: .seconds(600)
        )
    }

    /// The dialects of the targets of a message.
    func targets(of message: MessageID) async throws -> [String] {
        let statement = Statement(
            """
            SELECT i.key FROM gateway.slice s CROSS JOIN LATERAL unnest(s.targets) AS t(id)
            JOIN gateway.identity i ON i.tenant_id = s.tenant_id AND i.identity_id = t.id
            WHERE s.tenant_id = $1 AND s.message_id = $2 ORDER BY i.key
            """,
            [.id(fixture.acme), .id(message)]
        )
        return try await fixture.call.run(statement, tenant: fixture.acme.rawValue).rows {
            (row) throws(PostgresError) in try row.text("key")
        }
    }
}
