import Model
import Store

/// Assigns each address of a list either a place in a slice or a delivery row that gives the reason why it receives no push.
///
/// Every address becomes exactly one target, because the caller's reports count the addresses it named. Targets that share a device notify it once.
struct TargetPlan: Sendable {
    var slices: [NewSlice] = []
    var suppressed: [SuppressedTarget] = []

    init(slices: [NewSlice]) { self.slices = slices }

    /// The plan of `addresses`, which are distinct, with the identities found for them.
    ///
    /// - Parameters:
    ///   - addresses: in the caller's order.
    ///   - resolved: in the order of `addresses`.
    ///   - timing: the message's timing rules and the current time.
    ///   - levels: the levels of identities that the message reaches.
    ///   - stand: the target id for an address without an identity of its own.
    init(
        _ addresses: [Address],
        _ resolved: [ResolvedTarget?],
        _ timing: (rules: TimingRules, now: Timestamp),
        _ levels: TargetLevels = TargetLevels(),
        stand: (Address) -> TargetID
    ) {
        var identities: Set<IdentityID> = []
        var devices: Set<DeviceID> = []
        var chosen: [Chosen] = []
        for (address, found) in zip(addresses, resolved) {
            guard let found, identities.insert(found.identity).inserted else {
                // No identity was found, or the same identity was already named: its row is taken, so this address gets a row of its own.
                let reason: SuppressionReason = found == nil ? .noDevice : .duplicate
                suppress(address, target: stand(address), nil, reason)
                continue
            }
            guard found.isReachable else {
                suppress(address, target: TargetID(found.identity), found, .noDevice)
                continue
            }
            guard levels.permit(found) else {
                suppress(address, target: TargetID(found.identity), found, .assurance)
                continue
            }
            // An upstream may push to a registration without a device.
            guard found.device.map({ devices.insert($0).inserted }) ?? true else {
                suppress(address, target: TargetID(found.identity), found, .duplicate)
                continue
            }
            chosen.append(Chosen(target: TargetID(found.identity), address: address, clock: found.clock))
        }
        slices = Self.slices(chosen, timing.rules, timing.now)
    }

    /// The plan of `users`, who are distinct, with all their identities: one target per device, and one for each user without a device.
    ///
    /// - Parameters:
    ///   - users: in the caller's order.
    ///   - found: their identities.
    ///   - timing: the message's timing rules and the current time.
    ///   - levels: the levels of identities that the message reaches.
    ///   - receiving: which identity of a device gets the message; nil: the first.
    ///   - stand: the target id for a user without an identity.
    init(
        _ users: [UserID],
        _ found: [UserTarget],
        _ timing: (rules: TimingRules, now: Timestamp),
        _ levels: TargetLevels = TargetLevels(),
        _ receiving: ReceivingRule? = nil,
        stand: (Address) -> TargetID
    ) {
        let byUser = Dictionary(grouping: found, by: \.user)
        var devices: Set<DeviceID> = []
        var chosen: [Chosen] = []
        for user in users {
            let address = Address.user(user)
            guard let own = byUser[user] else {
                suppress(address, target: stand(address), nil, .noDevice)
                continue
            }
            // A second identity on a device would notify it again, so it is not a target; an expansion omits it too.
            // An identity that the message does not reach must not take the place of one on the same device that it reaches, so it comes last.
            let (reached, withheld) = levels.divided(own.map(\.found))
            let receivers = receiving?.receivers(among: reached) ?? reached
            for found in receivers where found.device.map({ devices.insert($0).inserted }) ?? true {
                guard found.isReachable else {
                    suppress(address, target: TargetID(found.identity), found, .noDevice)
                    continue
                }
                chosen.append(Chosen(target: TargetID(found.identity), address: address, clock: found.clock))
            }
            for found in withheld where found.device.map({ devices.insert($0).inserted }) ?? true {
                suppress(address, target: TargetID(found.identity), found, .assurance)
            }
        }
        slices = Self.slices(chosen, timing.rules, timing.now)
    }

    /// The number of targets.
    var count: Int { slices.reduce(suppressed.count) { $0 + $1.targets.count } }

    private mutating func suppress(
        _ address: Address,
        target: TargetID,
        _ found: ResolvedTarget?,
        _ reason: SuppressionReason
    ) {
        suppressed.append(
            SuppressedTarget(
                target: target,
                identity: found?.identity,
                device: found?.device,
                address: address,
                reason: reason
            )
        )
    }

    /// A target that will be pushed.
    private struct Chosen {
        var target: TargetID
        var address: Address
        var clock: DeviceClock
    }

    /// Slices of targets that are due together, the earliest first.
    private static func slices(_ chosen: [Chosen], _ rules: TimingRules, _ now: Timestamp) -> [NewSlice] {
        guard chosen.contains(where: { rules.concerns($0.clock.window) }) else { return slices(chosen[...], nil, 0) }
        // Many devices share a clock, and each computation for a zone has a cost.
        var slots: [DeviceClock: Timestamp] = [:]
        for clock in chosen.map(\.clock) where slots[clock] == nil { slots[clock] = rules.slot(clock, now: now) }
        var slices: [NewSlice] = []
        for group in TimingRules.grouped(chosen, by: { slots[$0.clock] ?? now }) {
            let dueAt = group.due > max(now, rules.dueAt) ? group.due : nil
            slices += Self.slices(group.items[...], dueAt, slices.count)
        }
        return slices
    }

    private static func slices(_ chosen: ArraySlice<Chosen>, _ dueAt: Timestamp?, _ first: Int) -> [NewSlice] {
        stride(from: 0, to: chosen.count, by: SliceLease.targetLimit).enumerated().map { number, start in
            let part = chosen[start..<min(start + SliceLease.targetLimit, chosen.count)]
            return NewSlice(
                number: Int32(clamping: first + number),
                work: .deliver,
                targets: part.map(\.target),
                addresses: part.map(\.address),
                dueAt: dueAt
            )
        }
    }
}
