import Model
import Store

/// An acceptable submission: the queries to the store, the message built from the answers, and the reply.
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

    /// Which identity of a device gets the message. Nil: it reaches the sending dialect only. Statements find the dialects that the app's delivery rules prefer
    /// by the lane (`preferDialects`); the expansion of an audience finds the same ones.
    var receiving: ReceivingRule? {
        guard context.crossesDialects else { return nil }
        return ReceivingRule(includesWithdrawn: content.consent == .all, lane: submission.lane)
    }

    /// The same rule for identities that are already known.
    private func receivingRule(_ app: AppFacts) -> ReceivingRule? {
        var rule = receiving
        rule?.preferred = app.preferredDialects[submission.lane] ?? []
        return rule
    }

    /// The listed addresses, each once, in the caller's order.
    var addresses: [Address] {
        guard case .listed(let list) = submission.audience else { return [] }
        var seen: Set<Address> = []
        return list.map(\.address).filter { seen.insert($0).inserted }
    }

    /// The users of the audience, each once.
    var users: [UserID] {
        guard case .users(let list) = submission.audience else { return [] }
        var seen: Set<UserID> = []
        return list.filter { seen.insert($0).inserted }
    }

    /// The groups of the audience, each once.
    var groups: [GroupName] {
        guard case .groups(let list) = submission.audience else { return [] }
        return Set(list).sorted()
    }

    /// The reads that come first, in one transaction.
    var questions: StoreRequest<SubmissionFacts> {
        var request = StoreRequest(FindApp(context.scope)) { SubmissionFacts(app: $0) }
        if let sender = submission.sender {
            request = request.adding(FindSender(context.scope, sender)) { $0.sender = $1 }
        }
        if let numbering = submission.numbering, let recipients = recipients(numbering) {
            // An unknown group has another answer than an empty one.
            if !groups.isEmpty { request = request.adding(FindGroups(context.scope, groups)) { $0.groups = $1 } }
            return request.adding(recipients) { $0.recipients = $1 }
        }
        switch submission.audience {
        case .listed:
            return request.adding(ResolveAddresses(context.scope, addresses, by: receiving)) { $0.resolved = $1 }
        case .users:
            // One more than a list may contain, so that a longer list is detected.
            let limit = Audience.listedLimit + 1
            let isCrossing = context.crossesDialects
            return request.adding(ResolveUsers(context.scope, users, by: naming, limit: limit, isCrossing: isCrossing))
            {
                $0.users = $1
                $0.names = Set($1.map(\.user))
            }
        case .groups: return request.adding(FindGroups(context.scope, groups)) { $0.groups = $1 }
        case .tags, .everyone: return request
        }
    }

    private var naming: ResolveUsers.Naming {
        switch submission.naming {
        case .users: .ids
        case .aliases: .aliases
        case .names: .names
        }
    }

    /// Builds the message from the answers to `questions`.
    ///
    /// - Parameters:
    ///   - known: the answers.
    ///   - node: the owner of the slices that are passed on in memory; nil: there is none.
    /// - Returns: the message, or the reason for refusing it.
    func message(_ known: SubmissionFacts, node: NodeID?) -> Result<NewMessage, Refused> {
        guard let app = known.app else { return .failure(Refused(.unknownBinding)) }
        if submission.sender != nil, known.sender?.enrolmentKey == nil { return .failure(Refused(.unknownSender)) }
        guard app.hasCredential || !app.upstreamDialects.isEmpty || submission.fallback != nil else {
            return .failure(Refused(.noCredential))
        }
        let names = Set(known.groups.map(\.name))
        if let missing = groups.first(where: { !names.contains($0) }) {
            return .failure(Refused(.unknownGroup(missing)))
        }
        var plan = self
        plan.content.minAssurance = submission.minAssurance ?? app.assurance.minimum(for: submission.lane)
        let submitter = context.call.actor ?? context.call.provingKey.map { AuditActor.key($0).description }
        let awaits = plan.needsApproval(known, app)
        // A message that waits is not passed on in memory.
        return plan.message(known, app, awaits ? nil : node).map { message in
            var message = message
            message.submitter = submitter
            message.trace = context.call.trace
            message.awaitsApproval = awaits
            message.duplicateGuard = plan.duplicateGuard(app)
            message.share = context.call.recipientsPerDay.map {
                NewMessage.Share(recipients: plan.largestReach(known, app), limit: $0)
            }
            return message
        }
    }

    /// How the message is compared with those of other entry points. Nil: the app does not ask for it, or the message shows no text.
    func duplicateGuard(_ app: AppFacts) -> NewMessage.DuplicateGuard? {
        guard let window = app.duplicateWindow,
            let fingerprint = context.policy.fingerprint(content, context.call.vendor)
        else { return nil }
        return NewMessage.DuplicateGuard(fingerprint: fingerprint, window: window)
    }

    private func message(_ known: SubmissionFacts, _ app: AppFacts, _ node: NodeID?) -> Result<NewMessage, Refused> {
        if let found = known.recipients { return message(to: found, app, node: node) }
        switch submission.audience {
        case .everyone where isNumbered && app.identityCount == 0: return .failure(Refused(.noRecipients))
        case .everyone: return .success(expanded(nil, count: app.identityCount, node))
        case .tags: return .success(expanded(submission.audience, count: nil, node))
        case .groups:
            let count = known.groups.reduce(0) { $0 + $1.memberCount }
            if isNumbered, count == 0 { return .failure(Refused(.noRecipients)) }
            return .success(expanded(.groups(groups), count: count, node))
        case .users:
            guard known.users.count <= Audience.listedLimit else {
                if submission.naming != .users || submission.omitsUnknown {
                    return .failure(Refused(.tooMany("audience", limit: Audience.listedLimit)))
                }
                return .success(expanded(.users(users), count: nil, node))
            }
            let users = submission.omitsUnknown ? self.users.filter(known.has) : self.users
            if users.isEmpty { return .failure(Refused(.unknownDevice)) }
            let targets = TargetPlan(
                users,
                known.users.map { reached($0, app) },
                (rules(app.timing), context.now),
                levels(app),
                receivingRule(app)
            ) {
                context.identifiers.target(for: $0, in: id)
            }
            return .success(newMessage(targets, recipients: targets.count, node: node))
        case .listed:
            let addresses = addresses
            guard known.resolved.count == addresses.count else {
                return .failure(Refused(.unavailable(retryAfter: context.policy.retryAfter)))
            }
            let pairs = zip(addresses, known.resolved).filter { !submission.omitsUnknown || $0.1 != nil }
            if pairs.isEmpty { return .failure(Refused(.unknownDevice)) }
            let targets = TargetPlan(
                pairs.map(\.0),
                pairs.map { pair in pair.1.map { reached($0, app) } },
                (rules(app.timing), context.now),
                levels(app)
            ) {
                context.identifiers.target(for: $0, in: id)
            }
            return .success(newMessage(targets, recipients: pairs.count, node: node))
        }
    }

    /// A Live Activity has tokens of its own, which are looked up when it is sent. The state of the device's own token does not matter. Neither does it where
    /// an upstream may push to the device.
    private func reached(_ target: ResolvedTarget, _ app: AppFacts) -> ResolvedTarget {
        var target = target
        if content.activity != nil {
            target.isReachable = target.device != nil
        } else if app.upstreamDialects.contains(target.dialect) {
            target.isReachable = true
        }
        return target
    }

    func reached(_ target: UserTarget, _ app: AppFacts) -> UserTarget {
        var target = target
        target.found = reached(target.found, app)
        return target
    }

    var expiresAt: Timestamp { (submission.timing.localDue?.latest ?? dueAt) + timeToLive }

    func levels(_ app: AppFacts) -> TargetLevels {
        TargetLevels(minimum: content.minAssurance, isMixed: app.assurance.isMixed)
    }

    private var isNumbered: Bool { submission.numbering != nil }

    func rules(_ timing: AppTiming) -> TimingRules {
        TimingRules(
            app: timing,
            lane: submission.lane,
            dueAt: dueAt,
            localDue: submission.timing.localDue,
            expiresAt: expiresAt
        )
    }

    /// A message whose targets are found page by page. `count` is set only if the vendor's answer must contain one.
    func expanded(_ audience: Audience?, count: Int?, _ node: NodeID?) -> NewMessage {
        let isCounted = isNumbered || context.policy.countedVendors.contains(context.call.vendor)
        let targets = TargetPlan(slices: [NewSlice(number: 0, work: .expand(after: nil))])
        var message = newMessage(targets, recipients: isCounted ? count : nil, node: node)
        message.targets.audience = audience
        return message
    }

    func newMessage(_ targets: TargetPlan, recipients: Int?, node: NodeID?) -> NewMessage {
        let isDueNow = dueAt <= context.now
        let claim = node.map { NewMessage.Claim(node: $0, lease: context.policy.lease) }
        return NewMessage(
            id: id,
            scope: context.scope,
            sender: submission.sender,
            content: content,
            collapseID: submission.collapseID,
            lane: submission.lane,
            times: NewMessage.Times(
                acceptedAt: context.now,
                dueAt: dueAt,
                localDue: submission.timing.localDue,
                expiresAt: expiresAt
            ),
            fallback: submission.fallback,
            targets: NewMessage.Targets(
                recipients: recipients,
                slices: targets.slices,
                suppressed: targets.suppressed
            ),
            idempotency: submission.idempotencyKey.map {
                IdempotencyKey(key: $0, bodyHash: submission.bodyHash ?? "")
            },
            claim: isDueNow && targets.slices.contains { $0.dueAt == nil } ? claim : nil
        )
    }

    /// The addressees without a target, in the caller's order.
    func unknown(_ known: SubmissionFacts) -> [Address] {
        guard submission.omitsUnknown else { return [] }
        switch submission.audience {
        case .listed: return zip(addresses, known.resolved).filter { $0.1 == nil }.map(\.0)
        case .users: return users.filter { !known.has($0) }.map { .user($0) }
        case .groups, .tags, .everyone: return []
        }
    }

    /// The number of distinct addressees in the call; nil if it names none.
    var namedCount: Int? {
        switch submission.audience {
        case .listed: addresses.count
        case .users: users.count
        case .groups, .tags, .everyone: nil
        }
    }

    /// The vendors that must have a number for the message.
    func numberedDialects(_ known: SubmissionFacts) -> [Vendor] {
        let own = context.call.vendor
        let spoken = context.crossesDialects ? (known.app?.dialects ?? []) + [own] : [own]
        return context.policy.inboxVendors.intersection(spoken).sorted()
    }

    /// The request that accepts `message`, in one transaction. The image comes first, so that no message refers to missing bytes; the number comes last.
    func acceptance(of message: NewMessage, numbers: [Vendor: String] = [:]) -> StoreRequest<Accepted> {
        var first: [any StoreOperation] = []
        if let image {
            first.append(
                PutMedia(hash: image.hash, contentType: image.contentType, bytes: image.bytes, at: context.now)
            )
        }
        if let replaced = submission.schedule?.replaced { first.append(WithdrawSchedule(context.scope, replaced)) }
        var request = StoreRequest(AcceptMessage(message)) { Accepted(acceptance: $0) }.preceded(by: first)
        if !numbers.isEmpty {
            let shown = message.targets.suppressed.filter { $0.identity != nil && $0.reason != .assurance }
            let targets = shown.map(\.target)
            let inboxes = context.policy.inboxVendors
            request = request.adding(NumberMessage(message.id, numbers, targets: targets, inboxes: inboxes))
        }
        if !submission.variables.isEmpty { request = request.adding(PutVariables(message.id, submission.variables)) }
        if !submission.labels.isEmpty {
            request = request.adding(LabelMessage(context.scope, message.id, submission.labels))
        }
        if let draft = submission.schedule { request = request.adding(KeepSchedule(context.scope, draft, message.id)) }
        return appending(to: request, message)
    }

    /// The result of an acceptance.
    struct Accepted: Sendable {
        var acceptance: Acceptance
        /// The number of a message that the vendor numbers.
        var number: String?
    }

    /// The reply, and the leases that this node sends now.
    ///
    /// - Parameters:
    ///   - message: the message as it was accepted.
    ///   - accepted: the result of the acceptance.
    ///   - known: the answers to `questions`.
    /// - Returns: the reply and the leases.
    func outcome(of message: NewMessage, _ accepted: Accepted, _ known: SubmissionFacts) -> (Reply, [SliceLease]) {
        switch accepted.acceptance {
        case .inserted where isNumbered:
            guard let number = accepted.number else {
                return (.refused(.unavailable(retryAfter: context.policy.retryAfter)), leases(of: message))
            }
            return (.submission(numbered(message, number, known)), leases(of: message))
        case .inserted:
            return (.submission(.accepted(message.id, recipients: message.targets.recipients)), leases(of: message))
        case .repeated(let first, let recipients): return (.submission(.accepted(first, recipients: recipients)), [])
        case .mismatch: return (.refused(.idempotencyMismatch), [])
        }
    }

    /// The slices as the store inserted them: the claim at acceptance is their first, so their epoch is 1.
    private func leases(of message: NewMessage) -> [SliceLease] {
        guard message.claim != nil else { return [] }
        return message.targets.slices.filter { $0.dueAt == nil }.map { slice in
            SliceLease(
                key: SliceKey(tenant: context.call.tenant, message: message.id, number: slice.number),
                epoch: 1,
                lane: message.lane,
                dueDay: message.times.dueAt.day,
                work: slice.work,
                targets: slice.targets,
                addresses: slice.addresses
            )
        }
    }
}

/// The stored facts that a submission needs: its app, its sender and its audience.
struct SubmissionFacts: Sendable {
    var app: AppFacts?
    var sender: SenderFacts?
    var resolved: [ResolvedTarget?] = []
    var users: [UserTarget] = []
    /// The names of `users`.
    var names: Set<UserID> = []
    var groups: [GroupFacts] = []
    /// Nil: the recipients were not queried.
    var recipients: [RecipientTarget]?

    func has(_ user: UserID) -> Bool { names.contains(user) }
}
