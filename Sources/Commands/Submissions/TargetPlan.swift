import Model

/// What becomes of each address of a list: a place in a slice, or a delivery row that says why it gets no push.
///
/// Every address becomes exactly one target, because the caller's reports count what it named. Targets that share a device ring it once.
struct TargetPlan: Sendable {
    var slices: [NewSlice] = []
    var suppressed: [SuppressedTarget] = []

    init(slices: [NewSlice]) { self.slices = slices }

    /// The plan of `addresses`, which are distinct, with what answers to them.
    ///
    /// - Parameters:
    ///   - addresses: in the caller's order.
    ///   - resolved: parallel to `addresses`.
    ///   - stand: the target that stands for an address without an identity of its own.
    init(_ addresses: [Address], _ resolved: [ResolvedTarget?], stand: (Address) -> TargetID) {
        var identities: Set<IdentityID> = []
        var devices: Set<DeviceID> = []
        var targets: [TargetID] = []
        var named: [Address?] = []
        for (address, found) in zip(addresses, resolved) {
            guard let found, identities.insert(found.identity).inserted else {
                // Nobody, or somebody who is named twice: his identity's row is taken, so this address gets one of its own.
                let reason: SuppressionReason = found == nil ? .noDevice : .duplicate
                suppress(address, target: stand(address), nil, reason)
                continue
            }
            guard found.isReachable, let device = found.device else {
                suppress(address, target: TargetID(found.identity), found, .noDevice)
                continue
            }
            guard devices.insert(device).inserted else {
                suppress(address, target: TargetID(found.identity), found, .duplicate)
                continue
            }
            targets.append(TargetID(found.identity))
            named.append(address)
        }
        slices = Self.slices(targets, named)
    }

    /// The plan of `users`, who are distinct, with every identity of theirs: one target per device, and one for whoever has none.
    ///
    /// - Parameters:
    ///   - users: in the caller's order.
    ///   - found: their identities.
    ///   - stand: the target that stands for a user without an identity.
    init(_ users: [UserID], _ found: [UserTarget], stand: (Address) -> TargetID) {
        let byUser = Dictionary(grouping: found, by: \.user)
        var devices: Set<DeviceID> = []
        var targets: [TargetID] = []
        var named: [Address?] = []
        for user in users {
            let address = Address.user(user)
            guard let own = byUser[user] else {
                suppress(address, target: stand(address), nil, .noDevice)
                continue
            }
            // A second identity on a device would ring it again, so it is no target; an expansion leaves it out too.
            for found in own.map(\.found) where found.device.map({ devices.insert($0).inserted }) ?? true {
                guard found.isReachable else {
                    suppress(address, target: TargetID(found.identity), found, .noDevice)
                    continue
                }
                targets.append(TargetID(found.identity))
                named.append(address)
            }
        }
        slices = Self.slices(targets, named)
    }

    /// How many targets there are.
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

    private static func slices(_ targets: [TargetID], _ addresses: [Address?]) -> [NewSlice] {
        stride(from: 0, to: targets.count, by: SliceLease.targetLimit).enumerated().map { number, start in
            let range = start..<min(start + SliceLease.targetLimit, targets.count)
            return NewSlice(
                number: Int32(clamping: number),
                work: .deliver,
                targets: Array(targets[range]),
                addresses: Array(addresses[range])
            )
        }
    }
}
