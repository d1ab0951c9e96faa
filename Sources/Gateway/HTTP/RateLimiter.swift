import Model
import NIOConcurrencyHelpers

/// A token bucket per client address: ids in the body grant access, so that guessing them must be slow.
package final class RateLimiter: Sendable {
    /// At most 100,000 addresses are kept. Above this number the whole table is emptied, so that a flood of addresses cannot exhaust the memory.
    package static let addressLimit = 100_000

    private struct Bucket {
        var tokens: Double
        var at: ContinuousClock.Instant
    }

    private let perSecond: Double
    private let burst: Double
    private let buckets = NIOLockedValueBox<[String: Bucket]>([:])

    /// - Parameters:
    ///   - perSecond: sustained calls per second of one address; 0 disables the limit.
    ///   - burst: calls of one address at once; default: the calls of ten seconds.
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
