import TestKit
import Testing

// The in-memory stores keep the rules that PostgreSQL is held to: else a machine test would prove nothing.
@Suite struct StoreContractTests {
    @Test(arguments: CommandStoreContract.rules)
    func theStoreInMemoryKeepsTheCommandStoresRules(_ rule: ContractRule) async throws {
        #expect(try await rule.violations(.inMemory()) == [])
    }

    @Test(arguments: DeliveryStoreContract.rules)
    func theStoreInMemoryKeepsTheDeliveryStoresRules(_ rule: ContractRule) async throws {
        #expect(try await rule.violations(.inMemory()) == [])
    }

    @Test(arguments: WebhookStoreContract.rules)
    func theStoreInMemoryKeepsTheWebhookStoresRules(_ rule: ContractRule) async throws {
        #expect(try await rule.violations(.inMemory()) == [])
    }
}
