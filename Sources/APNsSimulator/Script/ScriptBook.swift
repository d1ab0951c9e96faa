/// The scripted answers that are due, by device token. A pure value; its owner locks it.
struct ScriptBook: Sendable {
    /// 200,000 tokens: a script file of some 20 MB. Above it the control port says no, so that it cannot fill the memory.
    static let largestCount = 200_000

    /// 1,000 prefixes: each push walks them one by one.
    static let largestPrefixCount = 1_000

    private var exact: [String: [ScriptedAnswer]] = [:]
    private var prefixes: [(prefix: String, answer: ScriptedAnswer)] = []
    private(set) var count = 0

    /// Whether nothing is scripted, so that the look-up can be left out.
    var isEmpty: Bool { count == 0 }

    /// Adds answers. For one token they are used up in the order they were given; the last one without `times` stays.
    ///
    /// - Throws: `SimulatorError` when there are too many; nothing is added then.
    mutating func add(_ answers: [ScriptedAnswer]) throws(SimulatorError) {
        let newPrefixes = answers.count { $0.token.hasSuffix("*") }
        guard count + answers.count <= Self.largestCount, prefixes.count + newPrefixes <= Self.largestPrefixCount else {
            throw SimulatorError(
                .script,
                "At most \(Self.largestCount) answers and \(Self.largestPrefixCount) prefixes can be scripted."
            )
        }
        for answer in answers {
            if answer.token.hasSuffix("*") {
                prefixes.append((answer.token.dropLast().lowercased(), answer))
            } else {
                exact[answer.token.lowercased(), default: []].append(answer)
            }
        }
        count += answers.count
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
