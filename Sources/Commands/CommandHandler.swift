package import Model

/// Carries out what adapters decode: a command in, a reply out.
///
/// The rules are pure (`RegistrationRules` and its siblings); this type runs their statements. Commands of one call that need one step share one
/// transaction, in order; a submission reads first and then commits in a transaction of its own. Safe to call from any task.
package struct CommandHandler: Sendable {
    private let store: any CommandStore
    private let clock: any WallClock
    private let identifiers: any IdentifierSource
    private let policy: CommandPolicy
    private let node: NodeID?

    /// A handler over `store`.
    ///
    /// - Parameters:
    ///   - store: where everything is kept.
    ///   - clock: the database's time.
    ///   - identifiers: where new ids come from.
    ///   - policy: what the operator set.
    ///   - node: who takes slices that are due now; nil when this process has no delivery engine.
    package init(
        store: any CommandStore,
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

    /// One reply per command, in order. Never throws: the store's trouble becomes `.refused(.unavailable)`.
    package func perform(_ commands: [Command], in scope: CallScope) async -> CallResult {
        guard commands.count <= CommandLimits.commandsPerCall else {
            let refusal = Refusal.tooMany("commands", limit: CommandLimits.commandsPerCall)
            return CallResult(replies: commands.map { _ in .refused(refusal) })
        }
        let context = RuleContext(call: scope, now: clock.now(), identifiers: identifiers, policy: policy)
        var result = CallResult(replies: [])
        var plans: [Plan] = []
        for command in commands {
            if case .submission(.submit(let submission)) = command {
                result.replies += await run(plans, in: scope.tenant)
                plans = []
                let (reply, handover) = await submit(submission, context)
                result.replies.append(reply)
                result.handover += handover
            } else {
                plans.append(Self.plan(command, context))
            }
        }
        result.replies += await run(plans, in: scope.tenant)
        return result
    }

    /// One command whose answer is kept under a repeat key. A submission has a key of its own, so it is carried out without this one.
    ///
    /// - Returns: the answer, the first one where the call came before; or the reply that `keep` gives none for, such as a refusal.
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
        guard !plan.statements.isEmpty else { return answer(plan.reply([])) }
        let whole = Keep<[StoreAnswer]>(keep.key) { keep.answer(plan.reply($0)) }
        for attempt in 0...CommandLimits.conflictRetries {
            do throws(StoreError) {
                switch try await store.run(plan.statements, in: scope.tenant, keeping: whole) {
                case .done(let answers): return answer(plan.reply(answers))
                case .repeated(let first): return .success(first)
                case .mismatch: return .failure(KeptRefusal(reply: .refused(.idempotencyMismatch)))
                case .tooLarge:
                    let refusal = Refusal.tooMany("bytes of the answer", limit: KeptAnswer.limitBytes)
                    return .failure(KeptRefusal(reply: .refused(refusal)))
                }
            } catch {
                guard error.code == .conflict, attempt < CommandLimits.conflictRetries else {
                    return .failure(KeptRefusal(reply: .refused(refusal(of: error))))
                }
            }
        }
        return .failure(KeptRefusal(reply: .refused(unavailable)))
    }

    private static func plan(_ command: Command, _ context: RuleContext) -> Plan {
        switch command {
        case .registration(let command): RegistrationRules.plan(command, context)
        case .preference(let command): PreferenceRules.plan(command, context)
        case .receipt(let command): ReceiptRules.plan(command, context)
        case .inbox(let command): InboxRules.plan(command, context)
        case .media(let command): MediaRules.plan(command, context)
        case .submission(let command): SubmissionRules.plan(command, context)
        }
    }

    /// The replies of `plans`, whose statements are one transaction.
    private func run(_ plans: [Plan], in tenant: TenantID) async -> [Reply] {
        let statements = plans.flatMap(\.statements)
        do {
            var rest = try await run(statements, in: tenant)[...]
            return plans.map { plan in
                defer { rest = rest.dropFirst(plan.statements.count) }
                return plan.reply(Array(rest.prefix(plan.statements.count)))
            }
        } catch {
            return plans.map { $0.statements.isEmpty ? $0.reply([]) : .refused(refusal(of: error)) }
        }
    }

    private func run(_ statements: [StoreStatement], in tenant: TenantID) async throws(StoreError) -> [StoreAnswer] {
        guard !statements.isEmpty else { return [] }
        for _ in 0..<CommandLimits.conflictRetries {
            do { return try await store.run(statements, in: tenant) } catch {
                guard error.code == .conflict else { throw error }
            }
        }
        return try await store.run(statements, in: tenant)
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
            switch plan.message(answers: facts, node: policy.handsOver() ? node : nil) {
            case .failure(let refused): return (.refused(refused.refusal), [])
            case .success(let message):
                let answers = try await run(plan.acceptance(of: message), in: context.call.tenant)
                return plan.outcome(of: message, answers: answers)
            }
        } catch {
            return (.refused(refusal(of: error)), [])
        }
    }

    /// An app that is not provisioned is the caller's slip, everything else our trouble.
    private func refusal(of error: StoreError) -> Refusal { error.code == .missing ? .unknownBinding : unavailable }
}

/// A reply that is no answer to keep.
package struct KeptRefusal: Error {
    package var reply: Reply
}
