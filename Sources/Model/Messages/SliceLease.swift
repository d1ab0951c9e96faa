/// Identifies a slice: a limited sequence of one message's targets.
package struct SliceKey: Sendable, Hashable {
    package var tenant: TenantID
    package var message: MessageID
    package var number: Int32

    package init(tenant: TenantID, message: MessageID, number: Int32) {
        self.tenant = tenant
        self.message = message
        self.number = number
    }
}

/// A slice that this node may send until the lease expires or another node takes it over.
///
/// Made by a claim, or at acceptance by the node that keeps the slice in memory. A node that finishes the slice must still hold `epoch`.
package struct SliceLease: Sendable, Hashable {
    package enum Work: Sendable, Hashable {
        /// Deliver to `targets`, except those whose bit is set in `done`.
        case deliver
        /// Expand the message's audience into further slices, beginning after this identity (nil: from the start).
        case expand(after: IdentityID?)
    }

    package var key: SliceKey
    /// Grows by one with every claim. The store refuses an outcome that has an older epoch.
    package var epoch: Int64
    package var lane: Lane
    /// The message's due day, so that every look-up of its deliveries prunes partitions.
    package var dueDay: Int32
    package var work: Work
    /// At most `SliceLease.targetLimit`.
    package var targets: [TargetID]
    /// The address by which the caller named each target. Parallel to `targets`, or empty when no target was named.
    package var addresses: [Address?]
    /// One bit per target, least significant first: set when its delivery row is written, or the target has left the slice.
    package var done: [UInt8]
    /// How often this slice was put back for another attempt.
    package var attempts: Int16
    /// How many consecutive leases expired without a result.
    package var lapses: Int16
    /// Whether the previous lease expired without being released: its owner died, or lost its connection to the database.
    package var followsLapse = false

    /// 500 targets: a slice is one batch for the transport, and it limits how many pushes a crash may repeat.
    package static let targetLimit = 500

    package init(
        key: SliceKey,
        epoch: Int64,
        lane: Lane,
        dueDay: Int32,
        work: Work,
        targets: [TargetID] = [],
        addresses: [Address?] = [],
        done: [UInt8] = [],
        attempts: Int16 = 0,
        lapses: Int16 = 0
    ) {
        self.key = key
        self.epoch = epoch
        self.lane = lane
        self.dueDay = dueDay
        self.work = work
        self.targets = targets
        self.addresses = addresses
        self.done = done
        self.attempts = attempts
        self.lapses = lapses
    }

    /// Whether the delivery of the target at `index` is written already.
    package func isDone(_ index: Int) -> Bool {
        guard index >= 0, index / 8 < done.count else { return false }
        return done[index / 8] & (1 << UInt8(index % 8)) != 0
    }

    /// Sets the bit of the target at `index`.
    package mutating func markDone(_ index: Int) {
        guard index >= 0, index < targets.count else { return }
        while done.count <= index / 8 { done.append(0) }
        done[index / 8] |= 1 << UInt8(index % 8)
    }
}
