import PostgresClient

/// Operations that run in one transaction and one round trip, and a function of their answers.
///
/// Rules build requests without access to a store: they are pure values that can be combined and mapped. No casts are needed, because every reader knows
/// the type of its operation.
package struct StoreRequest<Answer: Sendable>: Sendable {
    /// The operations in the order in which they run. If empty, the answer is known and no transaction is needed.
    private(set) var operations: [any StoreOperation]

    /// Removes the results of `operations` from the front of the transaction's results and decodes them.
    private let reader: @Sendable (inout ArraySlice<ResultSet>) throws(PostgresError) -> Answer

    /// The operations that end the transaction, from the results of `operations`; nil: none.
    private let closing: Closing?

    private typealias Closing = @Sendable (ArraySlice<ResultSet>) throws(PostgresError) -> [any StoreOperation]

    private init(
        operations: [any StoreOperation],
        closing: Closing? = nil,
        reader: @escaping @Sendable (inout ArraySlice<ResultSet>) throws(PostgresError) -> Answer
    ) {
        self.operations = operations
        self.closing = closing
        self.reader = reader
    }

    /// Runs one operation and transforms its answer. Most calls run one operation, and without a list of types they need no metadata of it at run time.
    package init<Operation: StoreOperation>(
        _ operation: Operation,
        answer: @escaping @Sendable (Operation.Answer) -> Answer
    ) {
        let shared = SharedOperation(operation)
        self.init(operations: [shared]) { (results) throws(PostgresError) in answer(try shared.take(&results)) }
    }

    /// Runs the operations in order and transforms their answers.
    package init<each Operation: StoreOperation>(
        _ operation: repeat each Operation,
        answer: @escaping @Sendable (repeat (each Operation).Answer) -> Answer
    ) {
        // One object per operation, which the list and the reader share.
        let shared = (repeat SharedOperation(each operation))
        var operations: [any StoreOperation] = []
        repeat operations.append(each shared)
        self.init(operations: operations) { (results) throws(PostgresError) in
            answer(repeat try (each shared).take(&results))
        }
    }

    /// Runs the operations in order and returns their answers.
    package init<each Operation: StoreOperation>(
        _ operation: repeat each Operation
    ) where Answer == (repeat (each Operation).Answer) {
        self.init(repeat each operation) { (answers: repeat (each Operation).Answer) in (repeat each answers) }
    }

    /// A request without operations, whose answer is known.
    package static func settled(_ answer: Answer) -> StoreRequest {
        StoreRequest(operations: []) { _ in answer }
    }

    /// Whether the answer is known without a database call.
    package var isSettled: Bool { operations.isEmpty }

    /// The answer if it is known without a database call.
    package var known: Answer? { isSettled ? try? read([]) : nil }

    /// Decodes the answer from the results of the operations. A settled request needs no results.
    ///
    /// - Throws: `PostgresError` when the results do not have the expected form.
    func read(_ results: [ResultSet]) throws(PostgresError) -> Answer {
        var rest = results[...]
        return try reader(&rest)
    }

    /// Whether operations that depend on the answer end the transaction. They cost one more round trip.
    var hasEnding: Bool { closing != nil }

    /// Returns the operations that end the transaction, given the results of the request's operations.
    ///
    /// - Throws: `PostgresError` if the results have unexpected columns.
    func lastOperations(_ results: [ResultSet]) throws(PostgresError) -> [any StoreOperation] {
        try closing?(results[...]) ?? []
    }

    // MARK: Derived requests

    /// Appends operations that depend on the answer and end the transaction, such as a row of the audit. Their answers are not read.
    package func ending(
        _ last: @escaping @Sendable (Answer) -> [any StoreOperation]
    ) -> StoreRequest {
        let (reader, earlier) = (reader, closing)
        return StoreRequest(
            operations: operations,
            closing: { (results) throws(PostgresError) in
                var rest = results
                let answer = try reader(&rest)
                let first = try earlier?(results) ?? []
                return first + last(answer)
            },
            reader: reader
        )
    }

    /// Returns `closing` for a request in which `count` other operations run first: it skips their results.
    private static func closing(_ closing: Closing?, after count: Int) -> Closing? {
        guard let closing else { return nil }
        return { (results) throws(PostgresError) in try closing(results.dropFirst(count)) }
    }

    private static func closing<One>(of requests: [StoreRequest<One>]) -> Closing? {
        // No key path: of a generic type, it is built anew at each use, which costs more than the rest of a call's request.
        guard requests.contains(where: { $0.hasEnding }) else { return nil }
        return { (results) throws(PostgresError) in
            var (rest, last): (ArraySlice<ResultSet>, [any StoreOperation]) = (results, [])
            for request in requests {
                last += try request.closing?(rest) ?? []
                rest = rest.dropFirst(request.operations.count)
            }
            return last
        }
    }

    /// The same operations with another answer.
    package func map<Other: Sendable>(_ transform: @escaping @Sendable (Answer) -> Other) -> StoreRequest<Other> {
        let reader = reader
        return StoreRequest<Other>(operations: operations, closing: closing) { (results) throws(PostgresError) in
            transform(try reader(&results))
        }
    }

    /// The same request preceded by operations whose answers are ignored, such as conditions that make the transaction fail.
    package func preceded(by first: [any StoreOperation]) -> StoreRequest {
        guard !first.isEmpty else { return self }
        let (count, reader) = (first.count, reader)
        return StoreRequest(operations: first + operations, closing: Self.closing(closing, after: count)) {
            (results) throws(PostgresError) in
            results = results.dropFirst(count)
            return try reader(&results)
        }
    }

    /// The same request with one more operation at the end, whose answer is stored in the answer so far.
    package func adding<Operation: StoreOperation>(
        _ operation: Operation,
        _ note: @escaping @Sendable (inout Answer, Operation.Answer) -> Void = { _, _ in }
    ) -> StoreRequest {
        let (shared, reader) = (SharedOperation(operation), reader)
        return StoreRequest(operations: operations + [shared], closing: closing) { (results) throws(PostgresError) in
            var answer = try reader(&results)
            note(&answer, try shared.take(&results))
            return answer
        }
    }

    /// Combines several requests into one that returns all their answers.
    package static func all<One>(_ requests: [StoreRequest<One>]) -> StoreRequest where Answer == [One] {
        // Nearly every call has one command.
        if requests.count == 1 { return requests[0].map { [$0] } }
        return StoreRequest(operations: requests.flatMap { $0.operations }, closing: closing(of: requests)) {
            (results) throws(PostgresError) in
            var answers: [One] = []
            answers.reserveCapacity(requests.count)
            for request in requests { answers.append(try request.reader(&results)) }
            return answers
        }
    }
}

/// An operation that is shared by reference instead of copied.
private final class SharedOperation<Operation: StoreOperation>: StoreOperation {
    private let operation: Operation

    init(_ operation: Operation) { self.operation = operation }

    var writes: Bool { operation.writes }
    var sharesCommit: Bool { operation.sharesCommit }
    var isAuditedBySchema: Bool { operation.isAuditedBySchema }
    func statement(_ call: StoreCall) -> Statement { operation.statement(call) }
    func batch(_ call: StoreCall) -> StatementBatch? { operation.batch(call) }
    func read(_ result: ResultSet) throws(PostgresError) -> Operation.Answer { try operation.read(result) }
    func committed(_ result: ResultSet) { operation.committed(result) }

    /// Decodes the answer from the next result.
    func take(_ results: inout ArraySlice<ResultSet>) throws(PostgresError) -> Operation.Answer {
        guard let result = results.popFirst() else { throw PostgresError(.unexpectedRowCount) }
        return try operation.read(result)
    }
}
