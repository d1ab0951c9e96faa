import Logging
import Model

/// Messages whose text came before through another entry point.
extension DeliveryEngine {
    /// Adds the earlier message to the work of a slice. False: another node holds the slice.
    ///
    /// - Throws: `StoreError`.
    func compare(_ work: inout SliceWork?, of lease: SliceLease) async throws(StoreError) -> Bool {
        guard var compared = work else { return true }
        switch try await store.earlier(than: lease, for: compared.targets, by: node) {
        case .none: return true
        case .fenced: return false
        case .found(let earlier):
            countUnresolved(earlier, compared.targets)
            compared.earlier = earlier
            work = compared
            return true
        }
    }

    /// Counts the targets that are pushed although the earlier message may have reached them.
    private func countUnresolved(_ earlier: EarlierMessage, _ targets: [Int: TargetFacts]) {
        switch earlier.standing {
        case .done: break
        case .unknown:
            let unknown = targets.keys.count { !earlier.sent.contains($0) }
            if earlier.waited == .zero, unknown > 0 {
                metrics.add(unknown, to: .duplicatesUnresolved, ("reason", "audience"))
            }
        case .open:
            let open = targets.keys.count { earlier.isOpen($0) }
            if earlier.waited >= policy.retry.duplicateLongest * policy.retry.scale, open > 0 {
                metrics.add(open, to: .duplicatesUnresolved, ("reason", "time"))
            }
        }
    }
}
