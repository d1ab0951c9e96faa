package import Model
package import PostgresClient

/// Records a receipt by the number of the message, also for messages that were not pushed, and writes the event. The first receipt of a kind wins.
package struct ReportNumber: StoreWrite {
    let scope: AppScope
    let caller: DeviceCaller
    let number: String
    let kind: ReceiptKind
    let at: Timestamp

    package init(_ scope: AppScope, _ caller: DeviceCaller, number: String, _ kind: ReceiptKind, at: Timestamp) {
        self.scope = scope
        self.caller = caller
        self.number = number
        self.kind = kind
        self.at = at
    }

    package var sharesCommit: Bool { true }

    private static let one = StoreSQL.function("report_number", 9, columns: "report_number AS outcome")
    private static let set = StoreSQL.function("report_numbers", 8, columns: "ordinal, outcome")

    package func statement(_ call: StoreCall) -> Statement {
        Self.one.with(
            call.caller(caller, scope) + [.string(number), .text(kind.rawValue), .time(at), .id(call.node)]
        )
    }

    package func batch(_ call: StoreCall) -> StatementBatch? {
        StatementBatch(
            sql: Self.set,
            shared: call.owner(scope) + [.id(call.node)],
            row: [.id(caller.key), .string(number), .text(kind.rawValue), .time(at)]
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> ReceiptReport {
        switch try result.only().text("outcome") {
        case "recorded": .recorded
        case "repeated": .repeated
        case "unknown_device": .unknownDevice
        default: .unknownMessage
        }
    }
}

/// The result of a receipt by number.
package enum ReceiptReport: Sendable, Hashable {
    case recorded, repeated, unknownDevice, unknownMessage
}
