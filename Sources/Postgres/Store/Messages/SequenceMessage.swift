package import Model
package import PostgresClient

/// Assigns the next number of the app to a message, once per message. Runs after its acceptance. Nil: the message does not exist.
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
