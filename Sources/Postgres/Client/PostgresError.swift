/// Why a database call failed.
///
/// `description` is safe to show to anyone: it contains the code, the SQLSTATE and the constraint, never a parameter or a row.
package struct PostgresError: Error, Sendable, Equatable {
    /// The kind of error, in the caller's terms. A struct over a private enum, so that it can grow.
    package var code: Code

    /// The server's five-character SQLSTATE, if the error came from the server (PostgreSQL manual, appendix A).
    package var sqlState: String?

    /// The violated constraint, without the shard number that Citus appends (`device_token_102095`).
    package var constraint: String?

    /// The caller's reason for `abandoned`, or the name of the column for a decoding error. It never contains data.
    package var reason: String?

    /// The server's message. It is kept out of `description`, and empty for class 22, whose messages quote values.
    package var detail: String?

    /// True when COMMIT was sent and no answer came: the transaction may be committed.
    package var isIndeterminate = false

    /// Makes an error of the given code. Errors of the server are made from its result.
    package init(_ code: Code, sqlState: String? = nil, reason: String? = nil, detail: String? = nil) {
        self.code = code
        self.sqlState = sqlState
        self.reason = reason
        self.detail = detail
    }

    /// The error with which `Transaction.then` decides to roll back.
    package static func abandoned(_ reason: String) -> PostgresError {
        PostgresError(.abandoned, reason: reason)
    }

    /// Whether the same call may succeed later. Check `isIndeterminate` before repeating a write that is not idempotent.
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
