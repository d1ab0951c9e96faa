import Model

/// An event for a slice's task, from its own sends and flushes or from the engine.
enum SliceEvent: Sendable {
    case loaded(SliceWork?)
    case loadFailed(isFault: Bool)
    case completed([PushCompletion])
    case sendEnded(Int)
    case called(Int, UpstreamEnd)
    case recorded(RecordResult)
    case recordFailed
    case ticked
    case reclaimed(SliceLease)
    case fenced(epoch: Int64)
    case drainRequested
    case waitEnded
}

extension DeliveryMachine {
    /// Whether `ticked` may have something to do. If not, the machine waits for answers only.
    package var needsTicks: Bool {
        if retryAt != nil || !pending.isEmpty { return true }
        if queues.contains(where: { !$0.ready.isEmpty && !$0.isProbing }) { return true }
        return phase == .sending && !hasPushesOnTheirWay
    }

    /// Passes the event to the machine.
    mutating func handle(_ event: SliceEvent, now: Timestamp) -> [Action] {
        switch event {
        case .loaded(let work): return loaded(work, now: now)
        case .loadFailed(let isFault): return loadFailed(isFault: isFault, now: now)
        case .completed(let batch): return completed(batch, now: now)
        case .sendEnded(let number): return sendEnded(number, now: now)
        case .called(let number, let end): return called(number, end, now: now)
        case .recorded(let result): return recorded(result, now: now)
        case .recordFailed: return recordFailed(now: now)
        case .ticked: return ticked(now: now)
        case .reclaimed(let lease):
            reclaimed(lease)
            return []
        case .fenced(let epoch): return fenced(epoch: epoch)
        case .drainRequested: return drainRequested(now: now)
        case .waitEnded: return waitEnded(now: now)
        }
    }
}
