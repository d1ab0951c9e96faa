package import Model
package import PostgresClient

extension StoreError {
    /// What a caller of a store may do about an error of the database.
    package init(_ error: PostgresError) {
        self.init(Self.code(of: error), error.description)
    }

    private static func code(of error: PostgresError) -> Code {
        if error.isIndeterminate { return .timedOut }
        switch error.code {
        case .timeout: return .timedOut
        case .serializationFailure, .deadlock, .lockTimeout, .uniqueViolation, .stalePlan, .shardMoved: return .conflict
        case .foreignKeyViolation: return .missing
        case .raised where error.sqlState == "GW409": return .outdated
        case .cancelled, .closed, .authenticationFailed: return .unavailable
        default: return error.isRetriable ? .unavailable : .failed
        }
    }
}

/// Runs `body` and says its error in the store's terms.
package func asStore<Value>(
    _ body: () async throws(PostgresError) -> Value
) async throws(StoreError) -> Value {
    do throws(PostgresError) {
        return try await body()
    } catch {
        throw StoreError(error)
    }
}
