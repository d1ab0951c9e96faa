import Model
package import PostgresClient
import Store

/// Reads a capture without its exchanges.
package enum CaptureRow {
    /// The columns of `capture c` that `facts` reads.
    package static let columns = """
        c.capture_id, c.app_id, c.vendor, c.started_at, c.ends_at, c.ended_at, c.ended_by, c.started_by, c.keeps_texts, \
        c.exchange_limit, c.body_limit, c.byte_limit, c.exchange_count, c.byte_count, \
        c.ended_at IS NULL AND c.ends_at > now() AS is_running
        """

    package static func facts(_ row: Row) throws(PostgresError) -> CaptureFacts {
        CaptureFacts(
            id: try row.uuid("capture_id"),
            app: try row.id("app_id"),
            vendor: try row.id("vendor"),
            startedAt: try row.time("started_at"),
            endsAt: try row.time("ends_at"),
            endedAt: try row.optionalTime("ended_at"),
            endedBy: try row.optionalText("ended_by"),
            startedBy: try row.text("started_by"),
            keepsTexts: try row.bool("keeps_texts"),
            exchangeLimit: try row.int("exchange_limit"),
            bodyLimit: try row.int("body_limit"),
            byteLimit: try row.int("byte_limit"),
            exchangeCount: try row.int("exchange_count"),
            byteCount: try row.int("byte_count"),
            isRunning: try row.bool("is_running")
        )
    }
}
