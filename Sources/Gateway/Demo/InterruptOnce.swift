import Dispatch
import NIOConcurrencyHelpers

/// Resumes a waiter at the first of several signals.
final class InterruptOnce: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Void, Never>?
        var sources: [any DispatchSourceSignal] = []
    }

    private let state: NIOLockedValueBox<State>

    init(_ continuation: CheckedContinuation<Void, Never>) {
        state = NIOLockedValueBox(State(continuation: continuation))
    }

    func watch(_ number: Int32) {
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler { self.fire() }
        source.resume()
        state.withLockedValue { $0.sources.append(source) }
    }

    private func fire() {
        let continuation = state.withLockedValue { state in
            defer {
                state.continuation = nil
                state.sources = []
            }
            return state.continuation
        }
        continuation?.resume()
    }
}
