package import Model
package import Store

/// Performs the commands that adapters decode: it takes a command and returns a reply.
///
/// The rules are pure (`RegistrationRules` and others); this type runs their operations. Commands of one call that need a single step share one
/// transaction, in order. A submission reads first and then commits in a transaction of its own. Safe to call from any task.
package struct CommandHandler: Sendable {
    let store: OperationStore
    private let clock: any WallClock
    let identifiers: any IdentifierSource
    private let policy: CommandPolicy
    private let node: NodeID?
    private let numbers = NumberPool()

    /// A handler over `store`.
    ///
    /// - Parameters:
    ///   - store: the store of all data.
    ///   - clock: the database's time.
    ///   - identifiers: the source of new ids.
    ///   - policy: the operator's settings.
    ///   - node: the owner of slices that are due now; nil if this process has no delivery engine.
    package init(
        store: OperationStore,
        clock: any WallClock,
        identifiers: any IdentifierSource,
        policy: CommandPolicy = CommandPolicy(),
        node: NodeID?
    ) {
        self.store = store
        self.clock = clock
        self.identifiers = identifiers
        self.policy = policy
        self.node = node
    }

    /// The time at which commands are performed.
    package var now: Timestamp { clock.now() }

    /// Performs the commands of a call. Never throws: failures of the store become `.refused(.unavailable)`.
    ///
    /// - Parameters:
    ///   - commands: those of one call.
    ///   - scope: the tenant and app of the call.
    ///   - time: when the call was made; nil: now. For calls that an upstream has answered, whose commands are performed later.
    ///   - forwarding: the call if its upstream receives it too, unless a command is refused. Not for submissions.
    /// - Returns: one reply per command, in order.
    package func perform(
        _ commands: [Command],
        in scope: CallScope,
        at time: Timestamp? = nil,
        forwarding: CallForwarding? = nil
    ) async -> CallResult {
        guard commands.count <= CommandLimits.commandsPerCall else {
            let refusal = Refusal.tooMany("commands", limit: CommandLimits.commandsPerCall)
            return CallResult(replies: commands.map { _ in .refused(refusal) })
        }
        let now = time ?? clock.now()
        let context = RuleContext(call: scope, now: now, identifiers: identifiers, policy: policy)
        if let plans = Self.plans(commands, context) {
            guard let forwarding else { return CallResult(replies: await run(plans, in: scope.tenant)) }
            return CallResult(replies: await run(plans, of: commands, forwarding, in: scope.tenant))
        }
        return await performInTurn(commands, context, forwarding)
    }

    /// Performs the commands one after the other, because some read before they write.
    private func performInTurn(
        _ commands: [Command],
        _ context: RuleContext,
        _ forwarding: CallForwarding?
    ) async -> CallResult {
        let scope = context.call
        var result = CallResult(replies: [])
        var plans: [Plan] = []
        for (index, command) in commands.enumerated() {
            if case .submission(.submit(let submission)) = command {
                result.replies += await run(plans, in: scope.tenant)
                plans = []
                let (reply, handover) = await submit(submission, context)
                result.replies.append(reply)
                result.handover += handover
            } else if case .submission(.observe(let message)) = command {
                result.replies += await run(plans, in: scope.tenant)
                plans = []
                result.replies.append(await observe(message, context))
            } else if let plan = Self.userPlan(command, context) {
                result.replies += await run(plans, in: scope.tenant)
                plans = []
                // The call is forwarded with its last transaction.
                let last = index == commands.count - 1 ? forwarding : nil
                result.replies.append(await run(plan, in: scope.tenant, last, after: result.replies))
            } else {
                plans.append(Self.plan(command, context))
            }
        }
        if let forwarding, !plans.isEmpty {
            let earlier = result.replies
            result.replies += await run(plans, of: commands, forwarding, after: earlier, in: scope.tenant)
        } else {
            result.replies += await run(plans, in: scope.tenant)
        }
        return result
    }

    /// Performs one command whose answer is kept under an idempotency key. A submission has its own key, so it does not use this function.
    ///
    /// - Returns: the answer, which is the first one if the call is a repeat; or the reply for which `keep` returns no answer, such as a refusal.
    package func perform(
        _ command: Command,
        in scope: CallScope,
        keeping keep: Keep<Reply>
    ) async -> Swift.Result<KeptAnswer, KeptRefusal> {
        let context = RuleContext(call: scope, now: clock.now(), identifiers: identifiers, policy: policy)
        let plan = Self.plan(command, context)
        func answer(_ reply: Reply) -> Swift.Result<KeptAnswer, KeptRefusal> {
            keep.answer(reply).map { .success($0) } ?? .failure(KeptRefusal(reply: reply))
        }
        do throws(StoreError) {
            let outcome =
                plan.isSettled
                ? .done(try await store.run(plan, in: scope.tenant))
                : try await repeatingConflicts { () async throws(StoreError) in
                    try await store.run(plan, in: scope.tenant, keeping: keep)
                }
            switch outcome {
            case .done(let reply): return answer(reply)
            case .repeated(let first): return .success(first)
            case .mismatch: return .failure(KeptRefusal(reply: .refused(.idempotencyMismatch)))
            case .tooLarge:
                let refusal = Refusal.tooMany("bytes of the answer", limit: KeptAnswer.limitBytes)
                return .failure(KeptRefusal(reply: .refused(refusal)))
            }
        } catch {
            return .failure(KeptRefusal(reply: .refused(refusal(of: error))))
        }
    }

    /// Whether the commands of an observed call share their commit with other calls (`StoreOperation.sharesCommit`), as those of registrations and receipts do. Others
    /// may take long, and have a session of the store for themselves.
    package static func sharesCommit(_ commands: [Command]) -> Bool {
        guard commands.count <= OperationStore.sharingLimit else { return false }
        return commands.allSatisfy { command in
            switch command {
            case .user, .group(.changeMembers), .group(.delete), .registration(.unregister): false
            default: true
            }
        }
    }

    // These functions are not inlined into functions that wait: their temporary values would add 50 kB to the memory of every waiting call.

    /// The plans of one transaction; nil if a command reads first.
    @inline(never)
    private static func plans(_ commands: [Command], _ context: RuleContext) -> [Plan]? {
        var plans: [Plan] = []
        for command in commands {
            switch command {
            case .submission(.submit), .submission(.observe), .user: return nil
            case .group(.changeMembers(_, let change)) where change.device != nil: return nil
            default: plans.append(plan(command, context))
            }
        }
        return plans
    }

    /// The plan of a command that reads a user first; nil for other commands.
    @inline(never)
    private static func userPlan(_ command: Command, _ context: RuleContext) -> UserPlan? {
        switch command {
        case .user(let command): return ProfileRules.plan(command, context)
        case .group(.changeMembers(let group, let change)):
            return change.device.map { GroupRules.changeMembers(of: group, change, by: $0, context) }
        default: return nil  // the commands of a single step, and submissions
        }
    }

    @inline(never)
    private static func plan(_ command: Command, _ context: RuleContext) -> Plan {
        switch command {
        case .registration(let command): RegistrationRules.plan(command, context)
        case .preference(let command): PreferenceRules.plan(command, context)
        case .sender(let command): SenderRules.plan(command, context)
        case .group(let command): GroupRules.plan(command, context)
        case .receipt(let command): ReceiptRules.plan(command, context)
        case .inbox(let command): InboxRules.plan(command, context)
        case .media(let command): MediaRules.plan(command, context)
        case .submission(let command): SubmissionRules.plan(command, context)
        case .campaign(let command): CampaignRules.plan(command, context)
        case .badge(let command): BadgeRules.plan(command, context)
        // A user command reads first (`perform`), so it cannot run under an idempotency key of the caller.
        case .user: .refused(.unsupported("user"))
        }
    }

    /// Runs `plans` as one transaction and returns their replies.
    private func run(_ plans: [Plan], in tenant: TenantID) async -> [Reply] {
        do {
            return try await run(StoreRequest.all(plans), in: tenant)
        } catch {
            return replies(of: plans, without: error)
        }
    }

    /// Runs `plans` as one transaction that forwards the call. Without the store no reply is known, because the call is not forwarded.
    private func run(
        _ plans: [Plan],
        of commands: [Command],
        _ forwarding: CallForwarding,
        after earlier: [Reply] = [],
        in tenant: TenantID
    ) async -> [Reply] {
        do {
            return try await run(forwarding.added(to: plans, of: commands, after: earlier), in: tenant)
        } catch {
            return plans.map { _ in .refused(refusal(of: error)) }
        }
    }

    @inline(never)
    private func replies(of plans: [Plan], without error: StoreError) -> [Reply] {
        plans.map { $0.known ?? .refused(refusal(of: error)) }
    }

    /// Runs `request` and returns its answer. After a conflict with another transaction it is repeated.
    ///
    /// - Throws: `StoreError`; then nothing of it happened, except with code `.timedOut`.
    package func run<Answer>(_ request: StoreRequest<Answer>, in tenant: TenantID) async throws(StoreError) -> Answer {
        do throws(StoreError) {
            return try await store.run(request, in: tenant)
        } catch {
            guard error.code == .conflict else { throw error }
            return try await repeatingConflicts(times: CommandLimits.conflictRetries - 1) {
                () async throws(StoreError) in
                try await store.run(request, in: tenant)
            }
        }
    }

    /// Runs `plan` and returns its reply. It is repeated from its reads if another call changed a user in the meantime.
    private func run(
        _ plan: UserPlan,
        in tenant: TenantID,
        _ forwarding: CallForwarding?,
        after earlier: [Reply]
    ) async -> Reply {
        do {
            return try await repeatingConflicts(times: CommandLimits.userRetries) { () async throws(StoreError) in
                let act = try await store.run(plan, in: tenant)
                let last = forwarding?.added(to: act, after: earlier) ?? act
                return try await store.run(last, in: tenant)
            }
        } catch {
            return .refused(refusal(of: error))
        }
    }

    private var unavailable: Refusal { .unavailable(retryAfter: policy.retryAfter) }

    private func submit(_ submission: Submission, _ context: RuleContext) async -> (Reply, [SliceLease]) {
        let plan: SubmissionPlan
        switch SubmissionRules.check(submission, context) {
        case .failure(let refused): return (.refused(refused.refusal), [])
        case .success(let checked): plan = checked
        }
        do {
            let facts = try await run(plan.questions, in: context.call.tenant)
            switch plan.message(facts, node: policy.handsOver() ? node : nil) {
            case .failure(let refused): return (.refused(refused.refusal), [])
            case .success(let message):
                let dialects = plan.numberedDialects(facts)
                if dialects.isEmpty && !submission.omitsUnknown {
                    let accepted = try await run(plan.acceptance(of: message), in: context.call.tenant)
                    return plan.outcome(of: message, accepted, facts)
                }
                return try await accept(message, plan, facts, numberedFor: dialects)
            }
        } catch {
            return (.refused(refusal(of: error)), [])
        }
    }

    /// Accepts a message with a number for each of `dialects`, and adds the data that only the answers of these vendors contain.
    private func accept(
        _ message: NewMessage,
        _ plan: SubmissionPlan,
        _ facts: SubmissionFacts,
        numberedFor dialects: [Vendor]
    ) async throws(StoreError) -> (Reply, [SliceLease]) {
        let call = plan.context.call
        var drawn: [Vendor: String] = [:]
        for vendor in dialects {
            drawn[vendor] = try await number(AppScope(app: call.app, vendor: vendor), in: call.tenant).text
        }
        let accepted = try await run(plan.acceptance(of: message, numbers: drawn), in: call.tenant)
        let (reply, handover) = plan.outcome(of: message, accepted, facts)
        // Numbers of other dialects are not part of the answer.
        guard case .submission(.accepted(let id, let recipients)) = reply, call.vendor != .native,
            dialects.contains(call.vendor) || plan.submission.omitsUnknown
        else { return (reply, handover) }
        var number = drawn[call.vendor]
        if id != message.id {
            // The call is a repeat: the number is that of the first message.
            number = try await run(StoreRequest(FindNumbers(of: id)), in: call.tenant)[call.vendor]
        }
        let unknown = plan.unknown(facts)
        let numbered = AddressedSubmission(
            message: id,
            number: number,
            recipients: recipients,
            addressees: plan.namedCount.map { $0 - unknown.count },
            unknown: unknown
        )
        return (.submission(.addressed(numbered)), handover)
    }

    /// The next number of an app. It is drawn outside the acceptance, because the counter's row would otherwise be locked until the acceptance is on disk.
    private func number(_ scope: AppScope, in tenant: TenantID) async throws(StoreError) -> MessageNumber {
        let key = NumberPool.Key(tenant: tenant, scope: scope)
        let second = clock.now().seconds
        switch numbers.take(key, at: second) {
        case .number(let number): return number
        case .draw(let count):
            let block = try await run(StoreRequest(DrawNumbers(scope, count: count)), in: tenant)
            numbers.put(block, key, at: second)
            return block.first
        }
    }

    /// An app that is not provisioned is the caller's error; all other failures are the gateway's.
    func refusal(of error: StoreError) -> Refusal {
        switch error.code {
        case .missing: .unknownBinding
        case .outdated: .outdated
        case .taken: .invalid("key")
        case .exhausted(let quota): .rateLimited(retryAfter: quota.wait(at: clock.now()), quota: quota)
        case .unavailable, .conflict, .timedOut, .failed: unavailable
        }
    }
}

/// Runs `body` again after a conflict with another transaction, at most `times` times. A rolled back transaction can be repeated safely.
///
/// - Throws: `StoreError`, the last one.
package func repeatingConflicts<Value>(
    times: Int = CommandLimits.conflictRetries,
    _ body: () async throws(StoreError) -> Value
) async throws(StoreError) -> Value {
    for _ in 0..<times {
        do throws(StoreError) {
            return try await body()
        } catch {
            guard error.code == .conflict else { throw error }
        }
    }
    return try await body()
}

/// A reply that must not be kept as an answer.
package struct KeptRefusal: Error {
    package var reply: Reply
}
