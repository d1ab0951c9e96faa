import Testing

@testable import GatewayHTTP

/// The limits as a state machine: keys are numbers, and the test is the clock.
struct LimitStateTests {
    private static let rate = CallRate(perSecond: 10, burst: 3)

    @Test func aBurstIsAdmittedThenTheRate() {
        var state = LimitState()
        for _ in 0..<3 { #expect(state.take(1, Self.rate, at: 0) == nil) }
        let wait = state.take(1, Self.rate, at: 0)
        #expect(abs((wait ?? 0) - 0.1) < 1e-9)
        #expect(state.wait(1, Self.rate, at: 0) != nil)
        #expect(state.take(2, Self.rate, at: 0) == nil, "another key has its own tokens")
        #expect(state.take(1, Self.rate, at: 0.1) == nil)
        #expect(state.take(1, Self.rate, at: 0.1) != nil)
        for _ in 0..<3 { #expect(state.take(1, Self.rate, at: 100) == nil) }
        #expect(state.take(1, Self.rate, at: 100) != nil, "a pause gives at most the burst")
    }

    // 10,000 calls in ten seconds: what is admitted is the burst and ten seconds of the rate.
    @Test func aFloodIsReducedToTheRate() throws {
        let rate = try #require(CallLimitSettings.standardRates[.identities])
        var state = LimitState()
        let admitted = (0..<10_000).count { state.take(1, rate, at: Double($0) / 1000) == nil }
        #expect((699...700).contains(admitted))
    }

    @Test func aTokenComesBackOnce() {
        var state = LimitState()
        for _ in 0..<3 { _ = state.take(1, Self.rate, at: 0) }
        state.giveBack(1, Self.rate, at: 0)
        #expect(state.take(1, Self.rate, at: 0) == nil)
        #expect(state.take(1, Self.rate, at: 0) != nil)
        state.giveBack(2, Self.rate, at: 0)
        for _ in 0..<3 { #expect(state.take(2, Self.rate, at: 0) == nil) }
        #expect(state.take(2, Self.rate, at: 0) != nil, "a bucket never holds more than its burst")
    }

    @Test func aChargeLeavesNoDebt() {
        var state = LimitState()
        state.charge(1, Self.rate, count: 100, at: 0)
        #expect(state.take(1, Self.rate, at: 0) != nil)
        #expect(state.take(1, Self.rate, at: 0.1) == nil)
    }

    // H3: the former table was emptied when it was full, so that a flood of addresses freed those that were limited.
    @Test func aFloodOfKeysDoesNotFreeALimitedOne() {
        var state = LimitState(bucketLimit: 64, failureLimit: 64, callerLimit: 64)
        for _ in 0..<3 { _ = state.take(7, Self.rate, at: 0) }
        for other in 1000..<20_000 { _ = state.take(UInt64(other), Self.rate, at: 0) }
        #expect(state.take(7, Self.rate, at: 0) != nil)
    }

    @Test func aTableKeepsItsSizeAndReplacesWhatExpiresFirst() {
        var table = BoundedTable<Int>(capacity: 8)
        for key in 0..<8 { table.set(UInt64(key), key, expiry: Double(100 - key)) }
        table.set(50, 50, expiry: 1000)
        #expect(table.count == 8)
        #expect(table.value(7, at: 0) == nil, "it would have expired first")
        #expect(table.value(0, at: 0) == 0 && table.value(50, at: 0) == 50)
        #expect(table.value(0, at: 100) == nil, "expired")
        table.remove(50)
        #expect(table.value(50, at: 0) == nil && table.count == 7)
    }

    // MARK: Proofs

    @Test func waitsDoubleAfterTheFreeFailures() {
        var state = LimitState()
        for _ in 0..<5 {
            state.fail(1, free: 5, at: 0)
            #expect(state.proofWait(1, at: 0) == nil)
        }
        var now = 0.0
        var waits: [Double] = []
        for _ in 0..<5 {
            state.fail(1, free: 5, at: now)
            let wait = state.proofWait(1, at: now) ?? 0
            waits.append(wait)
            now += wait
            #expect(state.proofWait(1, at: now) == nil)
        }
        #expect(waits == [1, 2, 4, 8, 16])
        #expect(state.proofWait(2, at: 0) == nil)
    }

    @Test func noWaitExceedsTheLongestAndFailuresAreForgotten() {
        var state = LimitState()
        for _ in 0..<1000 { state.fail(1, free: 5, at: 0) }
        #expect(state.proofWait(1, at: 0) == ProofFailures.longestWait)
        let later = 1001 * ProofFailures.forgetsOneIn
        state.fail(1, free: 5, at: later)
        #expect(state.proofWait(1, at: later) == nil)
        state.fail(2, free: 0, at: 0)
        state.forgive(2)
        #expect(state.proofWait(2, at: 0) == nil)
    }

    // MARK: Settings

    @Test(arguments: ["", "10", "10/", "/5", "0/5", "-1/5", "1/0", "1/2/3", "x/y", "nan/3", "1/inf", "2000000/1"])
    func anUnusableRateIsRefused(_ text: String) { #expect(CallRate(text) == nil) }

    @Test func aRateIsRead() { #expect(CallRate("0.2/30") == CallRate(perSecond: 0.2, burst: 30)) }
}
