package import Model
package import PostgresClient

extension StoreError {
    /// Converts an error of the database to the code on which the caller reacts.
    package init(_ error: PostgresError) {
        self.init(Self.code(of: error), error.description)
    }

    private static func code(of error: PostgresError) -> Code {
        if error.isIndeterminate { return .timedOut }
        switch error.code {
        case .timeout: return .timedOut
        case .serializationFailure, .deadlock, .lockTimeout, .uniqueViolation, .stalePlan, .shardMoved,
            .partitionChanged:
            return .conflict
        case .foreignKeyViolation: return .missing
        case .raised where error.sqlState == "GW403": return .taken
        case .raised where error.sqlState == "GW409": return .outdated
        case .raised where error.sqlState == "GW429":
            return error.constraint.flatMap { Quota(rawValue: $0) }.map { .exhausted($0) } ?? .failed
        case .cancelled, .closed, .authenticationFailed: return .unavailable
        default: return error.isRetriable ? .unavailable : .failed
        }
    }
}

/// Runs `body` and converts its error to a `StoreError`.
package func asStore<Value>(_ body: () async throws(PostgresError) -> Value) async throws(StoreError) -> Value {
    do throws(PostgresError) {
        return try await body()
    } catch {
        throw StoreError(error)
    }
}
