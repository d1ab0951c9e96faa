package import EngineStore
package import Logging
import Metrics
import Model

/// Counts what maintenance did, and logs the steps that failed.
package struct MaintenanceLog: Sendable {
    /// The two parts of maintenance, each with rounds of its own.
    package enum Part: String, Sendable {
        case partitions, retention
    }

    /// Failures of one round that are logged. A database that refuses one statement refuses it for every tenant.
    private static let loggedFailures = 10

    private let logger: Logger

    package init(logger: Logger) {
        self.logger = logger
    }

    /// Notes a round that ended. A round of a node that does not maintain resets the gauges. A round that a shutdown canceled is not noted: its failures are
    /// the statements in progress.
    package func note(_ report: MaintenanceReport, of part: Part, after duration: Duration) {
        if Task.isCancelled { return }
        switch part {
        case .partitions: MetricName.maintenanceChangesWaiting.meter().set(report.changesWaiting)
        case .retention: MetricName.maintenanceUnfinished.meter().set(report.isComplete ? 0 : 1)
        }
        guard report.isLeader else { return }
        let seconds = duration / .seconds(1)
        MetricName.maintenanceSeconds.meter([("part", part.rawValue)]).set(seconds)
        for step in MaintenanceStep.allCases where report[keyPath: step.count] > 0 {
            MetricName.maintenanceRows.counter([("step", step.rawValue)])
                .increment(by: Int64(report[keyPath: step.count]))
        }
        for failure in report.failures {
            MetricName.maintenanceFailures.counter([("step", failure.step.rawValue)]).increment()
        }
        for failure in report.failures.prefix(Self.loggedFailures) {
            var metadata: Logger.Metadata = ["step": "\(failure.step.rawValue)", LogKey.error: "\(failure.error)"]
            if let tenant = failure.tenant { metadata[LogKey.tenant] = "\(tenant)" }
            logger.warning("a step of maintenance failed; the next round tries again", metadata: metadata)
        }
        if report.changesWaiting > 0 {
            logger.info("a partition change waits for a long transaction")
        }
        logger.debug("maintenance done", metadata: ["part": "\(part.rawValue)", "seconds": "\(seconds)"])
    }
}
