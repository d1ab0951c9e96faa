import Testing

@testable import GatewayBench

/// The limits of `bench analytics`.
@Suite struct BenchAnalyticsTests {
    @Test(arguments: [
        (40.0, 44.0, 0), (40, 199, 1), (190, 210, 1), (100, 400, 2),
        // Shorter times than 5 ms differ by the noise of the machine.
        (0.5, 4.9, 0), (0.5, 5.9, 0), (0.5, 6.1, 1),
    ])
    func aSlowQuestionAndAGrowingOneAreExcesses(_ tenth: Double, _ all: Double, _ count: Int) {
        let sample = AnalyticsSample(name: "funnel", isLong: false, tenth: tenth, all: all)
        let excesses = sample.excesses(limit: 200, ratio: 1.2)
        #expect(excesses.count == count && excesses.allSatisfy { $0.hasPrefix("p95 of funnel is ") }, "\(excesses)")
    }

    // Counts of ranges above 92 days have a limit of their own, and each call is in one of the two groups.
    @Test func callsOfLongRangesAreMarked() {
        let calls = AnalyticsRun.countCalls(days: 399)
        #expect(calls.count { $0.isLong } * 2 == calls.count && calls.allSatisfy { $0.isLong == ($0.days == 399) })
        #expect(Set(calls.map(\.name)).count == calls.count)
    }
}
