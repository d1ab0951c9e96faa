import NIOCore
import PageParts
import WebConsole

/// A page that several viewers have open. It is read and written once for all of them, when one of them asks for it and it is due.
///
/// Nothing runs and nothing is queued for a viewer: one that takes its bytes slowly asks later, and gets all parts that have changed since it asked last.
actor SharedPage {
    /// The parts of the page, and what they show.
    struct Reading: Sendable {
        let fragments: [Fragment]
        /// The last offset of the event log, and the time, when the data was asked for. Another page may have asked for the same data before.
        let head: Int64
        let began: ContinuousClock.Instant
    }

    typealias Read = @Sendable (_ since: ContinuousClock.Instant) async -> Reading?

    /// A part as it is sent.
    fileprivate struct Part: Sendable {
        /// The version of the page with which it changed, and the offset of the event log then.
        let version: Int
        let offset: Int64
        let event: ByteBuffer
    }

    /// The page as it was read once.
    struct State: Sendable {
        /// Grows with each change, from 1. 0: the page could not be read.
        let version: Int
        fileprivate let began: ContinuousClock.Instant
        fileprivate let head: Int64
        fileprivate let parts: [Part]

        /// The events for a viewer that has been sent a version, in buffers that all viewers share; empty: it has everything.
        func events(after shown: Int) -> [ByteBuffer] {
            parts.filter { $0.version > shown }.map(\.event)
        }
    }

    private var running: Task<State, Never>?
    private var last: State?
    private var version = 0
    /// The parts by their ids, as they were sent last.
    private var known: [String: Part] = [:]

    /// The page at an offset of the event log.
    ///
    /// - Parameters:
    ///   - head: the last offset of the event log.
    ///   - since: when the viewer opened the page: it does not get what was read before.
    ///   - pace: the times between readings.
    ///   - read: reads and writes the parts of the page; nil: the page cannot be shown.
    /// - Returns: nil: the viewer has just opened the page, and the next reading is not due.
    func current(
        at head: Int64,
        since: ContinuousClock.Instant,
        pace: LivePace,
        _ read: @escaping Read
    ) async -> State? {
        while let reading = running {
            // A viewer that has the page asks again soon. A slow reading must not delay the checks of its session.
            if let last, last.began >= since { return last }
            let state = await reading.value
            if state.began >= since { return state }
        }
        let now = ContinuousClock.now
        if let last {
            let age = now - last.began
            if last.began < since {
                // The viewer has a page that is newer than the last reading.
                if age < pace.interval { return nil }
            } else {
                let isUnchanged = last.head == head && last.version > 0
                if age < (isUnchanged ? pace.renewal : pace.interval) { return last }
            }
        }
        // A task of its own: when the viewer that began it leaves, the others still wait for it.
        let task = Task { await self.refresh(at: head, began: now, since: since, read) }
        running = task
        return await task.value
    }

    private func refresh(
        at head: Int64,
        began: ContinuousClock.Instant,
        since: ContinuousClock.Instant,
        _ read: Read
    ) async -> State {
        let reading = await read(since)
        running = nil
        let state: State
        if let reading {
            let parts = changed(reading.fragments, at: reading.head)
            state = State(version: version, began: reading.began, head: reading.head, parts: parts)
        } else {
            state = State(version: 0, began: began, head: head, parts: [])
        }
        last = state
        return state
    }

    /// The parts of the page, and with a new version if one of them has changed.
    private func changed(_ fragments: [Fragment], at head: Int64) -> [Part] {
        var parts: [Part] = []
        for fragment in fragments {
            if let old = known[fragment.id], ByteBuffer(bytes: fragment.event(id: "\(old.offset)")) == old.event {
                parts.append(old)
                continue
            }
            let event = ByteBuffer(bytes: fragment.event(id: "\(head)"))
            let part = Part(version: version + 1, offset: head, event: event)
            known[fragment.id] = part
            parts.append(part)
        }
        if parts.contains(where: { $0.version > version }) { version += 1 }
        return parts
    }
}
