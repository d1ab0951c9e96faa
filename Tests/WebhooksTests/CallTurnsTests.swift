import Model
import Testing

@testable import Webhooks

/// Tenants take turns, and no tenant and no host has more than its part of the calls.
struct CallTurnsTests {
    private func due(_ tenant: TenantID, _ host: String = "a.example") -> DueSubscription {
        DueSubscription(tenant: tenant, url: "https://\(host)/x")
    }

    /// A machine that expectations may change.
    private final class Machine {
        var turns: CallTurns

        init(_ limits: CallTurns.Limits) { turns = CallTurns(limits) }

        var free: Int { turns.free }
        func choose(from due: [DueSubscription]) -> [Int] { turns.choose(from: due) }
        func take(_ subscription: DueSubscription, _ count: Int) { turns.take(subscription, count) }
        func takeMore(_ subscription: DueSubscription, _ count: Int) -> Int { turns.takeMore(subscription, count) }
        func giveBack(_ subscription: DueSubscription, _ count: Int) -> Bool { turns.giveBack(subscription, count) }
    }

    private func turns(_ total: Int = 64, tenant: Int = 32, host: Int = 16) -> Machine {
        Machine(.init(total: total, perTenant: tenant, perHost: host))
    }

    @Test func aHostIsNamedByItsHostAndPort() {
        #expect(due("t", "A.example:8443").host == "a.example:8443")
        for url in ["https://a.example", "https://a.example?x", "http://A.EXAMPLE#y", "a.example/z"] {
            #expect(DueSubscription(tenant: "t", url: url).host == "a.example", "\(url)")
        }
    }

    @Test func oneTenantNeverTakesAllCalls() {
        let turns = turns()
        let slow = (0..<1000).map { due("slow", "h\($0).example") }
        #expect(turns.choose(from: slow).count == 32)
        for index in turns.choose(from: slow) { turns.take(slow[index], 1) }
        #expect(turns.choose(from: slow) == [] && turns.free == 32)
        #expect(turns.turns.reached == [.tenant])
        let others = slow + [due("other", "o.example")]
        #expect(turns.choose(from: others) == [1000])
    }

    @Test func oneHostNeverTakesAllCalls() {
        let turns = turns()
        let same = (0..<10).flatMap { tenant in (0..<10).map { _ in due(TenantID("t\(tenant)"), "cloud.example") } }
        let first = turns.choose(from: same)
        #expect(first.count == 16)
        for index in first { turns.take(same[index], 1) }
        // Every tenant had a turn before any had a third one.
        let counts = Dictionary(grouping: first, by: { same[$0].tenant }).mapValues(\.count)
        #expect(counts.count == 10 && counts.values.max() == 2)
        #expect(turns.choose(from: same) == [])
        #expect(turns.turns.reached == [.host])
        #expect(turns.choose(from: same + [due("t0", "elsewhere.example")]) == [100])
        // A port is another receiver.
        #expect(turns.choose(from: [due("t0", "cloud.example:444")]) == [0])
    }

    @Test func tenantsTakeTurns() {
        let turns = turns(1, tenant: 1, host: 1)
        let waiting = [due("a", "1.example"), due("a", "2.example"), due("b", "3.example"), due("c", "4.example")]
        var served: [TenantID] = []
        for _ in 0..<9 {
            let next = turns.choose(from: waiting)
            #expect(next.count == 1)
            for index in next {
                served.append(waiting[index].tenant)
                turns.take(waiting[index], 1)
                #expect(turns.free == 0 && turns.choose(from: waiting) == [])
                #expect(turns.giveBack(waiting[index], 1))
            }
        }
        #expect(served == ["a", "b", "c", "a", "b", "c", "a", "b", "c"])
    }

    @Test func theOldestOfATenantGoesFirst() {
        let turns = turns(3, tenant: 2, host: 1)
        let waiting = [due("a", "1.example"), due("a", "1.example"), due("a", "2.example"), due("b", "1.example")]
        // The second waits for its host, the fourth too.
        #expect(turns.choose(from: waiting) == [0, 2])
    }

    @Test func parallelCallsStayWithinTheLimits() {
        let turns = turns(64, tenant: 32, host: 6)
        let webhook = due("a")
        turns.take(webhook, 1)
        #expect(turns.takeMore(webhook, 7) == 5)
        #expect(turns.takeMore(webhook, 7) == 0)
        #expect(!turns.giveBack(webhook, 6), "nothing waits")
        #expect(turns.free == 64)
        let small = self.turns(4, tenant: 4, host: 4)
        small.take(webhook, 1)
        #expect(small.takeMore(webhook, 7) == 1, "half of the free calls stay for others")
    }

    @Test func theEndOfACallWakesWhoeverWaits() {
        let turns = turns(64, tenant: 32, host: 1)
        let waiting = [due("a"), due("a")]
        #expect(turns.choose(from: waiting) == [0])
        turns.take(waiting[0], 1)
        #expect(turns.giveBack(waiting[0], 1))
        #expect(turns.choose(from: [waiting[1]]) == [0])
        turns.take(waiting[1], 1)
        #expect(!turns.giveBack(waiting[1], 1))
    }

    @Test func limitsAreAtLeastOne() {
        #expect(CallTurns.Limits(total: 0, perTenant: -1, perHost: 99) == .init(total: 1, perTenant: 1, perHost: 1))
    }
}

/// The limits that a look at the due subscriptions reports.
struct CallTurnsLimitTests {
    @Test func eachLimitIsReportedOnlyWhenSomethingWaitsForIt() {
        var turns = CallTurns(.init(total: 2, perTenant: 2, perHost: 2))
        let due = (0..<3).map { DueSubscription(tenant: TenantID("t\($0)"), url: "https://h\($0).example") }
        #expect(turns.choose(from: Array(due.prefix(2))).count == 2 && turns.reached.isEmpty)
        #expect(turns.choose(from: due).count == 2 && turns.reached == [.node])
        #expect(turns.choose(from: []).isEmpty && turns.reached.isEmpty)
        #expect(turns.choose(from: due).count == 2 && turns.reached == [.node])
        turns.forgetReached()
        #expect(turns.reached.isEmpty, "a look failed")
    }
}
