package import Model
import ServiceLifecycle

/// Reports the outcomes of deliveries to senders' back ends, and events to webhooks: signed, in order per subscription or per device, repeated until
/// accepted, for at most one day (sender) or three days (webhook).
///
/// Runs until its service group shuts down; then it makes no new claims and ends with its last call. Several nodes may each run one: a lease keeps them
/// apart. A crash repeats at most the calls whose answer was not recorded.
package struct WebhookDispatcher<Timer: Clock>: Service where Timer.Duration == Duration {
    /// Writes a vendor's body; nil: the vendor does not define such a call.
    package typealias Encoder = @Sendable (Vendor, [DeliverySnapshot], BindingSettings) -> VendorRequestBody?
    /// Opens a webhook's secret; nil: this node has another master key.
    package typealias Opener = @Sendable (TenantID, WebhookID, SealedSecret) -> [UInt8]?
    /// Derives the secret of a sender, which is the same on every node.
    package typealias Deriver = @Sendable (TenantID, AppID, Vendor, SenderID) -> [UInt8]

    private let store: any WebhookStore
    private let caller: any WebhookCaller
    private let encode: Encoder
    private let open: Opener
    private let derive: Deriver
    private let node: NodeID
    private let policy: WebhookPolicy
    private let machine: DispatchMachine
    private let clock: Timer
    private let observe: @Sendable (WebhookEvent) -> Void

    /// A dispatcher over `store`.
    ///
    /// - Parameters:
    ///   - store: the subscriptions and their pending events.
    ///   - caller: makes the calls.
    ///   - node: the owner of the leases.
    ///   - policy: how calls are made and repeated.
    ///   - clock: the clock for sleeping between polls.
    ///   - encode: writes a vendor's body.
    ///   - open: opens a webhook's secret.
    ///   - derive: derives a sender's secret.
    ///   - observe: receives events; must not block.
    package init(
        store: any WebhookStore,
        caller: any WebhookCaller,
        node: NodeID,
        policy: WebhookPolicy = WebhookPolicy(),
        clock: Timer,
        encode: @escaping Encoder,
        open: @escaping Opener = { _, _, _ in nil },
        derive: @escaping Deriver,
        observe: @escaping @Sendable (WebhookEvent) -> Void = { _ in }
    ) {
        self.store = store
        self.caller = caller
        self.node = node
        self.policy = policy
        self.machine = DispatchMachine(policy)
        self.clock = clock
        self.encode = encode
        self.open = open
        self.derive = derive
        self.observe = observe
    }

    package func run() async throws {
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let slots = CallSlots(
            CallTurns.Limits(total: policy.concurrency, perTenant: policy.tenantCalls, perHost: policy.hostCalls)
        )
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                group.addTask { await tick(wake) }
                for await _ in wakes {
                    let free = slots.free
                    guard free > 0 else {
                        // Without a look, only what the last one left out is known to wait.
                        if slots.reached.contains(.node) { observe(.waiting([.node])) }
                        continue
                    }
                    guard let leases = await claim(free, slots) else { continue }
                    if !slots.reached.isEmpty { observe(.waiting(slots.reached)) }
                    for lease in leases { slots.take(lease) }
                    for lease in leases {
                        // After a failure one call at a time, until one succeeds: parallel ones would only repeat more events.
                        let isParallel = lease.order == .device && lease.attempts == 0
                        let calls = 1 + (isParallel ? slots.takeMore(lease, policy.lanes - 1) : 0)
                        group.addTask {
                            let hasMore = await serve(lease, calls: calls)
                            // A subscription waits for a slot, or there are more events: look again at once instead of at the next tick.
                            if slots.giveBack(lease, calls) || hasMore { wake.yield() }
                        }
                    }
                }
            }
        } onGracefulShutdown: {
            wake.finish()
        }
    }

    /// Wakes the loop at every interval until shutdown.
    private func tick(_ wake: AsyncStream<Void>.Continuation) async {
        try? await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                wake.yield()
                try await clock.sleep(for: policy.interval)
            }
        }
    }

    /// Leases the subscriptions to call now. Nil: the store failed; it is asked again at the next tick, or after a call with more events.
    private func claim(_ limit: Int, _ slots: CallSlots) async -> [WebhookLease]? {
        let choose: @Sendable ([DueSubscription]) -> [Int] = { slots.choose(from: $0) }
        do { return try await store.claim(limit: limit, by: node, lease: policy.lease, choosing: choose) } catch {
            slots.forgetReached()
            observe(.storeFailed(error))
            return nil
        }
    }

    /// Makes one call for `lease`, or up to `calls` at once for a webhook in the order of devices. True if more events are pending.
    private func serve(_ lease: WebhookLease, calls: Int) async -> Bool {
        do {
            if case .webhook(let id, _) = lease.subscriber, lease.order == .device {
                return try await servePage(lease, of: id, lanes: calls)
            }
            let limit = lease.webhook == nil ? policy.targetsPerCall : policy.eventsPerCall
            var batch = try await store.batch(for: lease, limit: limit)
            let next = await call(lease, &batch)
            return try await perform(next, lease, batch, reached: lease.cursor)
        } catch {
            observe(.storeFailed(error))
            return false
        }
    }

    /// Makes the calls for one page of a webhook in the order of devices.
    private func servePage(
        _ lease: WebhookLease,
        of webhook: WebhookID,
        lanes count: Int
    ) async throws(StoreError) -> Bool {
        var batch = try await store.batch(for: lease, limit: count * policy.eventsPerLaneCall)
        guard !batch.events.isEmpty else {
            return try await perform(machine.nothingToSend(batch), lease, batch, reached: lease.cursor)
        }
        guard let keys = keys(of: webhook, lease) else {
            return try await perform(machine.secretUnreadable(), lease, batch, reached: lease.cursor)
        }
        let split = EventLanes(batch.events, count: count)
        let calls = LaneCalls(
            caller: caller,
            policy: policy,
            lease: lease,
            webhook: webhook,
            keys: keys
        )
        let outcomes = await calls.post(split.lanes, of: batch.generation)
        let reached = split.reached(outcomes.map(\.confirmed), from: lease.cursor, through: batch.cursor)
        let next = machine.callsEnded(outcomes.lazy.compactMap(\.failure).first, lease, reached: reached)
        batch.hasMore = batch.hasMore || reached < batch.cursor
        batch.events.removeAll { $0.offset > reached }
        return try await perform(next, lease, batch, reached: reached)
    }

    /// Makes the call. Afterwards `batch` contains the events that were sent, which may be only the first part.
    private func call(_ lease: WebhookLease, _ batch: inout WebhookBatch) async -> DispatchMachine.Action {
        guard batch.count > 0 else { return machine.nothingToSend(batch) }
        let call: WebhookCall
        switch (lease.subscriber, lease.secret) {
        case (.sender(let id, let app, let vendor, let settings), .derived):
            guard let body = encode(vendor, batch.deliveries, settings) else { return machine.nothingToSend(batch) }
            call = WebhookCall(
                url: lease.url,
                contentType: body.contentType,
                body: body.bytes,
                signature: Signature.of(body.bytes, secret: derive(lease.tenant, app, vendor, id))
            )
        case (.webhook(let id, _), .sealed):
            guard let keys = keys(of: id, lease) else { return machine.secretUnreadable() }
            let body = EventBody.write(&batch, for: id, limitBytes: policy.bodyLimitBytes)
            call = WebhookCall(
                url: lease.url,
                contentType: EventBody.contentType,
                body: body,
                signature: Signature.of(body, at: lease.claimedAt, keys: keys)
            )
        case (.sender, .sealed), (.webhook, .derived): return machine.secretUnreadable()
        }
        return machine.callEnded(await caller.post(call), lease, batch)
    }

    /// The secrets that sign a webhook's calls; nil if the present one cannot be opened.
    private func keys(of webhook: WebhookID, _ lease: WebhookLease) -> [Signature.Key]? {
        guard case .sealed(let sealed) = lease.secret else { return nil }
        let keys = [sealed, lease.previous].compactMap { $0 }.compactMap { secret in
            open(lease.tenant, webhook, secret).map { Signature.Key(id: secret.keyID, secret: $0) }
        }
        return keys.first?.id == sealed.keyID ? keys : nil
    }

    private func perform(
        _ action: DispatchMachine.Action,
        _ lease: WebhookLease,
        _ batch: WebhookBatch,
        reached: Int64
    ) async throws(StoreError) -> Bool {
        switch action {
        case .advance(let cursor):
            let isOurs = try await store.advance(lease, to: cursor, by: node)
            observe(isOurs ? .accepted(lease, targets: batch.count) : .leaseLost(lease))
        case .drop(let cursor, let reason):
            let isOurs = try await store.advance(lease, to: cursor, by: node)
            observe(isOurs ? .dropped(lease, targets: batch.count, reason: reason) : .leaseLost(lease))
        case .stop(let reason):
            try await store.stop(lease, reason: reason, node: node)
            observe(.stopped(lease, reason: reason))
            return false
        case .postpone(let delay, let reason):
            // Cancellation of this node is not a failure of the receiver: the lease expires, and another node makes the call.
            guard !Task.isCancelled else { return false }
            try await store.postpone(lease, at: reached, by: delay, reason: reason, node: node)
            observe(.postponed(lease, by: delay, reason: reason))
            return false
        }
        return batch.hasMore
    }
}
