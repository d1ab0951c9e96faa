package import Model
package import Secrets
package import Store

/// Reads the audit of a tenant in pages and verifies it. The memory does not grow with the number of rows.
package struct AuditReader: Sendable {
    /// 1,000 rows of some hundred bytes.
    private static let pageSize = 1000

    private let store: PostgresAuditStore

    package init(store: PostgresAuditStore) { self.store = store }

    /// Verifies a whole audit with its checkpoints.
    ///
    /// - Parameters:
    ///   - tenant: the owner of the audit.
    ///   - signers: the public keys whose signatures count.
    ///   - bounds: the facts with which the first and the last row are compared.
    ///   - progress: called with the number of rows after each page.
    /// - Returns: the findings.
    /// - Throws: `StoreError`.
    package func verify(
        _ tenant: TenantID,
        signers: [[UInt8]],
        within bounds: AuditBounds,
        progress: (Int) -> Void = { _ in }
    ) async throws(StoreError) -> AuditChain {
        var checkpoints: [AuditCheckpoint] = []
        while true {
            let page = try await store.checkpoints(
                in: tenant,
                after: checkpoints.last?.position ?? 0,
                limit: Self.pageSize
            )
            checkpoints += page
            if page.count < Self.pageSize { break }
        }
        var chain = AuditChain(tenant, checkpoints: checkpoints, signers: signers)
        _ = try await read(tenant, after: 0, upTo: .max, into: &chain, progress: progress)
        chain.finish(bounds)
        return chain
    }

    /// Verifies the rows after a checkpoint.
    ///
    /// - Parameters:
    ///   - tenant: the owner of the audit.
    ///   - checkpoint: one that is known to be right; nil begins with the first row.
    ///   - position: the last row.
    /// - Returns: the findings, and the position of the last row that was read.
    /// - Throws: `StoreError`.
    package func verify(
        _ tenant: TenantID,
        after checkpoint: AuditCheckpoint?,
        upTo position: Int64
    ) async throws(StoreError) -> (AuditChain, end: Int64) {
        var chain = AuditChain(tenant, checkpoints: [], signers: [], after: checkpoint)
        let start = checkpoint?.position ?? 0
        let end = try await read(tenant, after: start, upTo: position, into: &chain)
        return (chain, end)
    }

    private func read(
        _ tenant: TenantID,
        after start: Int64,
        upTo end: Int64,
        into chain: inout AuditChain,
        progress: (Int) -> Void = { _ in }
    ) async throws(StoreError) -> Int64 {
        var position = start
        while position < end {
            let limit = Int(min(Int64(Self.pageSize), end - position))
            let links = try await store.links(in: tenant, after: position, limit: limit)
            for link in links { chain.add(link) }
            progress(links.count)
            guard let last = links.last, last.position > position else { break }
            position = last.position
        }
        return position
    }
}
