package import Model
package import PostgresClient

/// A function of the schema that operations call by the names of its parameters: `accept_message(p_tenant => $1, …)`.
///
/// Each parameter's name is written next to its value, once; the text is made of the names once, so that it stays the key of one prepared statement. For
/// functions with too many parameters to identify each by its position.
package struct Routine<Call: Sendable, Operation: Sendable>: Sendable {
    package typealias Value = @Sendable (Call, Operation) -> PostgresValue

    let sql: StoreSQL
    private let values: [Value]
    /// How many of them, at the front, are the same for all calls of a set.
    private let sharedCount: Int

    /// - Parameters:
    ///   - name: the function's, without its schema.
    ///   - select: the statement around the call; its parameters are numbered as they are declared.
    ///   - declare: names the parameters with their values.
    package init(
        _ name: String,
        select: (_ call: String) -> String = { "SELECT * FROM \($0)" },
        _ declare: (inout RoutineParameters<Call, Operation>) -> Void
    ) {
        var parameters = RoutineParameters<Call, Operation>()
        declare(&parameters)
        let list = parameters.names.enumerated().map { "\($1) => $\($0 + 1)" }.joined(separator: ", ")
        sql = .tenant(select("gateway.\(name)(\(list))"))
        values = parameters.values
        sharedCount = parameters.sharedCount ?? 0
    }

    /// The call.
    package func callAsFunction(_ call: Call, _ operation: Operation) -> Statement {
        sql.with(values.map { $0(call, operation) })
    }

    /// The call as one row of a set. What is declared behind `beginRow()` is an array there.
    ///
    /// - Parameters:
    ///   - call: whose it is.
    ///   - operation: what it is about.
    ///   - subject: whom it is about: two about the same one do not go together. Nil: they may.
    ///   - limit: how many go together at most. Nil: a whole group.
    /// - Returns: what joins the rows of other calls.
    package func row(_ call: Call, _ operation: Operation, subject: String? = nil, limit: Int? = nil) -> StatementBatch
    {
        StatementBatch(
            sql: sql,
            shared: values.prefix(sharedCount).map { $0(call, operation) },
            row: values.dropFirst(sharedCount).map { $0(call, operation) },
            subject: subject,
            limit: limit
        )
    }
}

/// The parameters of a routine, in the order in which they are declared.
package struct RoutineParameters<Call: Sendable, Operation: Sendable> {
    fileprivate var names: [String] = []
    fileprivate var values: [Routine<Call, Operation>.Value] = []
    fileprivate var sharedCount: Int?

    /// Declares a parameter; there is nothing to read.
    package subscript(name: String) -> Routine<Call, Operation>.Value? {
        get { nil }
        set {
            guard let newValue else { return }
            names.append(name)
            values.append(newValue)
        }
    }

    /// In the set form of a routine: from here on each call of the set has its own.
    package mutating func beginRow() { sharedCount = names.count }
}

extension RoutineParameters where Call == StoreCall {
    /// Tenant, app and dialect.
    package mutating func own(_ scope: @escaping @Sendable (Operation) -> AppScope) {
        self["p_tenant"] = { call, _ in .id(call.tenant) }
        self["p_app"] = { .id(scope($1).app) }
        self["p_vendor"] = { .id(scope($1).vendor) }
    }
}
