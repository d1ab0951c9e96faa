package import Model
package import PostgresClient

/// Returns the users that have a profile or an active identity, parallel to their names.
package struct FindProfiles: StoreRead {
    let scope: AppScope
    let names: [UserName]

    package init(_ scope: AppScope, _ names: [UserName]) {
        self.scope = scope
        self.names = names
    }

    /// Parallel arrays: an id, or the label and name of an alias. Revision 0: the user is known only by a device.
    private static let sql = StoreSQL.tenant(
        """
        SELECT q.place, w.user_id, coalesce(p.is_anonymous, false) AS is_anonymous,
            p.accepts_push, coalesce(p.opted_in, false) AS opted_in, p.attributes, p.consents, coalesce(p.revision, 0) AS revision
        FROM unnest($4::text[], $5::text[], $6::text[]) WITH ORDINALITY AS q(user_id, label, name, place)
        LEFT JOIN LATERAL (
            SELECT x.user_id FROM gateway.user_alias x
            WHERE x.tenant_id = $1 AND x.app_id = $2 AND x.vendor = $3 AND x.label = q.label AND x.name = q.name OFFSET 0) AS a ON true
        CROSS JOIN LATERAL (SELECT coalesce(a.user_id, q.user_id) AS user_id OFFSET 0) AS w
        LEFT JOIN LATERAL (
            SELECT x.* FROM gateway.user_profile x
            WHERE x.tenant_id = $1 AND x.app_id = $2 AND x.vendor = $3 AND x.user_id = w.user_id OFFSET 0) AS p ON true
        LEFT JOIN LATERAL (
            SELECT x.user_id FROM gateway.identity x
            WHERE x.tenant_id = $1 AND x.app_id = $2 AND x.vendor = $3 AND x.user_id = q.user_id AND x.state = 'active'
                AND p.user_id IS NULL LIMIT 1) AS i ON true
        WHERE p.user_id IS NOT NULL OR i.user_id IS NOT NULL
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        var (ids, labels, aliases): ([String?], [String?], [String?]) = ([], [], [])
        for name in names {
            switch name {
            case .id(let id):
                ids.append(id.rawValue)
                labels.append(nil)
                aliases.append(nil)
            case .alias(let alias):
                ids.append(nil)
                labels.append(alias.label)
                aliases.append(alias.name)
            }
        }
        return Self.sql.with(call.owner(scope) + [.strings(ids), .strings(labels), .strings(aliases)])
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> [StoredProfile?] {
        var found: [StoredProfile?] = Array(repeating: nil, count: names.count)
        for row in result {
            let place = try row.int("place") - 1
            guard found.indices.contains(place) else { throw PostgresError(.unexpectedRowCount) }
            found[place] = StoredProfile(
                user: try row.id("user_id"),
                isAnonymous: try row.bool("is_anonymous"),
                acceptsPush: try row.optionalBool("accepts_push"),
                isOptedIn: try row.bool("opted_in"),
                attributes: try row.object("attributes"),
                consents: ConsentCoding.read(try row.object("consents")),
                revision: try row.int("revision")
            )
        }
        return found
    }
}
