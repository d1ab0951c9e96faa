package import Model

/// A change of forwarded calls, for logs and counters. A lease contains the body of a call, which may not be logged.
package enum ForwardEvent: Sendable {
    /// An answer of an upstream, or why there was none.
    case answered(ForwardLease, ForwardVerdict)
    /// Another node took over in the meantime and makes the call again.
    case leaseLost(ForwardLease)
    case storeFailed(StoreError)
    /// The calls that wait, counted at intervals.
    case counted([ForwardBacklog])
}

/// Makes forwarded calls.
package protocol ForwardCaller: Sendable {
    /// Makes the call and returns what its answer means. Never waits longer than the lease.
    func call(_ lease: ForwardLease) async -> ForwardVerdict
}
