import Foundation
import Testing

@testable import CommandSupport

/// Polls until `condition` holds, instead of sleeping for a guessed time.
///
/// Use it for effects that follow an answer: outcomes are written a moment after the push, and provisioning is read within a second.
///
/// - Parameters:
///   - what: the awaited state, for the text of the failure.
///   - limit: the time after which it fails, at the caller's line.
///   - interval: the time between two polls. Nil: 25 ms at first, and a fortieth of the time waited later, up to 100 ms, because a poll costs the machine
///     what the awaited work needs. A state that may pass again needs an interval of its own.
///   - sourceLocation: the caller's line.
///   - condition: the awaited condition.
/// - Throws: the error of `condition`.
func eventually(
    _ what: String,
    within limit: Duration = .seconds(120),
    every interval: Duration? = nil,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () async throws -> Bool
) async throws {
    let start = ContinuousClock.now
    while ContinuousClock.now < start + limit {
        if try await condition() { return }
        try await Task.sleep(for: interval ?? pause(since: start))
    }
    // One last poll: on a busy machine the previous one may have been well before the end.
    if try await condition() { return }
    Issue.record("not within \(limit): \(what)", sourceLocation: sourceLocation)
}

/// Polls for the first value that `look` returns.
///
/// - Throws: an `ExpectationFailedError` at the caller's line if no value appears within `limit`; the error of
///   `look`.
func first<Value>(
    _ what: String,
    within limit: Duration = .seconds(120),
    every interval: Duration? = nil,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ look: () async throws -> Value?
) async throws -> Value {
    let start = ContinuousClock.now
    while ContinuousClock.now < start + limit {
        if let value = try await look() { return value }
        try await Task.sleep(for: interval ?? pause(since: start))
    }
    return try #require(try await look(), "not within \(limit): \(what)", sourceLocation: sourceLocation)
}

/// The time until the next poll of a wait that began then.
private func pause(since start: ContinuousClock.Instant) -> Duration {
    min(max(.milliseconds(25), (ContinuousClock.now - start) / 40), .milliseconds(100))
}

/// Runs `body`, then `close` in any case.
///
/// - Throws: the error of `body`.
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
    /// Returns when the process has ended, on its own or by a kill.
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
