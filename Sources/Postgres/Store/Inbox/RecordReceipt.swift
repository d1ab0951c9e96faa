package import Model
package import PostgresClient

/// Records a receipt by message id and writes the event. The first receipt of a kind wins.
package struct RecordReceipt: StoreWrite {
    let scope: AppScope
    /// Nil: the name of the message cannot be that of one, and the receipt is only counted.
    let message: MessageID?
    let reporter: Reporter
    let kind: ReceiptKind
    let at: Timestamp

    package init(_ scope: AppScope, _ message: MessageID?, _ reporter: Reporter, _ kind: ReceiptKind, at: Timestamp) {
        self.scope = scope
        self.message = message
        self.reporter = reporter
        self.kind = kind
        self.at = at
    }

    package var sharesCommit: Bool { true }

    private static let one = StoreSQL.function("record_receipt", 8, columns: "record_receipt AS outcome")
    private static let set = StoreSQL.function("record_receipts", 8, columns: "ordinal, outcome")

    package func statement(_ call: StoreCall) -> Statement {
        Self.one(
            .id(call.tenant),
            .id(scope.app),
            .id(scope.vendor),
            .id(message),
            .id(reporter.key),
            .text(kind.rawValue),
            .time(at),
            .id(call.node)
        )
    }

    package func batch(_ call: StoreCall) -> StatementBatch? {
        StatementBatch(
            sql: Self.set,
            shared: call.owner(scope) + [.id(call.node)],
            row: [.id(message), .id(reporter.key), .text(kind.rawValue), .time(at)]
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> ReceiptReply {
        switch try result.only().text("outcome") {
        case "recorded": .recorded
        case "repeated": .repeated
        default: .orphan
        }
    }
}
