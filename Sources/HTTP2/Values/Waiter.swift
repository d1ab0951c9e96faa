/// Waits for one value. It is a continuation without the check that it is resumed exactly once, because that check costs an allocation for each.
///
/// Its owner must guarantee this instead: under a lock, it removes the waiter from the place that stores it before it resumes it.
@safe
package struct Waiter<Value: Sendable>: Sendable {
    private let continuation: UnsafeContinuation<Value, Never>

    /// Waits for the value.
    ///
    /// - Parameter body: receives the waiter, which it must resume exactly once.
    /// - Returns: the value.
    @inlinable
    package static func wait(_ body: (Waiter) -> Void) async -> Value {
        unsafe await withUnsafeContinuation { unsafe body(Waiter($0)) }
    }

    @usableFromInline
    init(_ continuation: UnsafeContinuation<Value, Never>) { unsafe self.continuation = continuation }

    /// Resumes the waiting task with the value. Call it exactly once.
    package func resume(returning value: consuming sending Value) { unsafe continuation.resume(returning: value) }
}
