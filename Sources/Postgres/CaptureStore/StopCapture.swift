package import FoundationEssentials
import Model
package import PostgresClient
package import Store

/// Ends a running capture and keeps its exchanges. Returns false if it is not running.
package struct StopCapture: StoreWrite {
    let capture: UUID

    package init(_ capture: UUID) { self.capture = capture }

    private static let sql = StoreSQL.tenant(
        """
        UPDATE gateway.capture c SET ended_at = now(), ended_by = 'stopped'
        WHERE c.tenant_id = $1 AND c.capture_id = $2 AND c.ended_at IS NULL AND c.ends_at > now() RETURNING c.capture_id
        """
    )

    package func statement(_ call: StoreCall) -> Statement { Self.sql(.id(call.tenant), .uuid(capture)) }

    package func read(_ result: ResultSet) throws(PostgresError) -> Bool { result.first != nil }
}
