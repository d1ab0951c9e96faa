import Commands
import GatewayHTTP
import Logging
import Model
import Observability
import ServiceLifecycle
import Store

/// Writes samples of refused proofs into the audit of their tenants, in one transaction per tenant.
struct RefusedProofService: Service {
    /// Two seconds: the first refused call of a minute is in the audit soon after.
    static let period = Duration.seconds(2)

    let proofs: RefusedProofs
    let handler: CommandHandler
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.period)
                await write(proofs.take())
            }
        }
        // The listeners have stopped, and the pools are still open.
        await write(proofs.take(isLast: true))
    }

    /// Writes rows. Those that cannot be written wait for the next run.
    func write(_ rows: [RefusedProofRow]) async {
        for (tenant, rows) in Dictionary(grouping: rows, by: \.proof.tenant) {
            let records = rows.map { row in
                AuditRecord(
                    .refuse,
                    row.subject,
                    data: [
                        "proof": .string(row.proof.kind.rawValue), "vendor": .string(row.proof.vendor.rawValue),
                        "calls": .int(row.calls), "following": .bool(row.isFollowing),
                    ]
                ).of(row.request)
            }
            do {
                try await handler.run(StoreRequest(WriteAudit(records, by: .gateway)) { (_: Void) in }, in: tenant)
            } catch {
                proofs.putBack(rows)
                logger.warning(
                    "refused proofs are not audited yet; the next run tries again",
                    metadata: [LogKey.tenant: "\(tenant)", LogKey.error: "\(error)"]
                )
            }
        }
    }
}
