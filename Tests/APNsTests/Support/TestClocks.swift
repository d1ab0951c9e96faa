import Foundation
import Model
import NIOConcurrencyHelpers

/// A manual wall clock.
struct TestWallClock: WallClock {
    private let time: NIOLockedValueBox<Timestamp>

    init(_ time: Timestamp = .init(milliseconds: 1_790_000_000_000)) { self.time = NIOLockedValueBox(time) }

    /// The time of this machine, for peers with their own clock.
    static var system: TestWallClock {
        TestWallClock(Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)))
    }

    func now() -> Timestamp { time.withLockedValue { $0 } }
    func advance(by duration: Duration) { time.withLockedValue { $0 = $0 + duration } }
}

/// A manual monotonic clock.
struct TestInstant: Sendable {
    private let time = NIOLockedValueBox(ContinuousClock.now)

    func now() -> ContinuousClock.Instant { time.withLockedValue { $0 } }
    func advance(by duration: Duration) { time.withLockedValue { $0 += duration } }
}

extension Duration {
    static func minutes(_ count: Int) -> Duration { .seconds(60 * count) }
}
