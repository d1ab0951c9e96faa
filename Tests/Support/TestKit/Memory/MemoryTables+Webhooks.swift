import Commands
import Model

extension MemoryTables {
    mutating func claimCallbacks(limit: Int, by node: NodeID, lease: Duration, now: Timestamp) -> [WebhookLease] {
        var claimed: [WebhookLease] = []
        let order = senders.keys.sorted { ($0.tenant, $0.value.id) < ($1.tenant, $1.value.id) }
        for index in order where claimed.count < limit {
            guard let row = senders[index], var callback = row.callback, callback.nextAt <= now,
                !news(index.tenant, row.id, row.scope, after: callback.cursor).isEmpty
            else { continue }
            callback.claim(by: node, until: now + lease)
            senders[index]?.callback = callback
            claimed.append(self.lease(index.tenant, row, callback, now: now))
        }
        for index in webhooks.keys.sorted(by: { ($0.tenant, $0.value) < ($1.tenant, $1.value) })
        where claimed.count < limit {
            guard let row = webhooks[index], row.webhook.isActive, row.queue.nextAt <= now,
                Int64(events[index.tenant]?.count ?? 0) > row.queue.cursor
            else { continue }
            webhooks[index]?.queue.claim(by: node, until: now + lease)
            claimed.append(self.lease(index.tenant, webhooks[index] ?? row, now: now))
        }
        return claimed
    }

    private func lease(
        _ tenant: TenantID,
        _ row: SenderRow,
        _ callback: CallbackRow,
        now: Timestamp
    ) -> WebhookLease {
        let settings = apps[Scoped(tenant, row.scope.app)]?.settings[row.scope.vendor] ?? .unbound
        return WebhookLease(
            tenant: tenant,
            subscriber: .sender(row.id, row.scope.app, row.scope.vendor, settings),
            url: callback.url,
            secret: .derived,
            epoch: callback.epoch,
            cursor: callback.cursor,
            attempts: callback.attempts,
            failingFor: callback.failingSince.map { now - $0 } ?? .zero,
            claimedAt: now
        )
    }

    private func lease(_ tenant: TenantID, _ row: WebhookRow, now: Timestamp) -> WebhookLease {
        WebhookLease(
            tenant: tenant,
            subscriber: .webhook(row.webhook.id, row.webhook.filter),
            url: row.webhook.url,
            secret: .sealed(row.webhook.secret),
            epoch: row.queue.epoch,
            cursor: row.queue.cursor,
            attempts: row.queue.attempts,
            failingFor: row.queue.failingSince.map { now - $0 } ?? .zero,
            claimedAt: now
        )
    }

    /// The events that concern a sender's deliveries, after an offset.
    private func news(
        _ tenant: TenantID,
        _ sender: SenderID,
        _ scope: AppScope,
        after cursor: Int64
    ) -> [(event: EventRecord, key: DeliveryKey)] {
        (events[tenant] ?? []).compactMap { event in
            guard event.offset > cursor, event.sender == sender, event.app == scope.app, event.vendor == scope.vendor,
                let message = event.message, let target = event.target
            else { return nil }
            return (event, DeliveryKey(message: message, target: target))
        }
    }

    func batch(_ lease: WebhookLease, limit: Int) -> WebhookBatch {
        switch lease.subscriber {
        case .sender(let sender, let app, let vendor, _):
            let scope = AppScope(app: app, vendor: vendor)
            return deliveries(lease.tenant, sender, scope, after: lease.cursor, limit: limit)
        case .webhook(_, let filter):
            let page = page(lease.tenant, filter, after: lease.cursor, limit: limit)
            return WebhookBatch(events: page.events, cursor: page.through, hasMore: page.head > page.through)
        }
    }

    private func deliveries(
        _ tenant: TenantID,
        _ sender: SenderID,
        _ scope: AppScope,
        after cursor: Int64,
        limit: Int
    ) -> WebhookBatch {
        var batch = WebhookBatch(cursor: cursor, hasMore: false)
        var seen: Set<DeliveryKey> = []
        for (event, key) in news(tenant, sender, scope, after: cursor) {
            if !seen.contains(key), seen.count >= limit {
                batch.hasMore = true
                break
            }
            if seen.insert(key).inserted, let snapshot = snapshot(tenant, key) { batch.deliveries.append(snapshot) }
            batch.cursor = event.offset
        }
        return batch
    }

    /// Changes the queue of the subscription that `lease` still holds.
    private mutating func settle(_ lease: WebhookLease, _ node: NodeID, _ body: (inout CallbackRow) -> Void) -> Bool {
        switch lease.subscriber {
        case .sender(let id, let app, let vendor, _):
            let index = Scoped(lease.tenant, SenderIndex(scope: AppScope(app: app, vendor: vendor), id: id))
            guard var queue = senders[index]?.callback, queue.isHeld(by: node, epoch: lease.epoch) else { return false }
            body(&queue)
            senders[index]?.callback = queue
        case .webhook(let id, _):
            let index = Scoped(lease.tenant, id)
            guard var queue = webhooks[index]?.queue, queue.isHeld(by: node, epoch: lease.epoch) else { return false }
            body(&queue)
            webhooks[index]?.queue = queue
        }
        return true
    }

    mutating func advance(_ lease: WebhookLease, to cursor: Int64, by node: NodeID, now: Timestamp) -> Bool {
        settle(lease, node) { queue in
            queue.cursor = max(queue.cursor, cursor)
            queue.forgive(now: now)
        }
    }

    mutating func postpone(
        _ lease: WebhookLease,
        by delay: Duration,
        reason: String,
        node: NodeID,
        now: Timestamp
    ) {
        _ = settle(lease, node) { queue in
            queue.attempts += 1
            queue.failingSince = queue.failingSince ?? now
            queue.owner = nil
            queue.nextAt = now + delay
            queue.lastReason = reason
        }
    }

    mutating func stop(_ lease: WebhookLease, reason: String, node: NodeID) {
        guard let id = lease.webhook else { return }
        let isOurs = settle(lease, node) { queue in
            queue.attempts += 1
            queue.owner = nil
            queue.lastReason = reason
        }
        if isOurs { webhooks[Scoped(lease.tenant, id)]?.webhook.isActive = false }
    }
}

extension CallbackRow {
    mutating func claim(by node: NodeID, until deadline: Timestamp) {
        owner = node
        epoch += 1
        nextAt = deadline
    }

    func isHeld(by node: NodeID, epoch: Int64) -> Bool { owner == node && self.epoch == epoch }

    /// Free, due, and without failures.
    mutating func forgive(now: Timestamp) {
        attempts = 0
        failingSince = nil
        lastReason = nil
        owner = nil
        nextAt = now
    }
}
