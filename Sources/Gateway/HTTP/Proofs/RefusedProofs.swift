package import Model
import NIOConcurrencyHelpers
import Observability

/// The refused proofs of this node, until `RefusedProofService` writes them into the audit. Safe to call from any task; a call costs a lock and no I/O.
package final class RefusedProofs: Sendable {
    private struct State {
        var samples = RefusedProofState()
        /// Rows that could not be written.
        var unwritten: [RefusedProofRow] = []
    }

    /// 4,000 rows that wait for a database: two minutes of an attack on everything. Older ones are dropped and counted.
    static let unwrittenLimit = 4000

    private let state = NIOLockedValueBox(State())
    private let now: @Sendable () -> Double

    /// - Parameter now: seconds from any fixed moment. Nil: those of the system's clock.
    package init(now: (@Sendable () -> Double)? = nil) {
        let start = ContinuousClock.now
        self.now = now ?? { Double((ContinuousClock.now - start).milliseconds) / 1000 }
    }

    /// Counts a refused proof.
    ///
    /// - Parameters:
    ///   - kind: the kind of proof.
    ///   - vendor: the dialect; `native` for the native API.
    ///   - tenant: the tenant of the binding or of the key. Nil, if the call proves neither: only the metric counts it.
    ///   - subject: what the call named: an app or the name of a key, never a person or a secret.
    package func note(_ kind: ProofKind, _ vendor: Vendor, of tenant: TenantID?, subject: String? = nil) {
        let isAudited = tenant.map { tenant in
            let proof = RefusedProof(tenant: tenant, vendor: vendor, kind: kind)
            return state.withLockedValue {
                $0.samples.note(proof, subject: subject ?? "tenant \(tenant)", request: CallID.current, at: now())
            }
        }
        let outcome = isAudited.map { $0 ? "sampled" : "dropped" } ?? "unknown"
        MetricName.proofsRefused.count([
            ("vendor", vendor.rawValue), ("kind", kind.rawValue), ("audit", outcome),
        ])
    }

    /// The rows to write now.
    package func take(isLast: Bool = false) -> [RefusedProofRow] {
        state.withLockedValue { state in
            let rows = state.unwritten + state.samples.take(at: now(), isLast: isLast)
            state.unwritten = []
            return rows
        }
    }

    /// Returns rows that could not be written.
    package func putBack(_ rows: [RefusedProofRow]) {
        state.withLockedValue { $0.unwritten = Array((rows + $0.unwritten).suffix(Self.unwrittenLimit)) }
    }
}
