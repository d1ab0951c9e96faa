/// Describes how the statement of one call is merged with those of other calls: one statement with arrays does the work of all of them.
///
/// The merged statement returns one row per call, in order, with the columns of the single statement, and NULL in the second column (`ordinal`, …) for a
/// call that must run alone. If a call has several statements, each is merged. The statements after one that must run alone have run already and run
/// again: they must tolerate that, or leave the call out as well, if the first may still be refused (`gateway.left_out`).
package struct StatementBatch: Sendable {
    /// The merged statement, with the parameters that all calls share. One array per value of `row` follows them.
    var shared: Statement
    /// The values of this call: text, uuid, timestamptz, bytea or bigint.
    var row: [PostgresValue]
    /// The subject of the call: two calls with the same subject are not merged. Nil: no restriction.
    var subject: String?
    /// The maximum number of calls in one merged statement. Nil: a whole group.
    var limit: Int?

    package init(shared: Statement, row: [PostgresValue], subject: String? = nil, limit: Int? = nil) {
        self.shared = shared
        self.row = row
        self.subject = subject
        self.limit = limit
    }

    /// Whether both calls, of the same tenant, can be merged.
    func joins(_ other: StatementBatch) -> Bool {
        shared.sql == other.shared.sql && shared.parameters == other.shared.parameters && row.count == other.row.count
    }

    /// The merged statement of `batches`; nil when the type of a value cannot be merged.
    static func joined(_ batches: [StatementBatch]) -> Statement? {
        guard let first = batches.first else { return nil }
        var statement = first.shared
        for column in first.row.indices {
            guard let array = PostgresValue.array(of: column, in: batches) else { return nil }
            statement.parameters.append(array)
        }
        return statement
    }
}

/// A group of transactions as it is sent to the server: those that can be merged become one.
struct BatchedTransactions: Sendable {
    /// Calls that are merged.
    private struct BatchGroup {
        var tenant: String?
        var batches: [StatementBatch]
        var members: [Int]
        var subjects: Set<String>

        /// Adds the call if it can be merged with this group.
        mutating func admits(_ transaction: Transaction, _ member: Int) -> Bool {
            guard members.count < batches.first?.limit ?? .max, tenant == transaction.tenant,
                batches.count == transaction.batches.count,
                zip(batches, transaction.batches).allSatisfy({ $0.joins($1) })
            else { return false }
            if let subject = transaction.batches.first?.subject, !subjects.insert(subject).inserted { return false }
            members.append(member)
            return true
        }
    }

    /// The transactions to send.
    private(set) var transactions: [Transaction] = []
    /// For each sent transaction, the indexes of its calls in the group. More than one index means that they are merged.
    private var members: [[Int]] = []

    init(_ calls: [Transaction]) {
        var groups: [BatchGroup] = []
        for (index, transaction) in calls.enumerated() {
            guard transaction.canBeMerged else {
                add(transaction, [index])
                continue
            }
            if groups.indices.contains(where: { groups[$0].admits(transaction, index) }) { continue }
            let subjects = Set([transaction.batches.first?.subject].compactMap(\.self))
            groups.append(
                BatchGroup(
                    tenant: transaction.tenant,
                    batches: transaction.batches,
                    members: [index],
                    subjects: subjects
                )
            )
        }
        for group in groups {
            let statements = group.batches.indices.map { place in
                StatementBatch.joined(group.members.map { calls[$0].batches[place] })
            }
            if group.members.count > 1, statements.allSatisfy({ $0 != nil }) {
                let flushes = group.members.contains { calls[$0].flushes }
                add(Transaction(tenant: group.tenant, statements.compactMap(\.self), flushes: flushes), group.members)
            } else {
                for member in group.members { add(calls[member], [member]) }
            }
        }
    }

    private mutating func add(_ transaction: Transaction, _ members: [Int]) {
        transactions.append(transaction)
        self.members.append(members)
    }

    /// The result of each call of the group. Nil: the call must run alone, and nothing happened for it.
    func split(
        _ results: [Result<[ResultSet], PostgresError>],
        count: Int
    ) -> [Result<[ResultSet], PostgresError>?] {
        var split = [Result<[ResultSet], PostgresError>?](repeating: nil, count: count)
        for (place, result) in results.enumerated() {
            for (member, own) in self.split(result, at: place) { split[member] = own }
        }
        return split
    }

    /// The calls of one sent transaction with their results. Nil: the call must run alone, and nothing happened for it.
    func split(
        _ result: Result<[ResultSet], PostgresError>,
        at place: Int
    ) -> [(member: Int, result: Result<[ResultSet], PostgresError>?)] {
        let members = members[place]
        guard members.count > 1 else { return members.map { ($0, result) } }
        switch result {
        case .success(let sets):
            let isWhole =
                sets.count == transactions[place].statementCount && sets.allSatisfy { $0.rowCount == members.count }
            return members.enumerated().map { row, member in
                let isDone = isWhole && sets.allSatisfy { (try? $0[row].isNull(1)) == false }
                return (member, isDone ? .success(sets.map { $0.only(row: row) }) : nil)
            }
        // One call may have caused the failure of all, so each is repeated alone. A transaction that may have been committed is not repeated.
        case .failure(let error): return members.map { ($0, error.isIndeterminate ? .failure(error) : nil) }
        }
    }
}

extension Transaction {
    /// A call whose statement has one form: arrays, also for itself alone. Its values must be of the types that can be merged.
    package init(tenant: String?, _ batch: StatementBatch, flushes: Bool) {
        self.init(tenant: tenant, [batch], of: 1, flushes: flushes) {
            [StatementBatch.joined([batch])].compactMap(\.self)
        }
    }

    /// Whether each of its statements can join those of other calls. A call that writes with one statement twice, such as one with two receipts, runs alone:
    /// if the second receipt had to, the first one would be recorded again, and count as a repetition.
    var canBeMerged: Bool {
        guard !batches.isEmpty, batches.count == statementCount else { return false }
        if batches.count == 1 || !flushes { return true }
        // Compared one by one: hashing the texts of two statements takes longer than all else here.
        return batches.indices.allSatisfy { place in
            !batches[..<place].contains { $0.shared.sql == batches[place].shared.sql }
        }
    }
}

extension PostgresValue {
    /// An array of one value of each call, which are of one type; nil for types that cannot be merged.
    fileprivate static func array(of column: Int, in batches: [StatementBatch]) -> PostgresValue? {
        switch batches.first?.row[column] {
        case .text: .texts(batches.map { if case .text(let text) = $0.row[column] { text } else { nil } })
        case .uuid: .uuids(batches.map { if case .uuid(let uuid) = $0.row[column] { uuid } else { nil } })
        case .timestamp: .timestamps(batches.map { if case .timestamp(let at) = $0.row[column] { at } else { nil } })
        case .int64: .int64s(batches.map { if case .int64(let number) = $0.row[column] { number } else { nil } })
        case .bytes: .byteArrays(batches.map { if case .bytes(let bytes) = $0.row[column] { bytes } else { nil } })
        default: nil
        }
    }
}

extension ResultSet {
    /// A result that contains only the given row.
    fileprivate func only(row: Int) -> ResultSet {
        ResultSet(
            shape: shape,
            bytes: bytes,
            cells: cells,
            firstCell: firstCell + row * shape.types.count,
            rowCount: 1,
            affectedRows: 1,
            commandTag: commandTag
        )
    }
}
