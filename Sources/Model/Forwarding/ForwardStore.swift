/// The store of the calls that wait for upstreams.
///
/// An implementation must return the calls of a queue in their order, each until it is settled. A lease prevents two nodes from making calls of one queue at the
/// same time; any node may claim an expired one. Only `settle` removes a call. A call about a device waits for earlier calls about that device in other queues.
package protocol ForwardStore: Sendable {
    /// The upstreams that have a queue that is due.
    ///
    /// - Throws: `StoreError`.
    func due() async throws(StoreError) -> [CredentialKey]

    /// Leases at most `limit` queues that are due, those with receipts first, and returns the first call of each.
    ///
    /// - Throws: `StoreError`.
    func claim(
        _ upstream: CredentialKey,
        limit: Int,
        by node: NodeID,
        lease: Duration
    ) async throws(StoreError) -> [ForwardLease]

    /// Removes the call, renews the lease and returns the next call of the queue.
    ///
    /// - Throws: `StoreError`.
    func settle(_ lease: ForwardLease, by node: NodeID, for period: Duration) async throws(StoreError) -> ForwardStep

    /// Gives the queue back: its first call is made again after `delay`. `counts`: the call itself failed, which adds to its attempts. False: another node has the
    /// queue.
    ///
    /// - Throws: `StoreError`.
    func postpone(
        _ lease: ForwardLease,
        by delay: Duration,
        reason: String,
        counts: Bool,
        node: NodeID
    ) async throws(StoreError) -> Bool

    /// Gives the queue back: it is due at once.
    ///
    /// - Throws: `StoreError`.
    func release(_ lease: ForwardLease, node: NodeID) async throws(StoreError)

    /// Makes the queues of an upstream due that wait because their calls failed: the upstream works again.
    ///
    /// - Throws: `StoreError`.
    func resume(_ upstream: CredentialKey) async throws(StoreError)

    /// Counts the waiting calls of each upstream, unless that was done within `age`. From `limit` calls on, no further ones are forwarded.
    ///
    /// - Throws: `StoreError`.
    func survey(limit: Int, age: Duration) async throws(StoreError) -> [ForwardBacklog]
}

/// How a queue continues after a call was settled.
package enum ForwardStep: Sendable, Hashable {
    case next(ForwardLease)
    /// Nothing waits any longer, or the next call waits for one in another queue. The queue was given back.
    case ended
    /// Another node has the queue.
    case lost
}

/// The calls that wait for one upstream.
package struct ForwardBacklog: Sendable, Hashable {
    package var upstream: CredentialKey
    package var waiting: Int
    /// The age of the oldest one.
    package var oldest: Duration
    /// Whether so many wait that no further ones are forwarded.
    package var isFull: Bool

    package init(upstream: CredentialKey, waiting: Int, oldest: Duration, isFull: Bool) {
        self.upstream = upstream
        self.waiting = waiting
        self.oldest = oldest
        self.isFull = isFull
    }
}
