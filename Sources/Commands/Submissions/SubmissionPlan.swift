import Model

/// A submission that may be sent: what to ask the store, the message made of the answers, and the reply.
struct SubmissionPlan: Sendable {
    /// An image to be stored with the message.
    struct Image: Sendable {
        var hash: String
        var contentType: String
        var bytes: [UInt8]
    }

    var submission: Submission
    var content: Content
    var image: Image?
    var id: MessageID
    var dueAt: Timestamp
    var timeToLive: Duration
    var context: RuleContext

    /// The listed addresses, each once, in the caller's order.
    var addresses: [Address] {
        guard case .listed(let list) = submission.audience else { return [] }
        var seen: Set<Address> = []
        return list.map(\.address).filter { seen.insert($0).inserted }
    }

    /// The users that are meant, each once.
    private var users: [UserID] {
        guard case .users(let list) = submission.audience else { return [] }
        var seen: Set<UserID> = []
        return list.filter { seen.insert($0).inserted }
    }

    /// The groups that are meant, each once.
    private var groups: [GroupName] {
        guard case .groups(let list) = submission.audience else { return [] }
        return Set(list).sorted()
    }

    /// What is read first, in one transaction.
    var questions: [StoreStatement] {
        var statements: [StoreStatement] = [.app(context.scope)]
        if let sender = submission.sender { statements.append(.sender(context.scope, sender)) }
        switch submission.audience {
        case .listed: statements.append(.resolve(context.scope, addresses))
        // One more than may be counted at once: then it is known that there are more.
        case .users: statements.append(.resolveUsers(context.scope, users, limit: Audience.listedLimit + 1))
        case .groups: statements.append(.groups(context.scope, groups))
        case .tags, .everyone: break
        }
        return statements
    }

    /// The message that the answers to `questions` allow.
    ///
    /// - Parameters:
    ///   - answers: one per question.
    ///   - node: who takes the slices in memory; nil: nobody.
    /// - Returns: the message, or why there is none.
    func message(answers: [StoreAnswer], node: NodeID?) -> Result<NewMessage, Refused> {
        let known = Known(answers)
        guard let app = known.app else { return .failure(Refused(.unknownBinding)) }
        if submission.sender != nil, known.sender?.enrolmentKey == nil { return .failure(Refused(.unknownSender)) }
        guard app.hasCredential || submission.fallback != nil else { return .failure(Refused(.noCredential)) }
        switch submission.audience {
        case .everyone: return .success(expanded(nil, count: app.identityCount, node))
        case .tags: return .success(expanded(submission.audience, count: nil, node))
        case .groups:
            let names = Set(known.groups.map(\.name))
            if let missing = groups.first(where: { !names.contains($0) }) {
                return .failure(Refused(.unknownGroup(missing)))
            }
            let count = known.groups.reduce(0) { $0 + $1.memberCount }
            return .success(expanded(.groups(groups), count: count, node))
        case .users:
            guard known.users.count <= Audience.listedLimit else {
                return .success(expanded(.users(users), count: nil, node))
            }
            let targets = TargetPlan(users, known.users) { context.identifiers.target(for: $0, in: id) }
            return .success(newMessage(targets, recipients: targets.count, node: node))
        case .listed:
            let addresses = addresses
            guard known.resolved.count == addresses.count else {
                return .failure(Refused(.unavailable(retryAfter: context.policy.retryAfter)))
            }
            let targets = TargetPlan(addresses, known.resolved) { context.identifiers.target(for: $0, in: id) }
            return .success(newMessage(targets, recipients: addresses.count, node: node))
        }
    }

    /// A message whose targets are found page by page. `count` is named only where the vendor's answer must name one.
    private func expanded(_ audience: Audience?, count: Int?, _ node: NodeID?) -> NewMessage {
        let isCounted = context.policy.countedVendors.contains(context.call.vendor)
        let targets = TargetPlan(slices: [NewSlice(number: 0, work: .expand(after: nil))])
        var message = newMessage(targets, recipients: isCounted ? count : nil, node: node)
        message.audience = audience
        return message
    }

    private func newMessage(_ targets: TargetPlan, recipients: Int?, node: NodeID?) -> NewMessage {
        let isDueNow = dueAt <= context.now
        let claim = node.map { NewMessage.Claim(node: $0, lease: context.policy.lease) }
        return NewMessage(
            id: id,
            scope: context.scope,
            sender: submission.sender,
            content: content,
            collapseID: submission.collapseID,
            lane: submission.lane,
            acceptedAt: context.now,
            dueAt: dueAt,
            expiresAt: dueAt + timeToLive,
            fallback: submission.fallback,
            recipients: recipients,
            slices: targets.slices,
            suppressed: targets.suppressed,
            idempotency: submission.idempotencyKey.map {
                IdempotencyKey(key: $0, bodyHash: submission.bodyHash ?? "")
            },
            claim: isDueNow && !targets.slices.isEmpty ? claim : nil
        )
    }

    /// The statements that accept `message`, in one transaction: its image first, so that no message refers to bytes that are not there.
    func acceptance(of message: NewMessage) -> [StoreStatement] {
        var statements: [StoreStatement] = []
        if let image {
            statements.append(
                .putMedia(
                    hash: image.hash,
                    contentType: image.contentType,
                    bytes: image.bytes,
                    at: context.now
                )
            )
        }
        statements.append(.accept(message))
        return statements
    }

    /// The reply, and what this node sends now.
    func outcome(of message: NewMessage, answers: [StoreAnswer]) -> (Reply, [SliceLease]) {
        guard case .accepted(let acceptance)? = answers.last else {
            return (.refused(.unavailable(retryAfter: context.policy.retryAfter)), [])
        }
        switch acceptance {
        case .inserted: return (.submission(.accepted(message.id, recipients: message.recipients)), leases(of: message))
        case .repeated(let first, let recipients): return (.submission(.accepted(first, recipients: recipients)), [])
        case .mismatch: return (.refused(.idempotencyMismatch), [])
        }
    }

    /// The slices as the store inserted them: a claim at acceptance is their first, so their epoch is 1.
    private func leases(of message: NewMessage) -> [SliceLease] {
        guard message.claim != nil else { return [] }
        return message.slices.map { slice in
            SliceLease(
                key: SliceKey(tenant: context.call.tenant, message: message.id, number: slice.number),
                epoch: 1,
                lane: message.lane,
                dueDay: message.dueAt.day,
                work: slice.work,
                targets: slice.targets,
                addresses: slice.addresses
            )
        }
    }

    /// The answers to `questions`, by kind.
    private struct Known {
        var app: AppFacts?
        var sender: SenderFacts?
        var resolved: [ResolvedTarget?] = []
        var users: [UserTarget] = []
        var groups: [GroupFacts] = []

        init(_ answers: [StoreAnswer]) {
            for answer in answers {
                if case .app(let facts) = answer { app = facts }
                if case .sender(let facts) = answer { sender = facts }
                if case .resolved(let targets) = answer { resolved = targets }
                if case .resolvedUsers(let targets) = answer { users = targets }
                if case .groups(let found) = answer { groups = found }
            }
        }
    }
}
