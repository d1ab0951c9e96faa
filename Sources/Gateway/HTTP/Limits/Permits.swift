import NIOConcurrencyHelpers

/// Lets a limited number of tasks do something at a time. Others wait in their order.
///
/// A wait ends when the holders before it end, also for a canceled task: what they do needs a deadline.
package final class Permits: Sendable {
    private struct State {
        var freeCount: Int
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state: NIOLockedValueBox<State>

    package init(_ count: Int) { state = NIOLockedValueBox(State(freeCount: count)) }

    /// The tasks that wait for a permit.
    package var waitingCount: Int { state.withLockedValue { $0.waiters.count } }

    /// Runs `body` while this task has a permit.
    package func run<Value: Sendable>(_ body: () async -> Value) async -> Value {
        await acquire()
        defer { release() }
        return await body()
    }

    private func acquire() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLockedValue { state -> Bool in
                guard state.freeCount > 0 else {
                    state.waiters.append(continuation)
                    return false
                }
                state.freeCount -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    private func release() {
        let next = state.withLockedValue { state -> CheckedContinuation<Void, Never>? in
            guard !state.waiters.isEmpty else {
                state.freeCount += 1
                return nil
            }
            return state.waiters.removeFirst()
        }
        next?.resume()
    }
}
