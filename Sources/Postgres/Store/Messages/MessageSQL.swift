import Model
import PostgresClient

/// Messages, deliveries and analytics, for the native API.
enum MessageSQL {
    /// The state that callers see. `awaiting`: the state of a message that awaits an approval.
    static func state(awaiting: MessageState = .awaitingApproval) -> String {
        """
        CASE WHEN m.observed_from IS NOT NULL THEN '\(MessageState.observed.rawValue)' \
        WHEN m.awaits_approval AND m.state = 'paused' THEN '\(awaiting.rawValue)' ELSE m.state END
        """
    }

    static let messageColumns = """
        \(StoreSQL.messageColumns), m.sender_id, \(state()) AS state, m.submitted_by, m.lane, m.fallback, m.accepted_at, m.due_day, m.recipients, \
        m.is_counted
        """

    static let messageByID = StoreSQL.tenant(
        "SELECT \(messageColumns) FROM gateway.message m WHERE m.tenant_id = $1 AND m.message_id = $2"
    )

    /// Finds a message by the vendor's number. If two apps use one number, the newest message.
    static let messageByReference = StoreSQL.tenant(
        """
        SELECT \(messageColumns) FROM gateway.message_ref r
        JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = r.message_id
        WHERE r.tenant_id = $1 AND r.ref = $2 ORDER BY m.message_id DESC LIMIT 1
        """
    )

    /// Ordered by due time, the latest first: those before `$2`, of the next `$3` those in the state `$4` (null: any), at most `$5`.
    static let list = StoreSQL.tenant(page(where: ""))

    /// As `list`, of the app `$6`.
    static let listOfApp = StoreSQL.tenant(page(where: " AND x.app_id = $6"))

    private static func page(where condition: String) -> String {
        """
        SELECT \(messageColumns) FROM (
            SELECT x.* FROM gateway.message x WHERE x.tenant_id = $1 AND x.message_id < $2\(condition)
            ORDER BY x.message_id DESC LIMIT $3) m
        WHERE $4::text IS NULL OR \(state()) = $4 ORDER BY m.message_id DESC LIMIT $5
        """
    }

    /// The last of the next `$3` messages before `$2`; no row when there are fewer.
    static let listEnd = StoreSQL.tenant(end(where: ""))

    /// As `listEnd`, of the app `$4`.
    static let listEndOfApp = StoreSQL.tenant(end(where: " AND x.app_id = $4"))

    private static func end(where condition: String) -> String {
        """
        SELECT x.message_id FROM gateway.message x WHERE x.tenant_id = $1 AND x.message_id < $2\(condition)
        ORDER BY x.message_id DESC OFFSET $3::bigint - 1 LIMIT 1
        """
    }

    /// The counts of one message, computed from its rows: exact, and from one partition only. A receipt counts with the outcome of its delivery.
    static let funnel = StoreSQL.tenant(
        """
        SELECT count(sent_at) FILTER (WHERE state IN ('sent', 'received', 'read')) AS sent,
            count(*) FILTER (WHERE state IN ('received', 'read') AND sent_at IS NOT NULL) AS received,
            count(*) FILTER (WHERE state = 'read' AND sent_at IS NOT NULL) AS read, count(*) FILTER (WHERE state = 'failed') AS failed,
            count(*) FILTER (WHERE state = 'suppressed') AS suppressed,
            count(*) FILTER (WHERE state = 'expired') AS expired, count(*) FILTER (WHERE state = 'canceled') AS canceled
        FROM gateway.delivery WHERE tenant_id = $1 AND due_day = $2 AND message_id = $3
        """
    )

    /// The first minute of which counts may not be folded. A query starts there, because an index entry of a folded row can outlive the row.
    static let withFirstMinute =
        "WITH f AS (SELECT greatest(max(x.minute), 0) AS minute FROM gateway.counter_fold x WHERE x.tenant_id = $1)"

    /// The counts of one message with counts of its own, at any size.
    static let countedFunnel = StoreSQL.tenant(
        """
        \(withFirstMinute)
        SELECT coalesce(sum(c.accepted + c.uncertain), 0)::bigint AS sent, coalesce(sum(c.received), 0)::bigint AS received,
            coalesce(sum(c.read), 0)::bigint AS read, coalesce(sum(c.rejected + c.unsendable), 0)::bigint AS failed,
            coalesce(sum(c.suppressed), 0)::bigint AS suppressed, coalesce(sum(c.expired), 0)::bigint AS expired,
            coalesce(sum(c.canceled), 0)::bigint AS canceled
        FROM (
            SELECT x.accepted, x.uncertain, x.received, x.read, x.rejected, x.unsendable, x.suppressed, x.expired, x.canceled
            FROM gateway.message_counter x WHERE x.tenant_id = $1 AND x.message_id = $2
            UNION ALL
            SELECT d.accepted, d.uncertain, d.received, d.read, d.rejected, d.unsendable, d.suppressed, d.expired, d.canceled
            FROM f JOIN gateway.counter_delta d ON d.tenant_id = $1 AND d.minute >= f.minute AND d.message_id = $2) c
        """
    )

    /// Slices that were given up, by reason, with the number of their targets without an outcome. Most messages have none, and then no slice is read.
    static let dead = StoreSQL.tenant(
        """
        SELECT s.dead_reason AS reason, count(*) AS slices,
            sum(cardinality(s.targets) - bit_count(s.done))::bigint AS targets
        FROM gateway.message m JOIN gateway.slice s ON s.tenant_id = $1 AND s.message_id = m.message_id
        WHERE m.tenant_id = $1 AND m.message_id = $2 AND m.dead_slices > 0 AND s.dead_reason IS NOT NULL AND s.state <> 'done'
        GROUP BY s.dead_reason ORDER BY s.dead_reason
        """
    )

    /// The columns that `PostgresQueryStore.delivery` reads, of `delivery d` and `message m`.
    static let deliveryColumns = """
        \(StoreSQL.snapshotColumns), d.device_id, d.user_id, d.transport, d.transport_id, d.is_certain, d.attempts, \
        d.payload_bytes, d.reduced, d.device_vendor, d.transport_ms
        """

    /// A message's deliveries in the order of targets: those after `$3`, of the next `$4` those in the state `$5` (null: any), at most `$6`. No index
    /// contains the state, because receipts change it.
    static let deliveries = StoreSQL.tenant(
        """
        SELECT \(deliveryColumns) FROM (
            SELECT x.* FROM gateway.delivery x
            WHERE x.tenant_id = $1 AND x.due_day = (SELECT y.due_day FROM gateway.message y WHERE y.tenant_id = $1 AND y.message_id = $2)
                AND x.message_id = $2 AND x.target_id > $3
            ORDER BY x.target_id LIMIT $4) d
        CROSS JOIN (SELECT y.state, y.fallback FROM gateway.message y WHERE y.tenant_id = $1 AND y.message_id = $2) m
        WHERE $5::text IS NULL OR d.state = $5 ORDER BY d.target_id LIMIT $6
        """
    )

    /// The last of the next `$4` targets after `$3`; no row when there are fewer.
    static let deliveriesEnd = StoreSQL.tenant(
        """
        SELECT x.target_id FROM gateway.delivery x
        WHERE x.tenant_id = $1 AND x.due_day = (SELECT y.due_day FROM gateway.message y WHERE y.tenant_id = $1 AND y.message_id = $2)
            AND x.message_id = $2 AND x.target_id > $3
        ORDER BY x.target_id OFFSET $4::bigint - 1 LIMIT 1
        """
    )

    static let delivery = StoreSQL.tenant(
        """
        SELECT \(deliveryColumns) FROM gateway.message m
        JOIN gateway.delivery d ON d.tenant_id = $1 AND d.due_day = m.due_day AND d.message_id = m.message_id
        WHERE m.tenant_id = $1 AND m.message_id = $2 AND d.target_id = $3
        """
    )

    /// The state of a target without a delivery row, and its place in the queue.
    static let queued = StoreSQL.tenant(
        """
        SELECT q.message_id, q.target_id, q.identity_id, q.address, 'queued' AS state, NULL::text AS reason, NULL::timestamptz AS sent_at,
            NULL::timestamptz AS received_at, NULL::timestamptz AS read_at, q.is_reserved, q.fallback, q.device_id, q.user_id,
            NULL::text AS transport, NULL::uuid AS transport_id, true AS is_certain, q.attempts, 0 AS payload_bytes,
            NULL::text AS reduced, NULL::text AS device_vendor, NULL::integer AS transport_ms, q.no, q.slice_state, q.next_at, q.held_by, q.dead_reason, q.is_paused, q.seen_at
        FROM gateway.queued_delivery($1, $2, $3) q
        """
    )

    /// The addressee that an identity reaches now.
    static let addressee = StoreSQL.tenant(
        """
        SELECT \(StoreSQL.targetColumns), d.token_reason
        FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
        WHERE i.tenant_id = $1 AND i.identity_id = $2
        """
    )

    /// The active identities of the device of an identity, the one that was seen last first.
    static let sightings = StoreSQL.tenant(
        """
        SELECT o.identity_id, o.vendor, o.key, o.last_seen FROM (
            SELECT s.identity_id, s.vendor, s.key, greatest(s.registered_at, s.seen_at) AS last_seen
            FROM gateway.identity i JOIN gateway.identity s ON s.tenant_id = $1 AND s.device_id = i.device_id AND s.state = 'active'
            WHERE i.tenant_id = $1 AND i.identity_id = $2 LIMIT 16) AS o
        ORDER BY o.last_seen DESC, o.identity_id DESC
        """
    )

    /// The targets of a message on a device, `$3`, or with a vendor's key, `$4`.
    static let targetsOfDevice = StoreSQL.function("targets_of_device", 6)
}
