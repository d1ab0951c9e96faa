import NIOConcurrencyHelpers

/// Decides whether administrative calls may proceed while the copies of the audit are behind (`audit.lag.seconds`). Deliveries, sends and calls of devices always
/// may. Safe to call from any task.
package final class AuditGate: Sendable {
    private struct State {
        /// How far the slowest copy is behind. Nil: not measured yet.
        var behindSeconds: Double?
    }

    /// Nil: never closed.
    private let limitSeconds: Int?
    private let state = NIOLockedValueBox(State())

    package init(limitSeconds: Int?) { self.limitSeconds = limitSeconds }

    /// Whether administrative calls are refused now. A node that has not measured yet refuses them: it does not know.
    package var isClosed: Bool {
        guard let limitSeconds else { return false }
        return state.withLockedValue { $0.behindSeconds.map { $0 > Double(limitSeconds) } ?? true }
    }

    /// Notes a measurement. Returns true if it closes the gate.
    package func measured(_ seconds: Double) -> Bool {
        let wasClosed = state.withLockedValue { state in
            defer { state.behindSeconds = seconds }
            return state.behindSeconds.map { $0 > Double(limitSeconds ?? .max) } ?? false
        }
        return isClosed && !wasClosed
    }
}
