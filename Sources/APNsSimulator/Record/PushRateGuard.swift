/// Counts pushes per device token and second (rule 28). A pure value; its owner locks it.
struct PushRateGuard: Sendable {
    /// 65,536 tokens; when it is full everything is forgotten and counting starts again, which errs on the side of accepting.
    private static let tokenLimit = 65_536

    private var counts: [String: (second: Int, count: Int)] = [:]

    init() {}

    /// Counts one push and says whether it is above `limit` in this second.
    mutating func isOver(_ limit: Int, token: String, now: Int) -> Bool {
        if counts.count >= Self.tokenLimit { counts.removeAll() }
        var entry = counts[token] ?? (now, 0)
        if entry.second != now { entry = (now, 0) }
        entry.count += 1
        counts[token] = entry
        return entry.count > limit
    }
}
