package import Model
import PostgresClient
import Store

/// A migration as it is stored. `MigrationReader` and `MigrationState` read the documents.
package struct StoredMigration: Sendable, Hashable {
    package var tenant: TenantID
    package var id: String
    package var app: AppID
    package var upstream: CredentialID
    package var plan: JSONObject
    package var state: JSONObject
    package var revision: Int64
    /// Whether it decides the overlay of its app.
    package var isActive: Bool
    package var createdAt: Timestamp

    static let columns =
        "tenant_id, migration_id, app_id, upstream, plan::text AS plan, state::text AS state, revision, is_active, created_at"

    init(_ row: Row) throws(PostgresError) {
        tenant = try row.id("tenant_id")
        id = try row.text("migration_id")
        app = try row.id("app_id")
        upstream = try row.id("upstream")
        plan = try row.object("plan")
        state = try row.object("state")
        revision = try row.int64("revision")
        isActive = try row.bool("is_active")
        createdAt = try row.time("created_at")
    }
}

/// A migration that this node evaluates, and the database's time.
package struct ClaimedMigration: Sendable, Hashable {
    package var migration: StoredMigration
    package var now: Timestamp
}

/// A migration that is to be stored for the first time, checked.
package struct NewMigration: Sendable, Hashable {
    package var id: String
    package var app: AppID
    package var upstream: CredentialID
    package var plan: JSONObject
    package var state: JSONObject

    package init(id: String, app: AppID, upstream: CredentialID, plan: JSONObject, state: JSONObject) {
        self.id = id
        self.app = app
        self.upstream = upstream
        self.plan = plan
        self.state = state
    }
}

/// One change of a migration, which follows the revision before it.
package struct MigrationRevision: Sendable, Hashable {
    package var id: String
    package var app: AppID
    package var state: JSONObject
    /// The new revision: the one before it is expected to be stored.
    package var revision: Int64
    package var isActive: Bool
    /// The row of its history. Nil: only counts of failures have changed, which no history, audit or event shows.
    package var entry: Entry?
    /// When the migration is evaluated again.
    package var next: Duration

    /// A change, in words for people.
    package struct Entry: Sendable, Hashable {
        package var status: String
        /// From 0.
        package var step: Int
        package var note: String

        package init(status: String, step: Int, note: String) {
            self.status = status
            self.step = step
            self.note = note
        }
    }

    package init(
        id: String,
        app: AppID,
        state: JSONObject,
        revision: Int64,
        isActive: Bool,
        entry: Entry?,
        next: Duration
    ) {
        self.id = id
        self.app = app
        self.state = state
        self.revision = revision
        self.isActive = isActive
        self.entry = entry
        self.next = next
    }
}

/// A row of a migration's history.
package struct MigrationNote: Sendable, Hashable {
    package var revision: Int64
    package var at: Timestamp
    package var status: String
    /// From 0.
    package var step: Int
    package var note: String
    /// The author, as in the audit.
    package var actor: String
    /// The version of the app's rules that it made.
    package var routeVersion: Int?

    init(_ row: Row) throws(PostgresError) {
        revision = try row.int64("revision")
        at = try row.time("at")
        status = try row.text("status")
        step = try row.int("step")
        note = try row.text("note")
        actor = try row.text("actor")
        routeVersion = try row.optionalInt("route_version")
    }
}
