import DeliveryEngine
import EngineSupport
import FoundationEssentials
import Model
import Testing

/// Waiting times that double.
@Suite struct BackoffTests {
    private let backoff = RetryBackoff(first: .seconds(1), cap: .seconds(60))

    @Test(arguments: [(0, 1), (1, 1), (2, 2), (3, 4), (6, 32), (7, 60), (1000, 60)])
    func doublesUpToItsCap(failures: Int, seconds: Int) {
        #expect(backoff.delay(after: failures) == .seconds(seconds))
    }

    @Test func jitterOnlyLengthensByAQuarterAtMost() {
        #expect(backoff.delay(after: 1, jitter: 1) == .milliseconds(1250))
        #expect(backoff.delay(after: 1, jitter: -5) == .seconds(1))
    }
}

/// The number of slots that each tenant may take (docs/architecture.md#path-of-a-message).
@Suite struct SliceSharesTests {
    private var policy: EnginePolicy {
        var policy = EnginePolicy()
        policy.targetsPerNode = 10_000
        policy.targetsReserved = 2000
        policy.targetsPerTenant = 5000
        return policy
    }

    /// The number of slices with `targets` that the tenant may start.
    private func fill(_ shares: inout SliceShares, _ tenant: TenantID, _ lane: Lane, targets: Int = 500) -> Int {
        var taken = 0
        while shares.quota(of: tenant, in: lane) > 0 {
            shares.take(tenant, lane, targets: targets)
            taken += 1
        }
        return taken
    }

    @Test func oneTenantLeavesAsManyFreeAsItHolds() {
        var shares = SliceShares(policy: policy)
        #expect(shares.quota(of: "greedy", in: .bulk) == 8)
        #expect(fill(&shares, "greedy", .bulk) == 8)
        #expect(shares.free(in: .bulk) == 4000)
    }

    @Test func smallSlicesTakeLittle() {
        var shares = SliceShares(policy: policy)
        #expect(fill(&shares, "greedy", .bulk, targets: 8) == 500)
        #expect(shares.free(in: .bulk) == 4000 && shares.slices(of: "greedy", in: .bulk) == 500)
        // Whatever the sizes are, a limit is exceeded by less than one slice.
        var mixed = SliceShares(policy: policy)
        mixed.take("acme", .urgent, targets: 4999)
        #expect(mixed.quota(of: "acme", in: .urgent) == 1)
        mixed.take("acme", .urgent, targets: 500)
        #expect(mixed.quota(of: "acme", in: .urgent) == 0)
    }

    @Test func aSlotIsLeftForTheNextTenantHoweverManyHang() {
        var shares = SliceShares(policy: policy)
        for number in 0..<8 {
            #expect(fill(&shares, TenantID("hanging\(number)"), .bulk) > 0 || shares.free(in: .bulk) == 0)
        }
        #expect(shares.quota(of: "next", in: .urgent) > 0)
    }

    @Test func campaignDoesNotTakeSlotsReservedForUrgentWork() {
        var shares = SliceShares(policy: policy)
        for number in 0..<100 { _ = fill(&shares, TenantID("t\(number)"), .background) }
        #expect(shares.free(in: .bulk) == 0)
        #expect(shares.free(in: .transactional) == 2000)
    }

    @Test func tenantsOwnCampaignDoesNotDelayItsOneTimeCodes() {
        var shares = SliceShares(policy: policy)
        _ = fill(&shares, "acme", .bulk)
        #expect(shares.quota(of: "acme", in: .bulk) == 0)
        #expect(shares.quota(of: "acme", in: .urgent) > 0)
    }

    @Test func returnedSlotsMayBeTakenAgain() {
        var shares = SliceShares(policy: policy)
        let taken = fill(&shares, "acme", .bulk)
        for _ in 0..<taken { shares.giveBack("acme", .bulk, targets: 500) }
        shares.giveBack("acme", .bulk, targets: 500)
        #expect(shares.total == 0)
        #expect(fill(&shares, "acme", .bulk) == taken)
    }
}

/// Leases that are passed on in memory.
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

    @Test func eachLaneHasItsOwnQueue() {
        var offered = OfferedSlices(limit: 10)
        _ = offered.offer(lease("a", 0, .background))
        let urgent = offered.next(in: .urgent) { _ in true }
        #expect(urgent == nil)
    }

    @Test func aboveTheBoundOffersAreRefused() {
        var offered = OfferedSlices(limit: 2)
        let answers = [offered.offer(lease("a", 0)), offered.offer(lease("a", 1)), offered.offer(lease("a", 2))]
        #expect(answers == [true, true, false])
    }

    @Test func lostLeasesAreRemoved() {
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
    @Test func theRoundBeginsAfterTheTenantServedLast() {
        var turns = TenantTurns(share: 10)
        #expect(turns.round(["c", "a", "b", "a"], in: .bulk) == ["a", "b", "c"])
        turns.served("a", 1, in: .bulk)
        #expect(turns.round(["c", "a", "b"], in: .bulk) == ["b", "c", "a"])
        #expect(turns.round(["c", "a", "b"], in: .urgent) == ["a", "b", "c"])
        turns.served("c", 1, in: .bulk)
        #expect(turns.round(["c", "a"], in: .bulk) == ["a", "c"])
    }

    @Test func aTenantThatTookMoreWaitsForTheOthers() {
        var turns = TenantTurns(share: 10)
        _ = turns.round(["a", "b"], in: .bulk)
        turns.served("a", 35, in: .bulk)
        turns.served("b", 10, in: .bulk)
        // Tenant a has a debt of 25: it misses two rounds, and after the third 5 are left.
        for _ in 0..<2 {
            #expect(turns.round(["a", "b"], in: .bulk) == ["b"])
            turns.served("b", 10, in: .bulk)
        }
        #expect(turns.round(["a", "b"], in: .bulk) == ["a", "b"])
    }

    @Test func aSingleTenantNeverWaits() {
        var turns = TenantTurns(share: 10)
        for _ in 0..<5 {
            #expect(turns.round(["a"], in: .bulk) == ["a"])
            turns.served("a", 1000, in: .bulk)
        }
        // A tenant that was served while no other had work is not delayed for long: rounds that no tenant could use
        // are skipped.
        #expect(turns.round(["a", "b"], in: .bulk) == ["b"])
        #expect(turns.round(["a"], in: .bulk) == ["a"])
    }

    @Test func noTenantAccumulatesCredit() {
        var turns = TenantTurns(share: 10)
        for _ in 0..<5 { _ = turns.round(["a", "b"], in: .bulk) }
        turns.served("a", 11, in: .bulk)
        #expect(turns.round(["a", "b"], in: .bulk) == ["b", "a"])
        turns.served("a", 20, in: .bulk)
        #expect(turns.round(["a", "b"], in: .bulk) == ["b"])
    }

    /// Over many rounds each tenant gets the same number of targets, whatever the size of its slices.
    @Test func targetsAreSharedEquallyForAnySliceSize() {
        var turns = TenantTurns(share: 2000)
        let sizes: [TenantID: Int] = ["large": 6000, "middle": 1500, "small": 2000]
        var taken: [TenantID: Int] = [:]
        for _ in 0..<3000 {
            for tenant in turns.round(Array(sizes.keys), in: .bulk) {
                let size = sizes[tenant] ?? 0
                turns.served(tenant, size, in: .bulk)
                taken[tenant, default: 0] += size
            }
        }
        let large = taken["large"] ?? 0
        #expect(abs(large - (taken["small"] ?? 0)) <= 6000)
        #expect((taken["middle"] ?? 0) == 3000 * 1500)
    }
}

/// The database's clock on this node.
@Suite struct DatabaseClockTests {
    @Test func followsTheDatabaseAndNotTheNode() {
        let box = ManualTime()
        let clock = DatabaseClock(monotonic: { box.now })
        box.advance(.seconds(10))
        clock.adjust(databaseTime: Timestamp(seconds: 1000), asked: box.now - .milliseconds(200))
        #expect(clock.now() == Timestamp(milliseconds: 1_000_100))
        box.advance(.seconds(5))
        #expect(clock.now() == Timestamp(milliseconds: 1_005_100))
    }

    // The database may have read its clock at any moment of the round trip.
    @Test func aSlowAnswerDoesNotMoveAGoodEstimate() {
        let box = ManualTime()
        let clock = DatabaseClock(monotonic: { box.now })
        clock.adjust(databaseTime: Timestamp(seconds: 1000), asked: box.now)
        box.advance(.seconds(5))
        // It read its clock at the beginning, and then at the end.
        clock.adjust(databaseTime: Timestamp(milliseconds: 1_004_600), asked: box.now - .milliseconds(400))
        #expect(clock.now() == Timestamp(milliseconds: 1_005_000))
        clock.adjust(databaseTime: Timestamp(milliseconds: 1_005_000), asked: box.now - .milliseconds(400))
        #expect(clock.now() == Timestamp(milliseconds: 1_005_000))
        // A millisecond that neither explains.
        clock.adjust(databaseTime: Timestamp(milliseconds: 1_005_001), asked: box.now - .milliseconds(400))
        #expect(clock.now() == Timestamp(milliseconds: 1_005_201))
        clock.adjust(databaseTime: Timestamp(milliseconds: 1_004_800), asked: box.now - .milliseconds(400))
        #expect(clock.now() == Timestamp(milliseconds: 1_005_000))
    }

    @Test func invalidTimeDoesNotTrap() {
        let clock = DatabaseClock(monotonic: { .seconds(1) })
        clock.adjust(databaseTime: Timestamp(milliseconds: .min), asked: .seconds(1))
        _ = clock.now()
        clock.adjust(databaseTime: Timestamp(milliseconds: .max), asked: .seconds(-8))
        _ = clock.now()
    }
}
