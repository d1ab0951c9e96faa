/// How one statement of a call joins others of its kind: one statement with arrays does for all what each would do alone.
///
/// The statement for many gives a row per call, in order, with the columns of the statement for one, and NULL in the second of them (`ordinal`, …) where a
/// call has to go alone after all. Of a call with several statements each is folded; those behind one that goes alone have happened then, and happen again:
/// they must bear it.
struct Fold: Sendable {
    /// The statement for many: the parameters that are shared, then one array per value of `row`.
    var sql: String
    var shared: [PostgresValue]
    /// This call's own values: text, uuid or timestamptz.
    var row: [PostgresValue]
    /// Whom the call is about: two about the same one do not go together. Nil: they may.
    var subject: String?
    /// How many calls go together at most. Nil: a whole group.
    var limit: Int?

    /// Whether the two can go together, for one tenant.
    func joins(_ other: Fold) -> Bool { sql == other.sql && shared == other.shared && row.count == other.row.count }
}

/// A group of transactions as it goes to the server: those that can be folded are one.
struct FoldedGroup: Sendable {
    /// Calls that go together.
    private struct Party {
        var tenant: String?
        var folds: [Fold]
        var members: [Int]
        var subjects: Set<String>

        /// Takes the call in, if it may come along.
        mutating func admits(_ transaction: Transaction, _ member: Int) -> Bool {
            guard members.count < folds.first?.limit ?? .max, tenant == transaction.tenant,
                folds.count == transaction.folds.count,
                zip(folds, transaction.folds).allSatisfy({ $0.joins($1) })
            else { return false }
            if let subject = transaction.folds.first?.subject, !subjects.insert(subject).inserted { return false }
            members.append(member)
            return true
        }
    }

    /// What is sent.
    private(set) var transactions: [Transaction] = []
    /// For each that is sent, which of the group's it does; more than one is folded.
    private var members: [[Int]] = []

    init(_ group: [Transaction]) {
        var parties: [Party] = []
        for (index, transaction) in group.enumerated() {
            guard !transaction.folds.isEmpty, transaction.folds.count == transaction.statements.count else {
                add(transaction, [index])
                continue
            }
            if parties.indices.contains(where: { parties[$0].admits(transaction, index) }) { continue }
            let subjects = Set([transaction.folds.first?.subject].compactMap(\.self))
            parties.append(
                Party(tenant: transaction.tenant, folds: transaction.folds, members: [index], subjects: subjects)
            )
        }
        for party in parties {
            let statements = party.folds.indices.map { Self.statement($0, of: party.members.map { group[$0] }) }
            if party.members.count > 1, statements.allSatisfy({ $0 != nil }) {
                add(Transaction(tenant: party.tenant, statements.compactMap(\.self)), party.members)
            } else {
                for member in party.members { add(group[member], [member]) }
            }
        }
    }

    /// The statement at `place` for all of these; nil where a value is of a kind that is not folded.
    private static func statement(_ place: Int, of transactions: [Transaction]) -> Statement? {
        guard let fold = transactions.first?.folds[place] else { return nil }
        var parameters = fold.shared
        for column in fold.row.indices {
            guard let array = PostgresValue.array(of: transactions.map { $0.folds[place].row[column] }) else {
                return nil
            }
            parameters.append(array)
        }
        return Statement(fold.sql, parameters)
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
    /// An array of values of one kind; nil for kinds that are not folded.
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
