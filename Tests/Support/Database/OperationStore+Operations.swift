package import Model
package import Store

extension OperationStore {
    /// Runs one operation.
    ///
    /// - Throws: `StoreError`. Nothing happened then, except with code `.timedOut`.
    package func run<Operation: StoreOperation>(
        _ operation: Operation,
        in tenant: TenantID
    ) async throws(StoreError) -> Operation.Answer {
        try await run(StoreRequest(operation) { $0 }, in: tenant)
    }

    /// Runs the operations in order and returns the answer of each.
    ///
    /// - Throws: `StoreError`. Nothing happened then, except with code `.timedOut`.
    package func run<each Operation: StoreOperation>(
        _ operation: repeat each Operation,
        in tenant: TenantID
    ) async throws(StoreError) -> (repeat (each Operation).Answer) {
        try await run(StoreRequest(repeat each operation), in: tenant)
    }
}
