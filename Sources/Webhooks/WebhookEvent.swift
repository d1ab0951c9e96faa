package import Model

/// What happened to a subscription, for logs and counters. The lease holds a URL and a secret: neither may be logged.
package enum WebhookEvent: Sendable {
    /// A call was taken, or there was nothing to tell.
    case accepted(WebhookLease, targets: Int)
    /// A call failed and will be repeated.
    case postponed(WebhookLease, by: Duration, reason: String)
    /// A call failed for too long and is given up.
    case dropped(WebhookLease, targets: Int, reason: String)
    /// A webhook's calls failed for too long and it is called no more.
    case stopped(WebhookLease, reason: String)
    /// Another node took over meanwhile: its call repeats ours.
    case leaseLost(WebhookLease)
    case storeFailed(StoreError)
}
