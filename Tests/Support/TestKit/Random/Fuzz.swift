import Foundation

/// How long random tests run, and from which seed.
package enum Fuzz {
    /// `GATEWAY_FUZZ_SEED` repeats a run; without it each run is another one. Tests print it when they fail.
    package static let seed =
        ProcessInfo.processInfo.environment["GATEWAY_FUZZ_SEED"].flatMap(UInt64.init)
        ?? UInt64.random(in: 0...UInt64.max)
    /// `GATEWAY_FUZZ_COUNT`: how many inputs.
    package static let count =
        ProcessInfo.processInfo.environment["GATEWAY_FUZZ_COUNT"].flatMap(Int.init) ?? 10_000
}
