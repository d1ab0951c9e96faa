/// How one statement of a call joins others of its kind: one statement with arrays does for all what each would do alone.
///
/// The statement for many gives a row per call, in order, with the columns of the statement for one, and NULL in the second of them (`ordinal`, …) where a
/// call has to go alone after all. Of a call with several statements each is joined; those behind one that goes alone have happened then, and happen again:
/// they must bear it.
package struct StatementBatch: Sendable {
    /// The statement for many, with the parameters that are shared; one array per value of `row` follows them.
    var shared: Statement
    /// This call's own values: text, uuid or timestamptz.
    var row: [PostgresValue]
    /// Whom the call is about: two about the same one do not go together. Nil: they may.
    var subject: String?
    /// How many calls go together at most. Nil: a whole group.
    var limit: Int?

    package init(shared: Statement, row: [PostgresValue], subject: String? = nil, limit: Int? = nil) {
        self.shared = shared
        self.row = row
        self.subject = subject
        self.limit = limit
    }

    /// Whether the two can go together, for one tenant.
    func joins(_ other: StatementBatch) -> Bool {
        shared.sql == other.shared.sql && shared.parameters == other.shared.parameters && row.count == other.row.count
    }

    /// The statement for all of these, which join each other; nil where a value is of a kind that is not joined.
    static func joined(_ batches: [StatementBatch]) -> Statement? {
        guard let first = batches.first else { return nil }
        var statement = first.shared
        for column in first.row.indices {
            guard let array = PostgresValue.array(of: batches.map { $0.row[column] }) else { return nil }
            statement.parameters.append(array)
        }
        return statement
    }
}

/// A group of transactions as it goes to the server: those that can be joined are one.
struct BatchedTransactions: Sendable {
    /// Calls that go together.
    private struct BatchGroup {
        var tenant: String?
        var batches: [StatementBatch]
        var members: [Int]
        var subjects: Set<String>

        /// Takes the call in, if it may come along.
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

    /// What is sent.
    private(set) var transactions: [Transaction] = []
    /// For each that is sent, which of the group's it does; more than one is joined.
    private var members: [[Int]] = []

    init(_ calls: [Transaction]) {
        var groups: [BatchGroup] = []
        for (index, transaction) in calls.enumerated() {
            guard !transaction.batches.isEmpty, transaction.batches.count == transaction.statements.count else {
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
                add(Transaction(tenant: group.tenant, statements.compactMap(\.self)), group.members)
            } else {
                for member in group.members { add(calls[member], [member]) }
            }
        }
    }

    private mutating func add(_ transaction: Transaction, _ members: [Int]) {
        transactions.append(transaction)
        self.members.append(members)
    }

    /// What each of the group got; nil: it has to go alone, nothing happened for it.
    func split(
        _ results: [Result<[ResultSet], PostgresError>],
        count: Int
    ) -> [Result<[ResultSet], PostgresError>?] {
        var split = [Result<[ResultSet], PostgresError>?](repeating: nil, count: count)
        for ((result, transaction), members) in zip(zip(results, transactions), members) {
            guard members.count > 1 else {
                if let member = members.first { split[member] = result }
                continue
            }
            switch result {
            case .success(let sets):
                guard sets.count == transaction.statements.count,
                    sets.allSatisfy({ $0.rowCount == members.count })
                else { continue }
                for (row, member) in members.enumerated()
                where sets.allSatisfy({ (try? $0[row].isNull(1)) == false }) {
                    split[member] = .success(sets.map { $0.only(row: row) })
                }
            // One may have spoiled it for all: each is tried alone. What may have happened is not tried again.
            case .failure(let error):
                if error.isIndeterminate { for member in members { split[member] = .failure(error) } }
            }
        }
        return split
    }
}

extension PostgresValue {
    /// An array of values of one kind; nil for kinds that are not joined.
    fileprivate static func array(of values: [PostgresValue]) -> PostgresValue? {
        switch values.first {
        case .text: .texts(values.map { if case .text(let text) = $0 { text } else { nil } })
        case .uuid: .uuids(values.map { if case .uuid(let uuid) = $0 { uuid } else { nil } })
        case .timestamp: .timestamps(values.map { if case .timestamp(let time) = $0 { time } else { nil } })
        default: nil
        }
    }
}

extension ResultSet {
    /// One of the rows as a result of its own.
    fileprivate func only(row: Int) -> ResultSet {
        let width = shape.types.count
        return ResultSet(
            shape: shape,
            bytes: bytes,
            cells: Array(cells[row * width..<(row + 1) * width]),
            rowCount: 1,
            affectedRows: 1,
            commandTag: commandTag
        )
    }
}
