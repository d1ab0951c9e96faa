/// Limits of one call on one session.
enum SessionLimits {
    /// 256 transactions per round trip. Their results stay in libpq's memory until the last one is read.
    static let pipelineDepth = 256

    /// 16 steps per transaction. Each step is a round trip with locks held. A rule that needs more steps belongs in SQL.
    static let stepCount = 16
}

/// The commands of one transaction.
private struct Plan {
    /// The statements to prepare first, each in its own segment, so that a rejected statement stops only the transactions that use it.
    var prepares: [Segment] = []
    var body = Segment(commands: [])
}

extension PostgresSession {
    /// Runs independent transactions in order, in as few round trips as possible. Afterwards the session has no open transaction
    /// and no tenant, or it is not usable.
    func run(_ transactions: [Transaction], _ deadline: Deadline) -> [Result<[ResultSet], PostgresError>] {
        var results: [Result<[ResultSet], PostgresError>] = []
        var plain: [Transaction] = []
        func runPlain() {
            if !plain.isEmpty { results += runPipeline(plain, deadline, mayRepeat: true) }
            plain = []
        }
        for transaction in transactions {
            if transaction.then != nil {
                runPlain()
                results.append(runSteps(transaction, deadline, mayRepeat: true))
            } else {
                plain.append(transaction)
                if plain.count >= SessionLimits.pipelineDepth { runPlain() }
            }
        }
        runPlain()
        rollBackIfNeeded(deadline)
        return results
    }

    /// Runs independent transactions without steps in order, in one round trip, or one transaction with steps. Each commits separately without waiting for
    /// the disk, so it holds its locks only while it computes. One flush after the last transaction covers all of them and everything that they read.
    ///
    /// All of them wait for the flush. When the flush fails, every transaction that had not failed before may or may not be on disk.
    func run(group transactions: [Transaction], _ deadline: Deadline) -> [Result<[ResultSet], PostgresError>] {
        if let transaction = transactions.first, transaction.then != nil {
            return [runSteps(transaction, deadline, mayRepeat: true, sharesFlush: true)]
        }
        let results = runPipeline(transactions, deadline, mayRepeat: true, sharesFlush: true)
        rollBackIfNeeded(deadline)
        return results
    }

    /// Writes a record to the WAL. Its commit waits until the record and everything before it is as durable as the session's commits are.
    ///
    /// A commit that wrote nothing does not wait. A call that only reads another call's unflushed row therefore needs this record too.
    private static let flush = SessionCommand.control("SELECT pg_logical_emit_message(true, 'push-gateway', '')")

    // MARK: Transactions without steps: all at once

    private func runPipeline(
        _ transactions: [Transaction],
        _ deadline: Deadline,
        mayRepeat: Bool,
        sharesFlush: Bool = false
    ) -> [Result<[ResultSet], PostgresError>] {
        var prepares = takeDeallocations()
        var segments: [Segment] = []
        var answers: [Result<ClosedRange<Int>, PostgresError>] = []
        for transaction in transactions {
            var plan = Plan()
            do throws(PostgresError) {
                try begin(transaction, &plan, sharesFlush: sharesFlush)
                if transaction.keepsPlans {
                    try add(transaction.statements, &plan)
                } else {
                    plan.body.commands += transaction.statements.map { .control($0.sql) }
                }
                if transaction.flushes, !sharesFlush { plan.body.commands.append(Self.flush) }
                let first = segments.count
                segments.append(plan.body)
                if sharesFlush || transaction.isExplicit { segments.append(Segment(commands: [.control("COMMIT")])) }
                answers.append(.success(first...segments.count - 1))
            } catch {
                answers.append(.failure(error))
            }
            prepares += plan.prepares
        }
        if sharesFlush { segments.append(Segment(commands: [Self.flush])) }
        let outcomes = exchange(prepares + segments, deadline)
        let refusals = settle(prepares, outcomes)
        let main = outcomes.dropFirst(prepares.count)
        var results = answers.map { answer in
            answer.flatMap { range in
                Self.result(of: main[(main.startIndex + range.lowerBound)...(main.startIndex + range.upperBound)])
            }
        }
        if sharesFlush, var error = main.last?.error {
            error.isIndeterminate = true
            for index in results.indices where (try? results[index].get()) != nil { results[index] = .failure(error) }
        }
        for index in results.indices {
            guard case .success(let range) = answers[index], case .failure(let error) = results[index],
                error.code == .stalePlan
            else { continue }
            let key = main[main.startIndex + range.lowerBound].failedKey
            results[index] = afterStalePlan(key, error, refusals, mayRepeat) {
                runPipeline([transactions[index]], deadline, mayRepeat: false, sharesFlush: sharesFlush)[0]
            }
        }
        return results
    }

    /// Builds the result of one transaction from the segment of its body and, if it has one, the segment of its COMMIT.
    private static func result(of outcomes: ArraySlice<SegmentOutcome>) -> Result<[ResultSet], PostgresError> {
        guard let body = outcomes.first, let last = outcomes.last else { return .success([]) }
        let isExplicit = outcomes.count == 2
        if var error = body.error {
            // COMMIT was sent together with the body, so a missing answer does not say whether it happened. An implicit transaction may even
            // have committed when the server announces its shutdown.
            error.isIndeterminate =
                error.sqlState == nil || (!isExplicit && error.code == .shuttingDown && body.results.count > 0)
            return .failure(error)
        }
        if isExplicit, let failure = commitFailure(last) { return .failure(failure) }
        return .success(body.results)
    }

    /// The reason why a COMMIT did not commit.
    private static func commitFailure(_ outcome: SegmentOutcome) -> PostgresError? {
        if outcome.lastControlTag == "COMMIT" { return nil }
        guard var error = outcome.error else { return PostgresError(.other, reason: "rolled back at commit") }
        error.isIndeterminate = error.sqlState == nil || error.code == .shuttingDown
        return error
    }

    // MARK: Transactions with steps: one round trip each

    private func runSteps(
        _ transaction: Transaction,
        _ deadline: Deadline,
        mayRepeat: Bool,
        sharesFlush: Bool = false
    ) -> Result<[ResultSet], PostgresError> {
        var plan = Plan()
        var results: [ResultSet] = []
        var step = Step(transaction.statements, then: transaction.then)
        do throws(PostgresError) {
            try begin(transaction, &plan, sharesFlush: sharesFlush)
            for _ in 0..<SessionLimits.stepCount {
                try add(step.statements, &plan)
                let isLast = step.then == nil
                let prepares = takeDeallocations() + plan.prepares
                var commit = isLast ? [Segment(commands: [.control("COMMIT")])] : []
                if isLast, sharesFlush { commit.append(Segment(commands: [Self.flush])) }
                let outcomes = exchange(prepares + [plan.body] + commit, deadline)
                let refusals = settle(prepares, outcomes)
                let body = outcomes[prepares.count]
                if var error = body.error {
                    error.isIndeterminate = isLast && error.sqlState == nil
                    rollBackIfNeeded(deadline)
                    guard error.code == .stalePlan else { return .failure(error) }
                    return afterStalePlan(body.failedKey, error, refusals, mayRepeat) {
                        runSteps(transaction, deadline, mayRepeat: false, sharesFlush: sharesFlush)
                    }
                }
                results += body.results
                guard let then = step.then else {
                    if let error = Self.commitFailure(outcomes[prepares.count + 1]) { return .failure(error) }
                    if sharesFlush, var error = outcomes.last?.error {
                        error.isIndeterminate = true
                        return .failure(error)
                    }
                    return .success(results)
                }
                step = try then(body.results)
                plan = Plan()
            }
            throw PostgresError(.invalidParameter, reason: "too many steps")
        } catch {
            rollBackIfNeeded(deadline)
            return .failure(error)
        }
    }

    // MARK: Parts

    private func begin(_ transaction: Transaction, _ plan: inout Plan, sharesFlush: Bool = false)
        throws(PostgresError)
    {
        guard sharesFlush || transaction.isExplicit else { return }
        plan.body.commands.append(.control("BEGIN"))
        if sharesFlush { plan.body.commands.append(.control("SET LOCAL synchronous_commit = off")) }
        guard let tenant = transaction.tenant else { return }
        // SET LOCAL with a literal instead of set_config(), because Citus propagates only SET LOCAL to its workers.
        plan.body.commands.append(.control("SET LOCAL gateway.tenant = \(try SQLText.literal(tenant))"))
        guard let request = transaction.request else { return }
        plan.body.commands.append(.control("SET LOCAL gateway.request = \(try SQLText.literal(request))"))
    }

    private func add(_ statements: [Statement], _ plan: inout Plan) throws(PostgresError) {
        for statement in statements {
            let parameters = try EncodedParameters(statement.parameters)
            let key = PreparedStatements.Key(sql: statement.sql, types: parameters.types)
            let (name, isNew) = prepared.name(for: key)
            if isNew { plan.prepares.append(Segment(commands: [.prepare(name: name, key: key)])) }
            plan.body.commands.append(.execute(name: name, key: key, parameters))
        }
    }

    private func takeDeallocations() -> [Segment] {
        prepared.trim()
        return prepared.takeAbandonedNames().map { Segment(commands: [.control("DEALLOCATE \($0)")]) }
    }

    /// Removes the statements that the server refused to prepare, and returns the errors.
    private func settle(_ prepares: [Segment], _ outcomes: [SegmentOutcome]) -> [PreparedStatements.Key: PostgresError]
    {
        var refusals: [PreparedStatements.Key: PostgresError] = [:]
        for outcome in outcomes.prefix(prepares.count) {
            guard let key = outcome.failedKey, let error = outcome.error else { continue }
            refusals[key] = error
            prepared.forget(key)
        }
        return refusals
    }

    /// Handles a statement that the server does not know (it refused to prepare it), or no longer accepts (the schema changed).
    ///
    /// In the second case the transaction is repeated once: the failed attempt changed nothing.
    private func afterStalePlan(
        _ key: PreparedStatements.Key?,
        _ error: PostgresError,
        _ refusals: [PreparedStatements.Key: PostgresError],
        _ mayRepeat: Bool,
        repeating run: () -> Result<[ResultSet], PostgresError>
    ) -> Result<[ResultSet], PostgresError> {
        guard let key else { return .failure(error) }
        if let refusal = refusals[key] { return .failure(refusal) }
        prepared.forget(key)
        return mayRepeat && isUsable ? run() : .failure(error)
    }

    /// Ends a transaction that is still open. If that fails, the session becomes unusable.
    private func rollBackIfNeeded(_ deadline: Deadline) {
        guard isUsable, !connection.isIdle else { return }
        _ = exchange([Segment(commands: [.control("ROLLBACK")])], deadline)
        if !connection.isIdle { isUsable = false }
    }
}
