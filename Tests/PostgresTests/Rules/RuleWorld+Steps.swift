import DatabaseSupport
import DeliveryEngine
import Model

@testable import EngineStore
@testable import Store

// Preparations of the rules: shorthands for the command store.
extension RuleWorld {
    /// Sixty-four new hex digits.
    func newToken() -> DeviceToken { DeviceToken(stored: identifiers.randomHex(byteCount: 32)) }

    func newKey() -> VendorDeviceKey { VendorDeviceKey(identifiers.randomHex(byteCount: 16)) }

    /// One operation in `tenant` (by default the first).
    func run<Operation: StoreOperation>(
        _ operation: Operation,
        in tenant: TenantID? = nil
    ) async throws -> Operation.Answer {
        try await commands.run(operation, in: tenant ?? self.tenant)
    }

    /// Registers a device and returns the store's result.
    func register(
        _ key: VendorDeviceKey,
        token: DeviceToken? = nil,
        phone: String? = nil,
        replacesSamePhone: Bool = false,
        user: UserID? = nil,
        tags: [Tag]? = nil,
        vendor: Vendor = .rationalOwl,
        in tenant: TenantID? = nil
    ) async throws -> Registered? {
        let registration = DeviceRegistration(
            key: key,
            platform: .ios,
            environment: .production,
            token: token,
            user: user,
            phone: phone,
            rawPhone: phone,
            replacesSamePhone: replacesSamePhone,
            tags: tags
        )
        let statement = RegisterDevice(
            AppScope(app: app, vendor: vendor),
            key: key,
            registration,
            identity: IdentityID(rawValue: identifiers.uuid(at: now())),
            device: DeviceID(rawValue: identifiers.uuid(at: now())),
            at: now()
        )
        return try await run(statement, in: tenant)
    }

    func facts(_ key: VendorDeviceKey, in tenant: TenantID? = nil) async throws -> IdentityFacts? {
        try await run(FindIdentity(scope, key: key), in: tenant)
    }

    func resolve(_ address: Address, in tenant: TenantID? = nil) async throws -> ResolvedTarget? {
        try await run(ResolveAddresses(scope, [address]), in: tenant).first ?? nil
    }

    /// A message to `identities` in one slice, due now unless given otherwise.
    func message(
        to identities: [IdentityID],
        claim: NewMessage.Claim? = nil,
        dueIn delay: Duration = .zero,
        key: IdempotencyKey? = nil,
        work: SliceLease.Work = .deliver
    ) -> NewMessage {
        let now = now()
        let slice = NewSlice(
            number: 0,
            work: work,
            targets: identities.map { TargetID($0) },
            addresses: identities.map { _ in nil }
        )
        return NewMessage(
            id: MessageID(rawValue: identifiers.uuid(at: now)),
            scope: scope,
            content: Content(title: "t", body: "b"),
            lane: .bulk,
            times: NewMessage.Times(acceptedAt: now, dueAt: now + delay, expiresAt: now + .seconds(3600)),
            targets: NewMessage.Targets(recipients: work == .deliver ? identities.count : nil, slices: [slice]),
            idempotency: key,
            claim: claim
        )
    }

    func accept(_ message: NewMessage) async throws -> Acceptance? {
        try await run(AcceptMessage(message))
    }

    /// Claims due slices and returns the leases of `message`. Leases of other messages are kept.
    func claim(_ message: MessageID, by node: NodeID) async throws -> [SliceLease] {
        let leases = try await deliveries.claim(tenant: tenant, lane: .bulk, limit: 100, by: node, lease: Self.lease)
        return leases.filter { $0.key.message == message }
    }
}
