import NIOConcurrencyHelpers

/// A manual monotonic clock.
final class ManualTime: Sendable {
    private let value = NIOLockedValueBox(Duration.zero)

    var now: Duration { value.withLockedValue { $0 } }

    func advance(_ duration: Duration) { value.withLockedValue { $0 += duration } }
}
