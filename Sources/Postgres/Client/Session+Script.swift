extension PostgresSession {
    /// Runs many statements as text by the simple protocol and ignores their rows. Stops at the first failure.
    ///
    /// - Throws: that failure; `other` when the script left a transaction open, which is then rolled back.
    func script(_ sql: String, _ deadline: Deadline) throws(PostgresError) {
        try leavePipeline()
        guard connection.sendScript(sql) else { throw lost() }
        var failure = try drain(deadline)
        if !connection.isIdle {
            guard connection.sendScript("ROLLBACK") else { throw lost() }
            _ = try drain(deadline)
            failure = failure ?? PostgresError(.other, reason: "script left a transaction open")
        }
        try reenterPipeline()
        if let failure { throw failure }
    }

    private func put(_ deadline: Deadline, _ call: () -> Int32) throws(PostgresError) {
        while true {
            switch call() {
            case 1: return try flush(deadline)
            case 0: try flush(deadline)
            default: throw lost()
            }
        }
    }

    /// Reads all results of a command.
    ///
    /// - Returns: the first failure.
    private func drain(_ deadline: Deadline) throws(PostgresError) -> PostgresError? {
        var failure: PostgresError?
        try flush(deadline)
        while let result = try nextResult(deadline) {
            switch result.kind {
            case .failed:
                let error = result.error
                if error.sqlState == nil && connection.isBad { throw lost() }
                if failure == nil { failure = error }
            // COPY FROM STDIN inside a script: it has no data to send.
            case .copyIn: try put(deadline) { connection.putCopyEnd(failing: "no data") }
            case .rows, .done, .sync, .aborted: break
            }
        }
        if let code = deadline.interruption, failure?.sqlState == "57014" { failure?.code = code }
        return failure
    }

    private func leavePipeline() throws(PostgresError) {
        if connection.isInPipeline, !connection.exitPipeline() { throw lost() }
    }

    private func reenterPipeline() throws(PostgresError) {
        if !connection.isInPipeline, !connection.enterPipeline() { throw lost() }
    }
}
