/// Who is meant, said in tags: `(follows_RedSox || follows_Cardinals) && !location_Boston`.
///
/// `!` binds tighter than `&&`, that tighter than `||`. A target without any tag satisfies `!a`. Plain tags compare without case, the values of
/// `$UserId:{…}` and `$InstallationId:{…}` with it (docs/contracts/notificationhubs.md#6), so tags are kept folded: see `Tag`.
package struct TagExpression: Sendable, Hashable {
    /// A parsed expression. As deep as its parentheses, which `Limits.depth` bounds.
    package indirect enum Node: Sendable, Hashable {
        case tag(Tag)
        case not(Node)
        /// Two or more.
        case all([Node])
        /// Two or more.
        case any([Node])
    }

    /// What an expression may cost.
    package struct Limits: Sendable, Hashable {
        /// Tags where only `||` joins them. 20: docs/contracts/notificationhubs.md#6.
        package var tagsInUnion: Int
        /// Tags where anything else does. 6: docs/contracts/notificationhubs.md#6.
        package var tags: Int
        /// Bytes. 8 KiB: docs/contracts/notificationhubs.md#6.
        package var bytes: Int
        /// Parentheses and negations inside each other. 32: nobody reads more, and no stack feels it.
        package var depth: Int

        package init(tagsInUnion: Int = 20, tags: Int = 6, bytes: Int = 8192, depth: Int = 32) {
            self.tagsInUnion = tagsInUnion
            self.tags = tags
            self.bytes = bytes
            self.depth = depth
        }
    }

    /// Why a text is no expression, and where.
    package struct Fault: Error, Sendable, Hashable {
        package enum Code: Sendable, Hashable {
            case empty
            case tooLong
            /// A character that neither a tag nor an operator has.
            case character
            /// Something else was due: a tag, an operator, a closing parenthesis.
            case syntax
            case tooDeep
            case tooManyTags
        }

        package var code: Code
        /// Unicode scalars from the beginning of the text.
        package var offset: Int

        package init(code: Code, offset: Int) {
            self.code = code
            self.offset = offset
        }
    }

    package let root: Node
    /// Every tag as often as it is written.
    package let tagCount: Int

    /// - Throws: `Fault`.
    package init(_ text: String, limits: Limits = Limits()) throws(Fault) {
        var parser = try TagParser(text, limits: limits)
        root = try parser.expression()
        tagCount = parser.tagCount
        let limit = parser.isUnion ? limits.tagsInUnion : limits.tags
        guard tagCount <= limit else { throw Fault(code: .tooManyTags, offset: 0) }
    }

    /// Whoever has `tag`.
    package init(_ tag: Tag) {
        root = .tag(tag)
        tagCount = 1
    }

    init(root: Node, tagCount: Int) {
        self.root = root
        self.tagCount = tagCount
    }

    /// Those of them who have `tag`. What is written keeps its limits: this one is not the caller's.
    package func narrowed(to tag: Tag) -> TagExpression {
        TagExpression(root: .all([.tag(tag), root]), tagCount: tagCount + 1)
    }

    /// Those of them who do not have `tag`, which is not the caller's either.
    package func excluding(_ tag: Tag) -> TagExpression {
        TagExpression(root: .all([root, .not(.tag(tag))]), tagCount: tagCount + 1)
    }

    /// Whether a target with exactly these tags is meant.
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
