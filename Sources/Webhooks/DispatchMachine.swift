package import Model

/// Decides what becomes of a subscription after a call. Pure: the lease says how often and how long it failed before.
package struct DispatchMachine: Sendable {
    /// What is to be done.
    package enum Action: Sendable, Hashable {
        /// The calls up to here were taken.
        case advance(Int64)
        /// Try the same again later: nothing behind it may overtake it.
        case postpone(Duration, reason: String)
        /// Tried for too long: go on behind it and tell the operator.
        case drop(Int64, reason: String)
        /// Tried for too long: call no more until the tenant says so. Nothing is lost that its cursor still names.
        case stop(reason: String)
    }

    private let policy: WebhookPolicy

    package init(_ policy: WebhookPolicy) { self.policy = policy }

    /// After a batch with nothing to tell.
    package func nothingToSend(_ batch: WebhookBatch) -> Action { .advance(batch.cursor) }

    /// The subscription's secret does not open with this node's master key: the operator's fault, never the receiver's, so nothing is given up.
    package func secretUnreadable() -> Action {
        .postpone(policy.retries.last ?? policy.lease, reason: "sealed secret")
    }

    /// After a call ended.
    package func callEnded(_ outcome: CallOutcome, _ lease: WebhookLease, _ batch: WebhookBatch) -> Action {
        guard outcome != .accepted else { return .advance(batch.cursor) }
        let left = (lease.webhook == nil ? policy.giveUpAfter : policy.stopAfter) - lease.failingFor
        guard left > .zero, let last = policy.retries.last else {
            return lease.webhook == nil
                ? .drop(batch.cursor, reason: outcome.reason) : .stop(reason: outcome.reason)
        }
        let failures = max(0, lease.attempts)
        let wait = failures < policy.retries.count ? policy.retries[failures] : last
        // The last try falls on the end of the time, not behind it.
        return .postpone(min(wait, left), reason: outcome.reason)
    }
}
