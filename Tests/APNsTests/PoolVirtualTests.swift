import Foundation
import Testing

@testable import APNs

/// The pool machine against peers with arbitrary behavior, over long virtual times that take no real time.
///
/// `APNS_VIRTUAL_REQUESTS` sets the number of pushes (a million takes a minute without optimization), `APNS_VIRTUAL_SEED` repeats a run.
struct PoolVirtualTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let requestCount = environment["APNS_VIRTUAL_REQUESTS"].flatMap { Int($0) } ?? 30_000
    private static let seed = environment["APNS_VIRTUAL_SEED"].flatMap { UInt64($0) } ?? .random(in: 1...999_999_999)

    @Test func noPushIsLostRepeatedOrLateAndNoClientStarves() {
        let worldCount = max(3, Self.requestCount / 100_000)
        for number in 0..<UInt64(worldCount) {
            let seed = Self.seed &+ number
            var world = VirtualWorld(seed: seed, goal: Self.requestCount / worldCount)
            let limits = world.limits
            let tally = world.run()
            print("virtual run: APNS_VIRTUAL_SEED=\(seed) offered \(world.offers.count) \(tally.summary)")
            #expect(tally.lost == nil, "seed \(seed)")
            #expect(tally.doubled == [], "seed \(seed)")
            #expect(tally.completedCount == world.offers.count, "seed \(seed)")
            #expect(tally.lateCount == 0, "seed \(seed): up to \(tally.latest) µs")
            // The queue and the pushes in flight are bounded, whatever the load.
            #expect(tally.heldMost <= limits.maxQueuedPushes + limits.maxPushesInFlight, "seed \(seed)")
            #expect(tally.smallRefusedCount == 0, "seed \(seed)")
            // The bound per client: one turn of 16 in progress, one turn of the client's own last part, and one for a
            // place that changed within the round.
            #expect(tally.longestWait <= 3 * 16 * VirtualWorld.clients.count, "seed \(seed): \(tally.longestWait)")
            // Otherwise the run would test failures only. The peer of some seeds fails most of the time.
            #expect(tally.acceptedCount > world.offers.count / 50, "seed \(seed)")
        }
    }
}

extension WorldTally {
    fileprivate var summary: String {
        "accepted \(acceptedCount) refused \(otherCount) unsent \(unsentCount) unknown \(unknownCount) held \(heldMost)"
            + " wait \(longestWait) connections \(connectionCount) in \(virtualSeconds) virtual s"
    }
}
