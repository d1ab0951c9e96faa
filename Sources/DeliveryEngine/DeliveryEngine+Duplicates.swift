import Model

/// Messages whose text came before through another entry point.
extension DeliveryEngine {
    /// Adds what earlier messages were to the targets of a slice. False: another node holds the slice.
    ///
    /// - Throws: `StoreError`.
    func compare(_ work: inout SliceWork?, of lease: SliceLease) async throws(StoreError) -> Bool {
        guard var compared = work else { return true }
        switch try await store.earlier(than: lease, for: compared.targets, by: node) {
        case .fenced: return false
        case .found(let earlier):
            countUnresolved(earlier, compared.targets.count)
            compared.earlier = earlier
            work = compared
            return true
        }
    }

    /// Counts the targets that are pushed although an earlier message may reach them or has reached them.
    private func countUnresolved(_ earlier: EarlierMessages, _ targets: Int) {
        if earlier.hasUnknown, earlier.waited == .zero, targets > earlier.sent.count {
            metrics.add(targets - earlier.sent.count, to: .duplicatesUnresolved, ("reason", "audience"))
        }
        let open = earlier.open.subtracting(earlier.sent).count
        if open > 0, earlier.waited >= policy.retry.duplicateLongest * policy.retry.scale {
            metrics.add(open, to: .duplicatesUnresolved, ("reason", "time"))
        }
    }
}
