import DatabaseSupport
import Model
import Testing

@testable import PostgresClient

/// The statements of the stores are checked by the test that first uses them.
@Suite struct StatementInspectorTests {
    @Test func aStatementWithoutATenantIsAnIssueOfTheTestThatUsesIt() async throws {
        let stores = try await DatabaseStores.shared()
        let statement = Statement("SELECT count(*) FROM gateway.device", reach: .tenant)
        await withKnownIssue { _ = try await stores.call.run(statement, tenant: "acme") }
        // One report is enough; the next test that uses the same statement is not the cause.
        _ = try await stores.call.run(statement, tenant: "acme")
    }

    @Test func statementsOfShortWritesAndSetsAreInspectedToo() async throws {
        let stores = try await DatabaseStores.shared()
        var transaction = Transaction(tenant: "acme", [Statement("SELECT 1 AS one")])
        let many = Statement("SELECT 1 FROM gateway.identity WHERE key = 'one of many'", reach: .tenant)
        transaction.batches = [StatementBatch(shared: many, row: [])]
        await withKnownIssue { _ = try await stores.call.run(gathered: transaction) }
    }

    @Test func parametersAreThoseOfTheFunction() async throws {
        let inspector = try #require(try await DatabaseStores.shared().database.inspector)
        let all = "SELECT * FROM gateway.sequence_message(p_tenant => $1, p_app => $2, p_vendor => $3, p_message => $4)"
        #expect(inspector.breaches(in: all, .tenant) == [])
        let forgotten = all.replacing(", p_message => $4", with: "")
        #expect(inspector.breaches(in: forgotten, .tenant) == ["sequence_message has other parameters (p_message)"])
        let renamed = all.replacing("p_app", with: "p_apps")
        #expect(
            inspector.breaches(in: renamed, .tenant) == ["sequence_message has other parameters (p_app, p_apps)"]
        )
    }

    @Test func aStatementWithoutParametersBelongsToNoTenant() async throws {
        let inspector = try #require(try await DatabaseStores.shared().database.inspector)
        #expect(inspector.breaches(in: "SELECT now()", .tenant) == ["no parameter for the tenant"])
        #expect(inspector.breaches(in: "SELECT now()", .global) == [])
    }
}
