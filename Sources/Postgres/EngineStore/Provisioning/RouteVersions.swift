package import Model
package import PostgresClient
package import Routing
import Store

/// The origin of a version of an app's rules.
package enum RouteOrigin: String, Sendable, Hashable, CaseIterable {
    /// A provisioning file, which changes the base.
    case file
    /// A call or a command, which changes the overlay or goes back to an earlier version.
    case api
    /// A step of a migration, which changes the overlay.
    case migration
}

/// A stored version of an app's rules. `RouteSet` reads the documents.
package struct StoredRoutes: Sendable, Hashable {
    package var app: AppID
    package var version: Int
    package var format: Int
    package var base: JSONObject
    package var overlay: JSONObject
    /// The facts about the upstreams that the rules name.
    package var upstreams: JSONObject
    package var origin: RouteOrigin
    /// The author, as in the audit.
    package var actor: String
    package var madeAt: Timestamp

    package var rules: StoredRules {
        StoredRules(version: version, format: format, base: base, overlay: overlay, upstreams: upstreams)
    }

    init(_ row: Row) throws(PostgresError) {
        app = try row.id("app_id")
        version = try row.int("version")
        format = try row.int("format")
        base = try row.object("base")
        overlay = try row.object("overlay")
        upstreams = try row.object("upstreams")
        origin = try row.word("origin")
        actor = try row.text("actor")
        madeAt = try row.time("made_at")
    }
}

/// A version in a list, without its rules.
package struct RouteVersion: Sendable, Hashable {
    package var version: Int
    package var origin: RouteOrigin
    /// The author, as in the audit.
    package var actor: String
    package var madeAt: Timestamp

    init(_ row: Row) throws(PostgresError) {
        version = try row.int("version")
        origin = try row.word("origin")
        actor = try row.text("actor")
        madeAt = try row.time("made_at")
    }
}

/// An app with the version of its rules that is in force.
package struct AppRoutes: Sendable, Hashable {
    package var app: AppID
    /// Nil: it has no rules.
    package var current: StoredRoutes?
}

/// A version that is to be stored, checked and complete.
package struct RouteDraft: Sendable, Hashable {
    package var app: AppID
    /// The version in force that it follows; nil: the app has none. Another one stops the write.
    package var expected: Int?
    package var format: Int
    package var base: JSONObject
    package var overlay: JSONObject
    package var upstreams: JSONObject

    package init(
        app: AppID,
        after expected: Int?,
        format: Int,
        base: JSONObject,
        overlay: JSONObject,
        upstreams: JSONObject
    ) {
        self.app = app
        self.expected = expected
        self.format = format
        self.base = base
        self.overlay = overlay
        self.upstreams = upstreams
    }
}

/// The version of a stored credential whose facts a check has used.
package struct CheckedUpstream: Sendable, Hashable {
    package var credential: CredentialID
    package var version: Int64

    package init(_ credential: CredentialID, version: Int64) {
        self.credential = credential
        self.version = version
    }
}

/// The change of the migration that makes a version of an app's rules, in the transaction that stores the version.
package struct RouteCompanion: Sendable {
    /// It must change one row. Otherwise nothing is written.
    package var condition: Statement
    /// The statements that follow it, with the number of the version; nil: none was made. The last one writes an event.
    package var others: @Sendable (_ version: Int?) -> [Statement]

    package init(condition: Statement, others: @escaping @Sendable (_ version: Int?) -> [Statement]) {
        self.condition = condition
        self.others = others
    }
}
