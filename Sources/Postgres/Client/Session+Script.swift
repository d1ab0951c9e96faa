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

    /// Copies the rows of `copy` by `COPY … FROM STDIN`, in a separate transaction.
    ///
    /// - Returns: how many rows the server stored.
    /// - Throws: the error of the server; `invalidParameter` for a row that cannot be written. Nothing is stored then.
    func copy(_ copy: Copy, _ deadline: Deadline) throws(PostgresError) -> Int {
        var columns: [String] = []
        for column in copy.columns { columns.append(try SQLText.identifier(column)) }
        let sql = "COPY \(copy.table) (\(columns.joined(separator: ", "))) FROM STDIN (FORMAT binary)"
        try leavePipeline()
        guard connection.sendScript(sql) else { throw lost() }
        try flush(deadline)
        guard let opening = try nextResult(deadline) else { throw lost() }
        guard opening.kind == .copyIn else {
            let error = opening.error
            _ = try drain(deadline)
            try reenterPipeline()
            throw error
        }
        let invalid = try sendRows(copy, deadline)
        try put(deadline) { connection.putCopyEnd(failing: invalid == nil ? nil : "invalid row") }
        var count = 0
        let failure = try drain(deadline) { count = $0.copyOut().affectedRows }
        try reenterPipeline()
        if let error = invalid ?? failure { throw error }
        return count
    }

    /// Sends the rows in blocks.
    ///
    /// - Returns: why a row could not be written. The rows before it are sent already and must be abandoned.
    private func sendRows(_ copy: Copy, _ deadline: Deadline) throws(PostgresError) -> PostgresError? {
        // 64 KiB: enough for one write, and small compared with the rows, which the caller holds anyway.
        let blockBytes = 65_536
        // The signature, flags and extension length of the binary format (PostgreSQL manual, COPY, "Binary Format").
        var block: [UInt8] = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        for row in copy.rows {
            do throws(PostgresError) {
                guard row.count == copy.columns.count else {
                    throw PostgresError(.invalidParameter, reason: "row has \(row.count) values")
                }
                Wire.append(Int16(truncatingIfNeeded: row.count), to: &block)
                for value in row { try Self.appendField(value, to: &block) }
            } catch {
                return error
            }
            if block.count >= blockBytes {
                try put(deadline) { connection.putCopyData(block) }
                block.removeAll(keepingCapacity: true)
            }
        }
        Wire.append(Int16(-1), to: &block)
        try put(deadline) { connection.putCopyData(block) }
        return nil
    }

    private static func appendField(_ value: PostgresValue, to block: inout [UInt8]) throws(PostgresError) {
        let header = block.count
        Wire.append(Int32(-1), to: &block)
        if try value.append(to: &block) { Wire.patchLength(at: header, in: &block) }
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
    private func drain(_ deadline: Deadline, _ body: (PGResult) -> Void = { _ in }) throws(PostgresError)
        -> PostgresError?
    {
        var failure: PostgresError?
        try flush(deadline)
        while let result = try nextResult(deadline) {
            switch result.kind {
            case .failed:
                let error = result.error
                if error.sqlState == nil && connection.isBad { throw lost() }
                if failure == nil { failure = error }
            case .rows, .done: body(result)
            // COPY FROM STDIN inside a script: it has no data to send.
            case .copyIn: try put(deadline) { connection.putCopyEnd(failing: "no data") }
            case .sync, .aborted: break
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
