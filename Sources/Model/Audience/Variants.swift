/// Targets that are part of an identity: one device that receives several variants of a message, each with its own tags
/// (docs/contracts/notificationhubs.md#5.6).
///
/// An identity lists them in its attributes, by name with their folded tags. A message for variants (`Content.variants`) has one target for each matching
/// variant, so it may notify a device once for each.
package enum Variants {
    /// The key of the attributes: `{"name": ["tag", …], …}`.
    package static let attribute = "variants"
    /// 20 per identity: a slice that begins with 25 identities has at most 500 targets.
    package static let limit = 20
}

extension Tag {
    /// Makes a tag of a stored text, which is folded already.
    init(stored text: String) { self.text = text }

    /// The tag of identities that have variants, so that an expansion skips all others.
    package static let hasVariants = Tag(stored: "$Variant")

    /// The tag of identities that consist only of their variants: only messages for variants match them.
    package static let onlyVariants = Tag(stored: "$VariantsOnly")

    /// The tag of identities of which a variant has `tag`.
    package static func ofVariant(_ tag: Tag) -> Tag { Tag(stored: "$Variant:\(tag.text)") }

    /// A tag in an exported device, which may be one that only the gateway sets.
    package init?(exported text: String) {
        if let tag = Tag(text) {
            self = tag
            return
        }
        let own = Platform.allCases.map { Tag($0) } + [.hasVariants, .onlyVariants]
        let prefix = "$Variant:"
        let inner = text.hasPrefix(prefix) ? Tag(text.dropFirst(prefix.count)) : nil
        guard own.contains(where: { $0.text == text }) || inner.map({ Tag.ofVariant($0).text == text }) ?? false else {
            return nil
        }
        self = Tag(stored: text)
    }
}

extension TagExpression {
    /// Matches identities that may have a matching variant: the expression is satisfied by the tags of the identity or of its variants. It may match too many,
    /// because an exact result needs the tags of each variant together. Excluded tags are checked only on the identity, whose tags all its variants have.
    package var overVariants: TagExpression {
        TagExpression(root: Self.widened(root, isNegated: false), tagCount: tagCount).narrowed(to: .hasVariants)
    }

    private static func widened(_ node: Node, isNegated: Bool) -> Node {
        switch node {
        case .tag(let tag): isNegated ? node : .any([node, .tag(.ofVariant(tag))])
        case .not(let inner): .not(widened(inner, isNegated: !isNegated))
        case .all(let parts): .all(parts.map { widened($0, isNegated: isNegated) })
        case .any(let parts): .any(parts.map { widened($0, isNegated: isNegated) })
        }
    }
}

extension TagTerms {
    /// The JSON of a row: `{"tags": […], "cares": […], "wants": […]}`.
    package var json: JSON {
        .pairs([
            "tags": .array(tags.map { .string($0.text) }), "cares": .array(terms.map { .int($0.cares) }),
            "wants": .array(terms.map { .int($0.wants) }),
        ])
    }

    /// Reads the JSON of a row. Returns nil for any other JSON.
    package init?(_ json: JSON) {
        guard let tags = json["tags"]?.array, let cares = json["cares"]?.array, let wants = json["wants"]?.array,
            cares.count == wants.count, tags.count <= Self.tagLimit, cares.count <= Self.termLimit
        else { return nil }
        self.tags = tags.compactMap { $0.string.map { Tag(stored: $0) } }
        terms = zip(cares, wants).compactMap { cares, wants in
            guard let cares = cares.int, let wants = wants.int else { return nil }
            return Term(cares: UInt64(bitPattern: cares), wants: UInt64(bitPattern: wants))
        }
    }
}
