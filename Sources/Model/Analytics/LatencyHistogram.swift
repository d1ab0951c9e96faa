// Foundation for `log2` and `exp2`.
import Foundation

/// Latencies in logarithmic buckets. A percentile is within 4.5 % of the exact value, and histograms are merged by addition without loss.
///
/// Bucket *b* contains the values with `floor(8 · log2(ms)) = b`, from 1 ms to 2^31 ms. Smaller and larger values belong to the first and the last bucket.
package struct LatencyHistogram: Sendable, Hashable {
    /// `floor(8 · log2(2^31)) + 1`.
    package static let bucketCount = 249
    /// More than the longest encoded form: 11 bytes for each bucket.
    package static let encodedLimitBytes = 3000

    /// The numbers of values by bucket. No count is 0.
    package private(set) var buckets: [Int: Int64] = [:]
    /// The number of values below 0. They are also counted, as 0, in the first bucket.
    package private(set) var negative: Int64 = 0

    package init() {}

    /// `counts`: the number of values of each bucket.
    fileprivate init(counts: [Int64], negative: Int64) {
        for (bucket, count) in counts.enumerated() where count > 0 { buckets[bucket] = count }
        self.negative = negative
    }

    /// Adds a value. Unit: milliseconds.
    package mutating func add(_ milliseconds: Int64) {
        if milliseconds < 0 { negative = Self.sum(negative, 1) }
        let bucket = Self.bucket(of: milliseconds)
        buckets[bucket] = Self.sum(buckets[bucket] ?? 0, 1)
    }

    /// Adds the values of another histogram. The order of merges does not matter.
    package mutating func merge(_ other: LatencyHistogram) {
        negative = Self.sum(negative, other.negative)
        buckets.merge(other.buckets, uniquingKeysWith: Self.sum)
    }

    /// The number of values.
    package var count: Int64 { buckets.values.reduce(0, Self.sum) }

    /// The value that `share` of all values do not exceed (0.5: the median). Unit: milliseconds. Nil: there are no values.
    package func percentile(_ share: Double) -> Int64? {
        let count = count
        guard count > 0 else { return nil }
        let rank = max(1, min(Double(count), (share * Double(count)).rounded(.up)))
        var seen = 0.0
        for bucket in buckets.keys.sorted() {
            seen += Double(buckets[bucket] ?? 0)
            if seen >= rank { return Self.middle(of: bucket) }
        }
        return buckets.keys.max().map(Self.middle)
    }

    /// The bucket of a value.
    package static func bucket(of milliseconds: Int64) -> Int {
        guard milliseconds > 1 else { return 0 }
        return min(Int((8 * log2(Double(milliseconds))).rounded(.down)), bucketCount - 1)
    }

    /// The values of a bucket are at or above this. Unit: milliseconds.
    package static func start(of bucket: Int) -> Double { bucket <= 0 ? 0 : exp2(Double(bucket) / 8) }

    /// The values of a bucket are below this. Unit: milliseconds.
    package static func end(of bucket: Int) -> Double { exp2(Double(bucket + 1) / 8) }

    /// Half a bucket from both ends on the logarithmic scale.
    private static func middle(of bucket: Int) -> Int64 { Int64(exp2((Double(bucket) + 0.5) / 8).rounded()) }

    /// Clamped instead of overflowing.
    fileprivate static func sum(_ first: Int64, _ second: Int64) -> Int64 {
        let (sum, overflow) = first.addingReportingOverflow(second)
        return overflow ? .max : sum
    }
}

// MARK: Bytes

extension LatencyHistogram {
    /// The version of the form: the number of negative values, then for each bucket the distance from the previous one and its count, as LEB128 numbers.
    private static let version: UInt8 = 1

    /// A sparse form: 3 bytes for most buckets.
    package var encoded: [UInt8] {
        var out = [Self.version]
        Self.append(UInt64(negative), to: &out)
        var previous = -1
        for bucket in buckets.keys.sorted() {
            Self.append(UInt64(bucket - previous), to: &out)
            Self.append(UInt64(buckets[bucket] ?? 0), to: &out)
            previous = bucket
        }
        return out
    }

    /// Returns nil for bytes that `encoded` does not make.
    package init?(encoded bytes: [UInt8]) {
        guard let negative = Self.decode(bytes, { buckets[$0] = $1 }) else { return nil }
        self.negative = negative
    }

    /// Reads encoded bytes: calls `body` with each bucket and its count, and returns the number of negative values. Nil for bytes that `encoded` does not
    /// make; `body` may have been called before.
    fileprivate static func decode(_ bytes: [UInt8], _ body: (_ bucket: Int, _ count: Int64) -> Void) -> Int64? {
        guard bytes.first == version, bytes.count <= encodedLimitBytes else { return nil }
        var place = 1
        guard let negative = number(bytes, &place) else { return nil }
        var (bucket, first) = (-1, Int64(0))
        while place < bytes.count {
            guard let distance = number(bytes, &place), distance > 0, distance <= Int64(bucketCount),
                let count = number(bytes, &place), count > 0
            else { return nil }
            bucket += Int(distance)
            guard bucket < bucketCount else { return nil }
            if bucket == 0 { first = count }
            body(bucket, count)
        }
        return negative <= first ? negative : nil
    }

    private static func append(_ value: UInt64, to out: inout [UInt8]) {
        var value = value
        while value >= 0x80 {
            out.append(UInt8(truncatingIfNeeded: value) | 0x80)
            value >>= 7
        }
        out.append(UInt8(truncatingIfNeeded: value))
    }

    /// The number at `place`, which is then behind it. Nil: the number is cut off, longer than necessary, or above the range of Int64.
    private static func number(_ bytes: [UInt8], _ place: inout Int) -> Int64? {
        // Nearly all numbers have one byte.
        if place < bytes.count, bytes[place] < 0x80 {
            place += 1
            return Int64(bytes[place - 1])
        }
        var value: UInt64 = 0
        // Nine groups of seven bits are the range of Int64.
        for shift in stride(from: 0 as UInt64, to: 63, by: 7) {
            guard place < bytes.count else { return nil }
            let byte = bytes[place]
            place += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return shift > 0 && byte == 0 ? nil : Int64(value) }
        }
        return nil
    }
}

/// The sum of many stored histograms. It adds their bytes without making a histogram of each, which takes ten times as long. It has 2 KB.
package struct LatencySum: Sendable {
    private var counts = [Int64](repeating: 0, count: LatencyHistogram.bucketCount)
    private var negative: Int64 = 0

    package init() {}

    /// Adds the values of an encoded histogram.
    ///
    /// - Returns: false for bytes that `LatencyHistogram.encoded` does not make; the sum is then not one of whole histograms.
    package mutating func add(encoded bytes: [UInt8]) -> Bool {
        let found = LatencyHistogram.decode(bytes) { counts[$0] = LatencyHistogram.sum(counts[$0], $1) }
        guard let found else { return false }
        negative = LatencyHistogram.sum(negative, found)
        return true
    }

    /// All values.
    package var histogram: LatencyHistogram {
        LatencyHistogram(counts: counts, negative: negative)
    }
}
