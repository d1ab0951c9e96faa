package import Model

/// Decides how a subscription continues after a call. Pure: the lease contains the number of earlier failures and their duration.
package struct DispatchMachine: Sendable {
    /// The next step of a subscription.
    package enum Action: Sendable, Hashable {
        /// The receiver accepted the calls up to this position.
        case advance(Int64)
        /// Repeat the same call later; later events must not overtake it.
        case postpone(Duration, reason: String)
        /// The call was repeated for too long: skip it and notify the operator.
        case drop(Int64, reason: String)
        /// The call was repeated for too long: make no further calls until the tenant requests it. Events after the cursor are not lost.
        case stop(reason: String)
    }

    private let policy: WebhookPolicy

    package init(_ policy: WebhookPolicy) { self.policy = policy }

    /// The batch contains nothing to send.
    package func nothingToSend(_ batch: WebhookBatch) -> Action { .advance(batch.cursor) }

    /// The subscription's secret cannot be opened with this node's master key. This is an operator error, not the receiver's, so no event is dropped.
    package func secretUnreadable() -> Action {
        .postpone(policy.retries.last ?? policy.lease, reason: "sealed secret")
    }

    /// After the parallel calls of a page ended, with everything up to `cursor` confirmed. A failure after progress is the first one.
    package func callsEnded(_ failure: CallOutcome?, _ lease: WebhookLease, reached cursor: Int64) -> Action {
        var lease = lease
        if cursor > lease.cursor { (lease.attempts, lease.failingFor) = (0, .zero) }
        return callEnded(failure ?? .accepted, lease, WebhookBatch(cursor: cursor, hasMore: false))
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
        // The last attempt is made at the end of the period, not after it.
        return .postpone(min(wait, left), reason: outcome.reason)
    }
}
