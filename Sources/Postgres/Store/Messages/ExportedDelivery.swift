import Foundation
package import Model
import PostgresClient

/// A delivery with what identifies it among those of all messages.
package struct ExportedDelivery: Sendable, Hashable {
    package var cursor: DeliveryCursor
    package var app: AppID
    package var vendor: Vendor
    package var facts: DeliveryFacts
}

/// A place in the order of all deliveries: by due time, message and target. The id of a message contains its due time.
package struct DeliveryCursor: Sendable, Hashable, Comparable {
    package var message: MessageID
    package var target: TargetID

    /// Before every delivery of messages that are due at or after `time`.
    package init(before time: Timestamp) {
        message = .first(at: time) ?? .least
        target = .least
    }

    init(message: MessageID, target: TargetID) {
        self.message = message
        self.target = target
    }

    /// `MESSAGE/TARGET`.
    package init?(text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let message = MessageID(text: String(parts[0])),
            let target = TargetID(text: String(parts[1]))
        else { return nil }
        self.init(message: message, target: target)
    }

    package var text: String { "\(message)/\(target)" }

    /// The UTC day since 1970 on which the message is due.
    var dueDay: Int32 { message.time.day }

    package static func < (one: DeliveryCursor, other: DeliveryCursor) -> Bool {
        (one.message, one.target) < (other.message, other.target)
    }
}

extension PostgresQueryStore {
    /// A page of the deliveries of all messages. With `app` or `vendor`, they are searched among the next `PageSearch.limit` deliveries.
    ///
    /// - Parameters:
    ///   - after: the last delivery of the page before.
    ///   - before: where the range ends.
    ///   - app: only messages to this app.
    ///   - vendor: only messages sent through this dialect.
    ///   - tenant: whose deliveries.
    ///   - limit: of the page.
    /// - Returns: the page, and the last delivery that was searched; nil at the end of the range.
    /// - Throws: `StoreError`.
    package func exportedDeliveries(
        after: DeliveryCursor,
        before: DeliveryCursor,
        app: AppID?,
        vendor: Vendor?,
        in tenant: TenantID,
        limit: Int
    ) async throws(StoreError) -> (items: [ExportedDelivery], next: DeliveryCursor?) {
        let look = PageSearch.rows(limit, isFiltered: app != nil || vendor != nil)
        let range: [PostgresValue] = [
            .id(tenant), .int32(after.dueDay), .int32(before.dueDay), .id(after.message), .id(after.target),
            .id(before.message), .int(look),
        ]
        let page = ExportSQL.deliveries.with(range + [.id(app), .id(vendor), .int(max(0, limit))])
        return try await asStore { () throws(PostgresError) in
            let found = try await call.searched(page, end: ExportSQL.end.with(range), in: tenant, Self.cursor)
            let items = try found.page.rows { (row) throws(PostgresError) in
                ExportedDelivery(
                    cursor: try Self.cursor(row),
                    app: try row.id("app_id"),
                    vendor: try row.id("vendor"),
                    facts: try Self.delivery(row)
                )
            }
            // A full page ends at its last row, and another at the last row that was searched.
            if items.count == limit, let last = items.last { return (items, last.cursor) }
            return (items, found.end)
        }
    }

    private static func cursor(_ row: Row) throws(PostgresError) -> DeliveryCursor {
        DeliveryCursor(message: try row.id("message_id"), target: try row.id("target_id"))
    }
}
