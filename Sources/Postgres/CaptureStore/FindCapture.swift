package import FoundationEssentials
import Model
package import PostgresClient
package import Store

/// Finds a capture without its exchanges.
package struct FindCapture: StoreRead {
    let capture: UUID

    package init(_ capture: UUID) { self.capture = capture }

    package static let sql = StoreSQL.tenant(
        "SELECT \(CaptureRow.columns) FROM gateway.capture c WHERE c.tenant_id = $1 AND c.capture_id = $2"
    )

    package func statement(_ call: StoreCall) -> Statement { Self.sql(.id(call.tenant), .uuid(capture)) }

    package func read(_ result: ResultSet) throws(PostgresError) -> CaptureFacts? {
        try result.rows(CaptureRow.facts).first
    }
}
