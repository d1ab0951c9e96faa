package import Logging
import Metrics
import Model
package import Webhooks

/// Counts the outcomes of outgoing calls, and logs those that need attention. It never logs the URL or the secret.
package struct WebhookLog: Sendable {
    package let logger: Logger

    package init(logger: Logger) {
        self.logger = logger
    }

    package func note(_ event: WebhookEvent) {
        switch event {
        case .accepted(_, let targets):
            count("accepted")
            logger.debug("callback accepted", metadata: ["targets": "\(targets)"])
        case .postponed(let lease, let delay, let reason):
            count("postponed")
            logger.info(
                "callback failed; it will be retried",
                metadata: [
                    LogKey.tenant: "\(lease.tenant)", "subscriber": "\(Self.name(lease))", LogKey.reason: "\(reason)",
                    "after": "\(delay)",
                ]
            )
        case .dropped(let lease, let targets, let reason):
            count("dropped")
            logger.error(
                "callback abandoned after a day",
                metadata: [
                    LogKey.tenant: "\(lease.tenant)", "subscriber": "\(Self.name(lease))", LogKey.reason: "\(reason)",
                    "targets": "\(targets)",
                ]
            )
        case .stopped(let lease, let reason):
            count("stopped")
            logger.error(
                "webhook stopped: its calls failed for days",
                metadata: [
                    LogKey.tenant: "\(lease.tenant)", "subscriber": "\(Self.name(lease))", LogKey.reason: "\(reason)",
                ]
            )
        case .leaseLost: count("lease lost")
        case .storeFailed(let error):
            count("store failed")
            logger.warning("cannot read callbacks", metadata: [LogKey.error: "\(error)"])
        case .waiting(let limits):
            for limit in limits { MetricName.callbacksWaiting.counter([("limit", limit.rawValue)]).increment() }
        }
    }

    private static func name(_ lease: WebhookLease) -> String {
        switch lease.subscriber {
        case .sender(_, _, let vendor, _): vendor.rawValue
        case .webhook(let id, _): "webhook \(id)"
        }
    }

    private func count(_ outcome: String) {
        MetricName.callbacks.counter([("outcome", outcome)]).increment()
    }
}
