package import Model
import PostgresClient

/// The identity that belongs to an address.
package struct ResolvedTarget: Sendable, Hashable {
    package var identity: IdentityID
    package var device: DeviceID?
    /// Whether the device has a usable token.
    package var isReachable: Bool
    package var clock: DeviceClock
    package var assurance: Assurance
    /// Whether the user, or the phone by which it was found, has an identity of a higher level in the app, whatever its dialect.
    package var isOutranked: Bool
    package var dialect: Vendor
    /// When it was last seen: by registration, token or receipt.
    package var lastSeen: Timestamp
    /// Whether its user wants no pushes.
    package var hasWithdrawn: Bool
    /// Whether its registration has ended.
    package var hasEnded: Bool

    package init(
        identity: IdentityID,
        device: DeviceID?,
        isReachable: Bool,
        clock: DeviceClock = .unset,
        assurance: Assurance = .claimed,
        isOutranked: Bool = false,
        dialect: Vendor,
        lastSeen: Timestamp,
        hasWithdrawn: Bool = false,
        hasEnded: Bool = false
    ) {
        self.identity = identity
        self.device = device
        self.isReachable = isReachable
        self.clock = clock
        self.assurance = assurance
        self.isOutranked = isOutranked
        self.dialect = dialect
        self.lastSeen = lastSeen
        self.hasWithdrawn = hasWithdrawn
        self.hasEnded = hasEnded
    }
}

extension ResolvedTarget {
    /// The attribute by which an identity is found. Only a person may have identities of several levels.
    enum Person: String {
        case user = "user_id"
        case phone
    }

    /// The columns that `read` needs, of `identity i` and `device d`. `$1` is the tenant, `$2` the app. Nil: not found by a person.
    static func columns(of person: Person?) -> String {
        columns(isOutranked: person.map { isOutranked($0) } ?? "false")
    }

    /// As `columns(of:)`, with a value for `isOutranked` that was found before.
    static func columns(isOutranked: String) -> String {
        """
        i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, i.assurance,
            \(isOutranked) AS is_outranked, i.vendor, greatest(i.registered_at, i.seen_at) AS last_seen,
            NOT i.accepts_push AS has_withdrawn, coalesce(i.ends_at <= now(), false) AS has_ended, \(StoreSQL.clockColumns)
        """
    }

    /// Whether the person of `identity i` has an identity of a higher level in the app `app`: one probe of an index that contains only identities above
    /// `claimed`.
    static func isOutranked(_ person: Person, app: String = "$2") -> String {
        """
        EXISTS (
                SELECT FROM gateway.identity h
                WHERE h.tenant_id = $1 AND h.app_id = \(app) AND h.\(person.rawValue) = i.\(person.rawValue)
                    AND h.assurance > i.assurance AND h.assurance > 0 AND h.state = 'active')
        """
    }

    /// The order in which one of several identities of a person is chosen: the highest level first, unless the app mixes levels.
    static let order = """
        CASE WHEN (SELECT a.defaults->>'mixedAssurance' = 'true' FROM gateway.app a WHERE a.tenant_id = $1 AND a.app_id = $2)
            THEN 0 ELSE i.assurance END DESC
        """

    static func read(_ row: Row) throws(PostgresError) -> ResolvedTarget {
        ResolvedTarget(
            identity: try row.id("identity_id"),
            device: try row.optionalID("device_id"),
            isReachable: try row.bool("is_reachable"),
            clock: try ClockRow.read(row),
            assurance: Assurance(rank: try row.int("assurance")),
            isOutranked: try row.bool("is_outranked"),
            dialect: try row.id("vendor"),
            lastSeen: try row.time("last_seen"),
            hasWithdrawn: try row.bool("has_withdrawn"),
            hasEnded: try row.bool("has_ended")
        )
    }
}
