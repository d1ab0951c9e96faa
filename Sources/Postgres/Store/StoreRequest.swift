import PostgresClient

/// Operations that run in one transaction and one round trip, and what is made of their answers.
///
/// Rules make requests without a store at hand: pure values, joined and mapped as needed. Nothing is cast: every reader knows its operation's type.
package struct StoreRequest<Answer: Sendable>: Sendable {
    /// In the order in which they run. None: the answer is settled, and no transaction is needed.
    private(set) var operations: [any StoreOperation]

    /// Takes the results of `operations` off the front of those of the transaction.
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

    /// The operations in order, and what their answers make.
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

    /// The operations in order, and their answers.
    package init<each Operation: StoreOperation>(
        _ operation: repeat each Operation
    ) where Answer == (repeat (each Operation).Answer) {
        self.init(repeat each operation) { (answers: repeat (each Operation).Answer) in (repeat each answers) }
    }

    /// No operation: the answer is known.
    package static func settled(_ answer: Answer) -> StoreRequest {
        StoreRequest(operations: []) { _ in answer }
    }

    /// Whether nothing needs to be asked.
    package var isSettled: Bool { operations.isEmpty }

    /// The answer where nothing needs to be asked.
    package var known: Answer? { isSettled ? try? read([]) : nil }

    /// The answer of a request that is settled, or of the results of its operations.
    ///
    /// - Throws: `PostgresError`, when the results are not what the operations should give.
    func read(_ results: [ResultSet]) throws(PostgresError) -> Answer {
        var rest = results[...]
        return try reader(&rest)
    }

    /// Whether operations that depend on the answer end the transaction. They cost one more round trip.
    var hasEnding: Bool { closing != nil }

    /// The operations that end the transaction, where those of the request gave `results`.
    ///
    /// - Throws: `PostgresError`, when the results are not what the operations should give.
    func lastOperations(_ results: [ResultSet]) throws(PostgresError) -> [any StoreOperation] {
        try closing?(results[...]) ?? []
    }

    // MARK: Making others of it

    /// The same with operations that depend on the answer and end its transaction, such as a row of the audit. Their answers are not read.
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

    /// The same ending, where `count` other operations run first.
    private static func closing(_ closing: Closing?, after count: Int) -> Closing? {
        guard let closing else { return nil }
        return { (results) throws(PostgresError) in try closing(results.dropFirst(count)) }
    }

    private static func closing<One>(of requests: [StoreRequest<One>]) -> Closing? {
        guard requests.contains(where: \.hasEnding) else { return nil }
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

    /// The same behind operations whose answers nobody needs, such as conditions that make the transaction fail.
    package func preceded(by first: [any StoreOperation]) -> StoreRequest {
        guard !first.isEmpty else { return self }
        let (count, reader) = (first.count, reader)
        return StoreRequest(operations: first + operations, closing: Self.closing(closing, after: count)) {
            (results) throws(PostgresError) in
            results = results.dropFirst(count)
            return try reader(&results)
        }
    }

    /// The same with one more operation at the end, whose answer is noted in the answer so far.
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

    /// Several requests as one, with all their answers.
    package static func all<One>(_ requests: [StoreRequest<One>]) -> StoreRequest where Answer == [One] {
        StoreRequest(operations: requests.flatMap(\.operations), closing: closing(of: requests)) {
            (results) throws(PostgresError) in
            var answers: [One] = []
            answers.reserveCapacity(requests.count)
            for request in requests { answers.append(try request.reader(&results)) }
            return answers
        }
    }
}

/// An operation that several hold: a reference in place of copies.
private final class SharedOperation<Operation: StoreOperation>: StoreOperation {
    private let operation: Operation

    init(_ operation: Operation) { self.operation = operation }

    var writes: Bool { operation.writes }
    var sharesCommit: Bool { operation.sharesCommit }
    func statement(_ call: StoreCall) -> Statement { operation.statement(call) }
    func batch(_ call: StoreCall) -> StatementBatch? { operation.batch(call) }
    func read(_ result: ResultSet) throws(PostgresError) -> Operation.Answer { try operation.read(result) }

    /// The answer in the next result.
    func take(_ results: inout ArraySlice<ResultSet>) throws(PostgresError) -> Operation.Answer {
        guard let result = results.popFirst() else { throw PostgresError(.unexpectedRowCount) }
        return try operation.read(result)
    }
}
