import Testing

/// Polls until `condition` holds, instead of sleeping for a guessed time. Records an issue at the caller's line if it
/// does not hold within `limit`.
///
/// - Parameters:
///   - what: the awaited state, for the text of the issue.
///   - limit: the time after which it fails.
///   - interval: the time between two polls.
///   - sourceLocation: the caller's line.
///   - condition: the awaited condition.
/// - Throws: the error of `condition`.
func eventually(
    _ what: String,
    within limit: Duration = .seconds(120),
    every interval: Duration = .milliseconds(5),
    sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end {
        if try await condition() { return }
        try await Task.sleep(for: interval)
    }
    // One last poll: on a busy machine the previous one may have been well before the end.
    if try await condition() { return }
    Issue.record("not within \(limit): \(what)", sourceLocation: sourceLocation)
}
