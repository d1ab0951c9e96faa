import DeliveryEngine
import Model

/// Rates that all nodes share.
extension DeliveryStoreContract {
    static let budgets = [
        ContractRule("a budget hands out its rate and no more, whoever draws") { world in
            var findings = Findings()
            let key = CredentialKey(tenant: world.tenant, credential: "apple")
            let draw = BudgetDraw(key: key, rates: [.credential("apple", 400)], count: 10_000)
            let started = ContinuousClock.now
            var total = 0
            for _ in 0..<5 { total += Int(try await world.deliveries.draw([draw]).first ?? 0) }
            let seconds = (ContinuousClock.now - started) / .seconds(1)
            findings.expect(total >= 100, "\(total) of 100 that may be drawn ahead")
            findings.expect(Double(total) <= 400 * (seconds + 0.25) + 1, "\(total) in \(seconds) s")
            return findings.list
        },
        ContractRule("the lowest of several budgets decides, and all of them pay") { world in
            var findings = Findings()
            let key = CredentialKey(tenant: world.tenant, credential: "apple")
            let both = BudgetDraw(key: key, rates: [.credential("apple", 4), .tenant(40_000)], count: 10_000)
            let tenant = BudgetDraw(key: key, rates: [.tenant(40_000)], count: 10)
            let started = ContinuousClock.now
            let counts = try await world.deliveries.draw([both, tenant])
            let seconds = (ContinuousClock.now - started) / .seconds(1)
            // A new budget saves from the beginning of its transaction on: what a slow one takes is its credential's time too.
            findings.expect(counts.count == 2 && counts.last == 10, "\(counts): the tenant's own budget has room")
            let first = counts.first ?? 0
            findings.expect(first >= 1 && Double(first) <= 4 * (seconds + 0.25) + 1, "\(first) in \(seconds) s")
            findings.equal(try await world.deliveries.draw([]), [], "of nothing")
            return findings.list
        },
    ]
}
