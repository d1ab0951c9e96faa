import Model
import ObservationStore
import Store

/// The rules for messages that an upstream sent. Pure.
///
/// Nothing is sent, so that the rules about who may send, about consent and about timing do not apply: the upstream has decided.
enum ObservationRules {
    static func check(_ message: ObservedMessage, _ context: RuleContext) -> Result<ObservationPlan, Refused> {
        guard let upstream = message.upstream else { return .failure(Refused(.unsupported("observe"))) }
        var submission = message.submission
        submission.sender = nil
        submission.template = nil
        submission.image = nil
        submission.idempotencyKey = nil
        submission.schedule = nil
        submission.numbering?.pace = nil
        submission.numbering?.page = nil
        submission.content.media = nil
        guard SubmissionRules.fits(submission.content) else { return .failure(Refused(.invalid("content"))) }
        if !Storable.fits(submission.collapseID, CommandLimits.collapseBytes) { submission.collapseID = nil }
        if !Storable.fits(submission.fallback, CommandLimits.fallbackBytes) { submission.fallback = nil }
        submission.labels = submission.labels.filter {
            !$0.isEmpty && Storable.fits($0, CommandLimits.labelBytes)
        }
        // A list that is too long to be resolved in one transaction is stored as an audience.
        var isNamed = SubmissionRules.refusal(of: submission.audience) == nil
        if let numbering = submission.numbering, SubmissionRules.refusal(of: numbering) != nil { isNamed = false }
        let dueAt = submission.timing.dueAt ?? submission.timing.localDue?.earliest ?? context.now
        // Until it is due, the upstream may get another audience for it, or an order not to send it.
        if dueAt > context.now { isNamed = false }
        var reachesEveryone = false
        if case .everyone = submission.audience {
            reachesEveryone = submission.numbering?.tokens == nil && dueAt <= context.now
        }
        // The upstream's groups, and the devices of tokens, may be others than those that are known here: whoever reports the message received it.
        switch submission.audience {
        case .groups, .tags, .everyone: isNamed = false
        case .listed, .users: break
        }
        if !isNamed {
            submission.audience = .everyone
            submission.numbering = nil
        }
        var stored = message
        stored.submission = submission
        stored.references = message.references.filter(Storable.isKey).map(MessageReference.stored)
        let id = MessageID(rawValue: context.identifiers.uuid(at: dueAt))
        let plan = SubmissionPlan(
            submission: submission,
            content: submission.content,
            id: id,
            dueAt: dueAt,
            timeToLive: SubmissionRules.timeToLive(of: submission, context),
            context: context
        )
        return .success(
            ObservationPlan(message: stored, upstream: upstream, plan: plan, reachesEveryone: reachesEveryone)
        )
    }
}

/// A message that an upstream sent, with the queries about its targets.
struct ObservationPlan: Sendable {
    var message: ObservedMessage
    var upstream: CredentialID
    /// The plan by which the gateway would have found the targets.
    var plan: SubmissionPlan
    /// Whether the call sends to everyone, now.
    var reachesEveryone: Bool

    /// The reads that come first, in one transaction.
    var questions: StoreRequest<SubmissionFacts> { plan.questions }

    /// The request that stores the message, in one transaction.
    func request(_ facts: SubmissionFacts) -> StoreRequest<ObserveMessage.Outcome> {
        let scope = plan.context.scope
        let targets = named(facts)?.targets
        var row = ObserveMessage.Message(
            id: plan.id,
            scope: scope,
            upstream: upstream,
            names: ObserveMessage.Names(
                references: message.references,
                number: message.number,
                hasPaidFallback: message.hasPaidFallback
            ),
            content: plan.content,
            collapseID: plan.submission.collapseID,
            lane: plan.submission.lane,
            times: NewMessage.Times(
                acceptedAt: plan.context.now,
                dueAt: plan.dueAt,
                localDue: plan.submission.timing.localDue,
                expiresAt: plan.expiresAt
            ),
            fallback: plan.submission.fallback,
            recipients: targets?.count,
            targets: targets ?? []
        )
        row.duplicateGuard = facts.app.flatMap { plan.duplicateGuard($0) }
        let request = StoreRequest(ObserveMessage(row)) { $0 }
        let labels = plan.submission.labels
        return labels.isEmpty ? request : request.adding(LabelMessage(scope, plan.id, labels))
    }

    /// How many of the targets the gateway could have pushed to. A user who wants no pushes gets none from either side, and does not count.
    func reach(_ facts: SubmissionFacts) -> ObservedReach? {
        if reachesEveryone { return facts.app.map { ObservedReach(known: $0.identityCount, reachable: nil) } }
        guard let named = self.named(facts) else { return nil }
        return ObservedReach(known: named.targets.count - named.withdrawn, reachable: named.reachable)
    }

    /// The targets that the call names and that the upstream knows; nil: it names none. An identity and a device are targets once.
    private func named(_ facts: SubmissionFacts) -> NamedObservation? {
        var named = NamedObservation(plan, unknown: message.unknown)
        if let found = facts.recipients {
            guard found.count <= Audience.listedLimit else { return nil }
            for one in found {
                let address = one.user.map { Address.user($0) } ?? .deviceKey(one.key)
                named.add(one.found, address)
            }
            for user in plan.users { named.addMissing(.user(user)) }
            return named
        }
        switch plan.submission.audience {
        case .listed:
            for (address, found) in zip(plan.addresses, facts.resolved) {
                if let found { named.add(found, address) }
                named.addMissing(address)
            }
        case .users:
            guard facts.users.count <= Audience.listedLimit else { return nil }
            for one in facts.users { named.add(one.found, .user(one.user)) }
            for user in plan.users { named.addMissing(.user(user)) }
        case .groups, .tags, .everyone: return nil
        }
        return named
    }
}

/// Collects the targets of an observed message.
private struct NamedObservation {
    private(set) var targets: [ObserveMessage.Target] = []
    /// The targets that have a usable token and want pushes.
    private(set) var reachable = 0
    /// The targets whose user wants no pushes.
    private(set) var withdrawn = 0
    private let plan: SubmissionPlan
    private let unknown: Set<Address>
    private var identities: Set<IdentityID> = []
    private var devices: Set<DeviceID> = []
    private var addressed: Set<Address> = []

    init(_ plan: SubmissionPlan, unknown: Set<Address>) {
        self.plan = plan
        self.unknown = unknown
    }

    /// Adds an identity. The upstream knows identities of its own dialect only.
    mutating func add(_ found: ResolvedTarget, _ address: Address) {
        guard found.dialect == plan.context.call.vendor, !unknown.contains(address) else { return }
        addressed.insert(address)
        guard identities.insert(found.identity).inserted else { return }
        if let device = found.device, !devices.insert(device).inserted { return }
        if found.hasWithdrawn {
            withdrawn += 1
        } else if found.isReachable, !found.hasEnded {
            reachable += 1
        }
        let target = TargetID(found.identity)
        targets.append(ObserveMessage.Target(target: target, identity: found.identity, address: address))
    }

    /// Adds an address without an identity here: the upstream may have pushed to it.
    mutating func addMissing(_ address: Address) {
        guard !unknown.contains(address), addressed.insert(address).inserted else { return }
        let target = plan.context.identifiers.target(for: address, in: plan.id)
        targets.append(ObserveMessage.Target(target: target, identity: nil, address: address))
    }
}
