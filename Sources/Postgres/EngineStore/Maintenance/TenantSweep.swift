import Model
import PostgresClient
import Store

/// One kind of expired rows of a tenant. Its statement is repeated while it reaches its limit, each time in a separate transaction.
struct Sweep: Sendable {
    var step: MaintenanceStep
    var statement: Statement
    /// Fewer rows mean that nothing is left; nil: the statement has no limit.
    var limit: Int?
    /// Whether the statement is a function that returns the number of rows; otherwise the server counts them.
    var isFunction = false
    /// The column of the function's row for the report; `count` is compared with the limit.
    var amount: ColumnReference = "count"
    /// Notes in the same transaction what may have been removed; after the statement, because `counter_fold` follows messages and deliveries in the order of
    /// locks. Nil: nothing is noted.
    var note: Statement?
}

/// The sweeps of one tenant that are left in a round.
struct TenantSweep: Sendable {
    let tenant: TenantID
    /// In order; the current one first.
    var sweeps: ArraySlice<Sweep>

    /// - Parameters:
    ///   - tenant: the tenant.
    ///   - policy: its retention.
    ///   - deliveriesBefore: the first day of deliveries that it keeps in partitions that still exist; nil: those partitions are about to be dropped.
    ///   - now: the database's time.
    init(of tenant: TenantID, _ policy: RetentionPolicy, deliveriesBefore: Int32?, now: Timestamp) {
        self.tenant = tenant
        let id = PostgresValue.id(tenant)
        let rows = MaintenanceSQL.rows
        let messages = PostgresValue.interval(policy.messages)
        let oldest = PostgresValue.id(MessageID.first(at: now.back(policy.messages)))
        let pending = PostgresValue.int32(now.back(max(policy.events, policy.untoldEvents)).day)
        let today = PostgresValue.int32(now.back(policy.deliveries).day)
        var sweeps = [
            Sweep(
                step: .messages,
                statement: MaintenanceSQL.dropMessages(id, oldest, messages),
                limit: MaintenanceSQL.messages,
                note: MaintenanceSQL.keepMessages(id, messages)
            ),
            Sweep(
                step: .media,
                statement: MaintenanceSQL.sweepMedia(id, messages),
                limit: MaintenanceSQL.images,
                isFunction: true
            ),
            Sweep(
                step: .events,
                statement: MaintenanceSQL.dropEvents(id, .int32(now.back(policy.events).day), pending),
                limit: MaintenanceSQL.eventBatches,
                isFunction: true,
                amount: "events"
            ),
            Sweep(step: .positions, statement: MaintenanceSQL.dropPositions(id), limit: MaintenanceSQL.positions),
            Sweep(step: .keys, statement: MaintenanceSQL.dropKeys(id, .interval(policy.idempotency)), limit: rows),
        ]
        if let day = deliveriesBefore { sweeps.append(Self.deliveries(id, before: .int32(day))) }
        sweeps += [
            Sweep(step: .inbox, statement: MaintenanceSQL.dropInbox(id, today), limit: rows),
            Sweep(step: .acts, statement: MaintenanceSQL.dropActs(id, .interval(policy.acts)), limit: rows),
            Sweep(step: .tallies, statement: MaintenanceSQL.dropTallies(id, .interval(policy.tallies)), limit: rows),
            Sweep(
                step: .audit,
                statement: MaintenanceSQL.dropAudit(id, .interval(policy.audit)),
                limit: rows,
                isFunction: true
            ),
        ]
        sweeps += Self.people(id)
        sweeps += Self.traces(id, policy)
        sweeps += Self.upstreams(id, policy, now)
        self.sweeps = (sweeps + Self.figures(id, before: now.back(policy.analytics), today))[...]
    }

    /// Rows about devices and users that are kept for a time.
    private static func people(_ id: PostgresValue) -> [Sweep] {
        [
            Sweep(step: .verifications, statement: MaintenanceSQL.dropVerifications(id), limit: MaintenanceSQL.rows),
            Sweep(step: .expectations, statement: MaintenanceSQL.dropExpectations(id), limit: MaintenanceSQL.rows),
            Sweep(step: .activityTokens, statement: MaintenanceSQL.dropActivityTokens(id), limit: MaintenanceSQL.rows),
            Sweep(
                step: .identities,
                statement: MaintenanceSQL.endIdentities(id),
                limit: MaintenanceSQL.identities,
                isFunction: true
            ),
        ]
    }

    /// Challenges, late deliveries of erased identities, waiting calls, days of keys and captures.
    private static func traces(_ tenant: PostgresValue, _ policy: RetentionPolicy) -> [Sweep] {
        let rows = MaintenanceSQL.rows
        return [
            Sweep(step: .challenges, statement: MaintenanceSQL.dropChallenges(tenant), limit: rows),
            Sweep(
                step: .erasures,
                statement: MaintenanceSQL.eraseLate(tenant),
                limit: MaintenanceSQL.identities,
                isFunction: true
            ),
            Sweep(
                step: .forwarded,
                statement: MaintenanceSQL.dropForwarded(tenant, .interval(policy.forwarded)),
                limit: rows
            ),
            Sweep(step: .keyDays, statement: MaintenanceSQL.dropKeyDays(tenant), limit: rows),
            Sweep(step: .captures, statement: CaptureSQL.drop(tenant, .interval(policy.captures))),
        ]
    }

    /// Rows of messages that nothing sends any longer. Without these, the removal of a message to very many users would remove as many rows at once.
    private static func upstreams(_ tenant: PostgresValue, _ policy: RetentionPolicy, _ now: Timestamp) -> [Sweep] {
        let users = MessageID.first(at: now.back(policy.upstreamUsers))
        let calls = MessageID.first(at: now.back(max(policy.upstreamUsers, policy.deliveries)))
        return [
            MaintenanceSQL.dropUpstreamUsers(tenant, .id(users)), MaintenanceSQL.dropUpstreamCalls(tenant, .id(calls)),
        ].map { Sweep(step: .upstreamCalls, statement: $0, limit: MaintenanceSQL.rows) }
    }

    private static func deliveries(_ tenant: PostgresValue, before day: PostgresValue) -> Sweep {
        Sweep(
            step: .deliveries,
            statement: MaintenanceSQL.dropDeliveries(tenant, day),
            limit: MaintenanceSQL.rows,
            note: MaintenanceSQL.keepDays(tenant, day)
        )
    }

    /// Counts and the figures of the event reader, and its marks of deliveries before `firstDay`.
    private static func figures(
        _ tenant: PostgresValue,
        before time: Timestamp,
        _ firstDay: PostgresValue
    ) -> [Sweep] {
        let day = PostgresValue.int32(time.day)
        let quarter = PostgresValue.int32(QuarterRange(time..<time).from)
        let rows = MaintenanceSQL.rows
        return [
            Sweep(step: .counts, statement: MaintenanceSQL.dropCounts(tenant, quarter), limit: rows),
            Sweep(step: .countedReasons, statement: MaintenanceSQL.dropReasons(tenant, quarter), limit: rows),
        ]
            + [
                MaintenanceSQL.dropLatencies(tenant, day), MaintenanceSQL.dropSketches(tenant, day),
                MaintenanceSQL.dropDeviceChanges(tenant, day), MaintenanceSQL.dropOrphans(tenant, day),
                MaintenanceSQL.dropPropertyCounts(tenant, day), MaintenanceSQL.dropParity(tenant, day),
                MaintenanceSQL.dropMarks(tenant, firstDay), MaintenanceSQL.dropFigures(tenant),
            ].map { Sweep(step: .figures, statement: $0, limit: rows) }
    }
}

extension Timestamp {
    /// The time `duration` earlier, at least 1970.
    func back(_ duration: Duration) -> Timestamp {
        Timestamp(milliseconds: max(0, milliseconds - max(0, duration.milliseconds)))
    }
}
