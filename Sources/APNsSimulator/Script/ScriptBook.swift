/// The script entries that are due. A pure value; its owner locks it.
struct ScriptBook: Sendable {
    /// 200,000 tokens: a script file of some 20 MB. Above it the control port says no, so that it cannot fill the memory.
    static let largestCount = 200_000

    /// 1,000 prefixes: each push walks them one by one.
    static let largestPrefixCount = 1_000

    /// 200 entries with conditions: each push tries them one by one.
    static let largestConditionCount = 200

    /// An entry with more than a token in its selector.
    private struct Condition: Sendable {
        var answer: ScriptedAnswer
        /// How often the rest of the selector fitted, for `every`.
        var seen = 0
        /// When it ends; nil for never.
        var expiresAt: UInt64?
    }

    private var exact: [String: [ScriptedAnswer]] = [:]
    private var prefixes: [(prefix: String, answer: ScriptedAnswer)] = []
    private var conditions: [Condition] = []
    private var random: SplitMix64
    private(set) var count = 0

    /// An empty book whose dice fall as the seed says.
    init(seed: UInt64 = 1) {
        random = SplitMix64(seed: seed)
    }

    /// Whether nothing is scripted, so that the look-up can be left out.
    var isEmpty: Bool { count == 0 }

    /// Adds entries. For one token they are used up in the order they were given; the last one without `times` stays.
    ///
    /// - Parameters:
    ///   - answers: The entries, in order.
    ///   - now: Nanoseconds of the clock that `take` is asked by.
    /// - Throws: `SimulatorError` when there are too many; nothing is added then.
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

    /// Takes the entry that is due: one with conditions first, then the token's own, then the longest prefix's.
    mutating func take(_ occasion: ScriptOccasion) -> ScriptedAnswer? {
        guard !isEmpty else { return nil }
        if let answer = takeCondition(occasion) { return answer }
        return occasion.moment == .end ? take(occasion.token) : nil
    }

    /// Takes the answer that is due for a token: its own before a prefix's, the longest prefix first.
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
            // An answer without `times` gives way as soon as a newer one follows it.
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
    /// Whole nanoseconds, never negative and never above 2^63.
    var nanoseconds: UInt64 {
        let parts = components
        guard parts.seconds >= 0, parts.seconds < 9_000_000_000 else { return parts.seconds < 0 ? 0 : 1 << 62 }
        return UInt64(parts.seconds) * 1_000_000_000 + UInt64(max(0, parts.attoseconds) / 1_000_000_000)
    }
}
