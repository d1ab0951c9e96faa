package import Model
package import Store

/// Administrative acts of the native API and of the program's commands. They are not cases of `Command`, because no vendor has a call for them.
extension CommandHandler {
    /// Runs a rule's request as one transaction. After a conflict with another transaction the request is retried.
    ///
    /// - Parameters:
    ///   - request: the request of a rule.
    ///   - tenant: the tenant of the call.
    ///   - keep: the repeat key, and the answer that is kept under it in the same transaction; nil: the call has none.
    /// - Returns: the answer of the request.
    /// - Throws: `StoreError`. Nothing has been changed then, except possibly with the code `.timedOut`.
    package func run<Answer>(
        _ request: StoreRequest<Answer>,
        in tenant: TenantID,
        keeping keep: Keep<Answer>?
    ) async throws(StoreError) -> Kept<Answer> {
        guard let keep else { return .done(try await run(request, in: tenant)) }
        return try await repeatingConflicts { () async throws(StoreError) in
            try await store.run(request, in: tenant, keeping: keep)
        }
    }
}
