package import Model
package import PostgresClient

/// A function of the schema that operations call with named parameters: `accept_message(p_tenant => $1, …)`.
///
/// Each parameter's name is declared once, next to its value. The SQL text is built once from the names, so that it is a constant key of a prepared
/// statement. For functions with too many parameters to identify each by its position.
package struct Routine<Call: Sendable, Operation: Sendable>: Sendable {
    package typealias Value = @Sendable (Call, Operation) -> PostgresValue

    let sql: StoreSQL
    private let values: [Value]
    /// The number of leading parameters that are the same for all calls of a batch.
    private let sharedCount: Int

    /// - Parameters:
    ///   - name: the name of the function, without its schema.
    ///   - select: the statement around the call. Its parameters are numbered in the order of their declaration.
    ///   - declare: declares the parameters with their values.
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

    /// The statement of one call.
    package func callAsFunction(_ call: Call, _ operation: Operation) -> Statement {
        sql.with(values.map { $0(call, operation) })
    }

    /// The call as one row of a batch, in which each parameter that is declared after `beginRow()` is an array.
    ///
    /// - Parameters:
    ///   - call: the tenant and node of the call.
    ///   - operation: the operation.
    ///   - subject: the subject of the call: two calls with the same subject are not merged. Nil: no restriction.
    ///   - limit: the maximum number of calls in one merged statement. Nil: a whole group.
    /// - Returns: a batch that can be merged with the rows of other calls.
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

/// The parameters of a routine, in the order of their declaration.
package struct RoutineParameters<Call: Sendable, Operation: Sendable> {
    fileprivate var names: [String] = []
    fileprivate var values: [Routine<Call, Operation>.Value] = []
    fileprivate var sharedCount: Int?

    /// Declares a parameter. Reading is not supported.
    package subscript(name: String) -> Routine<Call, Operation>.Value? {
        get { nil }
        set {
            guard let newValue else { return }
            names.append(name)
            values.append(newValue)
        }
    }

    /// Begins the parameters that differ between the calls of a batch.
    package mutating func beginRow() { sharedCount = names.count }
}

extension RoutineParameters where Call == StoreCall {
    /// Declares tenant, app and dialect.
    package mutating func own(_ scope: @escaping @Sendable (Operation) -> AppScope) {
        self["p_tenant"] = { call, _ in .id(call.tenant) }
        self["p_app"] = { .id(scope($1).app) }
        self["p_vendor"] = { .id(scope($1).vendor) }
    }
}
