package import Model

/// Tag expressions and sets of tags, the same for the same seed.
package struct RandomTags: Sendable {
    package var random: SplitMix
    /// Few tags, so that sets and expressions overlap.
    package static let names = ["a", "b", "c", "서울", "$UserId:Kim", "f"]

    package init(seed: UInt64) { random = SplitMix(state: seed) }

    /// A set of some of the tags.
    package mutating func tags() -> [Tag] {
        Self.names.filter { _ in Bool.random(using: &random) }.compactMap { Tag($0) }
    }

    /// An expression of at most six tags, with parentheses and negations of every kind.
    package mutating func expression() -> String { expression(tagCount: Int.random(in: 1...6, using: &random)) }

    private mutating func expression(tagCount: Int) -> String {
        let negation = Int.random(in: 0..<4, using: &random) == 0 ? "!" : ""
        guard tagCount > 1 else { return negation + (Self.names.randomElement(using: &random) ?? "a") }
        let left = Int.random(in: 1..<tagCount, using: &random)
        let joint = Bool.random(using: &random) ? "&&" : "||"
        return "\(negation)(\(expression(tagCount: left)) \(joint) \(expression(tagCount: tagCount - left)))"
    }
}
