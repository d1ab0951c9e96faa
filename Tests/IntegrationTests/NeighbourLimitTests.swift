import Testing

@testable import GatewayBench

/// The threshold of `bench neighbour` (I9).
@Suite struct NeighbourLimitTests {
    @Test func aRatioAboveTheLimitFails() {
        #expect(BenchNeighbour.excesses(accept: 1.5, push: 1.2, limit: 1.5) == [])
        #expect(
            BenchNeighbour.excesses(accept: 1.6, push: 2, limit: 1.5) == [
                "p99 of accepts is 1.60 times that without trouble, more than 1.50",
                "p99 of accept → APNs is 2.00 times that without trouble, more than 1.50",
            ]
        )
    }

    @Test func timesBelowTheNoiseAreEqual() {
        #expect(BenchNeighbour.ratio(of: 4.9, to: 0.4) == 1)
        #expect(BenchNeighbour.ratio(of: 10, to: 0) == 2)
        #expect(BenchNeighbour.ratio(of: 20, to: 40) == 0.5)
    }
}
