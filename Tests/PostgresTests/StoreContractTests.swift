import Commands
import DatabaseSupport
import Foundation
import Model
import TestKit
import Testing

@testable import Postgres

/// The rules of the seams, on PostgreSQL: what the machines are tested with in memory must behave the same.
@Suite struct StoreContractTests {
    @Test(arguments: CommandStoreContract.rules)
    func postgresKeepsTheCommandStoresRules(_ rule: ContractRule) async throws {
        let violations = try await rule.violations(.onPostgres(try await .make()))
        #expect(violations == [])
    }

    @Test(arguments: DeliveryStoreContract.rules)
    func postgresKeepsTheDeliveryStoresRules(_ rule: ContractRule) async throws {
        let violations = try await rule.violations(.onPostgres(try await .make()))
        #expect(violations == [])
    }

    // A claim of webhooks asks for those of all tenants: these rules need a database of their own.
    @Test(arguments: WebhookStoreContract.rules)
    func postgresKeepsTheWebhookStoresRules(_ rule: ContractRule) async throws {
        let violations = try await rule.violations(.onPostgres(try await .alone()))
        #expect(violations == [])
    }

    @Test(arguments: SubscriptionContract.rules)
    func postgresKeepsTheSubscriptionStoresRules(_ rule: ContractRule) async throws {
        let violations = try await rule.violations(.onPostgres(try await .alone()))
        #expect(violations == [])
    }
}

extension ContractWorld {
    /// Two tenants whose time passes by making what waits for them older, so that no rule waits and none is overtaken by the clock.
    fileprivate static func onPostgres(_ fixture: StoreFixture) -> ContractWorld {
        ContractWorld(
            tenant: fixture.acme,
            otherTenant: fixture.other,
            app: fixture.scope.app,
            commands: fixture.commands,
            deliveries: fixture.delivery,
            webhooks: fixture.webhooks,
            subscriptions: fixture.subscriptions,
            setTiming: { timing in
                var tenant = fixture.tenant("acme")
                tenant.apps[0].timing = timing
                _ = try await fixture.provisioning.apply([tenant])
            },
            erase: { what in
                switch what {
                case .device(let id): _ = try await fixture.devices.erase(id, in: fixture.acme, by: .key("test"))
                case .user(let id): _ = try await fixture.devices.eraseUser(id, in: fixture.acme, by: .key("test"))
                }
            },
            identifiers: TestIdentifiers(),
            // The server runs on this machine.
            now: { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) },
            pass: { try await fixture.age(by: $0) }
        )
    }
}

extension StoreFixture {
    /// Moves every time that a queue looks at back by `duration`.
    fileprivate func age(by duration: Duration) async throws {
        let admin = try await database.admin()
        let seconds = "interval '\(duration.components.seconds) seconds'"
        let tenants = "tenant_id IN ('\(acme)', '\(other)')"
        try await admin.script(
            """
            UPDATE gateway.slice SET next_at = next_at - \(seconds) WHERE \(tenants);
            UPDATE gateway.sender SET next_at = next_at - \(seconds), failing_since = failing_since - \(seconds)
                WHERE \(tenants);
            UPDATE gateway.webhook SET next_at = next_at - \(seconds), failing_since = failing_since - \(seconds)
                WHERE \(tenants);
            """
        )
        await admin.close()
    }
}
