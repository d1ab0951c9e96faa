import Model

/// The counts of answers.
struct LoadCounts: Sendable {
    /// Answers with status 200.
    var accepted = 0
    /// All other outcomes, by name.
    var others: [String: Int] = [:]
    /// The time from the first dial to the last answer.
    var seconds = 0.0

    /// Adds the counts of another task.
    mutating func add(_ other: LoadCounts) {
        accepted += other.accepted
        others.merge(other.others, uniquingKeysWith: +)
    }

    /// Counts the outcome of one push.
    mutating func count(_ outcome: Outcome) {
        switch outcome {
        case .accepted: accepted += 1
        case .rejected(let rejection): others["rejected \(rejection.reason)", default: 0] += 1
        case .deferred(let rejection, _): others["deferred \(rejection.reason)", default: 0] += 1
        case .unsent(let error): others["unsent \(error)", default: 0] += 1
        case .indeterminate(let error): others["indeterminate \(error)", default: 0] += 1
        }
    }

    /// One line of JSON for the runner.
    var json: String {
        let others = others.sorted { $0.key < $1.key }.map { #""\#($0.key)":\#($0.value)"# }.joined(separator: ",")
        let perSecond = seconds > 0 ? Int(Double(accepted) / seconds) : 0
        return #"{"accepted":\#(accepted),"seconds":\#(seconds),"perSecond":\#(perSecond),"others":{\#(others)}}"#
    }
}

extension Duration {
    /// The duration as a floating-point number of seconds.
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
