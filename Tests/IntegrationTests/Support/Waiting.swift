import Foundation
import Testing

@testable import CommandSupport

/// Asks until `condition` holds, instead of sleeping until it probably does.
///
/// What a process does after its answer (outcomes are written a moment after the push, provisioning is read within a second) is waited for this way.
///
/// - Parameters:
///   - what: what is waited for; the failure's text.
///   - limit: when it gives up, with a failure at the caller's line.
///   - interval: how often it asks.
///   - sourceLocation: the caller's line.
///   - condition: what is waited for.
/// - Throws: what `condition` throws.
func eventually(
    _ what: String,
    within limit: Duration = .seconds(30),
    every interval: Duration = .milliseconds(25),
    sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end {
        if try await condition() { return }
        try await Task.sleep(for: interval)
    }
    // Once more: on a busy machine the last look may lie well before the end.
    if try await condition() { return }
    Issue.record("not within \(limit): \(what)", sourceLocation: sourceLocation)
}

/// The first value that `look` finds.
///
/// - Throws: an `ExpectationFailedError` at the caller's line when there is none within `limit`; what `look` throws.
func first<Value>(
    _ what: String,
    within limit: Duration = .seconds(30),
    every interval: Duration = .milliseconds(25),
    sourceLocation: SourceLocation = #_sourceLocation,
    _ look: () async throws -> Value?
) async throws -> Value {
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end {
        if let value = try await look() { return value }
        try await Task.sleep(for: interval)
    }
    return try #require(try await look(), "not within \(limit): \(what)", sourceLocation: sourceLocation)
}

/// Runs `body`, then `close`, however `body` ends.
///
/// - Throws: what `body` throws.
func closing(_ close: () async throws -> Void, after body: () async throws -> Void) async throws {
    do {
        try await body()
    } catch {
        try? await close()
        throw error
    }
    try await close()
}

extension ChildProcess {
    /// Returns when the process has ended, by itself or by a kill.
    func ended(
        within limit: Duration = .seconds(120),
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await eventually(
            "\(name) has ended",
            within: limit,
            every: .milliseconds(5),
            sourceLocation: sourceLocation
        ) { !isRunning }
    }
}
