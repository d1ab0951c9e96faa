import Model
import Routing

/// `BadDeviceToken` often means that the token belongs to the other environment: the app was built for testing, or an import had the wrong environment.
/// Therefore the same push is tried there once before the token is quarantined.
///
/// | answer | the target | further effect |
/// |---|---|---|
/// | accepted | sent | the device is recorded in that environment |
/// | rejected, for any reason | failed, `BadDeviceToken` | quarantined |
/// | not processed | failed, `BadDeviceToken` | none: the next message tries again |
/// | no answer | sent without certainty | none |
///
/// A verdict of the other environment on the credential is ignored, because a key may be valid in one environment only.
extension DeliveryMachine {
    private static let wrongEnvironment = "BadDeviceToken"

    /// The credential for trying the other environment; nil if this outcome does not justify a try there, or the app has no credential there.
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
        targets[slot].queue = enqueue(slot, platform: facts.destination.platform, route(of: push, through: key))
    }

    /// The verdict on the token, by the answer of the other environment.
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

    /// The other credential is stopped: targets that only tried it do not wait for it.
    mutating func giveUpProbes(in index: Int, now: Timestamp) {
        let probes = queues[index].ready.filter { targets[$0].probe != nil }
        guard !probes.isEmpty else { return }
        queues[index].ready.removeAll { targets[$0].probe != nil }
        for slot in probes { giveUpProbe(slot, now: now) }
    }

    private mutating func giveUpProbe(_ slot: Int, now: Timestamp) {
        fail(slot, Self.wrongEnvironment, now: now)
    }
}
