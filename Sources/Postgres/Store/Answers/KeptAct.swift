package import Model
package import PostgresClient

/// Statements that run unless their repeat key was used before. Their answer is stored in the same transaction.
///
/// Three steps, because the answer depends on the results: reserve the key, run the statements, store the answer. Only calls with a key pay for the
/// additional steps. A refusal stores nothing.
package struct KeptAct<Result: Sendable>: Sendable {
    private let statements: [Statement]
    private let keep: Keep<Result>
    private let request: String?
    private let read: @Sendable ([ResultSet]) throws(PostgresError) -> Result
    private let last: @Sendable ([ResultSet]) throws(PostgresError) -> [Statement]

    /// - Parameters:
    ///   - statements: the statements of the call.
    ///   - keep: the key, and the answer to store under it.
    ///   - request: the call, if functions of the schema write rows of the audit.
    ///   - read: converts the results of the statements.
    ///   - last: the statements that end the transaction, such as a row of the audit.
    package init(
        _ statements: [Statement],
        _ keep: Keep<Result>,
        request: String? = nil,
        read: @escaping @Sendable ([ResultSet]) throws(PostgresError) -> Result,
        last: @escaping @Sendable ([ResultSet]) throws(PostgresError) -> [Statement]
    ) {
        self.statements = statements
        self.keep = keep
        self.request = request
        self.read = read
        self.last = last
    }

    /// - Throws: `PostgresError`.
    package func run(on pool: PostgresPool, in tenant: TenantID) async throws(PostgresError) -> Kept<Result> {
        let results: [ResultSet]
        do throws(PostgresError) {
            results = try await pool.run(transaction(tenant))
        } catch {
            guard error.code == .abandoned else { throw error }
            return .tooLarge
        }
        let found = try results.result(0).only()
        switch try found.text("outcome") {
        case "new": return .done(try read(Array(results.dropFirst())))
        case "repeated":
            return .repeated(KeptAnswer(status: try found.int("status"), body: try found.bytes("answer")))
        default: return .mismatch
        }
    }

    private func transaction(_ tenant: TenantID) -> Transaction {
        let find = AnswerSQL.find(.id(tenant), .string(keep.key.key), .string(keep.key.bodyHash))
        var transaction = Transaction(tenant: tenant.rawValue, [find], flushes: true) {
            (found) throws(PostgresError) in
            guard try found.result(0).only().text("outcome") == "new" else { return .commit }
            return Step(statements) { (results) throws(PostgresError) in
                let result = try read(results)
                let kept = try keep.answer(result).map { (answer) throws(PostgresError) in
                    try Self.kept(answer, under: keep.key, in: tenant)
                }
                let ending = try last(results)
                return Step((kept.map { [$0] } ?? []) + ending)
            }
        }
        transaction.request = request
        return transaction
    }

    /// The statement that stores an answer.
    static func kept(
        _ answer: KeptAnswer,
        under key: IdempotencyKey,
        in tenant: TenantID
    ) throws(PostgresError) -> Statement {
        guard answer.body.count <= KeptAnswer.limitBytes else { throw .abandoned("answer too large to be kept") }
        return AnswerSQL.keep(
            .id(tenant),
            .string(key.key),
            .string(key.bodyHash),
            .int16(Int16(clamping: answer.status)),
            .bytes(answer.body)
        )
    }
}
