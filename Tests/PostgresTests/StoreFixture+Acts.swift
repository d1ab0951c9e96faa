import Commands
import Model

@testable import Store

/// What the native API writes, by the rules that it uses.
extension StoreFixture {
    func patch(
        _ device: DeviceID,
        _ change: DevicePatch,
        in tenant: TenantID,
        keeping keep: Keep<DeviceFacts?>? = nil
    ) async throws -> Kept<DeviceFacts?> {
        try await act(DeviceRules.change(device, change), in: tenant, keep)
    }

    func erase(
        _ device: DeviceID,
        in tenant: TenantID,
        by actor: AuditActor,
        keeping keep: Keep<Bool>? = nil
    ) async throws -> Kept<Bool> {
        try await act(DeviceRules.erase(device, by: actor), in: tenant, keep)
    }

    func eraseUser(_ user: UserID, in tenant: TenantID, by actor: AuditActor) async throws -> Kept<Int> {
        try await act(ErasureRules.erase([user], .everywhere, by: actor.description), in: tenant, nil)
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
