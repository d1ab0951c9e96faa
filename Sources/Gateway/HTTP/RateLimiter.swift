import Model
import NIOConcurrencyHelpers

/// A token bucket per client address: ids in the body are capabilities, so guessing them must be slow.
package final class RateLimiter: Sendable {
    /// 100,000 addresses are remembered; the whole table is dropped above it, so that a flood of addresses cannot eat the memory.
    package static let addressLimit = 100_000

    private struct Bucket {
        var tokens: Double
        var at: ContinuousClock.Instant
    }

    private let perSecond: Double
    private let burst: Double
    private let buckets = NIOLockedValueBox<[String: Bucket]>([:])

    /// - Parameters:
    ///   - perSecond: calls one address may make in the long run; 0 switches the limit off.
    ///   - burst: calls it may make at once; default: those of ten seconds.
    package init(perSecond: Double, burst: Double? = nil) {
        self.perSecond = perSecond
        self.burst = max(1, burst ?? perSecond * 10)
    }

    package func admits(_ address: String?, now: ContinuousClock.Instant = .now) -> Bool {
        guard perSecond > 0, let address else { return true }
        return buckets.withLockedValue { buckets in
            if buckets.count >= Self.addressLimit { buckets.removeAll(keepingCapacity: true) }
            var bucket = buckets[address] ?? Bucket(tokens: burst, at: now)
            let elapsed = Double((now - bucket.at).milliseconds) / 1000
            bucket.tokens = min(burst, bucket.tokens + max(0, elapsed) * perSecond)
            bucket.at = now
            let admitted = bucket.tokens >= 1
            if admitted { bucket.tokens -= 1 }
            buckets[address] = bucket
            return admitted
        }
    }
}
