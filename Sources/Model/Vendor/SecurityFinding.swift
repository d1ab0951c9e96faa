/// A weak point of an installation.
package struct SecurityFinding: Sendable, Hashable {
    package var level: RiskLevel
    /// The node, a key (`acme key backend`), or a binding (`acme/shop rationalowl`).
    package var place: String
    /// The setting and its value.
    package var finding: String
    /// The possible harm, in one sentence.
    package var consequence: String
    /// The change that closes it, in one sentence.
    package var remedy: String

    package init(level: RiskLevel, place: String, finding: String, consequence: String, remedy: String) {
        self.level = level
        self.place = place
        self.finding = finding
        self.consequence = consequence
        self.remedy = remedy
    }

    package var json: JSON {
        [
            "level": .string(level.rawValue), "place": .string(place), "finding": .string(finding),
            "risk": .string(consequence), "remedy": .string(remedy),
        ]
    }
}
