import Model
import Store

/// Messages that wait for the approval of someone other than their sender.
extension SubmissionPlan {
    /// Whether the message may reach more recipients than the app permits without an approval.
    func needsApproval(_ known: SubmissionFacts, _ app: AppFacts) -> Bool {
        guard let limit = app.approvalAbove else { return false }
        return largestReach(known, app) > limit
    }

    /// How many recipients the message counts as, for approvals and for the recipients of a key: the number of recipients of a list. Everything that is found page by page later counts as all identities of the app: tags may select everyone, and the
    /// members of a group, or the devices of its users, may have become more by then.
    func largestReach(_ known: SubmissionFacts, _ app: AppFacts) -> Int {
        let listed: Int? =
            if let found = known.recipients {
                found.count
            } else {
                switch submission.audience {
                case .everyone, .tags, .groups: nil
                case .users: max(users.count, known.users.count)
                case .listed: addresses.count
                }
            }
        // Reads of a list end above its limit.
        guard let listed, listed <= Audience.listedLimit else { return app.identityCount }
        return listed
    }
}
