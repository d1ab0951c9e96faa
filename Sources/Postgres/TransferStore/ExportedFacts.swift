package import Model
import PostgresClient
import Store

/// The facts that an export has of an identity, in addition to its `IdentityEntry`.
package struct ExportedFacts: Sendable, Hashable {
    /// The decisions of its user.
    package var consents: [RecordedConsent]
    /// The groups of its user, in its dialect.
    package var groups: [String]
    /// The badge of its user, or of the device if it has no user; nil: none is counted.
    package var badge: Int?
    /// The tags that only the gateway sets, such as that of the platform. Its `IdentityEntry` does not have them.
    package var ownTags: [Tag]

    package init(
        consents: [RecordedConsent] = [],
        groups: [String] = [],
        badge: Int? = nil,
        ownTags: [Tag] = []
    ) {
        self.consents = consents
        self.groups = groups
        self.badge = badge
        self.ownTags = ownTags
    }
}

extension PostgresTransferStore {
    /// The facts that an export has of the identities `$2`, in addition to the rows of `identities`.
    private static let facts = StoreSQL.tenant(
        """
        SELECT i.identity_id, ARRAY(
                SELECT m.group_name FROM gateway.group_member m
                WHERE m.tenant_id = $1 AND m.user_id = i.user_id AND m.app_id = i.app_id AND m.vendor = i.vendor
            ) AS groups,
            ARRAY(
                SELECT t.tag FROM gateway.identity_tag t
                WHERE t.tenant_id = $1 AND t.identity_id = i.identity_id AND t.tag LIKE '$%' ORDER BY t.tag
            ) AS own_tags,
            b.count AS badge, coalesce(p.consents, '{}') AS consents, coalesce(p.consent_facts, '{}') AS consent_facts
        FROM gateway.identity i
        CROSS JOIN LATERAL (SELECT coalesce('user:' || i.user_id, 'key:' || i.key) AS holder OFFSET 0) AS h
        LEFT JOIN gateway.badge b
            ON b.tenant_id = $1 AND b.app_id = i.app_id AND b.vendor = i.vendor AND b.holder = h.holder
        LEFT JOIN gateway.user_profile p
            ON p.tenant_id = $1 AND p.app_id = i.app_id AND p.vendor = i.vendor AND p.user_id = i.user_id
        WHERE i.tenant_id = $1 AND i.identity_id = ANY ($2)
        """
    )

    /// Returns the facts that an export has of these identities.
    ///
    /// - Throws: `StoreError`.
    package func facts(
        of identities: [IdentityID],
        in tenant: TenantID
    ) async throws(StoreError) -> [IdentityID: ExportedFacts] {
        guard !identities.isEmpty else { return [:] }
        return try await asStore { () throws(PostgresError) in
            var found: [IdentityID: ExportedFacts] = [:]
            for row in try await call.run(Self.facts(.id(tenant), .ids(identities)), tenant: tenant.rawValue) {
                let identity: IdentityID = try row.id("identity_id")
                found[identity] = ExportedFacts(
                    consents: ConsentCoding.recorded(try row.object("consents"), try row.object("consent_facts")),
                    groups: try row.texts("groups"),
                    badge: try row.optionalInt("badge"),
                    ownTags: try row.texts("own_tags").filter { Tag($0) == nil }.compactMap { Tag(exported: $0) }
                )
            }
            return found
        }
    }
}
