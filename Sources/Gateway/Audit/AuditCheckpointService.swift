import EngineStore
import Logging
import Model
import Observability
import Secrets
import ServiceLifecycle
import Store

/// Signs the end of each tenant's audit once a minute, on one node. It first verifies the rows since the last checkpoint, and never signs a chain that is broken.
struct AuditCheckpointService: Service {
    /// A minute: who can write to the database can change what is younger, and nobody would notice.
    var period = Duration.seconds(60)

    let keeper: PostgresAuditKeeper
    let store: PostgresAuditStore
    let signer: AuditSigner
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    _ = try await sign()
                } catch {
                    logger.warning(
                        "the audit was not signed; the next run tries again",
                        metadata: [LogKey.error: "\(error)"]
                    )
                }
                try? await Task.sleep(for: period)
            }
        }
    }

    /// Signs what is not signed yet. Returns the number of new checkpoints.
    ///
    /// - Throws: `StoreError`, or an error of the cryptography library.
    @discardableResult
    func sign() async throws -> Int {
        var count = 0
        for tip in try await keeper.unsigned() ?? [] {
            let (chain, end) = try await AuditReader(store: store).verify(
                tip.tenant,
                after: tip.last,
                upTo: tip.position
            )
            guard chain.faultCount == 0, end == tip.position else {
                logger.error(
                    "the audit was changed: run 'push-gateway audit verify'",
                    metadata: [
                        LogKey.tenant: "\(tip.tenant)",
                        "faults": "\(chain.faults.map(\.description).joined(separator: "; "))",
                    ]
                )
                continue
            }
            let checkpoint = try signer.checkpoint(tip.tenant, tip.position, tip.hash, micros: tip.micros)
            try await keeper.store(checkpoint, in: tip.tenant)
            count += 1
        }
        return count
    }
}
