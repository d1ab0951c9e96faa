package import Model

/// Controls the use of the credentials of this node: how many slices and targets use each, and which are stopped, as a whole or for one topic.
///
/// A pure value; the engine keeps it behind its lock. It has an entry only for a credential that is in use or not working, and for a topic that is refused.
package struct CredentialGate: Sendable {
    /// The slices that use a credential.
    private struct Users {
        var slices = 0
        var targets = 0

        mutating func join(_ count: Int) {
            slices += 1
            targets += count
        }

        mutating func leave(_ count: Int) {
            slices = max(0, slices - 1)
            targets = slices == 0 ? 0 : max(0, targets - count)
        }
    }

    private struct Entry {
        var breaker: CredentialBreaker
        var campaigns = Users()
        /// Urgent work is counted separately: a campaign must not delay a one-time code through the same credential.
        var pressing = Users()
        /// The time since which no slice has left, as observed by slices that were turned away.
        var fullSince: Timestamp?

        subscript(lane: Lane) -> Users {
            get { lane.isPressing ? pressing : campaigns }
            set { if lane.isPressing { pressing = newValue } else { campaigns = newValue } }
        }

        var isUnused: Bool { campaigns.slices == 0 && pressing.slices == 0 && breaker.isIdle }
    }

    private struct Refusal {
        var at: Timestamp
        var by: CredentialKey
    }

    /// A change that must be recorded for the operator.
    package struct Change: Sendable, Hashable {
        package var change: CredentialBreaker.Change
        /// Nil: it concerns the credential.
        package var topic: String?

        package init(_ change: CredentialBreaker.Change, topic: String? = nil) {
            self.change = change
            self.topic = topic
        }
    }

    /// 1,024 topics are kept stopped at once. Beyond that, one is forgotten, and its next push is refused again.
    package static let topicLimit = 1024

    private let policy: EnginePolicy
    private var entries: [CredentialKey: Entry] = [:]
    /// The last refusal of a slice because of the limit of a credential; removed when the last slice leaves that credential.
    private var turnedAway: [TenantWork: Refusal] = [:]
    private var topics: [PushRoute: CredentialBreaker] = [:]

    package init(policy: EnginePolicy) { self.policy = policy }

    /// Credentials that the peer refused, with the rejection.
    package var refused: [CredentialKey: Rejection] { entries.compactMapValues(\.breaker.refusal) }

    /// Topics that the peer refused, with the rejection.
    package var refusedTopics: [PushRoute: Rejection] { topics.compactMapValues(\.refusal) }

    /// The refusal of the credential, or of one of its topics, with the topic: the operator must act. Nil: there is none.
    package func refusal(of key: CredentialKey) -> Rejection? {
        if let own = entries[key]?.breaker.refusal { return own }
        let refused = topics.filter { $0.key.key == key && $0.value.refusal != nil }
        guard let (route, breaker) = refused.min(by: { $0.key.topic < $1.key.topic }), var rejection = breaker.refusal
        else { return nil }
        if !route.topic.isEmpty { rejection.reason += " for \(route.topic)" }
        return rejection
    }

    /// Whether pushes through `key`, or of one of its topics, are stopped at present, except to probe.
    package func isStopped(_ key: CredentialKey) -> Bool {
        entries[key]?.breaker.isStopped ?? false || topics.contains { $0.key.key == key && $0.value.isStopped }
    }

    /// How long the credential of `route` has been stopped because its peer cannot be reached; zero: it is not. Nil: the peer refuses the credential or topic.
    package func outage(of route: PushRoute, now: Timestamp) -> Duration? {
        if topics[route]?.refusal != nil { return nil }
        guard let breaker = entries[route.key]?.breaker else { return .zero }
        return breaker.outage(now)
    }

    /// Whether a slice may send over `route`. After `.go` and `.probe` the slice holds a place at the credential until `leave`.
    ///
    /// - Parameters:
    ///   - route: the credential and topic.
    ///   - lane: the slice's lane.
    ///   - targets: the number of the slice's targets.
    ///   - isHolder: whether the slice already holds a place and asks again, for resends.
    ///   - capacity: the number of pushes or calls for which its rate has work; nil: the credential has no rate.
    ///   - now: the database's time.
    /// - Returns: the permit of the breaker, or `.full`.
    package mutating func enter(
        _ route: PushRoute,
        lane: Lane,
        targets: Int = SliceLease.targetLimit,
        isHolder: Bool,
        capacity: Int? = nil,
        now: Timestamp
    ) -> Permit {
        let key = route.key
        // A slice of a stopped topic must take neither a place nor the probe of its credential.
        if topics[route]?.isWaiting(now) ?? false { return topicPermit(route, lane: lane, now: now) }
        var entry = entries[key] ?? Entry(breaker: CredentialBreaker(policy: policy.retry))
        if !isHolder && isFull(entry[lane], route, capacity) {
            turnedAway[TenantWork(key.tenant, lane)] = Refusal(at: now, by: key)
            // A credential with a rate will have a free place soon.
            guard capacity == nil else { return .full(for: policy.fullRetry) }
            let since = entry.fullSince ?? now
            entry.fullSince = since
            entries[key] = entry
            return .full(for: min(max(policy.fullRetry, now - since), policy.fullLongest))
        }
        let permit = entry.breaker.permit(lane: lane, now: now, probeLimit: policy.pushDeadline)
        switch permit {
        case .go, .probe:
            if !isHolder { entry[lane].join(targets) }
        case .stopped, .full, .metered: break
        }
        entries[key] = entry.isUnused ? nil : entry
        guard permit == .go || permit == .probe else { return permit }
        // It is not stopped, as checked above: it is open, or this slice probes it.
        let topic = topicPermit(route, lane: lane, now: now)
        return permit == .go ? topic : permit
    }

    /// Whether no further slice may use the credential. Small slices count by their targets, so that many of them wait for a slow push service together.
    private func isFull(_ users: Users, _ route: PushRoute, _ capacity: Int?) -> Bool {
        route.isUpstream
            ? users.slices >= min(capacity ?? .max, policy.slicesPerUpstream)
            : users.targets >= min(capacity ?? .max, policy.targetsPerCredential)
    }

    private mutating func topicPermit(_ route: PushRoute, lane: Lane, now: Timestamp) -> Permit {
        topics[route]?.permit(lane: lane, now: now, probeLimit: policy.pushDeadline) ?? .go
    }

    /// The number of places used by the tenant's campaigns, if slices wait for a credential of the tenant and none leaves; otherwise nil.
    package func stuckPlaces(of tenant: TenantID, now: Timestamp) -> Int? {
        var count = 0
        var isStuck = false
        for (key, entry) in entries where key.tenant == tenant {
            count += entry.campaigns.slices
            if let since = entry.fullSince, now - since > policy.fullRetry { isStuck = true }
        }
        return isStuck ? count : nil
    }

    /// The number of slices that the tenant may start, which runs `slices`. While one of its credentials turns slices away, only a few may be without a place:
    /// others would be read, and put back after a second.
    package func room(for tenant: TenantID, in lane: Lane, running slices: Int, now: Timestamp) -> Int {
        guard let last = turnedAway[TenantWork(tenant, lane)]?.at, now >= last, now - last <= policy.fullRetry else {
            return .max
        }
        var places = 0
        for (key, entry) in entries where key.tenant == tenant { places += entry[lane].slices }
        return max(0, places + policy.slicesWaiting - slices)
    }

    /// Frees the place at `key` of a slice with `targets`.
    package mutating func leave(_ key: CredentialKey, lane: Lane, targets: Int = SliceLease.targetLimit) {
        guard var entry = entries[key] else { return }
        entry[lane].leave(targets)
        let work = TenantWork(key.tenant, lane)
        if entry[lane].slices == 0, turnedAway[work]?.by == key { turnedAway[work] = nil }
        entry.fullSince = nil
        entries[key] = entry.isUnused ? nil : entry
    }

    /// Updates the breakers after an outcome. Returns the changes that must be recorded for the operator.
    package mutating func observed(_ route: PushRoute, _ sign: CredentialSign, now: Timestamp) -> [Change] {
        let key = route.key
        var entry = entries[key] ?? Entry(breaker: CredentialBreaker(policy: policy.retry))
        let change = entry.breaker.observed(sign, now: now)
        entries[key] = entry.isUnused ? nil : entry
        return (change.map { [Change($0)] } ?? []) + observedTopic(route, sign, now: now)
    }

    private mutating func observedTopic(_ route: PushRoute, _ sign: CredentialSign, now: Timestamp) -> [Change] {
        switch sign {
        case .refused, .unreachable: return []
        case .refusedTopic(let rejection):
            if topics[route] == nil, topics.count >= Self.topicLimit, let other = topics.keys.first {
                topics[other] = nil
            }
            var breaker = topics[route] ?? CredentialBreaker(policy: policy.retry)
            let change = breaker.observed(.refused(rejection), now: now)
            topics[route] = breaker
            return change.map { [Change($0, topic: route.topic)] } ?? []
        case .answered:
            guard !topics.isEmpty else { return [] }
            var changes: [Change] = []
            // No push uses the app's previous topic any longer, so no probe would end its refusal.
            for other in topics.keys where other == route || route.replaces(other) {
                guard var breaker = topics[other] else { continue }
                let isOver = route.replaces(other)
                let change = isOver ? (breaker.refusal == nil ? nil : .recovered) : breaker.observed(sign, now: now)
                topics[other] = isOver || breaker.isIdle ? nil : breaker
                if let change { changes.append(Change(change, topic: other.topic)) }
            }
            return changes
        }
    }

    /// The credential was replaced: its next slice may try at once.
    package mutating func forgive(_ key: CredentialKey) {
        entries[key]?.breaker.forgive()
        for route in topics.keys where route.key == key { topics[route]?.forgive() }
    }
}
