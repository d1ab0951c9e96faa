package import EngineStore
import Model
import Store

/// The limit of `audit.lag.seconds` for commands, which change the database without a running node.
package enum AuditLimit {
    /// Why an administrative command is refused now; nil: it is not.
    ///
    /// - Parameters:
    ///   - limitSeconds: the setting; nil: commands are never refused.
    ///   - copies: the configured copies.
    ///   - keeper: of the database.
    /// - Returns: a sentence for the operator.
    /// - Throws: `StoreError`.
    package static func problem(
        _ limitSeconds: Int?,
        _ copies: [AuditCopy],
        _ keeper: PostgresAuditKeeper
    ) async throws -> String? {
        guard let limitSeconds else { return nil }
        for copy in copies {
            let lag = try await keeper.lag(of: copy)
            guard lag.seconds > Double(limitSeconds) else { continue }
            let name = copy == .file ? "audit.file" : "audit.syslog"
            return "\(name) is \(Int(lag.seconds)) seconds behind, more than audit.lag.seconds allows: nothing was done"
        }
        return nil
    }
}
