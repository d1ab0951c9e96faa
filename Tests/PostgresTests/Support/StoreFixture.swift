import DatabaseSupport
import DeliveryEngine
import Foundation
import Model
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// Two tenants, `acme` and `other`, that both have an app `shop`, and every store on their database.
struct StoreFixture: Sendable {
    let stores: DatabaseStores
    let acme: TenantID
    let other: TenantID
    let scope = AppScope(app: "shop", vendor: .rationalOwl)

    var database: TestDatabase { stores.database }
    var call: PostgresPool { stores.call }
    var engine: PostgresPool { stores.engine }
    var node: NodeID { stores.node }
    var commands: OperationStore { stores.commands }
    var delivery: PostgresDeliveryStore { stores.delivery }
    var webhooks: PostgresWebhookStore { stores.webhooks }
    var subscriptions: SubscriptionActs { SubscriptionActs(commands: commands, queries: queries) }
    var provisioning: PostgresProvisioningStore { stores.provisioning }
    var directory: PostgresDirectory { stores.directory }
    var queries: PostgresQueryStore { stores.queries }
    var devices: PostgresDeviceStore { stores.devices }
    var status: PostgresStatusStore { stores.status }
    var audit: PostgresAuditStore { stores.audit }

    /// Two tenants for this test alone, in the database that all tests of this process share. Their ids are `acme`
    /// and `other` with a number.
    static func make() async throws -> StoreFixture { try await StoreFixture(.shared()) }

    /// A database for this test alone, for tests that change the time or the schema, or that read all tenants. The
    /// tenants' ids are `acme` and `other`.
    static func alone() async throws -> StoreFixture { try await StoreFixture(.copy()) }

    private init(_ stores: DatabaseStores) async throws {
        self.stores = stores
        acme = stores.tenantID("acme")
        other = stores.tenantID("other")
        try await stores.provision("acme", "other")
    }

    /// The provisioned tenant `name` with one app, one credential, one API key and one binding, all named after it.
    func tenant(_ name: String) -> ProvisionedTenant { .sample(stores.tenantID(name)) }

    func credential(_ id: CredentialID, secret: UInt8 = 1) -> ProvisionedCredential { .sample(id, secret: secret) }

    /// The database's clock.
    func now() async throws -> Timestamp { try await delivery.heartbeat(node) }

    // MARK: Commands

    /// Runs one operation and returns its answer.
    func ask<Operation: StoreOperation>(
        _ operation: Operation,
        in tenant: TenantID? = nil
    ) async throws -> Operation.Answer {
        try await commands.run(operation, in: tenant ?? acme)
    }

    /// The statement for several operations of `acme`, built directly, because no test knows which calls meet in a
    /// group.
    func joined(_ operations: [some StoreOperation]) throws -> Statement {
        let call = StoreCall(tenant: acme, node: node)
        let batches = operations.compactMap { $0.batch(call) }
        try #require(batches.count == operations.count)
        return try #require(StatementBatch.joined(batches))
    }

    @discardableResult
    func register(
        _ key: VendorDeviceKey,
        token: String? = nil,
        phone: String? = nil,
        replaces: Bool = true,
        vendor: Vendor = .rationalOwl,
        environment: PushEnvironment? = nil,
        endingAt end: JSON? = nil,
        in tenant: TenantID? = nil
    ) async throws -> Registered {
        var registration = DeviceRegistration(
            key: key,
            platform: .ios,
            environment: environment,
            token: token.flatMap { DeviceToken(apns: $0) },
            phone: phone,
            replacesSamePhone: replaces
        )
        registration.attributes[DeviceRegistration.endAttribute] = end
        let statement = RegisterDevice(
            AppScope(app: "shop", vendor: vendor),
            key: key,
            registration,
            identity: IdentityID(UUID()),
            device: DeviceID(UUID()),
            at: try await now()
        )
        return try await ask(statement, in: tenant)
    }

    /// A message to `targets`, leased by this node.
    func message(
        to targets: [(TargetID, Address?)] = [],
        slices: [NewSlice]? = nil,
        dueIn delay: Duration = .zero,
        leased: Bool = true,
        recipients: Int? = nil,
        suppressed: [SuppressedTarget] = [],
        idempotency: IdempotencyKey? = nil,
        sender: SenderID? = nil,
        content: Content = Content(title: "t", body: "b"),
        scope: AppScope? = nil
    ) async throws -> NewMessage {
        let now = try await now()
        var random = SystemRandomNumberGenerator()
        let whole = NewSlice(number: 0, work: .deliver, targets: targets.map(\.0), addresses: targets.map(\.1))
        let slices = slices ?? (targets.isEmpty ? [] : [whole])
        return NewMessage(
            id: MessageID(UUID.v7(at: now, using: &random)),
            scope: scope ?? self.scope,
            sender: sender,
            content: content,
            lane: .transactional,
            times: NewMessage.Times(acceptedAt: now, dueAt: now + delay, expiresAt: now + delay + .seconds(3600)),
            targets: NewMessage.Targets(
                recipients: recipients ?? targets.count + suppressed.count,
                slices: slices,
                suppressed: suppressed
            ),
            idempotency: idempotency,
            claim: leased ? NewMessage.Claim(node: node, lease: .seconds(600)) : nil
        )
    }

    @discardableResult
    func accept(_ message: NewMessage, in tenant: TenantID? = nil) async throws -> Acceptance {
        try await ask(AcceptMessage(message), in: tenant)
    }

    /// A message to registered identities, accepted and leased by this node, with its lease.
    func sending(
        to identities: [IdentityID],
        addresses: [Address?] = [],
        sender: SenderID? = nil
    ) async throws -> (NewMessage, SliceLease) {
        let targets = identities.enumerated().map { index, identity in
            (TargetID(identity), index < addresses.count ? addresses[index] : nil)
        }
        let message = try await message(to: targets, sender: sender)
        try await accept(message)
        return (message, lease(of: message))
    }

    /// The lease with which a message was inserted.
    func lease(of message: NewMessage, tenant: TenantID? = nil) -> SliceLease {
        let slice = message.targets.slices.first ?? NewSlice(number: 0, work: .deliver)
        return SliceLease(
            key: SliceKey(tenant: tenant ?? acme, message: message.id, number: slice.number),
            epoch: 1,
            lane: message.lane,
            dueDay: message.times.dueAt.day,
            work: slice.work,
            targets: slice.targets,
            addresses: slice.addresses
        )
    }

    // MARK: Outcomes

    /// Outcomes of the given targets of a lease, all of one state.
    func progress(
        _ lease: SliceLease,
        _ indexes: [Int],
        _ state: DeliveryState = .sent,
        disposition: SliceProgress.Disposition = .finished,
        transport: String? = "apns",
        at: Timestamp? = nil
    ) async throws -> SliceProgress {
        var lease = lease
        let time = if let at { at } else { try await now() }
        let results = indexes.map { index in
            DeliveryResult(
                index: index,
                target: lease.targets[index],
                identity: IdentityID(lease.targets[index].rawValue),
                address: index < lease.addresses.count ? lease.addresses[index] : nil,
                state: state,
                reason: state == .sent ? nil : "BadDeviceToken",
                attempt: DeliveryAttempt(count: 1, transport: transport, transportID: UUID(), payloadBytes: 100),
                at: time
            )
        }
        for index in indexes { lease.markDone(index) }
        return SliceProgress(
            lease: lease,
            app: "shop",
            vendor: .rationalOwl,
            results: results,
            disposition: disposition
        )
    }

    func receipt(
        _ message: MessageID,
        _ key: VendorDeviceKey,
        _ kind: ReceiptKind = .received,
        in tenant: TenantID? = nil
    ) async throws -> ReceiptReply {
        try await ask(RecordReceipt(scope, message, Reporter(key: key), kind, at: try await now()), in: tenant)
    }

    /// All events of the tenant's log.
    func log(in tenant: TenantID? = nil) async throws -> [EventRecord] {
        try await queries.events(in: tenant ?? acme, after: 0, limit: 1000).events
    }

    /// The kinds of the events of deliveries.
    func deliveryKinds() async throws -> [String] { try await log().filter { $0.subject.target != nil }.map(\.kind) }

    func facts(_ message: MessageID) async throws -> MessageFacts {
        try #require(try await queries.message(message.description, in: acme))
    }

    /// The counters of all hours and nodes.
    func counters() async throws -> Funnel {
        let now = try await now()
        let range = QuarterRange(now + .seconds(-86400)..<now + .seconds(86400 * 40))
        let rows = try await queries.funnel(
            of: [FunnelPart(range: range, day: "")],
            FunnelFilter(apps: ["shop"]),
            by: [],
            in: acme
        )
        var sum = Funnel(recipients: 0)
        for stages in (rows ?? []).map(\.counts) {
            sum.recipients = (sum.recipients ?? 0) + Int(stages[.targets])
            sum.sent += Int(stages.sum([.accepted, .uncertain]))
            sum.received += Int(stages[.received])
            sum.read += Int(stages[.read])
            sum.failed += Int(stages.sum([.rejected, .unsendable]))
            sum.suppressed += Int(stages[.suppressed])
            sum.expired += Int(stages[.expired])
            sum.canceled += Int(stages[.canceled])
        }
        return sum
    }
}
