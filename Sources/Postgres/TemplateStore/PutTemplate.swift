package import Model
package import PostgresClient
package import Store

/// Stores a template if its revision is the one that the caller has read, and writes a row of the audit.
package struct PutTemplate: StoreWrite {
    package enum Outcome: Sendable, Hashable {
        /// The template has this revision now.
        case stored(revision: Int64, isNew: Bool)
        /// Nothing was changed: the template has this revision; 0: it does not exist.
        case mismatch(revision: Int64)
        /// The app has as many templates as are permitted.
        case full
        /// The app does not exist.
        case missing
    }

    let app: AppID
    let name: String
    let content: JSONObject
    /// 0: the template must not exist.
    let expected: Int64
    let limit: Int
    let actor: AuditActor

    package init(
        _ app: AppID,
        name: String,
        content: JSONObject,
        expected: Int64,
        limit: Int = MessageTemplate.countLimit,
        by actor: AuditActor
    ) {
        self.app = app
        self.name = name
        self.content = content
        self.expected = expected
        self.limit = limit
        self.actor = actor
    }

    package var isAuditedBySchema: Bool { true }

    private static let sql = StoreSQL.function("put_template", 7)

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(
            .id(call.tenant),
            .id(app),
            .string(name),
            .string(DocumentText.of(content)),
            .int64(expected),
            .int64(Int64(limit)),
            .string(actor.description)
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Outcome {
        let row = try result.only()
        let revision = try row.int64("o_revision")
        return switch try row.text("o_outcome") {
        case "created": .stored(revision: revision, isNew: true)
        case "changed": .stored(revision: revision, isNew: false)
        case "full": .full
        case "missing": .missing
        default: .mismatch(revision: revision)
        }
    }
}
