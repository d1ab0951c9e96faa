/// Counts pushes per device token and second (rule 28). A pure value; its owner locks it.
struct PushRateGuard: Sendable {
    /// 65,536 tokens. When the table is full, it is emptied and counting starts again, so that an error accepts rather than refuses.
    private static let tokenLimit = 65_536

    private var counts: [String: (second: Int, count: Int)] = [:]

    init() {}

    /// Counts one push and returns whether it exceeds `limit` in this second.
    mutating func isOver(_ limit: Int, token: String, now: Int) -> Bool {
        if counts.count >= Self.tokenLimit { counts.removeAll() }
        var entry = counts[token] ?? (now, 0)
        if entry.second != now { entry = (now, 0) }
        entry.count += 1
        counts[token] = entry
        return entry.count > limit
    }
}
