package import Model
package import PostgresClient

/// Finds the numbers of a message in the dialects that number messages.
package struct FindNumbers: StoreRead {
    let message: MessageID

    package init(of message: MessageID) {
        self.message = message
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.tenant(
        "SELECT \(StoreSQL.numbersColumn) FROM gateway.message m WHERE m.tenant_id = $1 AND m.message_id = $2"
    )

    package func statement(_ call: StoreCall) -> Statement { Self.sql(.id(call.tenant), .id(message)) }

    package func read(_ result: ResultSet) throws(PostgresError) -> [Vendor: String] {
        NumberRow.read(try result.first?.object("numbers") ?? JSONObject())
    }
}
