/// Reads that several viewers need at the same time: one of them reads, the others wait for it, and the result is shared for a short time.
actor SharedReads<Key: Hashable & Sendable, Value: Sendable> {
    private struct Entry {
        var task: Task<Value, Never>
        var since: ContinuousClock.Instant
    }

    private var entries: [Key: Entry] = [:]
    /// Entries are removed when others are read, so there are as many as viewers had pages in this time.
    private let keptFor: Duration

    /// - Parameter keptFor: the largest age at which a value is shared. 5 s: most are shared for a second or two.
    init(keptFor: Duration = .seconds(5)) { self.keptFor = keptFor }

    /// The value of a key that is not older than `maxAge`, and was not read before `since`.
    func value(
        _ key: Key,
        maxAge: Duration,
        since: ContinuousClock.Instant? = nil,
        _ read: @escaping @Sendable () async -> Value
    ) async -> Value {
        let now = ContinuousClock.now
        let first = max(now - maxAge, since ?? now - maxAge)
        if let entry = entries[key], entry.since > first { return await entry.task.value }
        entries = entries.filter { now - $0.value.since < keptFor }
        // A task of its own: when the viewer that began it leaves, the others still wait for it.
        let task = Task { await read() }
        entries[key] = Entry(task: task, since: now)
        return await task.value
    }
}
