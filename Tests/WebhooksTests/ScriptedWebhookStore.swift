import Model
import NIOConcurrencyHelpers
import TestKit
import Webhooks

/// The minimal store for a dispatcher: one log, subscriptions with a cursor into it, and leases by a clock that the test moves.
///
/// The rules of the real store are in `WebhookStoreRuleTests`.
final class ScriptedWebhookStore: WebhookStore {
    static let tenant: TenantID = "acme"

    /// The state of a subscription.
    struct Standing {
        var lease: WebhookLease
        var isActive = true
        var owner: NodeID?
        var nextAt: Timestamp
        var failingSince: Timestamp?
        var failure: String?

        var cursor: Int64 { lease.cursor }
    }

    private struct Entry {
        var event: EventRecord
        /// The delivery that a sender receives for it.
        var delivery: DeliverySnapshot?
    }

    private struct State {
        var log: [Entry] = []
        var standings: [Standing] = []
        var failures: [StoreError] = []
    }

    private let clock: TestClock
    private let state = NIOLockedValueBox(State())

    init(clock: TestClock) { self.clock = clock }

    // MARK: Controls and state

    /// A subscription that starts at the end of the log.
    func add(
        _ subscriber: Subscriber,
        url: String,
        secret: CallSecret,
        order: WebhookOrder = .log,
        tenant: TenantID = ScriptedWebhookStore.tenant
    ) {
        let now = clock.now()
        state.withLockedValue { state in
            let lease = WebhookLease(
                tenant: tenant,
                subscriber: subscriber,
                url: url,
                secret: secret,
                epoch: 0,
                cursor: Int64(state.log.count),
                attempts: 0,
                failingFor: .zero,
                claimedAt: now,
                order: order
            )
            state.standings.append(Standing(lease: lease, nextAt: now))
        }
    }

    /// Appends an event; a sender receives `delivery` for it.
    func append(_ event: EventRecord, delivery: DeliverySnapshot? = nil) {
        state.withLockedValue { state in
            var entry = Entry(event: event, delivery: delivery)
            entry.event.offset = Int64(state.log.count + 1)
            state.log.append(entry)
        }
    }

    /// The offset of the newest event.
    var head: Int64 { state.withLockedValue { Int64($0.log.count) } }

    /// Makes the next call throw.
    func failNext(_ error: StoreError) { state.withLockedValue { $0.failures.append(error) } }

    /// The only subscription, or that of a sender.
    func standing(of sender: SenderID? = nil) -> Standing? {
        state.withLockedValue { $0.standings.first { $0.lease.sender == sender } }
    }

    /// Changes a subscription like the tenant's own calls: an existing lease ends, and failures are reset.
    func change(_ body: (inout Standing) -> Void) {
        let now = clock.now()
        state.withLockedValue { state in
            for index in state.standings.indices {
                body(&state.standings[index])
                state.standings[index].lease.epoch += 1
                state.standings[index].end(now)
                state.standings[index].forgive()
            }
        }
    }

    // MARK: WebhookStore

    func claim(
        limit: Int,
        by node: NodeID,
        lease: Duration,
        choosing choose: @Sendable ([DueSubscription]) -> [Int]
    ) async throws(StoreError) -> [WebhookLease] {
        let now = clock.now()
        return try transaction { state in
            var claimed: [WebhookLease] = []
            let due = state.standings.indices.filter { index in
                let standing = state.standings[index]
                return standing.isActive && standing.nextAt <= now && !Self.news(state, for: standing.lease).isEmpty
            }
            let offered = due.map { index in
                let lease = state.standings[index].lease
                return DueSubscription(tenant: lease.tenant, url: lease.url)
            }
            for index in choose(offered).prefix(limit).map({ due[$0] }) {
                let standing = state.standings[index]
                state.standings[index].owner = node
                state.standings[index].nextAt = now + lease
                state.standings[index].lease.epoch += 1
                state.standings[index].lease.claimedAt = now
                state.standings[index].lease.failingFor = standing.failingSince.map { now - $0 } ?? .zero
                claimed.append(state.standings[index].lease)
            }
            return claimed
        }
    }

    func batch(for lease: WebhookLease, limit: Int) async throws(StoreError) -> WebhookBatch {
        try transaction { state in
            let news = Self.news(state, for: lease)
            let delivered = news.prefix(limit)
            return WebhookBatch(
                deliveries: lease.webhook == nil ? delivered.compactMap(\.delivery) : [],
                events: lease.webhook == nil ? [] : delivered.map(\.event),
                generation: "g-1",
                cursor: delivered.last?.event.offset ?? lease.cursor,
                hasMore: news.count > limit
            )
        }
    }

    func advance(_ lease: WebhookLease, to cursor: Int64, by node: NodeID) async throws(StoreError) -> Bool {
        let now = clock.now()
        return try settle(lease, node) { standing in
            standing.lease.cursor = max(standing.cursor, cursor)
            standing.end(now)
            standing.forgive()
        }
    }

    func postpone(
        _ lease: WebhookLease,
        at cursor: Int64,
        by delay: Duration,
        reason: String,
        node: NodeID
    ) async throws(StoreError) {
        let now = clock.now()
        _ = try settle(lease, node) { standing in
            if cursor > standing.cursor { standing.forgive() }
            standing.lease.cursor = max(standing.cursor, cursor)
            standing.lease.attempts += 1
            standing.failingSince = standing.failingSince ?? now
            standing.failure = reason
            standing.end(now + delay)
        }
    }

    func stop(_ lease: WebhookLease, reason: String, node: NodeID) async throws(StoreError) {
        _ = try settle(lease, node) { standing in
            standing.lease.attempts += 1
            standing.failure = reason
            standing.owner = nil
            standing.isActive = false
        }
    }

    /// The entries that a subscription has not received yet.
    private static func news(_ state: State, for lease: WebhookLease) -> [Entry] {
        state.log.filter { entry in
            entry.event.offset > lease.cursor && (lease.webhook != nil || entry.event.sender == lease.sender)
        }
    }

    private func settle(
        _ lease: WebhookLease,
        _ node: NodeID,
        _ body: (inout Standing) -> Void
    ) throws(StoreError) -> Bool {
        try transaction { state in
            let held = state.standings.firstIndex {
                $0.lease.subscriber == lease.subscriber && $0.owner == node && $0.lease.epoch == lease.epoch
            }
            guard let held else { return false }
            body(&state.standings[held])
            return true
        }
    }

    private func transaction<Value>(_ body: (inout State) -> Value) throws(StoreError) -> Value {
        let result = state.withLockedValue { state -> Result<Value, StoreError> in
            if !state.failures.isEmpty { return .failure(state.failures.removeFirst()) }
            return .success(body(&state))
        }
        return try result.get()
    }
}

extension ScriptedWebhookStore.Standing {
    /// Ends the lease; the next attempt is at `time`.
    fileprivate mutating func end(_ time: Timestamp) {
        owner = nil
        nextAt = time
    }

    fileprivate mutating func forgive() {
        lease.attempts = 0
        failingSince = nil
        failure = nil
    }
}
