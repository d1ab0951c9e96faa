/// Reads that several viewers need at the same time: one of them reads, the others wait for it, and the result is shared for a short time.
actor SharedReads<Key: Hashable & Sendable, Value: Sendable> {
    private struct Entry {
        var task: Task<Value, Never>
        var since: ContinuousClock.Instant
    }

    private var entries: [Key: Entry] = [:]
    /// A minute: entries are removed when others are read, so there are as many as viewers had pages in it.
    private static var keptFor: Duration { .seconds(60) }

    /// The value of a key that is not older than `maxAge`.
    func value(_ key: Key, maxAge: Duration, _ read: @escaping @Sendable () async -> Value) async -> Value {
        let now = ContinuousClock.now
        if let entry = entries[key], now - entry.since < maxAge { return await entry.task.value }
        entries = entries.filter { now - $0.value.since < Self.keptFor }
        // A task of its own: when the viewer that began it leaves, the others still wait for it.
        let task = Task { await read() }
        entries[key] = Entry(task: task, since: now)
        return await task.value
    }
}
