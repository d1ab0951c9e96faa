import DatabaseSchema
import DatabaseSupport
import DeliveryEngine
import Foundation
import Model
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// Rows that PostgreSQL has routed to the default partition when the partition of their week is attached (`PostgresError.Code.partitionChanged`).
@Suite struct PartitionChangeTests {
    // MARK: The code of an error

    /// The sentence of the first error is German, as a server with another `lc_messages` sends it.
    @Test func onlyTheBoundsOfAPartitionAreWorthARepeat() {
        func code(_ state: String, _ table: String?, _ constraint: String?, _ function: String) -> PostgresError.Code {
            .of(
                ServerErrorFields(
                    sqlState: state,
                    sentence: "neue Zeile für Relation »delivery_default« verletzt Partitions-Constraint",
                    table: table,
                    constraint: constraint,
                    sourceFunction: function
                )
            )
        }
        #expect(code("23514", "delivery_default", nil, "ExecPartitionCheckEmitError") == .partitionChanged)
        #expect(code("23514", "webhook", "webhook_order", "ExecConstraints") == .checkViolation)
        #expect(code("23514", nil, "positive_check", "ExecEvalConstraintCheck") == .checkViolation)
        #expect(code("23514", "delivery", nil, "ExecFindPartition") == .checkViolation)
        // RAISE in PL/pgSQL, and an error of a worker that Citus forwards.
        #expect(code("23514", nil, nil, "exec_stmt_raise") == .checkViolation)
        #expect(code("23514", nil, nil, "ReportResultError") == .checkViolation)
        #expect(code("23502", "delivery_default", nil, "ExecConstraints") == .notNullViolation)
    }

    @Test func aChangedPartitionIsAConflictAndACheckIsAFault() {
        let changed = PostgresError(.partitionChanged, sqlState: "23514")
        #expect(changed.isRetriable && changed.wasRolledBackForOthers)
        #expect(StoreError(changed).code == .conflict)
        let check = PostgresError(.checkViolation, sqlState: "23514")
        #expect(!check.isRetriable && !check.wasRolledBackForOthers)
        #expect(StoreError(check).code == .failed)
    }

    /// The fields that a real server sends.
    @Test func theServerNamesTheConstraintOfEachOtherViolation() async throws {
        let session = try await TestCluster.database(migrated: false).admin()
        func failure(_ sql: String) async -> PostgresError? {
            do throws(PostgresError) { try await session.script(sql) } catch { return error }
            return nil
        }
        try await session.script(
            """
            CREATE TABLE bounded (n integer CONSTRAINT small CHECK (n < 1000)) PARTITION BY RANGE (n);
            CREATE TABLE low PARTITION OF bounded FOR VALUES FROM (0) TO (10);
            CREATE DOMAIN positive AS integer CONSTRAINT above CHECK (VALUE > 0);
            """
        )
        let bounds = await failure("INSERT INTO low VALUES (50)")
        #expect(bounds?.code == .partitionChanged && bounds?.sqlState == "23514" && bounds?.constraint == nil)
        let others: [(sql: String, constraint: String?)] = [
            ("INSERT INTO bounded VALUES (50)", nil),
            ("INSERT INTO low VALUES (2000)", "small"),
            ("SELECT (-1)::positive", "above"),
            ("DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = 'check_violation'; END $$", nil),
        ]
        for other in others {
            let error = await failure(other.sql)
            #expect(error?.code == .checkViolation && error?.sqlState == "23514", "\(other.sql)")
            #expect(error?.constraint == other.constraint, "\(other.sql)")
        }
        // A row that is in the default partition already.
        try await session.script(
            "CREATE TABLE rest PARTITION OF bounded DEFAULT; INSERT INTO bounded VALUES (50)"
        )
        let occupied = await failure("CREATE TABLE middle PARTITION OF bounded FOR VALUES FROM (40) TO (60)")
        #expect(occupied?.code == .partitionChanged)
        #expect(await failure("INSERT INTO bounded VALUES (2000)")?.constraint == "small")
    }

    // MARK: The race

    /// The due time of the messages: after the weeks that a new database has.
    private static let delay = Duration.seconds(86_400 * 100)

    /// Waits until a row is routed to the default partition, and no further: its session has the lock of the parent and waits for that of the partition. If
    /// it had waited for the parent, it would have seen the new week.
    private func untilARowIsRouted(
        _ fixture: StoreFixture,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let admin = try await fixture.database.admin()
        // All databases are copies of one, and their tables have the same numbers.
        let routed = """
            SELECT count(*) AS n FROM pg_locks w JOIN pg_locks h ON h.pid = w.pid AND h.database = w.database
            WHERE w.database = (SELECT oid FROM pg_database WHERE datname = current_database())
                AND w.relation = 'gateway.delivery_default'::regclass AND w.mode = 'RowExclusiveLock' AND NOT w.granted
                AND h.relation = 'gateway.delivery'::regclass AND h.mode = 'RowExclusiveLock' AND h.granted
            """
        try await eventually("a row waits for the default partition", sourceLocation: sourceLocation) {
            try await admin.query(routed).only().int("n") == 1
        }
        await admin.close()
    }

    /// Runs `write` behind a transaction that has attached the week of `day`, and commits that when the row of `write` has been routed.
    private func attaching<Value: Sendable>(
        _ day: Int32,
        _ fixture: StoreFixture,
        sourceLocation: SourceLocation = #_sourceLocation,
        while write: @escaping @Sendable () async throws -> Value
    ) async throws -> Result<Value, any Error> {
        let change = try await OpenTransaction(
            fixture.database,
            "SELECT gateway.make_delivery_partitions(\(day), 1)"
        )
        let writing = Task { try await write() }
        try await untilARowIsRouted(fixture, sourceLocation: sourceLocation)
        try await change.end()
        return await writing.result
    }

    private func failure<Value>(of result: Result<Value, any Error>) -> (any Error)? {
        if case .failure(let error) = result { return error }
        return nil
    }

    private func rows(_ fixture: StoreFixture, _ table: String) async throws -> Int {
        try await fixture.database.admin().query("SELECT count(*) AS n FROM gateway.\(table)").only().int("n")
    }

    /// A message with a suppressed delivery, so that its acceptance writes one.
    private func suppressedMessage(_ fixture: StoreFixture) async throws -> NewMessage {
        let target = SuppressedTarget(
            target: TargetID(rawValue: UUID()),
            identity: nil,
            device: nil,
            address: .phone("010"),
            reason: .noDevice
        )
        return try await fixture.message(dueIn: Self.delay, suppressed: [target])
    }

    private func pool(_ fixture: StoreFixture, sharesFlush: Bool, repeats: Int) -> PostgresPool {
        var configuration = fixture.database.configuration(.call)
        configuration.sharesFlush = sharesFlush
        var limits = PoolLimits.patient()
        limits.repeatCount = repeats
        return PostgresPool(configuration, limits: limits, logger: TestCluster.logger)
    }

    /// A session does not repeat a transaction, so this is the server's answer. `pool.run` repeats it.
    @Test func theServerRefusesARowThatWasRoutedBeforeTheChange() async throws {
        let fixture = try await StoreFixture.alone()
        let day = (try await fixture.now() + Self.delay).day
        let session = try await fixture.database.admin()
        let insert = Statement(
            """
            INSERT INTO gateway.delivery (tenant_id, due_day, message_id, target_id, app_id, vendor, state)
            VALUES ('acme', $1, gen_random_uuid(), gen_random_uuid(), 'shop', 'rationalOwl', 'suppressed')
            """,
            [.int32(day)]
        )
        let transaction = Transaction(tenant: nil, [insert])
        let result = try await attaching(day, fixture) { try await session.run(transaction) }
        let error = failure(of: result) as? PostgresError
        #expect(error?.code == .partitionChanged && error?.sqlState == "23514" && error?.constraint == nil)
        #expect(try await rows(fixture, "delivery") == 0)
        _ = try await session.run(transaction)
        #expect(try await rows(fixture, "delivery_w\(day / 7)") == 1)
    }

    /// With a flush that calls share, and with one for each.
    @Test(arguments: [true, false])
    func anAcceptanceWaitsForTheChangeAndIsWrittenToTheNewWeek(sharesFlush: Bool) async throws {
        let fixture = try await StoreFixture.alone()
        let message = try await suppressedMessage(fixture)
        let day = message.times.dueAt.day
        let pool = pool(fixture, sharesFlush: sharesFlush, repeats: PoolLimits().repeatCount)
        let store = OperationStore(call: pool, node: fixture.node)
        let answer = try await attaching(day, fixture) {
            try await store.run(AcceptMessage(message), in: fixture.acme)
        }
        #expect(try answer.get() == .inserted)
        #expect(try await rows(fixture, "delivery_w\(day / 7)") == 1)
        #expect(try await rows(fixture, "delivery_default") == 0)
        // Once, although it ran twice.
        #expect(try await fixture.deliveryKinds() == ["suppressed"])
    }

    /// The repeats are what lets the acceptance succeed.
    @Test func withoutRepeatsTheAcceptanceIsAConflict() async throws {
        let fixture = try await StoreFixture.alone()
        let message = try await suppressedMessage(fixture)
        let pool = pool(fixture, sharesFlush: false, repeats: 0)
        let store = OperationStore(call: pool, node: fixture.node)
        let answer = try await attaching(message.times.dueAt.day, fixture) {
            try await store.run(AcceptMessage(message), in: fixture.acme)
        }
        #expect((failure(of: answer) as? StoreError)?.code == .conflict)
        #expect(try await rows(fixture, "message") == 0)
    }

    /// One outcome is an upsert; several are inserted in a subtransaction.
    @Test(arguments: [1, 2])
    func aFlushWaitsForTheChangeAndCountsItsOutcomesOnce(targets: Int) async throws {
        let fixture = try await StoreFixture.alone()
        let addressed = (0..<targets).map { _ in (TargetID(rawValue: UUID()), Address?.none) }
        let message = try await fixture.message(to: addressed, dueIn: Self.delay)
        try await fixture.accept(message)
        let progress = try await fixture.progress(fixture.lease(of: message), Array(0..<targets))
        let answer = try await attaching(message.times.dueAt.day, fixture) {
            try await fixture.delivery.record(progress, by: fixture.node)
        }
        #expect(try answer.get() == .recorded(targets))
        #expect(try await rows(fixture, "delivery_w\(message.times.dueAt.day / 7)") == targets)
        #expect(try await fixture.deliveryKinds() == Array(repeating: "sent", count: targets))
        #expect(try await fixture.facts(message.id).state == .done)
    }
}
