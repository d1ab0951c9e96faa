import DatabaseSupport
import Foundation
import Model
import TestKit
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// Old counts: quarter hours become days, a day is recounted each night, and counts are removed at the end of their retention.
@Suite struct StoreCountLifeTests {
    private static let day: Int32 = 96

    /// A count of one for each quarter hour, with a reason.
    private static func fill(_ admin: PostgresConnection, from: Int32, to: Int32) async throws {
        try await admin.script(
            """
            INSERT INTO gateway.counter (tenant_id, quarter, app_id, vendor, device_vendor, transport, targets, rejected)
                SELECT 'acme', q, 'shop', 'upmc', 'upmc', 'apns', 1, 1 FROM generate_series(\(from), \(to) - 1) AS q;
            INSERT INTO gateway.counter_reason (tenant_id, quarter, app_id, vendor, device_vendor, transport, stage, reason, count)
                SELECT 'acme', q, 'shop', 'upmc', 'upmc', 'apns', 'rejected', 'Unregistered', 1 FROM generate_series(\(from), \(to) - 1) AS q;
            """
        )
    }

    /// The sums by day of the app's zone, as PostgreSQL assigns each quarter hour, and the number of rows. An app without a zone has the days of UTC.
    private static func days(_ admin: PostgresConnection, _ table: String, _ column: String, _ app: String = "shop")
        async throws -> (sums: [String: Int], rows: Int)
    {
        let rows = try await admin.query(
            """
            SELECT (to_timestamp(quarter * 900.0) AT TIME ZONE gateway.known_zone('\(app)', NULL))::date::text AS day,
                sum(\(column))::bigint AS sum, count(*) AS rows
            FROM gateway.\(table) WHERE tenant_id = 'acme' AND app_id = '\(app)' GROUP BY 1
            """
        )
        let sums = try rows.map { (try $0.text("day"), try $0.int("sum")) }
        return (Dictionary(uniqueKeysWithValues: sums), try rows.reduce(0) { $0 + (try $1.int("rows")) })
    }

    private static let zones = [
        "UTC", "Asia/Seoul", "Asia/Kathmandu", "Asia/Kolkata", "Europe/Berlin", "America/New_York", "America/Santiago",
        "America/Havana", "Asia/Beirut", "Australia/Lord_Howe", "Atlantic/Azores", "Nowhere/Unknown",
    ]

    // Days of 23, 24 and 25 hours, zones that are not whole hours from UTC, and zones whose clocks change at midnight. Each app has one of the zones.
    @Test func quarterHoursBecomeDaysOfTheAppsZone() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        let keeper = PostgresCountKeeper(engine: fixture.engine, node: fixture.node)
        let now = try await fixture.now()
        let last = (QuarterRange(now..<now + .seconds(1)).from / Self.day - 93) * Self.day
        for zone in Self.zones {
            // 400 days contain every change of a year; every fifth quarter hour has each place of an hour.
            try await admin.script(
                """
                INSERT INTO gateway.app (tenant_id, app_id, defaults) VALUES ('acme', '\(zone)', '{"timeZone": "\(zone)"}');
                INSERT INTO gateway.counter (tenant_id, quarter, app_id, vendor, device_vendor, transport, targets, rejected)
                    SELECT 'acme', q, '\(zone)', 'upmc', 'upmc', 'apns', 1, 1
                    FROM generate_series(\(last - 400 * Self.day), \(last + 3 * Self.day), 5) AS q;
                INSERT INTO gateway.counter_reason
                        (tenant_id, quarter, app_id, vendor, device_vendor, transport, stage, reason, count)
                    SELECT 'acme', q, '\(zone)', 'upmc', 'upmc', 'apns', 'rejected', 'Unregistered', 1
                    FROM generate_series(\(last - 400 * Self.day), \(last + 3 * Self.day), 5) AS q;
                """
            )
        }
        var before: [String: (sums: [String: Int], rows: Int)] = [:]
        for zone in Self.zones { before[zone] = try await Self.days(admin, "counter", "rejected", zone) }
        for _ in 0..<10 where try await keeper.rollUp(at: now) != 0 {}
        for zone in Self.zones {
            let after = try await Self.days(admin, "counter", "rejected", zone)
            let reasons = try await Self.days(admin, "counter_reason", "count", zone)
            #expect(after.sums == before[zone]?.sums && reasons.sums == after.sums, "\(zone)")
            // 400 days, the part of the first one, and up to four days of quarter hours that are too young.
            #expect(after.rows >= 400 && after.rows <= 402 + 4 * 20, "\(zone) \(after.rows)")
            #expect(reasons.rows == after.rows, "\(zone)")
        }
        let others = try await admin.query(
            """
            SELECT count(*) AS late FROM gateway.counter c
            JOIN gateway.counter_fold f ON f.tenant_id = c.tenant_id
            WHERE c.quarter < f.rolled - 96
                AND c.quarter <> gateway.first_quarter(c.quarter, gateway.known_zone(c.app_id, NULL))
            """
        )
        #expect(try others.only().int("late") == 0)
        #expect(try await keeper.rollUp(at: now) == 0, "a repetition changes nothing")
        let operators = PostgresOperatorStore(engine: fixture.engine)
        let merged = try await operators.mergedFigures(of: fixture.acme)
        #expect(merged?.until == QuarterRange(from: last + Self.day, to: .max).start)
        #expect(Set(merged?.zones ?? []) == Set(Self.zones.filter { $0 != "Nowhere/Unknown" }))
        #expect(try await operators.mergedFigures(of: fixture.acme, apps: ["Asia/Seoul"])?.zones == ["Asia/Seoul"])
        #expect(try await operators.mergedFigures(of: fixture.acme, latencies: true) == nil)
    }

    /// The sums of histograms by app, kind and day of the app's zone, and the number of rows.
    private static func latencies(
        _ admin: PostgresConnection
    ) async throws -> (sums: [String: LatencyHistogram], rows: Int) {
        let rows = try await admin.query(
            """
            SELECT concat_ws(' ', l.app_id, l.kind, gateway.first_quarter(l.quarter, gateway.known_zone(a.defaults->>'timeZone', NULL))) AS name,
                l.histogram
            FROM gateway.latency l JOIN gateway.app a ON a.tenant_id = l.tenant_id AND a.app_id = l.app_id WHERE l.tenant_id = 'acme'
            """
        )
        var sums: [String: LatencyHistogram] = [:]
        for row in rows {
            let histogram = try #require(LatencyHistogram(encoded: try row.bytes("histogram")))
            sums[try row.text("name"), default: LatencyHistogram()].merge(histogram)
        }
        return (sums, rows.count)
    }

    // Days that begin at other times than those of UTC, and parts of days at the ends of the steps. In one transaction for each day and in several, and also if
    // a program that merges no latencies has merged the counts.
    @Test(arguments: [PostgresCountKeeper.latencyLimit, 7], [false, true])
    func latenciesBecomeThoseOfDays(_ limit: Int, _ areCountsMerged: Bool) async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        let keeper = PostgresCountKeeper(engine: fixture.engine, node: fixture.node, latencyLimit: limit)
        let now = try await fixture.now()
        let last = (QuarterRange(now..<now + .seconds(1)).from / Self.day - 92) * Self.day
        try await Self.fill(admin, from: last - 3 * Self.day, to: last)
        if areCountsMerged {
            try await admin.script(
                "INSERT INTO gateway.counter_fold (tenant_id, minute, rolled) VALUES ('acme', 0, \(last))"
            )
        }
        let bytes = HexCoding.encode(Self.histogram([-1, 3, 700, 700, 90_000]).encoded)
        try await admin.script(
            """
            INSERT INTO gateway.event_reader (tenant_id, cursor, since, key) VALUES ('acme', 0, now(), '\\x000102030405060708090a0b0c0d0e0f');
            INSERT INTO gateway.app (tenant_id, app_id, defaults)
                VALUES ('acme', 'Asia/Kathmandu', '{"timeZone": "Asia/Kathmandu"}'), ('acme', 'nowhere', '{"timeZone": "Nowhere/Unknown"}');
            INSERT INTO gateway.latency (tenant_id, quarter, app_id, vendor, kind, histogram)
                SELECT 'acme', q, a, 'upmc', k, '\\x\(bytes)'
                FROM generate_series(\(last - 3 * Self.day), \(last + Self.day) - 1, 5) AS q,
                    unnest(ARRAY['shop', 'Asia/Kathmandu', 'nowhere']) AS a, unnest(ARRAY['delivery', 'read']) AS k;
            """
        )
        let before = try await Self.latencies(admin)
        while let steps = try await keeper.rollUp(at: now), steps > 0 {}
        let after = try await Self.latencies(admin)
        #expect(after.sums == before.sums)
        let merged = try await PostgresOperatorStore(engine: fixture.engine)
            .mergedFigures(of: fixture.acme, latencies: true)
        #expect(merged?.until == QuarterRange(from: last, to: .max).start)
        // 58 quarter hours of three apps and two kinds are old. In Kathmandu they are parts of four days, elsewhere of three.
        #expect(after.rows == before.rows - 58 * 6 + (3 + 3 + 4) * 2, "\(before.rows)")
        // A late receipt is counted in its quarter hour, and stays.
        try await admin.script(
            "INSERT INTO gateway.latency VALUES ('acme', \(last - Self.day + 7), 'shop', 'upmc', 'read', '\\x\(bytes)')"
        )
        #expect(try await keeper.rollUp(at: now) == 0)
        #expect(try await Self.latencies(admin).rows == after.rows + 1)
    }

    private static func histogram(_ values: [Int64]) -> LatencyHistogram {
        var histogram = LatencyHistogram()
        for value in values { histogram.add(value) }
        return histogram
    }

    // A step of the event reader stores sums. A merge that has read them before would undo the step.
    @Test func theMergeOfLatenciesWaitsForAStepOfTheEventReader() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        let holder = try await fixture.database.admin()
        let holderPID = try await holder.query("SELECT pg_backend_pid() AS pid").only().int("pid")
        let keeper = PostgresCountKeeper(engine: fixture.engine, node: fixture.node)
        let now = try await fixture.now()
        let day = (QuarterRange(now..<now + .seconds(1)).from / Self.day - 95) * Self.day
        let before = HexCoding.encode(Self.histogram([20]).encoded)
        let counted = Self.histogram([20, 5000])
        try await admin.script(
            """
            INSERT INTO gateway.event_reader (tenant_id, cursor, since, key) VALUES ('acme', 0, now(), '\\x000102030405060708090a0b0c0d0e0f');
            INSERT INTO gateway.latency (tenant_id, quarter, app_id, vendor, kind, histogram)
                SELECT 'acme', q, 'shop', 'upmc', 'read', '\\x\(before)' FROM unnest(ARRAY[\(day), \(day + 5)]) AS q;
            """
        )
        let gate = "hashtextextended('a step of the event reader', 0)"
        try await admin.script("SELECT pg_advisory_lock(\(gate))")
        let step = Task {
            try await holder.script(
                """
                BEGIN;
                SELECT cursor FROM gateway.event_reader FOR UPDATE;
                SELECT pg_advisory_xact_lock(\(gate));
                UPDATE gateway.latency SET histogram = '\\x\(HexCoding.encode(counted.encoded))';
                COMMIT
                """
            )
        }
        try await eventually("the step has its lock") {
            let waiting =
                "SELECT count(*) AS count FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND pid = \(holderPID)"
            return try await admin.query(waiting).only().int("count") == 1
        }
        let merge = Task { try await keeper.rollUp(at: now) }
        try await eventually("the merge waits") {
            let waiting = """
                SELECT count(*) AS count FROM pg_stat_activity
                WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%FROM gateway.event_reader r WHERE%'
                    AND pid <> pg_backend_pid()
                """
            return try await admin.query(waiting).only().int("count") == 1
        }
        try await admin.script("SELECT pg_advisory_unlock(\(gate))")
        try await step.value
        #expect(try await merge.value == 1)
        var expected = counted
        expected.merge(counted)
        let after = try await Self.latencies(admin)
        #expect(after.rows == 1 && Array(after.sums.values) == [expected])
    }

    @Test func latenciesInTooManyGroupsAreRefused() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        let now = try await fixture.now()
        let range = QuarterRange(now..<now + .seconds(1))
        let bytes = HexCoding.encode(Self.histogram([20]).encoded)
        try await admin.script(
            """
            INSERT INTO gateway.latency (tenant_id, quarter, app_id, vendor, kind, histogram)
                SELECT 'acme', \(range.from), 'app-' || n, 'upmc', 'read', '\\x\(bytes)' FROM generate_series(1, 3) AS n;
            """
        )
        /// The number of groups; nil: too many.
        func groups(_ groupings: Set<FunnelGrouping>, atMost limit: Int) async throws -> Int? {
            let answer = try await fixture.queries.latencies(
                in: range,
                apps: [],
                vendors: [],
                by: groupings,
                groupLimit: limit,
                of: fixture.acme
            )
            guard case .groups(let groups) = answer else { return nil }
            return groups.count
        }
        #expect(try await groups([.app], atMost: 3) == 3)
        #expect(try await groups([.app], atMost: 2) == nil)
        #expect(try await groups([], atMost: 1) == 1)
    }

    @Test func anotherNodeContinuesTheMerge() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        let now = try await fixture.now()
        let last = (QuarterRange(now..<now + .seconds(1)).from / Self.day - 93) * Self.day
        try await Self.fill(admin, from: last - 60 * Self.day, to: last)
        let keeper = PostgresCountKeeper(engine: fixture.engine, node: fixture.node)
        #expect(try await keeper.rollUp(at: now) == 50, "a call ends")
        try await admin.script("UPDATE gateway.singleton SET held_until = now() + interval '1 hour'")
        #expect(try await PostgresCountKeeper(engine: fixture.engine, node: "other").rollUp(at: now) == nil)
        try await admin.script("UPDATE gateway.singleton SET held_until = now() - interval '1 second'")
        #expect(try await PostgresCountKeeper(engine: fixture.engine, node: "other").rollUp(at: now) == 11)
        #expect(try await Self.days(admin, "counter", "rejected").rows == 60)
    }

    @Test func countsAreRemovedAtTheEndOfTheirRetention() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        let now = try await fixture.now()
        let today = QuarterRange(now..<now + .seconds(1)).from
        try await Self.fill(admin, from: today - 402 * Self.day, to: today - 400 * Self.day)
        // An hour later, because the next quarter hour may begin before the counts are removed.
        let kept = today - 400 * Self.day + 4
        try await Self.fill(admin, from: kept, to: kept + 2 * Self.day)
        let maintenance = PostgresMaintenance(engine: fixture.engine, node: fixture.node)
        #expect(try await maintenance.run().countsRemoved == 2 * 2 * Int(Self.day))
        #expect(try await Self.days(admin, "counter", "rejected").rows == 2 * Int(Self.day))
        try await admin.script(
            "UPDATE gateway.tenant SET retention = '{\"analytics\": 34300800}' WHERE tenant_id = 'acme'"
        )
        #expect(try await maintenance.run().countsRemoved == 2 * 2 * Int(Self.day), "397 days for this tenant")
    }

    // Each start of a process has an id of its own. Counts do not contain it.
    @Test func countsHaveAsManyRowsAfterAThousandStartsAsAfterOne() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        let keeper = PostgresCountKeeper(engine: fixture.engine, node: fixture.node)
        // The largest number of rows of a quarter hour, because the test may run in two of them.
        func rows() async throws -> [Int] {
            while try await keeper.fold() ?? 0 > 0 {}
            let found = try await admin.query(
                """
                SELECT (SELECT count(*) FROM gateway.counter_delta) AS open, (
                        SELECT max(n) FROM (SELECT count(*) AS n FROM gateway.counter GROUP BY quarter) x) AS counts, (
                        SELECT max(n) FROM (SELECT count(*) AS n FROM gateway.counter_reason GROUP BY quarter) x) AS reasons
                """
            ).only()
            return [try found.int("open"), try found.int("counts"), try found.int("reasons")]
        }
        var first: [Int] = []
        for number in 1...1000 {
            let node = NodeID("start-\(number)")
            var message = try await fixture.message(to: [(TargetID(UUID()), nil)])
            message.claim = NewMessage.Claim(node: node, lease: .seconds(600))
            try await fixture.accept(message)
            let progress = try await fixture.progress(fixture.lease(of: message), [0], .failed)
            _ = try await fixture.delivery.record(progress, by: node)
            if number == 1 { first = try await rows() }
        }
        #expect(first[0] == 0 && first[1] > 0 && first[2] == 1, "\(first)")
        #expect(try await rows() == first)
        let sums = try await admin.query(
            "SELECT sum(targets)::bigint AS targets, sum(rejected)::bigint AS rejected FROM gateway.counter"
        ).only()
        #expect(try sums.int("targets") == 1000 && sums.int("rejected") == 1000)
    }

    // MARK: The nightly recount

    private static func night(_ now: Timestamp) -> Timestamp {
        Timestamp(seconds: now.seconds / 86_400 * 86_400 + PostgresNightlyRecount.hours.lowerBound * 3600)
    }

    @Test func aRandomDayIsRecountedOncePerNight() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        let night = Self.night(try await fixture.now())
        let yesterday = night.day - 1
        try await Self.fill(admin, from: yesterday * Self.day + 3, to: yesterday * Self.day + 4)
        let recount = PostgresNightlyRecount(engine: fixture.engine, node: fixture.node)
        #expect(try await recount.run(at: night + .seconds(12 * 3600)) == .notNow, "not at day")
        let first = try await recount.run(at: night) { $0.upperBound }
        let found = try #require(first.findings)
        #expect(first.drift == 3)
        #expect(found.map(\.tenant.rawValue).sorted() == ["acme", "other"] && found.allSatisfy { $0.error == nil })
        let own = try #require(found.first { $0.tenant == fixture.acme })
        #expect(own.day == yesterday)
        #expect(
            Set(own.differences.map { "\($0.key) \($0.missing)" }) == [
                "targets -1", "rejected -1", "rejected:Unregistered -1",
            ]
        )
        let other = try await PostgresNightlyRecount(engine: fixture.engine, node: "b").run(at: night)
        // The node that found differences in an earlier night does not report them for ever.
        #expect(other == .anotherNode && other.drift == 0 && PostgresNightlyRecount.Night.notNow.drift == nil)
        try await admin.script("UPDATE gateway.singleton SET held_until = now() - interval '1 second'")
        let next = try await PostgresNightlyRecount(engine: fixture.engine, node: "b").run(at: night) { $0.upperBound }
        #expect(next.findings?.allSatisfy { $0.differences.isEmpty } == true && next.drift == 0, "it was corrected")
        #expect(
            try await fixture.audit.newest(1, in: fixture.acme).first.map { "\($0.actor) \($0.action)" }
                == "gateway recount"
        )
    }

    // Counts of whole days in another zone cannot be compared with deliveries of a UTC day.
    @Test func mergedDaysAreNotRecounted() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        let now = try await fixture.now()
        let last = (QuarterRange(now..<now + .seconds(1)).from / Self.day - 93) * Self.day
        try await Self.fill(admin, from: last, to: last + 1)
        try await admin.script(
            "UPDATE gateway.tenant SET retention = '{\"deliveries\": 31536000, \"messages\": 31536000}'"
        )
        let recount = PostgresRecount(engine: fixture.engine)
        let before = try await recount.tenants(fixture.acme, at: now).map(\.firstDay)
        #expect(before[0] < last / Self.day)
        #expect(try await PostgresCountKeeper(engine: fixture.engine, node: fixture.node).rollUp(at: now) == 1)
        #expect(try await recount.tenants(fixture.acme, at: now).map(\.firstDay) == [last / Self.day + 2])
        // The merge has overtaken a caller that looked before it.
        #expect(try await recount.compare(day: last / Self.day, of: fixture.acme) == nil)
        #expect(try await recount.correct(day: last / Self.day, of: fixture.acme, by: .gateway) == nil)
        #expect(try await Self.days(admin, "counter", "rejected").sums.values.reduce(0, +) == 1, "nothing is corrected")
    }

    // Its snapshot is older than the row of the audit that somebody writes meanwhile.
    @Test func aRecountAndAnotherActWriteTheAuditTogether() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        let day = try await fixture.now().day - 1
        try await Self.fill(admin, from: day * Self.day, to: day * Self.day + 4)
        let act = try await OpenTransaction(
            fixture.database,
            "SELECT gateway.write_audit('acme', 'somebody', '{pause}', '{message x}', ARRAY[NULL])"
        )
        let recount = PostgresRecount(engine: fixture.engine)
        let correction = Task { try await recount.correct(day: day, of: fixture.acme, by: .gateway) }
        try await Self.waits(admin, "%gateway.write_audit%")
        try await act.end()
        #expect(try await correction.value?.isEmpty == false)
        let rows = try await fixture.audit.newest(2, in: fixture.acme)
        #expect(rows.map { "\($0.actor) \($0.action)" } == ["somebody pause", "gateway recount"])
        #expect(try await recount.compare(day: day, of: fixture.acme)?.isEmpty == true)
    }

    // A merge that commits while the recount looks at the day: what it would add is no longer missing.
    @Test func aDayThatIsMergedDuringTheRecountIsNotCorrected() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        let day = try await fixture.now().day - 1
        try await Self.fill(admin, from: day * Self.day, to: day * Self.day + 4)
        // The correction waits for the table to which it adds the differences.
        let merge = try await OpenTransaction(
            fixture.database,
            """
            LOCK TABLE gateway.counter_delta IN EXCLUSIVE MODE;
            INSERT INTO gateway.counter_fold (tenant_id, minute, rolled) VALUES ('acme', 0, \((day + 2) * Self.day))
            """
        )
        let recount = PostgresRecount(engine: fixture.engine)
        let correction = Task { try await recount.correct(day: day, of: fixture.acme, by: .gateway) }
        // The server shows the first kilobyte of a statement.
        try await Self.waits(admin, "WITH m AS (%FROM gateway.message x%")
        try await merge.end()
        #expect(try await correction.value == nil)
        let added = try await admin.query("SELECT count(*) AS count FROM gateway.counter_delta")
        #expect(try added.only().int("count") == 0)
    }

    private static func waits(_ admin: PostgresConnection, _ query: String) async throws {
        let sql = """
            SELECT count(*) AS count FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE $1 AND pid <> pg_backend_pid()
                AND query NOT LIKE '%pg_advisory_xact_lock%'
            """
        try await eventually("a session waits for a lock") {
            try await admin.query(sql, [.text(query)]).only().int("count") == 1
        }
    }

    // The deliveries of the day are gone, so that a recount would remove its counts.
    @Test func aDayThatRetentionRemovesMeanwhileIsNotRecounted() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        let now = try await fixture.now()
        let day = now.day - 20
        try await Self.fill(admin, from: day * Self.day, to: day * Self.day + 4)
        let recount = PostgresRecount(engine: fixture.engine)
        let tenant = try #require(try await recount.tenants(fixture.acme, at: now).first)
        #expect(tenant.firstDay <= day, "the caller may recount it")
        try await admin.script("UPDATE gateway.tenant SET retention = '{\"deliveries\": 864000}'")
        #expect(try await recount.correct(day: day, of: fixture.acme, by: .gateway) == nil)
        #expect(try await Self.days(admin, "counter", "rejected").sums.values.reduce(0, +) == 4)
    }

    // The present retention keeps the day, but a shorter one has removed its deliveries.
    @Test func aDayThatAShorterRetentionRemovedIsNotRecounted() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        let now = try await fixture.now()
        let day = now.day - 20
        try await Self.fill(admin, from: day * Self.day, to: day * Self.day + 4)
        let recount = PostgresRecount(engine: fixture.engine)
        let maintenance = PostgresMaintenance(engine: fixture.engine, node: fixture.node)
        for step in ["deliveries", "messages"] {
            try await admin.script(
                """
                DELETE FROM gateway.counter_fold;
                UPDATE gateway.tenant SET retention = '{"\(step)": 864000}' WHERE tenant_id = 'acme';
                """
            )
            #expect(try await maintenance.removeExpired().failures == [])
            try await admin.script("UPDATE gateway.tenant SET retention = '{}' WHERE tenant_id = 'acme'")
            let tenant = try #require(try await recount.tenants(fixture.acme, at: now).first)
            #expect(tenant.firstDay > day && tenant.firstDay <= now.day, "\(step)")
            #expect(try await recount.compare(day: day, of: fixture.acme) == nil, "\(step)")
            #expect(try await recount.correct(day: day, of: fixture.acme, by: .gateway) == nil, "\(step)")
            // A longer retention does not lower it.
            #expect(try await maintenance.removeExpired().failures == [])
            #expect(try await recount.tenants(fixture.acme, at: now).first == tenant, "\(step)")
        }
        #expect(try await Self.days(admin, "counter", "rejected").sums.values.reduce(0, +) == 4)
    }

    @Test func droppedPartitionsAreNotedForEveryTenant() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        let now = try await fixture.now()
        try await admin.script(
            """
            SELECT gateway.make_delivery_partitions(\(now.day - 35), 1);
            UPDATE gateway.tenant SET retention = '{"deliveries": 864000}';
            INSERT INTO gateway.counter_fold (tenant_id, minute, rolled) VALUES ('acme', 29000000, 7);
            """
        )
        let maintenance = PostgresMaintenance(engine: fixture.engine, node: fixture.node)
        let report = try await maintenance.changePartitions()
        #expect(report.partitionsDropped >= 1 && report.failures == [])
        let rows = try await admin.query(
            "SELECT kept_from, minute, coalesce(rolled, 0) AS rolled FROM gateway.counter_fold ORDER BY tenant_id"
        )
        let first = Int((now.day - 10) / 7 * 7)
        #expect(try rows.map { try $0.int("kept_from") } == [first, first])
        #expect(try rows.map { try $0.int("minute") } == [29_000_000, 0])
        #expect(try rows.map { try $0.int("rolled") } == [7, 0])
        let tenants = try await PostgresRecount(engine: fixture.engine).tenants(nil, at: now)
        #expect(tenants.count == 2 && tenants.allSatisfy { $0.firstDay >= Int32(first) })
    }
}
