/// The active script entries. A pure value; its owner locks it.
struct ScriptBook: Sendable {
    /// 200,000 tokens: a script file of about 20 MB. The control port refuses more, so that it cannot fill the memory.
    static let largestCount = 200_000

    /// 1,000 prefixes, because each push is compared with every prefix.
    static let largestPrefixCount = 1_000

    /// 200 entries with conditions, because each push is compared with every one.
    static let largestConditionCount = 200

    /// An entry whose selector contains more than a token.
    private struct Condition: Sendable {
        var answer: ScriptedAnswer
        /// How often the rest of the selector matched, for `every`.
        var seen = 0
        /// When the entry ends; nil for never.
        var expiresAt: UInt64?
    }

    private var exact: [String: [ScriptedAnswer]] = [:]
    private var prefixes: [(prefix: String, answer: ScriptedAnswer)] = []
    private var conditions: [Condition] = []
    private var random: SplitMix64
    private(set) var count = 0

    /// Creates an empty book; the seed determines its random choices.
    init(seed: UInt64 = 1) {
        random = SplitMix64(seed: seed)
    }

    /// Whether the script is empty, so that the look-up can be skipped.
    var isEmpty: Bool { count == 0 }

    /// Adds entries. Entries of one token are used in the given order; the last one without `times` stays.
    ///
    /// - Parameters:
    ///   - answers: The entries, in order.
    ///   - now: The time in nanoseconds, by the clock of `ScriptOccasion.now`.
    /// - Throws: `SimulatorError` if there are too many; then nothing is added.
    mutating func add(_ answers: [ScriptedAnswer], now: UInt64 = 0) throws(SimulatorError) {
        let newConditions = answers.filter { !$0.selector.isByTokenAlone }.count
        let newPrefixes = answers.filter { $0.selector.isByTokenAlone && $0.token.hasSuffix("*") }.count
        guard count + answers.count <= Self.largestCount, prefixes.count + newPrefixes <= Self.largestPrefixCount,
            conditions.count + newConditions <= Self.largestConditionCount
        else {
            throw SimulatorError(
                .script,
                "At most \(Self.largestCount) answers, \(Self.largestPrefixCount) prefixes and \(Self.largestConditionCount) conditions can be scripted."
            )
        }
        for answer in answers {
            if !answer.selector.isByTokenAlone {
                let expiresAt = answer.selector.lifetime.map { now &+ $0.nanoseconds }
                conditions.append(Condition(answer: answer, expiresAt: expiresAt))
            } else if answer.token.hasSuffix("*") {
                prefixes.append((answer.token.dropLast().lowercased(), answer))
            } else {
                exact[answer.token.lowercased(), default: []].append(answer)
            }
        }
        count += answers.count
    }

    /// Takes the matching entry: first one with conditions, then the token's own, then that of the longest prefix.
    mutating func take(_ occasion: ScriptOccasion) -> ScriptedAnswer? {
        guard !isEmpty else { return nil }
        if let answer = takeCondition(occasion) { return answer }
        return occasion.moment == .end ? take(occasion.token) : nil
    }

    /// Takes the next answer for a token: its own first, then that of the longest prefix.
    mutating func take(_ token: String) -> ScriptedAnswer? {
        guard !isEmpty else { return nil }
        let token = token.lowercased()
        if let answer = takeExact(token) { return answer }
        let matching = prefixes.indices.filter { token.hasPrefix(prefixes[$0].prefix) }
        guard let index = matching.max(by: { prefixes[$0].prefix.count < prefixes[$1].prefix.count }) else {
            return nil
        }
        let answer = prefixes[index].answer
        guard let times = answer.times else { return answer }
        if times == 1 {
            prefixes.remove(at: index)
            count -= 1
        } else {
            prefixes[index].answer.times = times - 1
        }
        return answer
    }

    private mutating func takeCondition(_ occasion: ScriptOccasion) -> ScriptedAnswer? {
        guard !conditions.isEmpty else { return nil }
        forgetExpired(occasion.now)
        for index in conditions.indices where conditions[index].answer.selector.fits(occasion) {
            let answer = conditions[index].answer
            if let every = answer.selector.every {
                conditions[index].seen &+= 1
                guard conditions[index].seen.isMultiple(of: every) else { continue }
            }
            if let share = answer.selector.share, random.unit() >= share { continue }
            if let times = answer.times {
                if times == 1 {
                    conditions.remove(at: index)
                    count -= 1
                } else {
                    conditions[index].answer.times = times - 1
                }
            }
            return answer
        }
        return nil
    }

    private mutating func forgetExpired(_ now: UInt64) {
        guard conditions.contains(where: { $0.expiresAt.map { $0 <= now } ?? false }) else { return }
        let before = conditions.count
        conditions.removeAll { $0.expiresAt.map { $0 <= now } ?? false }
        count -= before - conditions.count
    }

    private mutating func takeExact(_ token: String) -> ScriptedAnswer? {
        guard var queue = exact[token], let answer = queue.first else { return nil }
        if let times = answer.times, times > 1 {
            queue[0].times = times - 1
        } else if answer.times == 1 || queue.count > 1 {
            // An answer without `times` ends as soon as a newer one follows it.
            queue.removeFirst()
            count -= 1
            if answer.times == nil {
                exact[token] = queue
                return takeExact(token)
            }
        }
        exact[token] = queue.isEmpty ? nil : queue
        return answer
    }
}

extension Duration {
    /// Whole nanoseconds, at least 0 and at most 2^63.
    var nanoseconds: UInt64 {
        let parts = components
        guard parts.seconds >= 0, parts.seconds < 9_000_000_000 else { return parts.seconds < 0 ? 0 : 1 << 62 }
        return UInt64(parts.seconds) * 1_000_000_000 + UInt64(max(0, parts.attoseconds) / 1_000_000_000)
    }
}
