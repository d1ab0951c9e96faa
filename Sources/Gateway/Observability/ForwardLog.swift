package import Forwarding
package import Logging
import Metrics
import Model

/// Counts the outcomes of forwarded calls, and logs those that need attention. It never logs the path or the body of a call.
package struct ForwardLog: Sendable {
    package let logger: Logger

    package init(logger: Logger) {
        self.logger = logger
    }

    package func note(_ event: ForwardEvent) {
        switch event {
        case .answered(let lease, let verdict): note(lease, verdict)
        case .leaseLost(let lease): count(lease, "lease lost")
        case .storeFailed(let error):
            logger.warning("cannot read forwarded calls", metadata: [LogKey.error: "\(error)"])
        case .counted(let backlogs): for backlog in backlogs { Self.show(backlog) }
        }
    }

    private func note(_ lease: ForwardLease, _ verdict: ForwardVerdict) {
        switch verdict {
        case .accepted: count(lease, "accepted")
        case .refused(let reason):
            count(lease, "refused")
            log("the upstream refused a forwarded call; it is not repeated", lease, reason)
        case .credential(let reason):
            count(lease, "credential")
            log("the upstream refuses the credential of forwarded calls", lease, reason)
        case .failed(let reason, _):
            count(lease, "failed")
            log("a forwarded call failed; it will be repeated", lease, reason)
        case .busy: count(lease, "busy")
        case .canceled: count(lease, "canceled")
        }
    }

    private func log(_ message: Logger.Message, _ lease: ForwardLease, _ reason: String) {
        logger.info(
            message,
            metadata: [
                LogKey.tenant: "\(lease.queue.tenant)", LogKey.credential: "\(lease.queue.upstream)",
                LogKey.vendor: "\(lease.call.vendor)", LogKey.route: "\(lease.call.name)", LogKey.reason: "\(reason)",
            ]
        )
    }

    private func count(_ lease: ForwardLease, _ outcome: String) {
        MetricName.outboxCalls.counter([Self.label(lease.queue.credential), ("outcome", outcome)]).increment()
    }

    private static func show(_ backlog: ForwardBacklog) {
        let labels = [label(backlog.upstream)]
        MetricName.outboxWaiting.meter(labels).set(backlog.waiting)
        MetricName.outboxOldest.meter(labels).set(backlog.oldest / .seconds(1))
        MetricName.outboxFull.meter(labels).set(backlog.isFull ? 1 : 0)
    }

    private static func label(_ credential: CredentialKey) -> (String, String) {
        ("upstream", "\(credential.tenant)/\(credential.credential)")
    }
}
