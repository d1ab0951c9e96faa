import Model
import Routing

/// `BadDeviceToken` often means that the token is of the other environment: an app built for testing, or an import that did not know better. So the
/// same push is tried there, once, before the token is quarantined.
///
/// | what comes back | the target | beyond it |
/// |---|---|---|
/// | accepted | sent | the device is of that environment from now on |
/// | rejected, whatever for | failed, `BadDeviceToken` | quarantined |
/// | nothing was processed | failed, `BadDeviceToken` | nothing: the next message asks again |
/// | no answer | sent without certainty | nothing |
///
/// What the other environment says of the credential is not believed: a key may be made for one of them only.
extension DeliveryMachine {
    private static let wrongEnvironment = "BadDeviceToken"

    /// The credential to try the other environment with; nil: this outcome is no reason to, or there is none.
    func otherWay(after completion: PushCompletion) -> CredentialKey? {
        guard case .rejected(let rejection) = completion.outcome, rejection.scope == .tokenDoubtful,
            rejection.reason == Self.wrongEnvironment, targets[completion.slot].probe == nil,
            var facts = work?.targets[completion.slot], let way = work?.routes[facts.destination.platform]
        else { return nil }
        facts.destination.environment = facts.destination.environment.other
        let route = Router().route(to: facts, topic: way.topic, credentials: way.credentials)
        guard case .direct(let credential) = route else { return nil }
        return CredentialKey(tenant: lease.key.tenant, credential: credential)
    }

    /// Makes the target ready again, for the other environment.
    mutating func probe(_ slot: Int, through key: CredentialKey) {
        guard let facts = work?.targets[slot], var push = targets[slot].push else { return }
        push.environment = facts.destination.environment.other
        targets[slot].push = push
        targets[slot].probe = push.environment
        targets[slot].resends += 1
        targets[slot].state = .ready
        targets[slot].queue = enqueue(slot, platform: facts.destination.platform, key: key)
    }

    /// What the answer there says of the token.
    func probeVerdict(_ outcome: Outcome, _ environment: PushEnvironment, _ device: DeviceID, _ token: DeviceToken)
        -> TokenVerdict?
    {
        switch outcome {
        case .accepted: .moved(device, token, to: environment)
        case .rejected: .doubtful(device, token, reason: Self.wrongEnvironment)
        case .deferred, .unsent, .indeterminate: nil
        }
    }

    mutating func settleProbe(_ completion: PushCompletion, now: Timestamp) {
        switch completion.outcome {
        case .accepted: settle(completion.slot, as: .sent, now: now)
        case .indeterminate: settle(completion.slot, as: .sent, isCertain: false, now: now)
        case .rejected, .deferred, .unsent: giveUpProbe(completion.slot, now: now)
        }
    }

    /// The other credential is stopped: whoever only tried it does not wait for it.
    mutating func giveUpProbes(in index: Int, now: Timestamp) {
        let probes = queues[index].ready.filter { targets[$0].probe != nil }
        guard !probes.isEmpty else { return }
        queues[index].ready.removeAll { targets[$0].probe != nil }
        for slot in probes { giveUpProbe(slot, now: now) }
    }

    private mutating func giveUpProbe(_ slot: Int, now: Timestamp) {
        settle(slot, as: .failed, reason: Self.wrongEnvironment, now: now)
    }
}
