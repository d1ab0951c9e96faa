import Model

/// Where the targets continue that have no outcome when nothing is in flight.
///
/// A wait belongs to a target, not to its slice: targets with the same wait stay together, and each further group leaves the slice for a slice of its own
/// (`RetrySlice`). So a target that its peer deferred for a day delays no other target and uses up none of their attempts.
///
/// | group | its wait | attempt |
/// |---|---|---|
/// | may be sent at once: no share of a rate was left, or the node stops | none | |
/// | deferred by the peer, or possibly seen by it | the longest of waits that differ by a quarter at most | one |
/// | outside its hours | until the first of the targets may be sent | |
/// | waits for a credential | the shortest; it ends when the credential works | |
/// | waits for something of this node or app | the shortest | |
/// | used up its attempts | until a person requests a retry | one |
extension DeliveryMachine {
    /// The last flush of a lease: what becomes of the slice, and which targets leave it.
    struct SliceEnd {
        var disposition: SliceProgress.Disposition
        var countsAttempt = true
        var retries: [RetrySlice] = []
        /// Whether the rest of the slice is outside its hours.
        var movesDue = false
    }

    private enum Cause: Hashable {
        case ready, peer, hours, own, gaveUp
        case credential(CredentialKey)
    }

    private struct WaitGroup {
        /// Waits of peers in one group differ by at most this factor, which is also the most that jitter adds to a wait.
        static let spread = 1.25

        let cause: Cause
        var slots: [Int]
        let shortest: Duration
        var longest: Duration
        /// The peer's last reason, of the first target.
        let reason: String?

        init(_ slot: Int, _ wait: Wait, _ cause: Cause) {
            self.cause = cause
            slots = [slot]
            shortest = wait.duration
            longest = wait.duration
            reason = wait.gaveUp
        }

        /// Whether a wait that is not shorter than those of the group belongs to it.
        func admits(_ wait: Wait, _ cause: Cause) -> Bool {
            cause == self.cause && (cause != .peer || wait.duration <= shortest * Self.spread)
        }

        mutating func add(_ slot: Int, _ wait: Wait) {
            slots.append(slot)
            longest = max(longest, wait.duration)
        }
    }

    /// The end of the slice when nothing is in flight.
    func ending(_ now: Timestamp) -> SliceEnd {
        if let givenUp { return SliceEnd(disposition: givenUp, countsAttempt: false) }
        let waiting = targets.indices.compactMap { slot in
            if case .putBack(let wait) = targets[slot].state { (slot: slot, wait: wait) } else { nil }
        }
        guard let shortest = waiting.map({ $0.wait.duration }).min() else { return SliceEnd(disposition: .finished) }
        // All remaining targets use one credential, and most likely so do the message's other slices.
        if let key = queues.first?.key, queues.allSatisfy({ $0.key == key }), !isDraining,
            waiting.allSatisfy({ $0.wait.isCrowded })
        {
            return SliceEnd(disposition: .crowded(for: shortest), countsAttempt: false)
        }
        var groups = groups(of: waiting)
        // The largest group stays, the soonest among equals: then the fewest targets move. A slice that gave up must not contain the others' places.
        let staying =
            groups.indices.max { left, right in
                let (one, other) = (groups[left], groups[right])
                if (one.cause == .gaveUp) != (other.cause == .gaveUp) { return one.cause == .gaveUp }
                return one.slots.count != other.slots.count ? one.slots.count < other.slots.count : left > right
            } ?? 0
        let rest = groups.remove(at: staying)
        return SliceEnd(
            disposition: disposition(of: rest, now),
            countsAttempt: countsAttempt(rest),
            retries: groups.map { group in
                RetrySlice(
                    indexes: group.slots.sorted(),
                    disposition: disposition(of: group, now),
                    countsAttempt: countsAttempt(group),
                    movesDue: group.cause == .hours
                )
            },
            movesDue: rest.cause == .hours
        )
    }

    /// The groups, those with the shortest waits first.
    private func groups(of waiting: [(slot: Int, wait: Wait)]) -> [WaitGroup] {
        var groups: [WaitGroup] = []
        let sorted = waiting.sorted { ($0.wait.duration, $0.slot) < ($1.wait.duration, $1.slot) }
        for (slot, wait) in sorted {
            let cause = cause(of: wait)
            if let index = groups.lastIndex(where: { $0.admits(wait, cause) }) {
                groups[index].add(slot, wait)
            } else {
                groups.append(WaitGroup(slot, wait, cause))
            }
        }
        return groups
    }

    private func cause(of wait: Wait) -> Cause {
        if wait.gaveUp != nil { return .gaveUp }
        if wait.isPeers { return .peer }
        if wait.isExact { return .hours }
        // Another node may send at once what this one could not.
        if isDraining || wait.duration == .zero { return .ready }
        return wait.heldBy.map { .credential($0) } ?? .own
    }

    private func countsAttempt(_ group: WaitGroup) -> Bool { group.cause == .peer || group.cause == .gaveUp }

    private func disposition(of group: WaitGroup, _ now: Timestamp) -> SliceProgress.Disposition {
        let wait: Duration
        var holder: CredentialID?
        switch group.cause {
        case .gaveUp: return .dead(reason: group.reason ?? "")
        case .ready: wait = .zero
        case .peer: wait = group.longest.lengthened(by: settings.jitter)
        // Hours begin at an exact time: a quarter of a night more would be hours late.
        case .hours: wait = group.shortest
        case .own: wait = group.shortest.lengthened(by: settings.jitter)
        case .credential(let key):
            wait = group.shortest.lengthened(by: settings.jitter)
            holder = key.credential
        }
        let left = work.map { end(of: $0) - now } ?? .zero
        return .again(after: max(.zero, min(wait, left)), heldBy: holder)
    }
}
