import DeliveryEngine
import FoundationEssentials
import Model
import Testing

/// Waits that double.
@Suite struct BackoffTests {
    private let backoff = Backoff(first: .seconds(1), cap: .seconds(60))

    @Test(arguments: [(0, 1), (1, 1), (2, 2), (3, 4), (6, 32), (7, 60), (1000, 60)])
    func doublesUpToItsCap(failures: Int, seconds: Int) {
        #expect(backoff.delay(after: failures) == .seconds(seconds))
    }

    @Test func jitterOnlyLengthensByAQuarterAtMost() {
        #expect(backoff.delay(after: 1, jitter: 1) == .milliseconds(1250))
        #expect(backoff.delay(after: 1, jitter: -5) == .seconds(1))
    }
}

/// Who may take how many slots (design §5.7).
@Suite struct SliceSharesTests {
    private var policy: EnginePolicy {
        var policy = EnginePolicy()
        policy.slicesPerNode = 20
        policy.slicesReserved = 4
        policy.slicesPerTenant = 10
        return policy
    }

    private func fill(_ shares: inout SliceShares, _ tenant: TenantID, _ lane: Lane) -> Int {
        var taken = 0
        while shares.quota(of: tenant, in: lane) > 0 {
            shares.take(tenant, lane)
            taken += 1
        }
        return taken
    }

    @Test func oneTenantLeavesAsManyFreeAsItHolds() {
        var shares = SliceShares(policy: policy)
        #expect(fill(&shares, "greedy", .bulk) == 8)
        #expect(shares.free(in: .bulk) == 8)
    }

    @Test func thereIsASlotForTheNextHoweverManyHang() {
        var shares = SliceShares(policy: policy)
        for number in 0..<8 {
            #expect(fill(&shares, TenantID("hanging\(number)"), .bulk) > 0 || shares.free(in: .bulk) == 0)
        }
        #expect(shares.quota(of: "next", in: .urgent) > 0)
    }

    @Test func campaignDoesNotTakeWhatIsKeptForUrgentWork() {
        var shares = SliceShares(policy: policy)
        for number in 0..<100 { _ = fill(&shares, TenantID("t\(number)"), .background) }
        #expect(shares.free(in: .bulk) == 0)
        #expect(shares.free(in: .transactional) == 4)
    }

    @Test func tenantsOwnCampaignDoesNotDelayItsOneTimeCodes() {
        var shares = SliceShares(policy: policy)
        _ = fill(&shares, "acme", .bulk)
        #expect(shares.quota(of: "acme", in: .bulk) == 0)
        #expect(shares.quota(of: "acme", in: .urgent) > 0)
    }

    @Test func whatIsGivenBackMayBeTakenAgain() {
        var shares = SliceShares(policy: policy)
        let taken = fill(&shares, "acme", .bulk)
        for _ in 0..<taken { shares.giveBack("acme", .bulk) }
        shares.giveBack("acme", .bulk)
        #expect(shares.total == 0)
        #expect(fill(&shares, "acme", .bulk) == taken)
    }
}

/// Leases handed over in memory.
@Suite struct OfferedSlicesTests {
    private func lease(_ tenant: TenantID, _ number: Int32, _ lane: Lane = .bulk) -> SliceLease {
        SliceLease(
            key: SliceKey(tenant: tenant, message: MessageID(.numbered(1)), number: number),
            epoch: 1,
            lane: lane,
            dueDay: 0,
            work: .deliver
        )
    }

    @Test func tenantsComeInTurnAndEachInOrder() {
        var offered = OfferedSlices(limit: 10)
        for number in Int32(0)..<3 { _ = offered.offer(lease("a", number)) }
        _ = offered.offer(lease("b", 0))
        var order: [String] = []
        while let next = offered.next(in: .bulk, where: { _ in true }) {
            order.append("\(next.key.tenant)\(next.key.number)")
        }
        #expect(order == ["a0", "b0", "a1", "a2"])
        #expect(offered.count == 0)
    }

    @Test func tenantWithoutASlotDoesNotBlockTheNext() {
        var offered = OfferedSlices(limit: 10)
        _ = offered.offer(lease("a", 0))
        _ = offered.offer(lease("b", 0))
        let taken = offered.next(in: .bulk) { $0 == "b" }
        let none = offered.next(in: .bulk) { $0 == "b" }
        #expect(taken?.key.tenant == "b" && none == nil)
        #expect(offered.leases.map(\.key.tenant) == ["a"])
    }

    @Test func laneHasItsOwnLine() {
        var offered = OfferedSlices(limit: 10)
        _ = offered.offer(lease("a", 0, .background))
        let urgent = offered.next(in: .urgent) { _ in true }
        #expect(urgent == nil)
    }

    @Test func aboveTheBoundItSaysNo() {
        var offered = OfferedSlices(limit: 2)
        let answers = [offered.offer(lease("a", 0)), offered.offer(lease("a", 1)), offered.offer(lease("a", 2))]
        #expect(answers == [true, true, false])
    }

    @Test func lostLeasesAreTakenOut() {
        var offered = OfferedSlices(limit: 10)
        for number in Int32(0)..<3 { _ = offered.offer(lease("a", number)) }
        offered.remove([lease("a", 1).key])
        #expect(offered.leases.map(\.key.number) == [0, 2])
        let rest = offered.takeAll()
        #expect(rest.count == 2 && offered.count == 0)
    }
}

/// Tenants in turn.
@Suite struct TenantTurnsTests {
    @Test func lookBeginsAfterTheTenantThatWasServedLast() {
        var turns = TenantTurns()
        #expect(turns.order(["c", "a", "b", "a"], in: .bulk) == ["a", "b", "c"])
        turns.served("a", in: .bulk)
        #expect(turns.order(["c", "a", "b"], in: .bulk) == ["b", "c", "a"])
        #expect(turns.order(["c", "a", "b"], in: .urgent) == ["a", "b", "c"])
        turns.served("c", in: .bulk)
        #expect(turns.order(["c", "a"], in: .bulk) == ["a", "c"])
    }
}

/// The database's clock on this node.
@Suite struct DatabaseClockTests {
    @Test func followsTheDatabaseAndNotTheNode() {
        let box = ManualTime()
        let clock = DatabaseClock(monotonic: { box.now })
        box.advance(.seconds(10))
        clock.adjust(databaseTime: Timestamp(seconds: 1000), askedFor: .milliseconds(200))
        #expect(clock.now() == Timestamp(milliseconds: 1_000_100))
        box.advance(.seconds(5))
        #expect(clock.now() == Timestamp(milliseconds: 1_005_100))
    }

    @Test func answerOfANonsenseTimeDoesNotTrap() {
        let clock = DatabaseClock(monotonic: { .seconds(1) })
        clock.adjust(databaseTime: Timestamp(milliseconds: .min), askedFor: .zero)
        _ = clock.now()
        clock.adjust(databaseTime: Timestamp(milliseconds: .max), askedFor: .seconds(9))
        _ = clock.now()
    }
}
