package import Model
package import PostgresClient

/// Stores an image under its hash unless it is stored already, and keeps it from being swept until the commit.
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

    private static let sql = StoreSQL.function("put_media", 5, columns: "put_media AS stored")

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .string(hash), .string(contentType), .bytes(bytes), .time(at))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Int { try result.only().int("stored") }
}
