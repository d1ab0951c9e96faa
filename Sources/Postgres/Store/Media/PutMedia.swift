package import Model
package import PostgresClient

/// Stores an image under its hash unless it is stored already.
package struct PutMedia: StoreWrite {
    let hash: String
    let contentType: String
    let bytes: [UInt8]
    let at: Timestamp

    package init(hash: String, contentType: String, bytes: [UInt8], at: Timestamp) {
        self.hash = hash
        self.contentType = contentType
        self.bytes = bytes
        self.at = at
    }

    private static let sql = StoreSQL.tenant(
        """
        INSERT INTO gateway.media (tenant_id, hash, content_type, bytes, created_at) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (tenant_id, hash) DO NOTHING
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .string(hash), .string(contentType), .bytes(bytes), .time(at))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Int { result.affectedRows }
}
