import TestKit
import Testing

// The in-memory stores keep the rules that PostgreSQL is held to: else a machine test would prove nothing.
@Suite struct StoreContractTests {
    @Test(arguments: CommandStoreContract.rules)
    func theStoreInMemoryKeepsTheCommandStoresRules(_ rule: ContractRule) async throws {
        let violations = try await rule.violations(.inMemory())
        #expect(violations == [])
    }

    @Test(arguments: DeliveryStoreContract.rules)
    func theStoreInMemoryKeepsTheDeliveryStoresRules(_ rule: ContractRule) async throws {
        let violations = try await rule.violations(.inMemory())
        #expect(violations == [])
    }

    @Test(arguments: WebhookStoreContract.rules)
    func theStoreInMemoryKeepsTheWebhookStoresRules(_ rule: ContractRule) async throws {
        let violations = try await rule.violations(.inMemory())
        #expect(violations == [])
    }

    @Test(arguments: SubscriptionContract.rules)
    func theStoreInMemoryKeepsTheSubscriptionStoresRules(_ rule: ContractRule) async throws {
        let violations = try await rule.violations(.inMemory())
        #expect(violations == [])
    }
}
