package import PostgresClient

/// Uses up a challenge. The answer is whether it existed and its device still has the token to which the nonce was sent; then the identities of the challenge have
/// at least the level `possession`.
package struct AnswerChallenge: StoreWrite {
    let digest: [UInt8]

    /// - Parameter digest: SHA-256 of the nonce.
    package init(digest: [UInt8]) { self.digest = digest }

    package var isAuditedBySchema: Bool { true }

    private static let sql = StoreSQL.function("answer_challenge", 2, columns: "answer_challenge AS count")

    package func statement(_ call: StoreCall) -> Statement { Self.sql(.id(call.tenant), .bytes(digest)) }

    package func read(_ result: ResultSet) throws(PostgresError) -> Bool { try result.count() > 0 }
}
