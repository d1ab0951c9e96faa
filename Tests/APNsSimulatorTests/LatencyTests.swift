import Foundation
import Testing

@testable import APNsSimulator

@Suite struct LatencyTests {
    @Test(arguments: [
        ("50", Latency.fixed(.milliseconds(50))), ("fixed:2.5", .fixed(.microseconds(2500))),
        ("uniform:10-90", .uniform(.milliseconds(10), .milliseconds(90))),
        ("exponential:50", .exponential(mean: .milliseconds(50))),
        (
            "percentiles:99=400,50=20",
            .percentiles([
                .init(percent: 50, latency: .milliseconds(20)), .init(percent: 99, latency: .milliseconds(400)),
            ])
        ),
    ])
    func theTextFormIsRead(text: String, latency: Latency) {
        #expect(Latency(text) == latency)
    }

    @Test(arguments: [
        "", "fast", "fixed", "fixed:", "fixed:-1", "uniform:5", "uniform:9-1", "uniform:1-2-3", "exponential:x",
        "percentiles:", "percentiles:50", "percentiles:101=5", "percentiles:50=9,99=1", "fixed:3600001", "fixed:nan",
        "gauss:5", "inf",
    ])
    func anythingElseIsRefused(text: String) {
        #expect(Latency(text) == nil)
    }

    @Test(arguments: [
        (#"{"fixed":50}"#, "fixed:50"), ("50", "fixed:50"), (#"{"uniform":[10,90]}"#, "uniform:10-90"),
        (#"{"exponential":50}"#, "exponential:50"),
        (#"{"percentiles":{"50":20,"99":400}}"#, "percentiles:50=20,99=400"),
        (#""uniform:1-2""#, "uniform:1-2"),
    ])
    func theJSONFormIsEquivalent(json: String, text: String) throws {
        #expect(try JSONDecoder().decode(Latency.self, from: Data(json.utf8)) == Latency(text))
    }

    @Test func drawsFollowTheirDistribution() throws {
        var random = SplitMix64(seed: 7)
        func mean(_ text: String) throws -> Double {
            let latency = try #require(Latency(text))
            let draws = (0..<20_000).map { _ in latency.draw(using: &random) / .milliseconds(1) }
            #expect(draws.allSatisfy { $0 >= 0 })
            return draws.reduce(0, +) / Double(draws.count)
        }
        try expect(50, mean("fixed:50"), 50)
        try expect(49.0, mean("uniform:10-90"), 51.0)
        try expect(48.0, mean("exponential:50"), 52.0)
        // Half of the values are evenly distributed up to 20, the others from 20 to 40: 0.5 × 10 + 0.5 × 30.
        try expect(19.5, mean("percentiles:50=20,100=40"), 20.5)
    }

    private func expect(_ low: Double, _ value: Double, _ high: Double) {
        #expect(low <= value && value <= high)
    }
}
