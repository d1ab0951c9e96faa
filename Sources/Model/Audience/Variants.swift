/// Targets that are a part of an identity: one device that receives several variants of a message, each with its own tags (docs/contracts/notificationhubs.md#5.6).
///
/// An identity lists them in its attributes, by name with their folded tags; a message for variants (`Content.variants`) has one target for each that
/// it means, and so may ring a device once for each.
package enum Variants {
    /// The key of the attributes: `{"name": ["tag", …], …}`.
    package static let attribute = "variants"
    /// 20 per identity: a slice that begins with 25 identities ends with 500 targets.
    package static let limit = 20

    /// What an identity with these attributes has, in the order of names.
    package static func of(_ attributes: JSONObject) -> [(name: String, tags: Set<Tag>)] {
        let listed = attributes[attribute]?.object ?? JSONObject()
        return listed.pairs.map { name, tags in
            (name, Set((tags.array ?? []).compactMap { $0.string.map { Tag(stored: $0) } }))
        }.sorted { $0.name < $1.name }
    }
}

extension Tag {
    /// What is stored, which is folded already.
    init(stored text: String) { self.text = text }

    /// What an identity with variants has, so that an expansion passes over all others.
    package static let hasVariants = Tag(stored: "$Variant")

    /// What an identity has that is nothing but its variants: only messages for those mean it.
    package static let onlyVariants = Tag(stored: "$VariantsOnly")

    /// What an identity has of which a variant has `tag`.
    package static func ofVariant(_ tag: Tag) -> Tag { Tag(stored: "$Variant:\(tag.text)") }
}

extension TagExpression {
    /// Whoever may have a variant that is meant: its own tags or its variants' satisfy what is asked. Wider than the truth, which
    /// needs the tags of each variant together; what must not be there is only looked for on the identity, whose tags all its variants have.
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
    /// As a row keeps it: `{"tags": […], "cares": […], "wants": […]}`.
    package var json: JSON {
        .pairs([
            "tags": .array(tags.map { .string($0.text) }), "cares": .array(terms.map { .int($0.cares) }),
            "wants": .array(terms.map { .int($0.wants) }),
        ])
    }

    /// What a row keeps; nil for anything else.
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
