import Foundation
import Model
import NIOConcurrencyHelpers

/// The bound addresses of the listeners, and the address file that publishes them once all listeners are open.
package final class BoundAddresses: Sendable {
    private struct State {
        var opened: [(kind: Listener.Kind, address: ListenAddress)] = []
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let expected: Int
    private let state = NIOLockedValueBox(State())

    package init(expected: Int) { self.expected = expected }

    package func opened(_ kind: Listener.Kind, _ address: ListenAddress) {
        let waiters = state.withLockedValue { state in
            state.opened.append((kind, address))
            guard state.opened.count >= expected else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns when every listener is open.
    package func allOpen() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLockedValue { state in
                if state.opened.count >= expected { return true }
                state.waiters.append(continuation)
                return false
            }
            if isOpen { continuation.resume() }
        }
    }

    /// The first address of a kind.
    package func first(_ kind: Listener.Kind) -> ListenAddress? {
        state.withLockedValue { $0.opened.first { $0.kind == kind }?.address }
    }

    /// Writes the address file atomically: a reader never sees a partial file.
    ///
    /// - Throws: when the file cannot be written.
    package func write(to path: String) throws {
        var object = JSONObject()
        for kind in [Listener.Kind.http, .https, .admin, .console] {
            if let address = first(kind) { object[kind.rawValue] = .string(address.description) }
        }
        try Data(JSONWriter.bytes(.object(object)) + [0x0A]).write(to: URL(fileURLWithPath: path), options: .atomic)
    }
}
