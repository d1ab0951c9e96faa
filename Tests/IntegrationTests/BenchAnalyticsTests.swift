import Testing

@testable import GatewayBench

/// The limits of `bench analytics` and `bench reader`.
@Suite struct BenchAnalyticsTests {
    @Test(arguments: [
        (40.0, 44.0, 0), (40.0, 199.0, 1), (190.0, 210.0, 1), (100.0, 400.0, 2),
        // Shorter times than 5 ms differ by the noise of the machine.
        (0.5, 4.9, 0), (0.5, 5.9, 0), (0.5, 6.1, 1),
    ])
    func aSlowQuestionAndAGrowingOneAreExcesses(_ tenth: Double, _ all: Double, _ count: Int) {
        let sample = AnalyticsSample(name: "funnel", isLong: false, tenth: tenth, all: all)
        let excesses = sample.excesses(limit: 200, ratio: 1.2)
        #expect(excesses.count == count && excesses.allSatisfy { $0.hasPrefix("p95 of funnel is ") }, "\(excesses)")
    }

    // Ranges above 92 days have a limit of their own.
    @Test func callsOfLongRangesAreMarked() {
        let calls = AnalyticsRun.countCalls(days: 399)
        #expect(calls.contains { $0.isLong } && calls.contains { !$0.isLong })
        #expect(calls.allSatisfy { $0.isLong == ($0.days == 399) })
        #expect(Set(calls.map(\.name)).count == calls.count)
    }

    private func pair(_ with: Double, _ catchUp: Double, _ followed: Double, _ lag: Double) -> ReaderPair {
        func sample(_ seconds: Double, catchUp: Double = 0, lag: Double = 0) -> ReaderSample {
            ReaderSample(seconds: seconds, cpu: 9, catchUp: catchUp, catchUpCPU: 1, lag: lag)
        }
        return ReaderPair(
            without: sample(100),
            with: sample(with, catchUp: catchUp),
            followed: sample(followed, lag: lag)
        )
    }

    @Test func aSlowReaderAndALateOneAreExcesses() {
        let limits = ReaderLimits(rate: 0.95, followedRate: 0.9, catchUp: 0.5, lag: 0.1)
        #expect(limits.excesses([pair(104, 50, 110, 10)]) == [])
        let slow = limits.excesses([pair(106, 50, 110, 10)])
        #expect(slow == ["the relative rate with the reader: 0.943 is less than 0.950"])
        #expect(limits.excesses([pair(100, 51, 120, 13)]).count == 3)
        // A median is not moved by one pair.
        #expect(limits.excesses([pair(100, 10, 100, 1), pair(200, 190, 900, 800), pair(100, 10, 100, 1)]) == [])
        #expect(pair(100, 10, 100, 1).cpuShare == 0.1)
    }
}
