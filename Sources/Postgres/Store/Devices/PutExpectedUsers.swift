package import Model
package import PostgresClient

/// Expects registrations of users, replaces earlier expectations of them, and writes a row of the audit per user.
package struct PutExpectedUsers: StoreWrite {
    package enum Outcome: Sendable, Hashable {
        case put(Int)
        case unknownApp
        /// Nothing was written.
        case tooMany
    }

    let app: AppID
    let users: [ExpectedUser]
    /// The most expectations that the app may have.
    let limit: Int
    let actor: AuditActor

    /// - Parameters:
    ///   - app: the app.
    ///   - users: no user twice.
    ///   - limit: the most expectations that the app may have afterwards.
    ///   - actor: for the audit.
    package init(_ app: AppID, _ users: [ExpectedUser], limit: Int, by actor: AuditActor) {
        self.app = app
        self.users = users
        self.limit = limit
        self.actor = actor
    }

    package var isAuditedBySchema: Bool { true }

    private static let sql = StoreSQL.function("put_expected_users", 8, columns: "put_expected_users AS count")

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(
            .id(call.tenant),
            .id(app),
            .strings(users.map(\.user.rawValue)),
            .strings(users.map(\.phone)),
            .strings(users.map(\.token?.text)),
            .times(users.map(\.endsAt)),
            .int(limit),
            .string(actor.description)
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Outcome {
        switch try result.count() {
        case -1: .unknownApp
        case -2: .tooMany
        case let count: .put(count)
        }
    }
}
