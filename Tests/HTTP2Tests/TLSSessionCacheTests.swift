import Testing

@testable import HTTP2

/// The rules by which sessions are kept, without TLS.
struct TLSSessionCacheTests {
    private let start = ContinuousClock.now
    private func key(_ number: Int = 0) -> TLSSessionCache.Key {
        TLSSessionCache.Key(host: "h\(number)", port: 443, serverName: "h")
    }

    @Test func newestIsReturnedFirstAndEachOnce() {
        let cache = TLSSessionCache()
        cache.store([1], for: key(), now: start)
        cache.store([2], for: key(), now: start)
        #expect(cache.take(key(), now: start) == [2])
        #expect(cache.take(key(), now: start) == [1])
        #expect(cache.take(key(), now: start) == nil)
    }

    // A resumed handshake verifies no certificate, so the verified name is part of the key.
    @Test func hostPortAndNameMustAllBeTheSame() {
        let cache = TLSSessionCache()
        cache.store([1], for: TLSSessionCache.Key(host: "a", port: 443, serverName: "a"), now: start)
        for other in [("b", 443, "a"), ("a", 2197, "a"), ("a", 443, "b")] {
            let key = TLSSessionCache.Key(host: other.0, port: other.1, serverName: other.2)
            #expect(cache.take(key, now: start) == nil)
        }
        #expect(cache.take(TLSSessionCache.Key(host: "a", port: 443, serverName: "a"), now: start) == [1])
    }

    @Test func oldSessionIsForgotten() {
        let cache = TLSSessionCache()
        cache.store([1], for: key(), now: start)
        #expect(cache.take(key(), now: start + TLSSessionCache.maxAge) == nil)
        #expect(cache.take(key(), now: start) == nil)
    }

    @Test func eachCountIsBounded() {
        let cache = TLSSessionCache()
        for number in 0..<100 { cache.store([UInt8(number)], for: key(), now: start) }
        var taken: [[UInt8]] = []
        while let session = cache.take(key(), now: start) { taken.append(session) }
        #expect(taken == (0..<TLSSessionCache.maxSessionsPerPeer).map { [UInt8(99 - $0)] })
        for number in 0..<1_000 { cache.store([1], for: key(number), now: start + .seconds(number)) }
        let kept = (0..<1_000).filter { cache.take(key($0), now: start + .seconds(1_000)) != nil }
        #expect(kept == Array(1_000 - TLSSessionCache.maxPeers..<1_000), "the oldest is evicted first")
        cache.store([UInt8](repeating: 0, count: TLSSessionCache.maxSessionBytes + 1), for: key(7), now: start)
        #expect(cache.take(key(7), now: start) == nil)
    }
}
