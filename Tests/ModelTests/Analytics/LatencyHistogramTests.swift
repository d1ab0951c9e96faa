import Foundation
import TestKit
import Testing

@testable import Model

@Suite struct LatencyHistogramTests {
    /// Latencies of a push: most around 100 ms, some of hours.
    private static func values(_ count: Int, seed: UInt64 = 21) -> [Int64] {
        var random = SplitMix(state: seed)
        return (0..<count).map { _ in
            let sum = (0..<12).reduce(0.0) { (sum, _) in sum + Double.random(in: 0..<1, using: &random) } - 6
            return Int64(exp(sum * 2 + 5)) + 1
        }
    }

    @Test(arguments: [1000, 1_000_000])
    func percentilesAreWithinFivePercentInEveryOrder(_ count: Int) throws {
        var values = Self.values(count)
        var parts = [LatencyHistogram](repeating: LatencyHistogram(), count: 7)
        for (place, value) in values.enumerated() { parts[place % 7].add(value) }
        func merged(_ parts: [LatencyHistogram]) -> LatencyHistogram {
            var whole = LatencyHistogram()
            for part in parts { whole.merge(part) }
            return whole
        }
        let histogram = merged(parts)
        for seed in 1...20 as ClosedRange<UInt64> {
            var random = SplitMix(state: seed)
            let other = merged(parts.shuffled(using: &random))
            #expect(other == histogram)
        }
        values.sort()
        #expect(histogram.count == Int64(count))
        for share in [0.5, 0.9, 0.95, 0.99] {
            let exact = Double(values[Int((share * Double(count)).rounded(.up)) - 1])
            let found = Double(try #require(histogram.percentile(share)))
            #expect(abs(found - exact) <= exact * 0.05, "p\(share): \(found), not \(exact)")
        }
    }

    @Test func mergesGiveTheSameInEveryOrder() throws {
        let values = Self.values(3000) + [-5, -1, 0, .min, .max]
        var whole = LatencyHistogram()
        for value in values { whole.add(value) }
        var parts = [LatencyHistogram](repeating: LatencyHistogram(), count: 7)
        for (place, value) in values.enumerated() { parts[place % 7].add(value) }
        for seed in 1...20 as ClosedRange<UInt64> {
            var random = SplitMix(state: seed)
            var merged = LatencyHistogram()
            for part in parts.shuffled(using: &random) { merged.merge(part) }
            #expect(merged == whole)
            #expect(merged.encoded == whole.encoded)
        }
        #expect(LatencyHistogram(encoded: whole.encoded) == whole)
    }

    @Test(arguments: [
        (Int64.min, 0), (-1, 0), (0, 0), (1, 0), (2, 8), (3, 12), (4, 16), (1023, 79), (1024, 80), (1 << 31, 248),
        (.max, 248),
    ])
    func aValueHasTheBucketOfItsLogarithm(_ value: Int64, _ bucket: Int) {
        #expect(LatencyHistogram.bucket(of: value) == bucket)
        guard value >= 0, value < 1 << 31 else { return }
        #expect(LatencyHistogram.start(of: bucket) <= Double(value) + 1e-6)
        #expect(Double(value) < LatencyHistogram.end(of: bucket))
    }

    @Test func negativeValuesCountAsZeroAndSeparately() {
        var histogram = LatencyHistogram()
        for value in [-7, -1, 0, 1] as [Int64] { histogram.add(value) }
        #expect(histogram.negative == 2 && histogram.count == 4 && histogram.buckets == [0: 4])
        #expect(LatencyHistogram().percentile(0.5) == nil)
    }

    @Test func malformedBytesAreRefused() throws {
        var histogram = LatencyHistogram()
        for value in Self.values(500) + [-1] { histogram.add(value) }
        let bytes = histogram.encoded
        for count in 0..<bytes.count where LatencyHistogram(encoded: Array(bytes[..<count])) != nil {
            // A prefix that ends behind a bucket is a histogram of its own, unlike all others.
            #expect(LatencyHistogram(encoded: Array(bytes[..<count]))?.encoded.count == count)
        }
        for bad in [
            [], [0], [2, 0], [1], [1, 0x80], [1, 0, 0, 1], [1, 0, 1, 0], [1, 0, 1], [1, 5], [1, 1, 2, 9],
            [1, 0, 0xFA, 0x01, 1], [1, 0, 0x80, 0x00, 1], [1] + [UInt8](repeating: 0xFF, count: 20),
            [1, 0] + [UInt8](repeating: 1, count: 600),
        ] as [[UInt8]] {
            #expect(LatencyHistogram(encoded: bad) == nil, "\(bad)")
        }
        var random = SplitMix(state: Fuzz.seed)
        for _ in 0..<Fuzz.count {
            var changed = bytes
            changed[Int.random(in: 0..<changed.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            if let read = LatencyHistogram(encoded: changed) { #expect(read.encoded == changed, "\(Fuzz.seed)") }
        }
    }

    @Test func aSumOfBytesIsTheSumOfTheirHistograms() throws {
        var (whole, sum) = (LatencyHistogram(), LatencySum())
        var random = SplitMix(state: 7)
        for count in [0, 1, 50, 500] {
            var part = LatencyHistogram()
            for _ in 0..<count { part.add(Int64.random(in: -20...5000, using: &random)) }
            whole.merge(part)
            let isAdded = sum.add(encoded: part.encoded)
            #expect(isAdded)
        }
        #expect(sum.histogram == whole)
        // At the limit, both are clamped.
        let most: [UInt8] = [1, 0, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]
        for _ in 0..<2 {
            let isAdded = sum.add(encoded: most)
            #expect(isAdded)
        }
        #expect(sum.histogram.buckets[0] == .max)
        for bad in [[], [0], [1, 0, 1], [1, 5], [1, 0, 0xFA, 0x01, 1]] as [[UInt8]] {
            var sum = LatencySum()
            let isAdded = sum.add(encoded: bad)
            #expect(!isAdded, "\(bad)")
        }
    }

    // Counts at the limit are clamped.
    @Test func sumsDoNotOverflow() throws {
        let most: [UInt8] = [1, 0, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]
        var histogram = try #require(LatencyHistogram(encoded: most))
        histogram.merge(histogram)
        histogram.add(1)
        #expect(histogram.count == .max && histogram.percentile(0.5) == 1)
    }
}
