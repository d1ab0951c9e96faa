/// An expression of tags that selects targets: `(follows_RedSox || follows_Cardinals) && !location_Boston`.
///
/// `!` binds tighter than `&&`, and `&&` tighter than `||`. A target without any tag satisfies `!a`. Plain tags are compared without case, the values of
/// `$UserId:{…}` and `$InstallationId:{…}` with it (docs/contracts/notificationhubs.md#6), so tags are stored in folded form: see `Tag`.
package struct TagExpression: Sendable, Hashable {
    /// A parsed expression. Its depth is that of its parentheses, which `Limits.depth` limits.
    package indirect enum Node: Sendable, Hashable {
        case tag(Tag)
        case not(Node)
        /// Two or more.
        case all([Node])
        /// Two or more.
        case any([Node])
    }

    /// The limits of an expression.
    package struct Limits: Sendable, Hashable {
        /// The maximum number of tags that are joined only by `||`. 20: docs/contracts/notificationhubs.md#6.
        package var tagsInUnion: Int
        /// The maximum number of tags in any other expression. 6: docs/contracts/notificationhubs.md#6.
        package var tags: Int
        /// The maximum size in bytes. 8 KiB: docs/contracts/notificationhubs.md#6.
        package var bytes: Int
        /// The maximum nesting of parentheses and negations. 32: more is unreadable, and it is harmless to the stack.
        package var depth: Int

        package init(tagsInUnion: Int = 20, tags: Int = 6, bytes: Int = 8192, depth: Int = 32) {
            self.tagsInUnion = tagsInUnion
            self.tags = tags
            self.bytes = bytes
            self.depth = depth
        }
    }

    /// Why a text is not a valid expression, and where.
    package struct Fault: Error, Sendable, Hashable {
        package enum Code: Sendable, Hashable {
            case empty
            case tooLong
            /// A character that occurs neither in tags nor in operators.
            case character
            /// Another element was expected: a tag, an operator, a closing parenthesis.
            case syntax
            case tooDeep
            case tooManyTags
        }

        package var code: Code
        /// The position in Unicode scalars from the beginning of the text.
        package var offset: Int

        package init(code: Code, offset: Int) {
            self.code = code
            self.offset = offset
        }
    }

    package let root: Node
    /// The number of tags as written, including repetitions.
    package let tagCount: Int

    /// - Throws: `Fault`.
    package init(_ text: String, limits: Limits = Limits()) throws(Fault) {
        var parser = try TagParser(text, limits: limits)
        root = try parser.expression()
        tagCount = parser.tagCount
        let limit = parser.isUnion ? limits.tagsInUnion : limits.tags
        guard tagCount <= limit else { throw Fault(code: .tooManyTags, offset: 0) }
    }

    /// Selects the targets with `tag`.
    package init(_ tag: Tag) {
        root = .tag(tag)
        tagCount = 1
    }

    init(root: Node, tagCount: Int) {
        self.root = root
        self.tagCount = tagCount
    }

    /// Selects those of the targets that have `tag`. The tag does not count towards the limits, because the caller did not write it.
    package func narrowed(to tag: Tag) -> TagExpression {
        TagExpression(root: .all([.tag(tag), root]), tagCount: tagCount + 1)
    }

    /// Selects those of the targets that do not have `tag`. The tag does not count towards the limits either.
    package func excluding(_ tag: Tag) -> TagExpression {
        TagExpression(root: .all([root, .not(.tag(tag))]), tagCount: tagCount + 1)
    }
}
