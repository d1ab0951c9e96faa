package import Model
package import PostgresClient

/// Returns a page of a history. Messages to the device itself that it contains count as received, unless the page is read without receipts. The page is
/// empty if the caller is not registered. `isWhole`: a caller with a claimed user also gets the messages of that user from before it had the user.
package struct ListHistory: StoreOperation {
    let scope: AppScope
    let caller: DeviceCaller
    let page: HistoryPage
    let at: Timestamp
    let isWhole: Bool

    package init(_ scope: AppScope, _ caller: DeviceCaller, _ page: HistoryPage, at: Timestamp, isWhole: Bool = false) {
        self.scope = scope
        self.caller = caller
        self.page = page
        self.at = at
        self.isWhole = isWhole
    }

    package var writes: Bool { page.look == nil }

    private static let showing = Routine<StoreCall, Self>("history_page") { p in
        p.own { $0.scope }
        p["p_key"] = { .id($1.caller.key) }
        p["p_token"] = { .string($1.caller.token?.text) }
        p["p_kind"] = { .text($1.page.owner.kind) }
        p["p_user"] = { .id($1.page.owner.user) }
        p["p_number"] = { .string($1.page.before) }
        p["p_now"] = { .id(MessageID.first(after: $1.at)) }
        p["p_today"] = { .int32($1.at.day) }
        p["p_limit"] = { .int32(Int32(clamping: $1.page.count)) }
        p["p_at"] = { .time($1.at) }
        p["p_node"] = { call, _ in .id(call.node) }
        p["p_whole"] = { .bool($1.isWhole) }
    }

    private static let looking = Routine<StoreCall, HistoryFinding>(
        "find_history",
        select: HistoryFinding.content,
        HistoryFinding.declare
    )

    package func statement(_ call: StoreCall) -> Statement {
        guard let look = page.look else { return Self.showing(call, self) }
        return Self.looking(
            call,
            HistoryFinding(scope: scope, caller: caller, page: page, look: look, at: at, isWhole: isWhole)
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> [InboxEntry] {
        try page.look == nil ? result.rows(InboxEntry.read) : result.rows(InboxEntry.readLooked)
    }
}
