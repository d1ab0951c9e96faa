import Model

/// Turns an audience into slices, page by page. Memory use does not depend on the size of the audience, and a crash repeats at most one page, under a
/// newer epoch.
struct ExpansionRunner: Sendable {
    let lease: SliceLease
    let engine: DeliveryEngine

    /// Runs to the end and returns the last epoch.
    func run() async -> Int64 {
        var lease = lease
        var failures = 0
        var faults = 0
        while !Task.isCancelled {
            if engine.isDraining {
                await engine.giveBack([lease])
                break
            }
            do {
                if let end = end(faults) {
                    try await giveUp(end)
                    return lease.epoch
                }
                let page = try await engine.store.expand(
                    lease,
                    by: engine.node,
                    pageSize: engine.policy.expansionPageSize,
                    preferring: nil
                )
                switch page {
                case .page(_, let after):
                    lease.work = .expand(after: after)
                    (failures, faults) = (0, 0)
                    engine.wake()
                case .finished, .fenced:
                    engine.wake()
                    return lease.epoch
                }
            } catch {
                engine.storeFailed("expand", error)
                failures += 1
                // An outage ends a series of errors that a repeat does not remove.
                faults = error.isRetriable ? 0 : faults + 1
                try? await engine.timer.sleep(for: engine.policy.storeBackoff.delay(after: failures))
            }
        }
        return lease.epoch
    }

    /// Why the expansion is given up; nil: it is not.
    private func end(_ faults: Int) -> SliceProgress.Disposition? {
        if lease.lapses >= engine.policy.lapseLimit { return .lapsed }
        return faults >= engine.policy.faultLimit ? .unexpandable : nil
    }

    private func giveUp(_ end: SliceProgress.Disposition) async throws(StoreError) {
        let progress = SliceProgress(lease: lease, app: "", vendor: .native, results: [], disposition: end)
        engine.count(progress, try await engine.store.record(progress, by: engine.node))
    }
}
