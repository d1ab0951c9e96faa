import DeliveryEngine
import Model
import Testing

@testable import EngineStore

/// Rate limits that all nodes share.
extension DeliveryStoreRuleTests {
    @Test func aBudgetLimitsTheRateOverAllNodes() async throws {
        let world = try await RuleWorld.make()
        let key = CredentialKey(tenant: world.tenant, credential: "apple")
        let draw = BudgetDraw(key: key, rates: [.credential("apple", 400)], count: 10_000)
        let started = ContinuousClock.now
        var total = 0
        for _ in 0..<5 { total += Int(try await world.deliveries.draw([draw]).first ?? 0) }
        let seconds = (ContinuousClock.now - started) / .seconds(1)
        #expect(total >= 100, "\(total) of 100 that may be drawn ahead")
        #expect(Double(total) <= 400 * (seconds + 0.25) + 1, "\(total) in \(seconds) s")
    }

    @Test func theLowestOfSeveralBudgetsLimitsAndAllAreCharged() async throws {
        let world = try await RuleWorld.make()
        let key = CredentialKey(tenant: world.tenant, credential: "apple")
        let both = BudgetDraw(key: key, rates: [.credential("apple", 4), .tenant(40_000)], count: 10_000)
        let tenant = BudgetDraw(key: key, rates: [.tenant(40_000)], count: 10)
        let started = ContinuousClock.now
        let counts = try await world.deliveries.draw([both, tenant])
        let seconds = (ContinuousClock.now - started) / .seconds(1)
        // A new budget accumulates from the beginning of its transaction, so the duration of a slow transaction
        // counts for its credential too.
        #expect(counts.count == 2 && counts.last == 10, "\(counts): the tenant's own budget has room")
        let first = counts.first ?? 0
        #expect(first >= 1 && Double(first) <= 4 * (seconds + 0.25) + 1, "\(first) in \(seconds) s")
        #expect(try await world.deliveries.draw([]) == [], "of nothing")
    }
}
