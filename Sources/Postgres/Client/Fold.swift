/// How a call's one statement joins others of its kind: one statement with arrays does for all what each would do alone.
///
/// The statement for many gives a row per call, in order, with the columns of the statement for one, and NULL in the second of them (`ordinal`, …) where a
/// call has to go alone after all.
struct Fold: Sendable {
    /// The statement for many: the parameters that are shared, then one array per value of `row`.
    var sql: String
    var shared: [PostgresValue]
    /// This call's own values: text, uuid or timestamptz.
    var row: [PostgresValue]

    /// Whether the two can go together, for one tenant.
    func joins(_ other: Fold) -> Bool { sql == other.sql && shared == other.shared && row.count == other.row.count }
}

/// A group of transactions as it goes to the server: those that can be folded are one.
struct FoldedGroup: Sendable {
    /// What is sent.
    private(set) var transactions: [Transaction] = []
    /// For each that is sent, which of the group's it does; more than one is folded.
    private var members: [[Int]] = []

    init(_ group: [Transaction]) {
        var folds: [(fold: Fold, tenant: String?, members: [Int])] = []
        for (index, transaction) in group.enumerated() {
            guard let fold = transaction.fold, transaction.statements.count == 1 else {
                add(transaction, [index])
                continue
            }
            let place = folds.firstIndex { $0.tenant == transaction.tenant && $0.fold.joins(fold) }
            if let place {
                folds[place].members.append(index)
            } else {
                folds.append((fold, transaction.tenant, [index]))
            }
        }
        for (fold, tenant, members) in folds {
            let rows = members.compactMap { group[$0].fold?.row }
            let columns = fold.row.indices.map { column in PostgresValue.array(of: rows.map { $0[column] }) }
            guard members.count > 1, columns.allSatisfy({ $0 != nil }) else {
                for member in members { add(group[member], [member]) }
                continue
            }
            add(Transaction(tenant: tenant, [Statement(fold.sql, fold.shared + columns.compactMap(\.self))]), members)
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
        for (result, members) in zip(results, members) {
            guard members.count > 1 else {
                if let member = members.first { split[member] = result }
                continue
            }
            switch result {
            case .success(let sets):
                guard let set = sets.first, set.rowCount == members.count else { continue }
                for (row, member) in members.enumerated() where (try? set[row].isNull(1)) == false {
                    split[member] = .success([set.only(row: row)])
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
