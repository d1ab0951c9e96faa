package import Model
package import PostgresClient

/// Sets the URL to which the outcomes of a sender's messages are reported. Returns the number of senders with that id: 0 or 1.
package struct SetCallback: StoreWrite {
    let scope: AppScope
    let sender: SenderID
    let url: String?

    package init(_ scope: AppScope, _ sender: SenderID, url: String?) {
        self.scope = scope
        self.sender = sender
        self.url = url
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.function("set_callback", 5, columns: "set_callback AS count")

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(scope.app), .id(scope.vendor), .id(sender), .string(url))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Int { try result.count() }
}
