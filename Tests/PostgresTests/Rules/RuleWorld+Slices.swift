import DeliveryEngine
import Model

@testable import Store

// Preparations of the delivery rules.
extension RuleWorld {
    /// A message to `count` new identities.
    func listed(
        _ count: Int,
        claim: NewMessage.Claim? = nil,
        dueIn delay: Duration = .zero
    ) async throws -> NewMessage {
        var identities: [IdentityID] = []
        for _ in 0..<count {
            if let made = try await register(newKey(), token: newToken()) { identities.append(made.identity) }
        }
        let message = message(to: identities, claim: claim, dueIn: delay)
        _ = try await accept(message)
        return message
    }

    /// The lease of a message that was accepted with a claim.
    func handover(_ message: NewMessage) -> SliceLease {
        SliceLease(
            key: SliceKey(tenant: tenant, message: message.id, number: 0),
            epoch: 1,
            lane: message.lane,
            dueDay: message.times.dueAt.day,
            work: .deliver,
            targets: message.targets.slices.first?.targets ?? []
        )
    }

    /// A flush of every target in `lease`. If `disposition` ends the slice, each target's bit is set.
    func progress(
        _ lease: SliceLease,
        _ state: DeliveryState,
        _ disposition: SliceProgress.Disposition
    ) -> SliceProgress {
        var lease = lease
        if disposition == .finished { for index in lease.targets.indices { lease.markDone(index) } }
        let results = lease.targets.enumerated().map { index, target in
            DeliveryResult(
                index: index,
                target: target,
                identity: IdentityID(target.rawValue),
                state: state,
                attempt: DeliveryAttempt(
                    count: 1,
                    transport: "scripted",
                    transportID: identifiers.transportID(message: lease.key.message, target: target)
                ),
                at: now()
            )
        }
        return SliceProgress(
            lease: lease,
            app: app,
            vendor: .rationalOwl,
            results: results,
            disposition: disposition
        )
    }
}
