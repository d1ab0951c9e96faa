import FoundationEssentials
package import Model
import PostgresClient

/// Selects messages of a tenant. Nil fields match any message.
package struct MessageFilter: Sendable, Hashable {
    package var app: AppID?
    package var state: MessageState?
    package var vendor: Vendor?
    /// The API key that sent it, as the audit names it.
    package var submitter: String?
    package var label: String?
    /// When it is due: at or after `from`, before `to`.
    package var from: Timestamp?
    package var to: Timestamp?
    /// A part of the title or body, also of a vendor's own payload, whatever the case of its letters.
    package var text: String?

    package init(
        app: AppID? = nil,
        state: MessageState? = nil,
        vendor: Vendor? = nil,
        submitter: String? = nil,
        label: String? = nil,
        from: Timestamp? = nil,
        to: Timestamp? = nil,
        text: String? = nil
    ) {
        self.app = app
        self.state = state
        self.vendor = vendor
        self.submitter = submitter
        self.label = label
        self.from = from
        self.to = to
        self.text = text
    }

    /// Whether it selects by app and state only, so that a page is a part of the list of all messages.
    package var isPlain: Bool { self == MessageFilter(app: app, state: state) }

    /// 2,000 messages for a text: each page parses their contents, of at most 64 KiB.
    package static let textSearch = 2000

    /// The number of messages that a page searches.
    fileprivate func search(_ limit: Int) -> Int {
        text == nil ? PageSearch.rows(limit, isFiltered: true) : max(limit, Self.textSearch)
    }
}

extension PostgresQueryStore {
    /// Returns messages, the latest due first, among the next `PageSearch.limit` of the range, or `MessageFilter.textSearch` for a text, without counts.
    ///
    /// - Throws: `StoreError`.
    package func messages(
        in tenant: TenantID,
        _ filter: MessageFilter,
        after: MessageID?,
        limit: Int
    ) async throws(StoreError) -> LookPage<MessageFacts, MessageID> {
        if filter.isPlain {
            return try await messages(in: tenant, app: filter.app, state: filter.state, after: after, limit: limit)
        }
        let range: [PostgresValue] = [
            .id(tenant), .id(after ?? .greatest), .time(filter.to), .int(filter.search(limit)),
            .time(filter.from),
        ]
        let conditions: [PostgresValue] = [
            .text(filter.state?.rawValue), .id(filter.vendor), .string(filter.submitter), .string(filter.label),
            .string(filter.text), .int(max(0, limit)),
        ]
        let ofApp: [PostgresValue] = filter.app.map { [.id($0)] } ?? []
        let page = (filter.app == nil ? MessageSearchSQL.page : MessageSearchSQL.pageOfApp)
            .with(range + conditions + ofApp)
        let end = (filter.app == nil ? MessageSearchSQL.end : MessageSearchSQL.endOfApp).with(range + ofApp)
        return try await asStore { () throws(PostgresError) in
            let found = try await call.searched(page, end: end, in: tenant) {
                (row) throws(PostgresError) in try row.id("message_id") as MessageID
            }
            let messages = try found.page.rows(Self.message)
            return LookPage(messages, limit: limit, end: found.end, id: \.id, isDescending: true)
        }
    }
}

extension MessageID {
    /// When the message is due: an id begins with the milliseconds since 1970.
    package var dueAt: Timestamp {
        let bytes = rawValue.uuid
        let start = [bytes.0, bytes.1, bytes.2, bytes.3, bytes.4, bytes.5]
        return Timestamp(milliseconds: start.reduce(Int64(0)) { $0 << 8 | Int64($1) })
    }
}
