/// A command that is sent in a pipeline.
enum SessionCommand {
    /// BEGIN, SET LOCAL, COMMIT, ROLLBACK, DEALLOCATE or a statement of a migration, without parameters; rows are dropped.
    case control(String)
    case prepare(name: String, key: PreparedStatements.Key)
    case execute(name: String, key: PreparedStatements.Key, EncodedParameters)
}

/// Commands that end with a synchronisation point. When one command fails, the server skips the others up to that point.
struct Segment {
    var commands: [SessionCommand]
}

/// The outcome of one segment.
struct SegmentOutcome {
    /// The results of its `execute` commands, in order, up to the first failure.
    var results: [ResultSet] = []

    /// The tag of the last `control` command that ran. COMMIT returns `ROLLBACK` in a failed transaction.
    var lastControlTag = ""

    /// The first failure.
    var error: PostgresError?

    /// The statement that failed, if a statement did.
    var failedKey: PreparedStatements.Key?

    /// Whether the server has confirmed the end of the segment.
    var isComplete = false
}

extension PostgresSession {
    /// Sends all segments at once and reads their outcomes, in one round trip.
    ///
    /// A lost connection does not throw: outcomes confirmed before the loss are valid, and every later outcome contains the error.
    func exchange(_ segments: [Segment], _ deadline: Deadline) -> [SegmentOutcome] {
        var outcomes = [SegmentOutcome](repeating: SegmentOutcome(), count: segments.count)
        do throws(PostgresError) {
            for segment in segments { try send(segment) }
            try flush(deadline)
            for index in segments.indices { try read(segments[index], into: &outcomes[index], deadline) }
        } catch {
            isUsable = false
            for index in outcomes.indices where !outcomes[index].isComplete && outcomes[index].error == nil {
                outcomes[index].error = error
            }
        }
        return outcomes.map { explained($0, deadline) }
    }

    /// A cancellation by the client returns as 57014. Replaces that code by the reason for the cancellation.
    private func explained(_ outcome: SegmentOutcome, _ deadline: Deadline) -> SegmentOutcome {
        guard let code = deadline.interruption, let error = outcome.error,
            error.sqlState == "57014" || error.code == .connectionLost
        else { return outcome }
        var explained = outcome
        explained.error?.code = code
        return explained
    }

    private func send(_ segment: Segment) throws(PostgresError) {
        for command in segment.commands {
            let isSent =
                switch command {
                case .control(let sql): connection.sendControl(sql)
                case .prepare(let name, let key): connection.sendPrepare(name: name, sql: key.sql, types: key.types)
                case .execute(let name, _, let parameters): connection.sendPrepared(name: name, parameters: parameters)
                }
            guard isSent else { throw lost() }
        }
        guard connection.pipelineSync() else { throw lost() }
    }

    private func read(_ segment: Segment, into outcome: inout SegmentOutcome, _ deadline: Deadline)
        throws(PostgresError)
    {
        for command in segment.commands { try read(command, into: &outcome, deadline) }
        // An implicit transaction commits here, so an error may still arrive before the sync result.
        var emptyCount = 0
        while true {
            guard let result = try nextResult(deadline) else {
                emptyCount += 1
                if connection.isBad || emptyCount > 4 { throw lost() }
                continue
            }
            switch result.kind {
            case .sync:
                outcome.isComplete = true
                return
            case .failed: try note(result, nil, into: &outcome)
            case .rows, .done, .copyIn, .aborted: break
            }
        }
    }

    /// Reads all results of one command. Results after a failure have the kind `aborted`.
    private func read(_ command: SessionCommand, into outcome: inout SegmentOutcome, _ deadline: Deadline)
        throws(PostgresError)
    {
        while let result = try nextResult(deadline) {
            switch result.kind {
            case .rows, .done: succeed(command, result, into: &outcome)
            case .aborted: break
            case .failed: try note(result, command, into: &outcome)
            // A COPY inside a pipeline, or a sync too early: the state of libpq does not match the state of the session.
            case .copyIn, .sync: throw lost()
            }
        }
    }

    private func succeed(_ command: SessionCommand, _ result: PGResult, into outcome: inout SegmentOutcome) {
        switch command {
        case .control: outcome.lastControlTag = result.copyOut().commandTag
        case .prepare(_, let key): prepared.confirm(key)
        case .execute: outcome.results.append(result.copyOut())
        }
    }

    /// Keeps the first failure of a segment.
    ///
    /// - Throws: `connectionLost` when libpq reports that failure.
    private func note(_ result: PGResult, _ command: SessionCommand?, into outcome: inout SegmentOutcome)
        throws(PostgresError)
    {
        let error = result.error
        if error.sqlState == nil && connection.isBad { throw lost() }
        guard outcome.error == nil else { return }
        outcome.error = error
        switch command {
        case .execute(_, let key, _), .prepare(_, let key): outcome.failedKey = key
        case .control, nil: break
        }
    }
}
