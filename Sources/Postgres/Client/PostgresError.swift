/// Why the database could not be asked, or would not do it.
///
/// `description` is safe to show anyone: the code, the SQLSTATE and the constraint, never a parameter or a row.
package struct PostgresError: Error, Sendable, Equatable {
    /// What went wrong, in the caller's terms. A struct over a private enum, so that it can grow.
    package var code: Code

    /// The server's five characters, where the server spoke (PostgreSQL manual, appendix A).
    package var sqlState: String?

    /// The constraint that refused, without the shard number that Citus appends (`device_token_102095`).
    package var constraint: String?

    /// The caller's own word for `abandoned`, or the name of the column for a decoding error. Never data.
    package var reason: String?

    /// The server's sentence. Kept out of `description`; empty for class 22, whose sentences quote values.
    package var detail: String?

    /// True when COMMIT had left us and no answer came: the transaction may have happened.
    package var isIndeterminate = false

    /// Makes an error of `code`; the server's own errors are made from its result.
    package init(_ code: Code, sqlState: String? = nil, reason: String? = nil, detail: String? = nil) {
        self.code = code
        self.sqlState = sqlState
        self.reason = reason
        self.detail = detail
    }

    /// A caller's decision, inside `Transaction.then`, to roll back.
    package static func abandoned(_ reason: String) -> PostgresError {
        PostgresError(.abandoned, reason: reason)
    }

    /// The same call may succeed later. Ask `isIndeterminate` before repeating a write that is not idempotent.
    package var isRetriable: Bool { code.isRetriable }
}

extension PostgresError: CustomStringConvertible, CustomDebugStringConvertible {
    package var description: String {
        var text = "PostgresError(\(code)"
        if let sqlState { text += ", sqlState: \(sqlState)" }
        if let constraint { text += ", constraint: \(constraint)" }
        if let reason { text += ", reason: \(reason)" }
        if isIndeterminate { text += ", indeterminate" }
        return text + ")"
    }

    package var debugDescription: String {
        guard let detail, !detail.isEmpty else { return description }
        return description + ": " + detail
    }
}
