import Model

/// The consequences of an outcome (docs/apns.md#outcomes).
///
/// | outcome | the target | further effect |
/// |---|---|---|
/// | accepted | sent | |
/// | rejected: content | failed, the peer's reason | |
/// | rejected: token dead | failed | invalid, unless registered again since |
/// | rejected: token doubtful | failed, or tried in the other environment (`DeliveryMachine+Environment.swift`) | quarantined |
/// | rejected: credential | asks the gate again, which puts the target back | the credential stops on this node |
/// | rejected: topic | the same; as content if the sender chose a push type with a topic of its own | the topic stops on this node |
/// | rejected: service, deferred | put back for the requested time or the backoff; finally its slice gives up | one attempt |
/// | unsent | ready again at once, a few times, then put back | does not count as an attempt |
/// | indeterminate | by `retryUnknown`: as unsent, or sent without certainty. The latter if its rule has another path | one attempt |
///
/// A target whose rule has a further path takes it instead of failing because of its token. `DeliveryMachine+Upstreams.swift` has the outcomes of calls.
extension DeliveryMachine {
    /// The outcome, judged by what the sender chose. A push type that the sender chose (`apns.pushType`) selects another topic than that of the app's
    /// notifications. If the peer refuses it there, this says nothing about the app's topic, nor about the token, which belongs to another topic.
    func judged(_ completion: PushCompletion) -> PushCompletion {
        guard case .rejected(var rejection) = completion.outcome,
            rejection.scope == .topic || rejection.reason == Self.wrongTopic, hasChosenType(completion.slot)
        else { return completion }
        rejection.scope = .content
        return PushCompletion(slot: completion.slot, outcome: .rejected(rejection))
    }

    private static let wrongTopic = "DeviceTokenNotForTopic"

    private func hasChosenType(_ slot: Int) -> Bool {
        guard let content = work?.notification.content, content.activity == nil else { return false }
        return content.apns?["pushType"] != nil && targets[slot].push?.payload.type.hasOwnTopic ?? false
    }

    /// The verdicts on credentials, topics and tokens that follow from the outcomes.
    func judgements(of batch: [PushCompletion]) -> [Action] {
        guard !batch.isEmpty else { return [] }
        var actions: [Action] = []
        for index in queues.indices {
            let own = batch.filter { targets[$0.slot].queue == index && targets[$0.slot].probe == nil }
            if let sign = CredentialSign(of: own) { actions.append(.judge(queues[index].route, sign)) }
        }
        // An upstream knows nothing about tokens.
        let pushed = batch.filter { targets[$0.slot].call == nil }
        for environment in PushEnvironment.allCases {
            let own = pushed.filter { tokenEnvironment(of: $0.slot) == environment }
            let answers = tokenAnswers(of: own, in: environment)
            if answers.answered > 0 { actions.append(.condemn(own.compactMap(verdict), among: answers)) }
        }
        return actions
    }

    /// The environment that the target's token is recorded for, also if the push was tried in the other one.
    private func tokenEnvironment(of slot: Int) -> PushEnvironment {
        let used = queues[targets[slot].queue].route.environment
        return targets[slot].probe == nil ? used : used.other
    }

    private func tokenAnswers(of batch: [PushCompletion], in environment: PushEnvironment) -> TokenAnswers {
        var answers = TokenAnswers(environment)
        for completion in batch {
            switch completion.outcome {
            case .accepted:
                answers.answered += 1
                if targets[completion.slot].probe == nil { answers.accepted += 1 }
            case .rejected, .deferred: answers.answered += 1
            case .unsent, .indeterminate: break
            }
        }
        return answers
    }

    private func verdict(on completion: PushCompletion) -> TokenVerdict? {
        guard targets[completion.slot].call == nil, let facts = work?.targets[completion.slot],
            let device = facts.device, let token = facts.destination.token
        else { return nil }
        if let environment = targets[completion.slot].probe {
            return probeVerdict(completion.outcome, environment, device, token)
        }
        guard case .rejected(let rejection) = completion.outcome, otherWay(after: completion) == nil
        else { return nil }
        switch rejection.scope {
        case .tokenDead(let since): return .dead(device, token, reason: rejection.reason, since: since)
        case .tokenDoubtful: return .doubtful(device, token, reason: rejection.reason)
        case .content, .credential, .topic, .service: return nil
        }
    }

    /// Updates one target that was in flight.
    mutating func apply(_ completion: PushCompletion, now: Timestamp) {
        let slot = completion.slot
        queues[targets[slot].queue].onItsWay -= 1
        if targets[slot].call != nil { return applyAnswer(completion, now: now) }
        if targets[slot].probe != nil { return settleProbe(completion, now: now) }
        if let key = otherWay(after: completion) {
            return isDraining ? putBack(slot, for: .zero, isPeers: false) : probe(slot, through: key)
        }
        switch completion.outcome {
        case .accepted: settle(slot, as: .sent, now: now)
        case .rejected(let rejection):
            switch rejection.scope {
            case .content: settle(slot, as: .failed, reason: rejection.reason, now: now)
            case .tokenDead, .tokenDoubtful: fail(slot, rejection.reason, now: now)
            // The gate was informed before and determines the wait.
            case .credential, .topic:
                let wait = policy.retry.refusedCredential.first * policy.retry.scale
                resend(slot, orAfter: wait, isPeers: false, heldBy: key(of: slot))
            case .service: deferTarget(slot, rejection, asked: nil, now: now)
            }
        case .deferred(let rejection, let asked): deferTarget(slot, rejection, asked: asked, now: now)
        case .unsent(let error): unsent(slot, error, now: now)
        case .indeterminate: indeterminate(slot, now: now)
        }
    }

    mutating func deferTarget(_ slot: Int, _ rejection: Rejection, asked: Duration?, now: Timestamp) {
        // The provider token is too old: the transport renews it; the push itself is valid.
        if rejection.scope == .credential, targets[slot].call == nil {
            return resend(slot, orAfter: asked ?? policy.retry.unsent, isPeers: false)
        }
        let own = rejection.status == 429 ? policy.retry.tooMany : policy.retry.service
        let wait = asked.map { min($0, policy.retry.longestAsked) } ?? own.delay(after: attempt) * policy.retry.scale
        // The message would expire before the next try.
        if let work, now + wait >= end(of: work), goOn(slot, .refused(rejection.reason), now: now) { return }
        putBack(slot, for: wait, isPeers: true, gaveUp: isLastAttempt ? rejection.reason : nil)
    }

    private mutating func unsent(_ slot: Int, _ error: TransportError, now: Timestamp) {
        switch error.code {
        case .noCredential:
            if goOn(slot, .unused(.noCredential), now: now) { return }
            let wait = policy.retry.unknownCredential * policy.retry.scale
            putBack(slot, for: wait, isPeers: false, heldBy: key(of: slot))
        case .overloaded: putBack(slot, for: policy.fullRetry, isPeers: false)
        default: resend(slot, orAfter: policy.retry.unsent * policy.retry.scale, isPeers: false)
        }
    }

    private mutating func indeterminate(_ slot: Int, now: Timestamp) {
        let isRepeatable =
            switch policy.retry.unknown {
            case .never: false
            case .withCollapse: targets[slot].push?.payload.collapseID != nil
            case .always: true
            }
        // A later try could leave over another path, whose peer does not recognize the message.
        let hasOtherPath = targets[slot].paths.count > 1 || lease.followsLapse && work?.isRouted == true
        guard isRepeatable, !isLastAttempt, !hasOtherPath else {
            return settle(slot, as: .sent, isCertain: false, now: now)
        }
        resend(slot, orAfter: policy.retry.unsent * policy.retry.scale, isPeers: true)
    }

    /// Makes the target ready again at once, or puts it back if that was tried too often.
    private mutating func resend(
        _ slot: Int,
        orAfter duration: Duration,
        isPeers: Bool,
        heldBy key: CredentialKey? = nil
    ) {
        guard !isDraining else { return putBack(slot, for: .zero, isPeers: false) }
        guard targets[slot].resends < policy.retry.immediateResends else {
            return putBack(slot, for: duration, isPeers: isPeers, heldBy: key)
        }
        targets[slot].resends += 1
        targets[slot].state = .ready
        queues[targets[slot].queue].ready.append(slot)
    }

    func key(of slot: Int) -> CredentialKey { queues[targets[slot].queue].key }

    var isLastAttempt: Bool { attempt >= Int(policy.retry.maximumAttempts) }
}
