import Testing

/// Asks until `condition` holds, instead of sleeping until it probably does; records an issue at the caller's line when it never does.
///
/// - Parameters:
///   - what: what is waited for; the issue's text.
///   - limit: when it gives up.
///   - interval: how often it asks.
///   - sourceLocation: the caller's line.
///   - condition: what is waited for.
/// - Throws: what `condition` throws.
func eventually(
    _ what: String,
    within limit: Duration = .seconds(30),
    every interval: Duration = .milliseconds(5),
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
