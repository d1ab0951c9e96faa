package import Model
package import PostgresClient

/// Finds one message of the given user, who must be the user of the caller. Nil: the user has no message with that number.
package struct FindUserMessage: StoreRead {
    let scope: AppScope
    let caller: DeviceCaller
    let user: UserID
    let number: String
    let hiddenBy: String?
    let isWhole: Bool

    package init(
        _ scope: AppScope,
        _ caller: DeviceCaller,
        _ user: UserID,
        number: String,
        hiddenBy: String?,
        isWhole: Bool = false
    ) {
        self.scope = scope
        self.caller = caller
        self.user = user
        self.number = number
        self.hiddenBy = hiddenBy
        self.isWhole = isWhole
    }

    private static let sql = StoreSQL.tenant(
        HistoryFinding.content(of: "gateway.find_message($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)")
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql.with(call.reader(caller, scope) + [.id(user), .string(number), .string(hiddenBy), .bool(isWhole)])
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> InboxEntry? {
        try result.rows(InboxEntry.readLooked).first
    }
}
