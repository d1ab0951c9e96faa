package import Model
import NIOConcurrencyHelpers

/// A manual wall clock, and a `Clock` that sleeps on it, so that no test waits for real time.
///
/// A test creates it and shares it with all users of the time. Moving it wakes the tasks that sleep on `timer`.
package final class TestClock: WallClock {
    private struct Sleeper {
        var deadline: Timestamp
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now: Timestamp
        var nextID = 0
        var sleepers: [Int: Sleeper] = [:]
        var canceled: Set<Int> = []
    }

    private let state: NIOLockedValueBox<State>
    private let asleep = Tally()

    /// A clock that stands at `start`; by default 2025-12-01 00:00 UTC.
    package init(_ start: Timestamp = Timestamp(seconds: 1_764_547_200)) {
        state = NIOLockedValueBox(State(now: start))
    }

    package func now() -> Timestamp { state.withLockedValue { $0.now } }

    /// The same time as a `Clock`, on which services sleep.
    package var timer: TestTimer { TestTimer(clock: self) }

    /// Moves the time forward and wakes the sleepers whose deadline is reached, earliest first.
    package func advance(by duration: Duration) {
        let due = state.withLockedValue { state in
            state.now = state.now + duration
            let ids = state.sleepers.filter { $0.value.deadline <= state.now }
                .sorted { $0.value.deadline < $1.value.deadline }.map(\.key)
            return ids.compactMap { state.sleepers.removeValue(forKey: $0) }
        }
        asleep.add(-due.count)
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// Returns when at least `count` tasks sleep on `timer`; then the time can be moved.
    package func sleepers(atLeast count: Int) async { await asleep.reaches(count) }

    fileprivate func sleep(until deadline: Timestamp) async throws {
        let id = state.withLockedValue { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enter(id, Sleeper(deadline: deadline, continuation: continuation))
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func enter(_ id: Int, _ sleeper: Sleeper) {
        let result = state.withLockedValue { state -> Result<Void, any Error>? in
            if state.canceled.remove(id) != nil { return .failure(CancellationError()) }
            if sleeper.deadline <= state.now { return .success(()) }
            state.sleepers[id] = sleeper
            return nil
        }
        if let result { sleeper.continuation.resume(with: result) } else { asleep.add(1) }
    }

    private func cancel(_ id: Int) {
        let sleeper = state.withLockedValue { state in
            // The sleeper is not registered yet: the note prevents it from falling asleep afterwards.
            guard let sleeper = state.sleepers.removeValue(forKey: id) else {
                state.canceled.insert(id)
                return Sleeper?.none
            }
            return sleeper
        }
        guard let sleeper else { return }
        asleep.add(-1)
        sleeper.continuation.resume(throwing: CancellationError())
    }
}

/// The `Clock` of a `TestClock`.
package struct TestTimer: Clock {
    /// A time of this clock.
    package struct Instant: InstantProtocol {
        package var timestamp: Timestamp

        package func advanced(by duration: Duration) -> Instant { Instant(timestamp: timestamp + duration) }
        package func duration(to other: Instant) -> Duration { other.timestamp - timestamp }
        package static func < (left: Instant, right: Instant) -> Bool { left.timestamp < right.timestamp }
    }

    fileprivate let clock: TestClock

    package var now: Instant { Instant(timestamp: clock.now()) }
    package var minimumResolution: Duration { .milliseconds(1) }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await clock.sleep(until: deadline.timestamp)
    }
}
