import FoundationEssentials
import Testing

/// The session against a hostile peer that uses no HTTP/2 library, in virtual time: many requests, every fault, one outcome each.
///
/// 10,000 requests by default, 1,000,000 with `LONG=1`, or the number in `MODEL_REQUESTS`; starting at `MODEL_SEED` if it is set. A
/// failure prints the seed that repeats it.
struct SessionModelTests {
    /// Requests per seed: long enough for many connections, short enough to repeat under a debugger.
    private static let perSeed = 2_000

    private static func setting(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    @Test func everyRequestEndsOnceAndInTimeForAnyPeer() throws {
        let isLong = ProcessInfo.processInfo.environment["LONG"] != nil
        let total = Self.setting("MODEL_REQUESTS") ?? (isLong ? 1_000_000 : 10_000)
        let first = UInt64(clamping: Self.setting("MODEL_SEED") ?? 1)
        var (ended, connections) = (0, 0)
        var tally: [String: Int] = [:]
        var seed = first
        while ended < total {
            let world = try ModelWorld(seed: seed)
            try world.run(requests: Self.perSeed)
            #expect(world.violations.isEmpty, "MODEL_SEED=\(seed) MODEL_REQUESTS=\(Self.perSeed)")
            guard world.violations.isEmpty else { return }
            ended += world.endedCount
            connections += world.connectionCount
            tally.merge(world.tally, uniquingKeysWith: +)
            seed += 1
        }
        print("model: \(ended) requests over \(connections) connections, seeds \(first)..<\(seed)")
        for (outcome, count) in tally.sorted(by: { $0.value > $1.value }) { print("  \(outcome): \(count)") }
        // The run would prove little if one kind of outcome never occurred.
        for outcome in [
            "200", "410", "refusedStream unsent", "goAway unsent", "streamReset unknown", "deadlineExceeded unknown",
            "deadlineExceeded unsent", "canceled unknown", "connectionLost unknown", "noCapacity unsent",
        ] {
            #expect(tally[outcome, default: 0] > 0, "no request ended as \(outcome)")
        }
    }
}
