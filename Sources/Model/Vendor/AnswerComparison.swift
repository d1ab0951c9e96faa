/// Compares the gateway's answer to a call with the upstream's, by the names of fields. Pure, and bounded for every input.
///
/// The order of JSON does not count. A field with a name in `varying` must be in both answers, and may have any value: times, IDs that each side draws, counts that depend on
/// messages sent before the observation, and texts for people.
package struct AnswerComparison: Sendable {
    /// The name that stands for a different status.
    package static let status = "status"
    /// The name that stands for a body that has no fields to compare.
    package static let body = "body"
    /// 16 names of one answer say enough.
    package static let nameLimit = 16
    /// 32 levels and 64 elements of a list: no documented answer has more that differ in form.
    private static let depthLimit = 32
    private static let elementLimit = 64

    private let varying: Set<String>

    package init(varying: Set<String> = []) {
        self.varying = varying
    }

    /// The names of the fields that differ, each once; empty if the answers agree.
    package func differences(ours: VendorResponse, theirs: VendorResponse) -> [String] {
        var found = Findings()
        if ours.status != theirs.status { found.add(Self.status) }
        if ours.body == theirs.body { return found.names }
        if let own = try? JSONParser.parse(ours.body), let other = try? JSONParser.parse(theirs.body) {
            compare(own, other, "", 0, &found)
        } else {
            found.add(Self.body)
        }
        return found.names
    }

    private struct Findings {
        private(set) var names: [String] = []

        mutating func add(_ name: String) {
            guard names.count < AnswerComparison.nameLimit, !names.contains(name) else { return }
            names.append(name)
        }
    }

    private func compare(_ own: JSON, _ other: JSON, _ path: String, _ depth: Int, _ found: inout Findings) {
        guard depth < Self.depthLimit else { return }
        switch (own, other) {
        case (.object(let own), .object(let other)):
            for (key, value) in own.pairs {
                let name = path.isEmpty ? key : "\(path).\(key)"
                guard let theirs = other[key] else {
                    found.add(name)
                    continue
                }
                if !varying.contains(key) { compare(value, theirs, name, depth + 1, &found) }
            }
            for key in other.keys where own[key] == nil { found.add(path.isEmpty ? key : "\(path).\(key)") }
        case (.array(let own), .array(let other)):
            if own.count != other.count { found.add("\(path)[]") }
            for (mine, theirs) in zip(own, other).prefix(Self.elementLimit) {
                compare(mine, theirs, "\(path)[]", depth + 1, &found)
            }
        case (.number(let own), .number(let other)):
            // `1` and `1.0` are one number.
            if own != other, Double(own) != Double(other) { found.add(name(path)) }
        default:
            if own != other { found.add(name(path)) }
        }
    }

    private func name(_ path: String) -> String { path.isEmpty ? Self.body : path }
}
