package import Model

/// A change of a subscription, for logs and counters. The lease holds a URL and a secret: neither may be logged.
package enum WebhookEvent: Sendable {
    /// A call was accepted, or there was nothing to send.
    case accepted(WebhookLease, targets: Int)
    /// A call failed and will be repeated.
    case postponed(WebhookLease, by: Duration, reason: String)
    /// A call failed for too long and was dropped.
    case dropped(WebhookLease, targets: Int, reason: String)
    /// A webhook's calls failed for too long; no further calls are made.
    case stopped(WebhookLease, reason: String)
    /// Another node took over in the meantime and repeats the call.
    case leaseLost(WebhookLease)
    case storeFailed(StoreError)
    /// Due subscriptions have to wait for the end of a call, because of these limits. Once per look that left some out, and while all calls of the
    /// node are in use once per interval.
    case waiting(Set<CallTurns.Limit>)
}
