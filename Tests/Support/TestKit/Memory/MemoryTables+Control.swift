import Commands
import Model

extension MemoryTables {
    /// Steers a message; 1 when that changed something.
    mutating func control(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ message: MessageID,
        _ action: MessageControl,
        at: Timestamp
    ) -> Int {
        let index = Scoped(tenant, message)
        guard let row = messages[index], scope.covers(row.message.scope) else { return 0 }
        switch (action, row.state) {
        case (.cancel, .scheduled), (.cancel, .expanding), (.cancel, .sending), (.cancel, .paused), (.cancel, .dead):
            messages[index]?.state = .canceled
            // What is not sent comes up at once and is written off by whoever claims it.
            wait(index) { min($0.nextAt, at) }
        case (.pause, .scheduled), (.pause, .expanding), (.pause, .sending):
            messages[index]?.state = .paused
            wait(index) { $0.deadReason == nil ? row.message.expiresAt : $0.nextAt }
        case (.resume, .paused):
            wait(index) { $0.deadReason == nil ? max(row.message.dueAt, at) : $0.nextAt }
            let state = resumed(index, at: at)
            messages[index]?.state = state
        case (.requeue, _) where row.state != .canceled && openSlices(index).contains { $0.deadReason != nil }:
            requeue(index, at: row.state == .paused ? row.message.expiresAt : at)
        default: return 0
        }
        note(tenant, action.event, of: row.message, at: at)
        return 1
    }

    /// Open slices, leased or not.
    func openSlices(_ index: Scoped<MessageID>) -> [SliceRow] {
        (slicesByMessage[index] ?? []).compactMap { number in
            let row = slices[SliceKey(tenant: index.tenant, message: index.value, number: number)]
            return row?.isFinished == false ? row : nil
        }
    }

    private mutating func wait(_ index: Scoped<MessageID>, until: (SliceRow) -> Timestamp) {
        for row in openSlices(index) where row.owner == nil { slices[row.lease.key]?.nextAt = until(row) }
    }

    private mutating func requeue(_ index: Scoped<MessageID>, at: Timestamp) {
        for row in openSlices(index) where row.owner == nil && row.deadReason != nil {
            slices[row.lease.key]?.deadReason = nil
            slices[row.lease.key]?.lease.attempts = 0
            slices[row.lease.key]?.lease.lapses = 0
            slices[row.lease.key]?.nextAt = at
        }
        if messages[index]?.state == .dead { messages[index]?.state = .sending }
    }

    private func resumed(_ index: Scoped<MessageID>, at: Timestamp) -> MessageState {
        if let due = messages[index]?.message.dueAt, due > at { return .scheduled }
        let open = openSlices(index)
        if open.contains(where: { $0.lease.work != .deliver }) { return .expanding }
        return open.allSatisfy { $0.deadReason != nil } ? .dead : .sending
    }
}

extension MessageControl {
    fileprivate var event: EventKind {
        switch self {
        case .cancel: .messageCanceled
        case .pause: .messagePaused
        case .resume: .messageResumed
        case .requeue: .messageRequeued
        }
    }
}
