import CaptureStore
import Commands
import FoundationEssentials
import Model

@testable import EngineStore
@testable import Store

/// The writes of the native API, through the rules of `Commands`.
extension StoreFixture {
    func patch(
        _ device: DeviceID,
        _ change: DevicePatch,
        in tenant: TenantID,
        keeping keep: Keep<DeviceFacts?>? = nil
    ) async throws -> Kept<DeviceFacts?> {
        try await act(DeviceChangeRules.change(device, change), in: tenant, keep)
    }

    func erase(
        _ device: DeviceID,
        in tenant: TenantID,
        by actor: AuditActor,
        keeping keep: Keep<Bool>? = nil
    ) async throws -> Kept<Bool> {
        try await act(DeviceChangeRules.erase(device, by: actor), in: tenant, keep)
    }

    func eraseUser(_ user: UserID, in tenant: TenantID, by actor: AuditActor) async throws -> Kept<Int> {
        try await act(ErasureRules.erase([user], .everywhere, by: actor.description), in: tenant, nil)
    }

    func startCapture(
        _ order: CaptureOrder,
        in tenant: TenantID,
        keeping keep: Keep<CaptureStart>? = nil
    ) async throws -> Kept<CaptureStart> {
        let isBound = try await PostgresCaptureStore(call: call, engine: engine).hasBinding(order, in: tenant)
        return try await act(CaptureRules.start(UUID(), order, isBound: isBound, by: .key("test")), in: tenant, keep)
    }

    func stopCapture(_ id: UUID, in tenant: TenantID, by actor: AuditActor) async throws -> Bool {
        try await commands.run(CaptureRules.stop(id, by: actor), in: tenant)
    }

    func removeCapture(
        _ id: UUID,
        in tenant: TenantID,
        by actor: AuditActor,
        keeping keep: Keep<Bool>? = nil
    ) async throws -> Kept<Bool> {
        try await act(CaptureRules.remove(id, by: actor), in: tenant, keep)
    }

    /// Imports a batch.
    func importDevices(
        _ rows: [DeviceRegistration],
        _ identifiers: any IdentifierSource,
        at: Timestamp,
        asOf: Timestamp? = nil,
        in tenant: TenantID? = nil,
        scope: AppScope? = nil
    ) async throws -> ImportCounts {
        let handler = CommandHandler(store: commands, clock: FixedClock(at: at), identifiers: identifiers, node: node)
        return try await handler.importDevices(
            rows,
            scope ?? self.scope,
            in: tenant ?? acme,
            .init(at: at, asOf: asOf, source: "import/test")
        )
    }

    private struct FixedClock: WallClock {
        var at: Timestamp
        func now() -> Timestamp { at }
    }

    /// Runs a rule's request, under a repeat key or without.
    func act<Answer>(
        _ request: StoreRequest<Answer>,
        in tenant: TenantID,
        _ keep: Keep<Answer>?
    ) async throws -> Kept<Answer> {
        guard let keep else { return .done(try await commands.run(request, in: tenant)) }
        return try await commands.run(request, in: tenant, keeping: keep)
    }
}

/// A tenant's webhooks, by the rules that the native API uses.
struct SubscriptionActs: Sendable {
    let commands: OperationStore
    let queries: PostgresQueryStore

    func create(_ webhook: NewWebhook, in tenant: TenantID, limit: Int) async throws -> Bool {
        try await commands.run(WebhookRules.create(webhook, limit: limit, by: .key("test")), in: tenant)
    }

    func webhooks(in tenant: TenantID) async throws -> [WebhookFacts] { try await queries.webhooks(in: tenant) }

    func webhook(_ id: WebhookID, in tenant: TenantID) async throws -> WebhookFacts? {
        try await queries.webhook(id, in: tenant)
    }

    func change(_ id: WebhookID, _ change: WebhookChange, in tenant: TenantID) async throws -> Bool {
        try await commands.run(WebhookRules.change(id, change, by: .key("test")), in: tenant)
    }

    func remove(_ id: WebhookID, in tenant: TenantID) async throws -> Bool {
        try await commands.run(WebhookRules.remove(id, by: .key("test")), in: tenant)
    }

    func replay(_ id: WebhookID, from offset: Int64, in tenant: TenantID) async throws -> ReplayOutcome {
        try await commands.run(WebhookRules.replay(id, from: offset, by: .key("hooks")), in: tenant)
    }
}
