package import Model

/// Samples refused proofs: per tenant, dialect and kind, the first one of each minute becomes a row at once, and those that follow it within the minute become
/// one further row with their number. Pure: times are seconds from any fixed moment.
package struct RefusedProofState: Sendable {
    /// A minute: an attack of any rate writes two rows per minute and kind.
    package static let period = 60.0
    /// 1,000 combinations of tenant, dialect and kind on one node: 2,000 rows a minute at most. Above it, refusals are counted by the metric only.
    package static let limit = 1000

    private struct Sample: Sendable {
        var subject: String
        var began: Double
        var request: CallID?
        var isFirstWritten = false
        var following = 0
    }

    private var samples: [RefusedProof: Sample] = [:]

    package init() {}

    /// Counts a refused proof. Returns false if the limit is reached, and it is not counted.
    package mutating func note(_ proof: RefusedProof, subject: String, request: CallID? = nil, at now: Double) -> Bool {
        if samples[proof] != nil {
            samples[proof]?.following += 1
            return true
        }
        guard samples.count < Self.limit else { return false }
        samples[proof] = Sample(subject: subject, began: now, request: request)
        return true
    }

    /// Removes and returns what is to be written now. `isLast`: also of minutes that have not ended.
    package mutating func take(at now: Double, isLast: Bool = false) -> [RefusedProofRow] {
        var rows: [RefusedProofRow] = []
        for (proof, sample) in samples {
            func row(_ calls: Int, _ isFollowing: Bool) -> RefusedProofRow {
                RefusedProofRow(
                    proof: proof,
                    subject: sample.subject,
                    calls: calls,
                    isFollowing: isFollowing,
                    request: isFollowing ? nil : sample.request
                )
            }
            if !sample.isFirstWritten {
                rows.append(row(1, false))
                samples[proof]?.isFirstWritten = true
            }
            guard isLast || now - sample.began >= Self.period else { continue }
            if sample.following > 0 { rows.append(row(sample.following, true)) }
            samples[proof] = nil
        }
        return rows
    }
}
