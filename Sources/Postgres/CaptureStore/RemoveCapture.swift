package import FoundationEssentials
import Model
package import PostgresClient
package import Store

/// Removes a capture with its exchanges. Returns false if it does not exist.
package struct RemoveCapture: StoreWrite {
    let capture: UUID

    package init(_ capture: UUID) { self.capture = capture }

    private static let sql = StoreSQL.tenant(
        "DELETE FROM gateway.capture c WHERE c.tenant_id = $1 AND c.capture_id = $2 RETURNING c.capture_id"
    )

    package func statement(_ call: StoreCall) -> Statement { Self.sql(.id(call.tenant), .uuid(capture)) }

    package func read(_ result: ResultSet) throws(PostgresError) -> Bool { result.first != nil }
}
