import Commands
import DeliveryEngine
import Model

extension MemoryTables {
    mutating func record(_ progress: SliceProgress, by node: NodeID, now: Timestamp) -> RecordResult {
        let lease = progress.lease
        guard holds(lease, node) else { return .fenced }
        var count = 0
        for result in progress.results where insert(lease.key, result) { count += 1 }
        slices[lease.key]?.lease.done = lease.done
        slices[lease.key]?.lease.lapses = 0
        switch progress.disposition {
        case .goOn: break
        case .finished: finish(lease.key)
        case .again(let after, let holder):
            putBack(progress, due: now + after, now: now)
            slices[lease.key]?.heldBy = holder
        case .crowded(let wait):
            putBack(progress, due: now + wait, now: now)
            postpone(lease.key, until: now + wait, now: now)
        case .dead(let reason):
            let expiry = messages[Scoped(lease.key.tenant, lease.key.message)]?.message.expiresAt ?? now
            putBack(progress, due: max(expiry, now + .seconds(3600)), now: now)
            slices[lease.key]?.deadReason = reason
            settle(Scoped(lease.key.tenant, lease.key.message))
        }
        return .recorded(count)
    }

    private mutating func putBack(_ progress: SliceProgress, due: Timestamp, now: Timestamp) {
        let key = progress.lease.key
        let message = messages[Scoped(key.tenant, key.message)]
        slices[key]?.owner = nil
        slices[key]?.nextAt =
            switch message?.state {
            case .paused: max(due, message?.message.expiresAt ?? due)
            case .canceled: now
            default: due
            }
        guard progress.countsAttempt else { return }
        slices[key]?.lease.attempts = progress.lease.attempts.addingReportingOverflow(1).partialValue
    }

    /// The message's other slices that are due wait as well, unless it was canceled.
    private mutating func postpone(_ slice: SliceKey, until due: Timestamp, now: Timestamp) {
        guard messages[Scoped(slice.tenant, slice.message)]?.state != .canceled else { return }
        for (key, row) in slices where key.tenant == slice.tenant && key.message == slice.message && key != slice {
            guard row.owner == nil, !row.isFinished, row.lease.work == .deliver, row.nextAt <= now else { continue }
            slices[key]?.nextAt = due
        }
    }

    /// Writes one outcome unless it is there; an early receipt keeps its state and gets the rest.
    private mutating func insert(_ key: SliceKey, _ result: DeliveryResult) -> Bool {
        let delivery = DeliveryKey(message: key.message, target: result.target)
        if var row = deliveries[Scoped(key.tenant, delivery)] {
            guard row.awaitsOutcome else { return false }
            row.awaitsOutcome = false
            row.result = result
            put(key.tenant, delivery, row, as: [.received, .read].contains(row.state) ? .sent : row.state)
            return true
        }
        put(key.tenant, delivery, DeliveryRow(result: result, state: result.state), as: result.state)
        return true
    }

    mutating func condemn(_ verdicts: [TokenVerdict], _ tenant: TenantID, now: Timestamp) {
        for verdict in verdicts {
            switch verdict {
            case .dead(let id, let token, let since):
                guard let device = devices[Scoped(tenant, id)], device.token == token else { continue }
                if let since, let registered = device.tokenRegisteredAt, registered > since { continue }
                guard [.active, .quarantined].contains(device.tokenState) else { continue }
                devices[Scoped(tenant, id)]?.tokenState = .invalid
                note(tenant, .tokenInvalidated, of: device, reason: "Unregistered", at: now)
            case .doubtful(let id, let token, let reason):
                guard let device = devices[Scoped(tenant, id)], device.token == token, device.tokenState == .active
                else { continue }
                devices[Scoped(tenant, id)]?.tokenState = .quarantined
                note(tenant, .tokenQuarantined, of: device, reason: reason, at: now)
            case .moved(let id, let token, let environment):
                guard let device = devices[Scoped(tenant, id)], device.token == token, device.tokenState == .active,
                    !devices.contains(where: { other in
                        other.key.tenant == tenant && other.value.app == device.app && other.value.token == token
                            && other.value.platform == device.platform && other.value.environment == environment
                    })
                else { continue }
                devices[Scoped(tenant, id)]?.environment = environment
            }
        }
    }

    func funnel(_ index: Scoped<MessageID>) -> Funnel? {
        guard let message = messages[index] else { return nil }
        var funnel = Funnel(recipients: message.recipients)
        for target in targetsByMessage[index] ?? [] {
            let row = deliveries[Scoped(index.tenant, DeliveryKey(message: index.value, target: target))]
            guard let row else { continue }
            switch row.result.state {
            case .queued: break
            case .sent, .received, .read: funnel.sent += 1
            case .failed: funnel.failed += 1
            case .suppressed: funnel.suppressed += 1
            case .expired: funnel.expired += 1
            case .canceled: funnel.canceled += 1
            }
            if row.receivedAt != nil { funnel.received += 1 }
            if row.readAt != nil { funnel.read += 1 }
        }
        return funnel
    }
}
