import Model
import Testing

@testable import DeliveryEngine

/// The pushes that a node may send through a credential with a rate limit.
@Suite struct PushMeterTests {
    private let now = Timestamp(seconds: 1_764_547_200)
    private let key = CredentialKey(tenant: "acme", credential: "apple")

    private func limited(_ perSecond: Int32 = 100) -> PushMeter {
        var meter = PushMeter()
        meter.limit([key: [.credential("apple", perSecond)]])
        return meter
    }

    @Test func withoutARateNothingIsCounted() {
        var meter = PushMeter()
        #expect(meter.take(500, key, .bulk, now: now) == nil)
        #expect(meter.capacity(of: key) == nil)
        #expect(meter.draws().isEmpty)
        meter = limited()
        meter.limit([:])
        #expect(meter.take(500, key, .bulk, now: now) == nil)
    }

    @Test func missingPushesAreDrawnOnceAndThenUsed() {
        var meter = limited()
        #expect(meter.take(500, key, .bulk, now: now) == 0)
        #expect(meter.take(20, key, .bulk, now: now) == 0)
        #expect(meter.draws() == [BudgetDraw(key: key, rates: [.credential("apple", 100)], count: 520)])
        #expect(meter.draws().isEmpty)
        meter.granted(25, key, now: now)
        #expect(meter.take(500, key, .bulk, now: now) == 25)
        #expect(meter.take(500, key, .bulk, now: now) == 0)
    }

    @Test func unusedPushesExpire() {
        var meter = limited()
        meter.granted(25, key, now: now)
        #expect(meter.take(5, key, .bulk, now: now) == 5)
        #expect(meter.take(5, key, .bulk, now: now + PushMeter.lifetime) == 0)
    }

    // Lanes are served by priority.
    @Test func aOneTimeCodeHasPriorityOverACampaign() {
        var meter = limited()
        #expect(meter.take(500, key, .bulk, now: now) == 0)
        #expect(meter.take(3, key, .urgent, now: now) == 0)
        #expect(meter.draws().first?.count == 503)
        meter.granted(5, key, now: now)
        #expect(meter.take(500, key, .bulk, now: now) == 2)
        #expect(meter.take(3, key, .urgent, now: now) == 3)
    }

    @Test func aSlowRateHasWorkForFewPushes() {
        #expect(limited(1).capacity(of: key) == 5)
        #expect(limited(1000).capacity(of: key) == 5000)
        var both = PushMeter()
        both.limit([key: [.credential("apple", 100_000), .tenant(100)]])
        #expect(both.capacity(of: key) == 500)
    }

    @Test func requestsAndDrawsAreBounded() {
        var meter = limited()
        for _ in 0..<100 { _ = meter.take(500, key, .bulk, now: now) }
        #expect(meter.take(.max, key, .bulk, now: now) == 0)
        #expect(meter.take(-1, key, .bulk, now: now) == 0)
        #expect(meter.draws().first?.count == PushMeter.drawLimit)
    }
}
