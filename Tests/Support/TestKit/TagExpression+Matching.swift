package import Model

extension TagExpression {
    /// Whether a target with exactly these tags matches: the meaning of an expression, which the product leaves to the database.
    package func matches(_ tags: Set<Tag>) -> Bool { Self.matches(root, tags) }

    private static func matches(_ node: Node, _ tags: Set<Tag>) -> Bool {
        switch node {
        case .tag(let tag): tags.contains(tag)
        case .not(let inner): !matches(inner, tags)
        case .all(let parts): parts.allSatisfy { matches($0, tags) }
        case .any(let parts): parts.contains { matches($0, tags) }
        }
    }
}
