import DatabaseSupport
import PlanCheck
import PostgresClient
import Testing

/// The plans of all statements in a database with 100,000 devices and 1,000,000 deliveries.
@Suite struct PlanTests {
    @Test func everyReadOfAGrowingTableHasALimit() async throws {
        let admin = try await Self.filled()
        let check = PlanCheck(admin)
        let statements = StatementRecord.shared.list.statements + (try await check.functionStatements())
        #expect(statements.count > 500)
        let result = try await check.faults(of: statements)
        for text in result.unexplained { Issue.record("not explained: \(text)") }
        let (faults, unused) = try StatementRecord.exceptions().apply(to: result.faults)
        for fault in faults { Issue.record("reads without a limit: \(fault)") }
        for exception in unused { Issue.record("no statement needs the exception \(exception)") }

        // The check notices indexes that are missing.
        for (index, place) in [
            ("slice_leased", "tried_target"), ("slice_first", "find_queued_targets"), ("device_app", "store"),
            ("badge_holder", "forget_user"),
        ] {
            try await admin.script("DROP INDEX gateway.\(index)")
            let broken = try await check.faults(of: statements.filter { ($0.function ?? "store") == place })
            let left = try StatementRecord.exceptions().apply(to: broken.faults).faults
            #expect(!left.isEmpty, "nothing needs \(index)")
        }
        await admin.close()
    }

    private static func filled() async throws -> PostgresConnection {
        let admin = try await TestCluster.database().admin(statementTimeout: .seconds(600))
        try await PlanFill().run(admin, timeout: .seconds(600))
        return admin
    }
}
