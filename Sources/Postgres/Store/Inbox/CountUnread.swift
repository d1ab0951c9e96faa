package import Model
package import PostgresClient

/// Counts the unread messages among the newest `limit`.
package struct CountUnread: StoreRead {
    let scope: AppScope
    let caller: DeviceCaller
    let owner: HistoryPage.Owner
    let hiddenBy: String?
    let limit: Int
    let at: Timestamp
    let isWhole: Bool

    package init(
        _ scope: AppScope,
        _ caller: DeviceCaller,
        _ owner: HistoryPage.Owner,
        hiddenBy: String?,
        limit: Int,
        at: Timestamp,
        isWhole: Bool = false
    ) {
        self.scope = scope
        self.caller = caller
        self.owner = owner
        self.hiddenBy = hiddenBy
        self.limit = limit
        self.at = at
        self.isWhole = isWhole
    }

    private static let routine = Routine<StoreCall, HistoryFinding>(
        "find_history",
        select: { "SELECT count(*) AS count FROM \($0)" },
        HistoryFinding.declare
    )

    package func statement(_ call: StoreCall) -> Statement {
        let look = HistoryLook(isRead: false, hiddenBy: hiddenBy)
        let page = HistoryPage(owner, count: max(0, limit), look: look)
        return Self.routine(
            call,
            HistoryFinding(scope: scope, caller: caller, page: page, look: look, at: at, isWhole: isWhole)
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Int { try result.count() }
}
