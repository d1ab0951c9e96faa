package import Model
import ObservationStore
import Store

/// Messages that upstreams sent.
extension CommandHandler {
    /// Stores a message that an upstream sent.
    func observe(_ message: ObservedMessage, _ context: RuleContext) async -> Reply {
        let plan: ObservationPlan
        switch ObservationRules.check(message, context) {
        case .failure(let refused): return .refused(refused.refusal)
        case .success(let checked): plan = checked
        }
        do {
            let facts = try await run(plan.questions, in: context.call.tenant)
            let outcome = try await run(plan.request(facts), in: context.call.tenant)
            switch outcome {
            case .new: return .submission(.observed(isNew: true, reach: plan.reach(facts)))
            case .known: return .submission(.observed(isNew: false, reach: nil))
            case .unknownApp: return .refused(.unknownBinding)
            }
        } catch {
            return .refused(refusal(of: error))
        }
    }

    /// The side that sent a message.
    ///
    /// - Parameters:
    ///   - reference: the name of the message in the dialect, as a call spells it.
    ///   - scope: the app and the dialect.
    ///   - tenant: the tenant of the app.
    /// - Returns: `.unknown` also for a text that cannot be a name.
    /// - Throws: `StoreError` when the store cannot answer now.
    package func owner(
        of reference: String,
        in scope: AppScope,
        of tenant: TenantID
    ) async throws(StoreError) -> MessageOwner {
        guard Storable.isKey(reference) else { return .unknown }
        return try await run(StoreRequest(FindOwner(scope, MessageReference.stored(reference))), in: tenant)
    }
}
