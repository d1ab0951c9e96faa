package import Model
import PostgresClient

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

extension PostgresDeviceStore {
    /// Returns the facts that an export has of these identities.
    ///
    /// - Throws: `StoreError`.
    package func exported(
        _ identities: [IdentityID],
        in tenant: TenantID
    ) async throws(StoreError) -> [IdentityID: ExportedFacts] {
        try await asStore { () throws(PostgresError) in try await exportedFacts(identities, in: tenant) }
    }

    private func exportedFacts(
        _ identities: [IdentityID],
        in tenant: TenantID
    ) async throws(PostgresError) -> [IdentityID: ExportedFacts] {
        guard !identities.isEmpty else { return [:] }
        let statement = DeviceSQL.exported(.id(tenant), .ids(identities))
        var found: [IdentityID: ExportedFacts] = [:]
        for row in try await call.run(statement, tenant: tenant.rawValue) {
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
