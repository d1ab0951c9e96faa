import Commands
import Model

extension MemoryTables {
    mutating func claimCallbacks(limit: Int, by node: NodeID, lease: Duration, now: Timestamp) -> [WebhookLease] {
        var claimed: [WebhookLease] = []
        let order = senders.keys.sorted { ($0.tenant, $0.value.id) < ($1.tenant, $1.value.id) }
        for index in order where claimed.count < limit {
            guard var row = senders[index], var callback = row.callback, callback.nextAt <= now,
                firstEvent(index.tenant, row, after: callback.cursor) != nil
            else { continue }
            callback.owner = node
            callback.epoch += 1
            callback.nextAt = now + lease
            row.callback = callback
            senders[index] = row
            claimed.append(self.lease(index.tenant, row, callback, now: now))
        }
        return claimed
    }

    private func lease(
        _ tenant: TenantID,
        _ row: SenderRow,
        _ callback: CallbackRow,
        now: Timestamp
    ) -> WebhookLease {
        WebhookLease(
            tenant: tenant,
            app: row.scope.app,
            vendor: row.scope.vendor,
            sender: row.id,
            url: callback.url,
            secret: callback.secret,
            epoch: callback.epoch,
            cursor: callback.cursor,
            attempts: callback.attempts,
            failingFor: callback.failingSince.map { now - $0 } ?? .zero,
            settings: apps[Scoped(tenant, row.scope.app)]?.settings[row.scope.vendor] ?? .unbound
        )
    }

    private func concerns(_ tenant: TenantID, _ key: DeliveryKey, _ sender: SenderID, _ scope: AppScope) -> Bool {
        guard let message = messages[Scoped(tenant, key.message)]?.message else { return false }
        return message.sender == sender && message.scope == scope
    }

    private func firstEvent(_ tenant: TenantID, _ row: SenderRow, after cursor: Int64) -> Int? {
        let log = events[tenant] ?? []
        return log.indices.first { Int64($0) >= cursor && concerns(tenant, log[$0], row.id, row.scope) }
    }

    func batch(_ lease: WebhookLease, limit: Int) -> WebhookBatch {
        let log = events[lease.tenant] ?? []
        let scope = AppScope(app: lease.app, vendor: lease.vendor)
        var keys: [DeliveryKey] = []
        var seen: Set<DeliveryKey> = []
        var cursor = lease.cursor
        for place in log.indices where Int64(place) >= lease.cursor {
            let key = log[place]
            guard concerns(lease.tenant, key, lease.sender, scope) else { continue }
            if !seen.contains(key), keys.count >= limit {
                return WebhookBatch(deliveries: snapshots(lease.tenant, keys), cursor: cursor, hasMore: true)
            }
            if seen.insert(key).inserted { keys.append(key) }
            cursor = Int64(place) + 1
        }
        return WebhookBatch(deliveries: snapshots(lease.tenant, keys), cursor: cursor, hasMore: false)
    }

    private func snapshots(_ tenant: TenantID, _ keys: [DeliveryKey]) -> [DeliverySnapshot] {
        keys.compactMap { snapshot(tenant, $0) }
    }

    /// The subscription that `lease` still holds.
    private func held(_ lease: WebhookLease, _ node: NodeID) -> (Scoped<SenderIndex>, CallbackRow)? {
        let scope = AppScope(app: lease.app, vendor: lease.vendor)
        let index = Scoped(lease.tenant, SenderIndex(scope: scope, id: lease.sender))
        guard let callback = senders[index]?.callback, callback.owner == node, callback.epoch == lease.epoch else {
            return nil
        }
        return (index, callback)
    }

    mutating func advance(_ lease: WebhookLease, to cursor: Int64, by node: NodeID, now: Timestamp) -> Bool {
        guard let (index, row) = held(lease, node) else { return false }
        var callback = row
        callback.cursor = max(callback.cursor, cursor)
        callback.attempts = 0
        callback.failingSince = nil
        callback.owner = nil
        callback.nextAt = now
        senders[index]?.callback = callback
        return true
    }

    mutating func postpone(
        _ lease: WebhookLease,
        by delay: Duration,
        reason: String,
        node: NodeID,
        now: Timestamp
    ) {
        guard let (index, row) = held(lease, node) else { return }
        var callback = row
        callback.attempts += 1
        callback.failingSince = callback.failingSince ?? now
        callback.owner = nil
        callback.nextAt = now + delay
        callback.lastReason = reason
        senders[index]?.callback = callback
    }
}
