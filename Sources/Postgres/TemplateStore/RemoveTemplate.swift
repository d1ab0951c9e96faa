package import Model
package import PostgresClient
package import Store

/// Removes a template, and writes a row of the audit.
package struct RemoveTemplate: StoreWrite {
    package enum Outcome: Sendable, Hashable {
        case removed
        /// Nothing was changed: the template has this revision.
        case mismatch(revision: Int64)
        case missing
    }

    let app: AppID
    let name: String
    /// Nil: in whichever revision it is.
    let expected: Int64?
    let actor: AuditActor

    package init(_ app: AppID, name: String, expected: Int64?, by actor: AuditActor) {
        self.app = app
        self.name = name
        self.expected = expected
        self.actor = actor
    }

    package var isAuditedBySchema: Bool { true }

    private static let sql = StoreSQL.function("remove_template", 5, columns: "remove_template AS revision")

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(app), .string(name), .int64(expected), .string(actor.description))
    }

    /// The function returns null for a removed template, 0 for a missing one.
    package func read(_ result: ResultSet) throws(PostgresError) -> Outcome {
        guard let revision = try result.only().optionalInt("revision") else { return .removed }
        return revision == 0 ? .missing : .mismatch(revision: Int64(revision))
    }
}
