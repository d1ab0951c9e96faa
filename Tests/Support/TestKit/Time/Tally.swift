import NIOConcurrencyHelpers

/// A number that tests wait for, instead of sleeping for a guessed time.
///
/// A waiting task that is canceled returns early, so that a test over its time limit fails instead of hanging.
package final class Tally: Sendable {
    private struct Waiter {
        var count: Int
        var continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var value = 0
        var nextID = 0
        var waiters: [Int: Waiter] = [:]
        var canceled: Set<Int> = []
    }

    private let state = NIOLockedValueBox(State())

    package init() {}

    package var value: Int { state.withLockedValue { $0.value } }

    /// Adds to the number (also negative values), and wakes the waiters whose value is reached.
    package func add(_ change: Int) {
        let reached = state.withLockedValue { state in
            state.value += change
            let value = state.value
            let ids = state.waiters.filter { $0.value.count <= value }.map(\.key)
            return ids.compactMap { state.waiters.removeValue(forKey: $0) }
        }
        for waiter in reached { waiter.continuation.resume() }
    }

    /// Returns when the number is at least `count`, or the task is canceled.
    package func reaches(_ count: Int) async {
        let id = state.withLockedValue { state in
            state.nextID += 1
            return state.nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLockedValue { state in
                    if state.canceled.remove(id) != nil || state.value >= count { return true }
                    state.waiters[id] = Waiter(count: count, continuation: continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func cancel(_ id: Int) {
        let waiter = state.withLockedValue { state in
            // The waiter is not registered yet: the note prevents it from starting to wait.
            if state.waiters[id] == nil { state.canceled.insert(id) }
            return state.waiters.removeValue(forKey: id)
        }
        waiter?.continuation.resume()
    }
}
