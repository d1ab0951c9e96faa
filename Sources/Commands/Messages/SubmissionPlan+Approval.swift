import Model
import Store

/// Messages that wait for the approval of someone other than their sender.
extension SubmissionPlan {
    /// Whether the message may reach more recipients than the app permits without an approval. A number that is not known before
    /// the expansion counts with its upper limit: an expression of tags may select everyone.
    func needsApproval(_ known: SubmissionFacts, _ app: AppFacts) -> Bool {
        guard let limit = app.approvalAbove else { return false }
        return largestReach(known, app) > limit
    }

    private func largestReach(_ known: SubmissionFacts, _ app: AppFacts) -> Int {
        if let found = known.recipients { return found.count }
        return switch submission.audience {
        case .everyone, .tags: app.identityCount
        case .groups: known.groups.reduce(0) { $0 + $1.memberCount }
        // A user may have several devices, and those above the limit of a list are found page by page.
        case .users: max(users.count, known.users.count)
        case .listed: addresses.count
        }
    }
}
