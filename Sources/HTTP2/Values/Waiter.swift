/// Somebody who waits for one value: a continuation without the check that it is resumed once, which costs an allocation for each.
///
/// Whoever holds it owes that: it has to be taken out, under a lock, of wherever it is kept before it is resumed.
@safe
package struct Waiter<Value: Sendable>: Sendable {
    private let continuation: UnsafeContinuation<Value, Never>

    /// Waits for the value.
    ///
    /// - Parameter body: gets what the value is to be given to, exactly once.
    /// - Returns: the value.
    @inlinable
    package static func wait(_ body: (Waiter) -> Void) async -> Value {
        unsafe await withUnsafeContinuation { unsafe body(Waiter($0)) }
    }

    @usableFromInline
    init(_ continuation: UnsafeContinuation<Value, Never>) { unsafe self.continuation = continuation }

    /// Gives the value. Once.
    package func resume(returning value: consuming sending Value) { unsafe continuation.resume(returning: value) }
}
