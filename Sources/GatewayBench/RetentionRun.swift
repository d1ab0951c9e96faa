import CommandSupport
import EngineStore
import Foundation
import Gateway
import Model
import NIOConcurrencyHelpers
import PostgresClient

/// The result of `bench retention`. Times of acceptances are in milliseconds.
struct RetentionSample: Sendable {
    /// 300 s: how often a gateway removes expired rows.
    static let period = 300.0

    /// The duration of the round.
    var seconds: Double
    /// Old rows that are still there.
    var left: Int
    /// The p99 without and with maintenance, and the longest acceptance with it.
    var without: Double
    var with: Double
    var maximum: Double

    var ratio: Double { BenchNeighbour.ratio(of: with, to: without) }

    /// The sentences about limits that are exceeded; none if all are kept.
    func excesses(limit: Double) -> [String] {
        var excesses: [String] = []
        if seconds > Self.period {
            excesses.append(
                String(format: "the round took %.0f s, longer than the period of %.0f s", seconds, Self.period)
            )
        }
        if left > 0 { excesses.append("\(left) old rows are left") }
        if ratio > limit {
            excesses.append(
                String(format: "p99 of accepts is %.2f times that without maintenance, more than %.2f", ratio, limit)
            )
        }
        return excesses
    }

    var rows: [[String]] {
        [
            ["round", String(format: "%.1f s", seconds)], ["rows left", "\(left)"],
            ["accept p99, without → with", String(format: "%.1f → %.1f ms, ratio %.2f", without, with, ratio)],
            ["longest accept with", String(format: "%.1f ms", maximum)],
        ]
    }
}

/// Creates old rows and removes them.
struct RetentionRun {
    let stage: BenchStage
    let events: Int
    let deliveries: Int
    /// Whether another tenant keeps the weeks of the deliveries.
    let keepsWeeks: Bool

    private static let devices = 10_000
    private static let callers = 16
    /// Events per statement, and per row where the log has batches.
    private static let step = 500_000
    private static let batch = 250
    /// The old events are from these days before today, the old deliveries from these weeks.
    private static let eventDays = 20...24
    private static let weeks = 20...29
    private static let neighbour: TenantID = "keeper"

    /// Creates the audience and the old rows. Until `measure`, the tenant keeps them.
    ///
    /// - Throws: `StageFailure`.
    func fill() async throws {
        try await stage.makeAudience(Self.devices)
        try await stage.psql(
            """
            UPDATE gateway.tenant SET retention = '{"deliveries": 315360000, "events": 315360000}';
            SELECT gateway.make_delivery_partitions((extract(epoch FROM now()) / 86400)::integer - \(Self.weeks.upperBound * 7), \(Self.weeks.count));
            \(Self.functions)
            """
        )
        if keepsWeeks {
            _ = try await stage.addTenant(Self.neighbour, apnsAddress: stage.peerAddress)
            try await stage.psql(
                "UPDATE gateway.tenant SET retention = '{\"deliveries\": 315360000}' WHERE tenant_id = '\(Self.neighbour)'"
            )
        }
        try await fill(events, "bench_events")
        try await fill(deliveries, "bench_deliveries")
        try await stage.psql("VACUUM ANALYZE; CHECKPOINT")
    }

    private func fill(_ count: Int, _ function: String) async throws {
        var bar = ProgressBar()
        for first in stride(from: 0, to: count, by: Self.step) {
            bar.show(done: first, of: count, rows: first)
            try await stage.psql("SELECT \(function)(\(first), \(min(first + Self.step, count)), \(count))")
        }
        bar.show(done: count, of: count, rows: count, isLast: true)
    }

    /// Measures acceptances, first alone and then during one round.
    ///
    /// - Throws: `StageFailure` when a call was not accepted, or when the round did not begin.
    func measure(rate: Double, phase: Duration, phases: Int) async throws -> RetentionSample {
        let callers = TransactionalCallers(
            gateway: stage.gateway,
            apiKey: stage.apiKey,
            count: Self.callers,
            devices: Self.devices
        )
        // Warms up: afterwards connections are open and statements are prepared.
        _ = try await callers.atRate(rate, for: .seconds(5))
        var without: [Duration] = []
        for _ in 0..<phases { without += try await callers.atRate(rate, for: phase) }
        try await stage.psql(
            """
            UPDATE gateway.tenant SET retention = '{}' WHERE tenant_id = '\(BenchStage.tenant)';
            DELETE FROM gateway.singleton WHERE name = 'maintenance';
            """
        )
        let isDone = NIOLockedValueBox(false)
        let engine = stage.database.engine
        async let round = Self.round(engine, isDone)
        var with: [Duration] = []
        // The last phase is the one in which the round ends.
        repeat { with += try await callers.atRate(rate, for: phase) } while !isDone.withLockedValue { $0 }
        let (seconds, report) = try await round
        guard report.isLeader, report.failures.isEmpty else { throw StageFailure("the round failed: \(report)") }
        return RetentionSample(
            seconds: seconds,
            left: try await left(),
            without: Self.milliseconds(without.sorted(), 0.99),
            with: Self.milliseconds(with.sorted(), 0.99),
            maximum: Self.milliseconds(with.sorted(), 1)
        )
    }

    private static func round(
        _ engine: PostgresPool,
        _ isDone: NIOLockedValueBox<Bool>
    ) async throws -> (Double, MaintenanceReport) {
        defer { isDone.withLockedValue { $0 = true } }
        let started = ContinuousClock.now
        let report = try await PostgresMaintenance(engine: engine, node: "bench").run()
        return ((.now - started) / .seconds(1), report)
    }

    /// The rows that were past their time and are still there.
    private func left() async throws -> Int {
        try await stage.database.engine.run(
            Statement("SELECT bench_left($1) AS number", [.text(BenchStage.tenant.rawValue)]),
            tenant: nil,
            timeout: .seconds(600)
        ).only().int("number")
    }

    private static func milliseconds(_ sorted: [Duration], _ share: Double) -> Double {
        guard !sorted.isEmpty else { return 0 }
        return sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))] / .milliseconds(1)
    }

    /// Creates rows as acceptances and flushes of outcomes leave them, evenly distributed over the days.
    private static let functions = """
        CREATE FUNCTION bench_day(p_first integer, p_days integer, n bigint, p_of bigint) RETURNS integer LANGUAGE sql STABLE AS $$
            SELECT floor(extract(epoch FROM now()) / 86400)::integer - p_first + (n * p_days / p_of)::integer
        $$;
        CREATE FUNCTION bench_events(p_from bigint, p_to bigint, p_of bigint) RETURNS void LANGUAGE plpgsql AS $$
        BEGIN
            IF to_regclass('gateway.event_batch') IS NOT NULL THEN
                EXECUTE 'SELECT gateway.make_event_partitions($1, $2)'
                    USING bench_day(\(eventDays.upperBound), 0, 0, 1), \(eventDays.count);
                EXECUTE $e$
                    INSERT INTO gateway.event_batch (tenant_id, last, day, count, at, app_id, vendor, kind, messages, due_days, targets)
                        SELECT '\(BenchStage.tenant)', n + \(batch), d.day, \(batch), to_timestamp(d.day * 86400.0 + 1), '\(BenchStage.app)',
                            'native', 'sent', ARRAY[gen_random_uuid()], ARRAY[d.day],
                            ARRAY(SELECT gen_random_uuid() FROM generate_series(1, \(batch) + 0 * n))
                        FROM generate_series($1, $2 - 1, \(batch)) AS n
                        CROSS JOIN LATERAL (SELECT bench_day(\(eventDays.upperBound), \(eventDays.count), n, $3) AS day) d
                    $e$ USING p_from, p_to, p_of;
                EXECUTE $e$
                    INSERT INTO gateway.event_floor (tenant_id, last) VALUES ('\(BenchStage.tenant)', 0) ON CONFLICT DO NOTHING
                    $e$;
            ELSE
                INSERT INTO gateway.event (tenant_id, position, at, kind, app_id, vendor, message_id, target_id, due_day)
                    SELECT '\(BenchStage.tenant)', n + 1, to_timestamp(d.day * 86400.0 + 1), 'sent', '\(BenchStage.app)', 'native',
                        gen_random_uuid(), gen_random_uuid(), d.day
                    FROM generate_series(p_from, p_to - 1) AS n
                    CROSS JOIN LATERAL (SELECT bench_day(\(eventDays.upperBound), \(eventDays.count), n, p_of) AS day) d;
                INSERT INTO gateway.event_head (tenant_id, last) VALUES ('\(BenchStage.tenant)', p_to)
                    ON CONFLICT (tenant_id) DO UPDATE SET last = excluded.last;
            END IF;
        END $$;
        CREATE FUNCTION bench_deliveries(p_from bigint, p_to bigint, p_of bigint) RETURNS void LANGUAGE plpgsql AS $$
        BEGIN
            INSERT INTO gateway.delivery (tenant_id, due_day, message_id, target_id, app_id, vendor, identity_id, device_id, state, transport,
                    transport_id, attempts, payload_bytes, sent_at)
                SELECT '\(BenchStage.tenant)', d.day, md5((n / 500)::text)::uuid, gen_random_uuid(), '\(BenchStage.app)', 'native',
                    md5('i' || n % 1000000)::uuid, md5('d' || n % 1000000)::uuid, 'sent', 'apns', gen_random_uuid(), 1, 120,
                    to_timestamp(d.day * 86400.0 + 1)
                FROM generate_series(p_from, p_to - 1) AS n
                CROSS JOIN LATERAL (SELECT bench_day(\(weeks.upperBound * 7), \((weeks.count - 1) * 7), n, p_of) AS day) d;
        END $$;
        CREATE FUNCTION bench_left(p_tenant text) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$
        DECLARE
            v_events bigint;
        BEGIN
            IF to_regclass('gateway.event_batch') IS NULL THEN
                SELECT count(*) INTO v_events FROM gateway.event e WHERE e.tenant_id = p_tenant AND e.at < now() - interval '15 days';
            ELSE
                EXECUTE 'SELECT coalesce(sum(b.count), 0) FROM gateway.event_batch b WHERE b.tenant_id = $1 AND b.at < now() - interval ''15 days'''
                    INTO v_events USING p_tenant;
            END IF;
            RETURN v_events + (SELECT count(*) FROM gateway.delivery d WHERE d.tenant_id = p_tenant AND d.due_day < bench_day(97, 0, 0, 1));
        END $$;
        """
}
