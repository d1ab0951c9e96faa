import DeliveryEngine
package import Model
package import PostgresClient
import Routing

/// Loads the facts about an app that a submission needs. Nil: the app does not exist.
package struct FindApp: StoreRead {
    let scope: AppScope

    package init(_ scope: AppScope) {
        self.scope = scope
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.tenant(
        """
        SELECT a.platforms::text AS platforms, a.defaults::text AS defaults,
            (SELECT coalesce(sum(c.active), 0)::bigint FROM gateway.identity_count c
                WHERE c.tenant_id = $1 AND c.app_id = $2 AND ($3 = 'native' OR c.vendor = $3 OR a.defaults->>'crossDialectSends' = 'true')) AS identities,
            (SELECT coalesce(array_agg(DISTINCT c.vendor), '{}') FROM gateway.identity_count c
                WHERE c.tenant_id = $1 AND c.app_id = $2) AS dialects,
            r.format AS route_format, r.base::text AS route_base, r.overlay::text AS route_overlay, r.upstreams::text AS route_upstreams
        FROM gateway.app a
        LEFT JOIN gateway.route_set r ON r.tenant_id = $1 AND r.app_id = a.app_id AND r.version = a.route_version
        WHERE a.tenant_id = $1 AND a.app_id = $2 AND a.retired_at IS NULL
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(scope.app), .id(scope.vendor))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> AppFacts? {
        guard let row = result.first else { return nil }
        let routes = PlatformRouteCoding.decode(try row.object("platforms"))
        let defaults = try row.object("defaults")
        let rules = try Self.rules(row)
        var facts = AppFacts(
            hasCredential: routes.values.contains { !$0.credentials.isEmpty },
            identityCount: try row.int("identities"),
            timing: TimingCoding.read(defaults),
            assurance: AssuranceCoding.read(defaults),
            approvalAbove: ApprovalCoding.read(defaults),
            dialects: Set(try row.texts("dialects").map { Vendor($0) }),
            upstreamDialects: rules?.upstreamDialects ?? [],
            preferredDialects: rules.map { rules in
                Dictionary(uniqueKeysWithValues: Lane.allCases.map { ($0, rules.preferredDialects(in: $0)) })
            } ?? [:]
        )
        facts.duplicateWindow = rules?.rules.duplicateWindow
        return facts
    }

    /// The app's rules; nil: it has none, or this program does not know them.
    private static func rules(_ row: Row) throws(PostgresError) -> RouteTable? {
        guard let format = try row.optionalInt("route_format") else { return nil }
        let base = JSON.object(try row.object("route_base"))
        let overlay = JSON.object(try row.object("route_overlay"))
        let upstreams = JSON.object(try row.object("route_upstreams"))
        return (try? RouteSet(format: format, base: base, overlay: overlay, upstreams: upstreams))?.table
    }
}

/// The facts about an app that a submission needs.
package struct AppFacts: Sendable, Hashable {
    /// Whether any push credential is provisioned for any platform.
    package var hasCredential: Bool
    /// The number of active identities in the dialects that the caller's sends reach, from a maintained counter.
    package var identityCount: Int
    package var timing: AppTiming
    package var assurance: AssuranceRules
    /// A message to more recipients waits for an approval. Nil: none does.
    package var approvalAbove: Int?
    /// The dialects in which the app has or had identities.
    package var dialects: Set<Vendor>
    /// The dialects whose registrations may be pushed by an upstream, which needs no token: whether one is, is decided when the message is sent.
    package var upstreamDialects: Set<Vendor>
    /// The dialects that the rules prefer, by lane.
    package var preferredDialects: [Lane: [Vendor]]
    /// The time within which a message of the same text through another entry point counts as the same one. Nil: nothing is compared.
    package var duplicateWindow: Duration?

    package init(
        hasCredential: Bool,
        identityCount: Int,
        timing: AppTiming = .none,
        assurance: AssuranceRules = .none,
        approvalAbove: Int? = nil,
        dialects: Set<Vendor> = [],
        upstreamDialects: Set<Vendor> = [],
        preferredDialects: [Lane: [Vendor]] = [:]
    ) {
        self.hasCredential = hasCredential
        self.identityCount = identityCount
        self.timing = timing
        self.assurance = assurance
        self.approvalAbove = approvalAbove
        self.dialects = dialects
        self.upstreamDialects = upstreamDialects
        self.preferredDialects = preferredDialects
    }
}
