import Foundation
package import Model
import PostgresClient

/// A page of items that match a condition no index contains. A page searches a limited number of rows and may therefore contain few items or none, although
/// more follow.
package struct LookPage<Item: Sendable, ID: UUIDIdentifier>: Sendable {
    package var items: [Item]
    /// Where the next page begins; nil on the last page.
    package var next: ID?

    /// `end` is the last row that was searched; nil at the end of the list.
    init(_ items: [Item], limit: Int, end: ID?, id: (Item) -> ID, isDescending: Bool = false) {
        self.items = items
        let last = items.last.map(id)
        guard items.count < limit else {
            next = last
            return
        }
        // Never before an item of this page.
        guard let end, let last else {
            next = end
            return
        }
        let isBehind = isDescending ? end < last : end > last
        next = isBehind ? end : last
    }
}

/// The limits of pages.
package enum PageSearch {
    /// About 10 ms.
    package static let limit = 10_000

    /// The number of rows that a page searches.
    static func rows(_ limit: Int, isFiltered: Bool) -> Int { isFiltered ? max(limit, Self.limit) : max(0, limit) }
}

extension PostgresPool {
    /// Reads a page and the last row that was searched for it, in one snapshot: if rows were erased between the two, the next page would begin after rows that
    /// neither has searched.
    ///
    /// - Parameters:
    ///   - page: the statement that reads the page.
    ///   - end: the one that finds the last row; nil: all rows belong to the page.
    ///   - tenant: the owner of the rows.
    ///   - read: reads the last row.
    /// - Returns: the rows of the page, and the last row that was searched.
    /// - Throws: `PostgresError`.
    func searched<End>(
        _ page: Statement,
        end: Statement?,
        in tenant: TenantID,
        _ read: (Row) throws(PostgresError) -> End
    ) async throws(PostgresError) -> (page: ResultSet, end: End?) {
        guard let end else { return (page: try await run(page, tenant: tenant.rawValue), end: nil) }
        let results = try await run([FunnelSQL.snapshot(), page, end], tenant: tenant.rawValue)
        return (page: try results.result(1), end: try results.result(2).rows(read).first)
    }
}

extension UUIDIdentifier {
    /// Before all others in the order of a page.
    package static var least: Self { Self(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))) }

    /// After all others in the order of a page.
    static var greatest: Self {
        Self(UUID(uuid: (255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255)))
    }
}
