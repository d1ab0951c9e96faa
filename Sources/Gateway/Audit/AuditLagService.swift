import CallAudit
import EngineStore
import Logging
import Metrics
import NativeHTTP
import Observability
import ServiceLifecycle
import Store

/// Measures on each node how far the copies of the audit are behind, for the metrics and for `AuditGate`.
struct AuditLagService: Service {
    /// Five seconds: a query for each tenant, by the key.
    static let period = Duration.seconds(5)

    let copies: [AuditCopy]
    let keeper: PostgresAuditKeeper
    let gate: AuditGate
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await measure()
                try? await Task.sleep(for: Self.period)
            }
        }
    }

    /// Without an answer of the database the last values stay: its calls fail in any case.
    func measure() async {
        do {
            var longest = 0.0
            for copy in copies {
                let lag = try await keeper.lag(of: copy)
                MetricName.auditLagRows.meter([("copy", copy.rawValue)]).set(Double(lag.rows))
                MetricName.auditLagSeconds.meter([("copy", copy.rawValue)]).set(lag.seconds)
                longest = max(longest, lag.seconds)
            }
            if gate.measured(longest) {
                logger.error(
                    "the copy of the audit is behind: administrative calls are refused until it catches up",
                    metadata: ["seconds": "\(Int(longest))"]
                )
            }
        } catch {
            logger.warning("the copies of the audit were not measured", metadata: [LogKey.error: "\(error)"])
        }
    }
}
