import DeliveryEngine
package import Model
package import PostgresClient

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
                WHERE c.tenant_id = $1 AND c.app_id = $2) AS dialects
        FROM gateway.app a WHERE a.tenant_id = $1 AND a.app_id = $2 AND a.retired_at IS NULL
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(scope.app), .id(scope.vendor))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> AppFacts? {
        guard let row = result.first else { return nil }
        let routes = PlatformRouteCoding.decode(try row.object("platforms"))
        let defaults = try row.object("defaults")
        return AppFacts(
            hasCredential: routes.values.contains { !$0.credentials.isEmpty },
            identityCount: try row.int("identities"),
            timing: TimingCoding.read(defaults),
            assurance: AssuranceCoding.read(defaults),
            approvalAbove: ApprovalCoding.read(defaults),
            dialects: Set(try row.texts("dialects").map { Vendor($0) })
        )
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

    package init(
        hasCredential: Bool,
        identityCount: Int,
        timing: AppTiming = .none,
        assurance: AssuranceRules = .none,
        approvalAbove: Int? = nil,
        dialects: Set<Vendor> = []
    ) {
        self.hasCredential = hasCredential
        self.identityCount = identityCount
        self.timing = timing
        self.assurance = assurance
        self.approvalAbove = approvalAbove
        self.dialects = dialects
    }
}
