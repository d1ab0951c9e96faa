package import Model
package import PostgresClient
package import Store

/// Keeps the numbers of imported groups from being given to new ones: a group whose name is a number may come from another system.
package struct RaiseGroupNumbers: StoreWrite {
    /// Higher numbers are not reached by counting from 1, and must not use up the sequence.
    package static let limit: Int64 = 1_000_000_000

    let scope: AppScope
    let number: Int64

    /// - Parameters:
    ///   - scope: the app, and the dialect of the groups.
    ///   - number: the highest number that is in use.
    package init(_ scope: AppScope, to number: Int64) {
        self.scope = scope
        self.number = number
    }

    /// The number that a name of a group is; nil for another name, and for one that is never drawn.
    package static func number(_ name: String) -> Int64? {
        guard name.utf8.count <= 10, let number = Int64(name), (1...limit).contains(number), String(number) == name
        else { return nil }
        return number
    }

    private static let sql = StoreSQL.tenant(
        """
        INSERT INTO gateway.vendor_sequence AS s (tenant_id, app_id, vendor, name, last) VALUES ($1, $2, $3, 'group', $4)
        ON CONFLICT (tenant_id, app_id, vendor, name) DO UPDATE SET last = excluded.last WHERE s.last < excluded.last
        """
    )

    package func statement(_ call: StoreCall) -> Statement { Self.sql.with(call.owner(scope) + [.int64(number)]) }

    package func read(_ result: ResultSet) throws(PostgresError) {}
}
