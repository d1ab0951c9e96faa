import Foundation

/// The length and the seed of random tests.
package enum Fuzz {
    /// `GATEWAY_FUZZ_SEED` repeats a run; without it each run is different. Tests print it when they fail.
    package static let seed =
        ProcessInfo.processInfo.environment["GATEWAY_FUZZ_SEED"].flatMap(UInt64.init)
        ?? UInt64.random(in: 0...UInt64.max)
    /// The number of inputs (`GATEWAY_FUZZ_COUNT`).
    package static let count =
        ProcessInfo.processInfo.environment["GATEWAY_FUZZ_COUNT"].flatMap(Int.init) ?? 10_000
}
