package import Model
import ServiceLifecycle

/// Tells senders' back ends what became of their deliveries, and webhooks what happened: signed, in order per subscription, repeated until taken,
/// or until a day, for a webhook three, has passed.
///
/// Runs until its group shuts down; then it claims nothing more and ends with its last call. Several nodes may run one each: a lease keeps
/// them apart. A crash repeats at most the calls whose answer was not written down.
package struct WebhookDispatcher<Timer: Clock>: Service where Timer.Duration == Duration {
    /// Writes a vendor's body; nil: that vendor has no such call.
    package typealias Encoder = @Sendable (Vendor, [DeliverySnapshot], BindingSettings) -> VendorRequestBody?
    /// Opens a webhook's secret; nil: this node has another master key.
    package typealias Opener = @Sendable (TenantID, WebhookID, SealedSecret) -> [UInt8]?
    /// The secret of a sender, the same on every node.
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
    ///   - store: subscriptions and what they wait for.
    ///   - caller: makes the calls.
    ///   - node: in whose name leases are taken.
    ///   - policy: how calls are repeated.
    ///   - clock: what it sleeps on between looks.
    ///   - encode: writes a vendor's body.
    ///   - open: opens a webhook's secret.
    ///   - derive: makes a sender's secret.
    ///   - observe: hears what happened; must not block.
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
        let slots = CallSlots(policy.concurrency)
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                group.addTask { await tick(wake) }
                for await _ in wakes {
                    let free = slots.free
                    guard free > 0 else { continue }
                    for lease in await claim(free) {
                        slots.take()
                        group.addTask {
                            let hasMore = await serve(lease)
                            // Full before, or more to tell: look again at once instead of at the next tick.
                            if slots.giveBack() || hasMore { wake.yield() }
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

    private func claim(_ limit: Int) async -> [WebhookLease] {
        do { return try await store.claim(limit: limit, by: node, lease: policy.lease) } catch {
            observe(.storeFailed(error))
            return []
        }
    }

    /// Makes one call for `lease`. True when more waits behind it.
    private func serve(_ lease: WebhookLease) async -> Bool {
        do {
            let limit = lease.webhook == nil ? policy.targetsPerCall : policy.eventsPerCall
            var batch = try await store.batch(for: lease, limit: limit)
            let next = await call(lease, &batch)
            return try await perform(next, lease, batch)
        } catch {
            observe(.storeFailed(error))
            return false
        }
    }

    /// Makes the call; `batch` is what it told, which may be the first part of what there was.
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
        case (.webhook(let id, _), .sealed(let sealed)):
            guard let secret = open(lease.tenant, id, sealed) else { return machine.secretUnreadable() }
            let body = EventBody.write(&batch, for: id, limitBytes: policy.bodyLimitBytes)
            call = WebhookCall(
                url: lease.url,
                contentType: EventBody.contentType,
                body: body,
                signature: Signature.of(body, at: lease.claimedAt, secret: secret, keyID: sealed.keyID)
            )
        case (.sender, .sealed), (.webhook, .derived): return machine.secretUnreadable()
        }
        return machine.callEnded(await caller.post(call), lease, batch)
    }

    private func perform(
        _ action: DispatchMachine.Action,
        _ lease: WebhookLease,
        _ batch: WebhookBatch
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
            // Our own end says nothing of the receiver: its lease runs out, and another node calls.
            guard !Task.isCancelled else { return false }
            try await store.postpone(lease, by: delay, reason: reason, node: node)
            observe(.postponed(lease, by: delay, reason: reason))
            return false
        }
        return batch.hasMore
    }
}
