package import Model
package import PostgresClient

/// Finds the image with the given id if it belongs to the given message of the app.
package struct FindMedia: StoreRead {
    let scope: AppScope
    let message: MessageID
    let media: String

    package init(_ scope: AppScope, _ message: MessageID, media: String) {
        self.scope = scope
        self.message = message
        self.media = media
    }

    private static let sql = StoreSQL.tenant(
        """
        SELECT b.bytes, b.content_type FROM gateway.message m
        JOIN gateway.message_media l ON l.tenant_id = $1 AND l.message_id = m.message_id
        JOIN gateway.media b ON b.tenant_id = $1 AND b.hash = l.hash
        WHERE m.tenant_id = $1 AND m.message_id = $3 AND m.app_id = $2 AND l.media_id = $4
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(scope.app), .id(message), .string(media))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> StoredMedia? { try StoredMedia.read(result) }
}

/// A stored image.
package struct StoredMedia: Sendable, Hashable {
    package var bytes: [UInt8]
    package var contentType: String

    package init(bytes: [UInt8], contentType: String) {
        self.bytes = bytes
        self.contentType = contentType
    }

    /// Reads the image from the row of the result, if it has one.
    static func read(_ result: ResultSet) throws(PostgresError) -> StoredMedia? {
        guard let row = result.first else { return nil }
        return StoredMedia(bytes: try row.bytes("bytes"), contentType: try row.text("content_type"))
    }
}
