package import Model
package import PostgresClient

/// The next number of the app, once per message; after its acceptance. Nil: there is no such message.
package struct SequenceMessage: StoreWrite {
    let scope: AppScope
    let message: MessageID

    package init(_ scope: AppScope, _ message: MessageID) {
        self.scope = scope
        self.message = message
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.function("sequence_message", 4, columns: "sequence_message AS number")

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(scope.app), .id(scope.vendor), .id(message))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> String? { try result.only().optionalText("number") }
}
