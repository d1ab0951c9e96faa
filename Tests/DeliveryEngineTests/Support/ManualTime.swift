import NIOConcurrencyHelpers

/// A monotonic clock that the test moves.
final class ManualTime: Sendable {
    private let value = NIOLockedValueBox(Duration.zero)

    var now: Duration { value.withLockedValue { $0 } }

    func advance(_ duration: Duration) { value.withLockedValue { $0 += duration } }
}
