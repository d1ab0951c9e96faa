/// A tag expression as a choice of terms, each of which says of some tags whether they are there: what a database can judge by two numbers.
///
/// Each tag is a bit. A set of tags is meant when, for one term, its bits agree with `wants` wherever `cares` has a bit. Nothing of the expression's
/// text reaches a statement but its tags, as values.
package struct TagTerms: Sendable, Hashable {
    package struct Term: Sendable, Hashable {
        package var cares: UInt64
        /// A part of `cares`.
        package var wants: UInt64

        /// Both; nil where they contradict each other.
        func joined(_ other: Term) -> Term? {
            guard cares & other.cares & (wants ^ other.wants) == 0 else { return nil }
            return Term(cares: cares | other.cares, wants: wants | other.wants)
        }

        /// Whether whatever `self` means, `other` means too.
        func isCovered(by other: Term) -> Bool {
            other.cares & cares == other.cares && wants & other.cares == other.wants
        }
    }

    /// 62 tags: their bits are one `bigint`, whose sign stays free.
    package static let tagLimit = 62
    /// 64 terms: each identity that is looked at is held against each. Six tags make nine at most, twenty in a union twenty.
    package static let termLimit = 64

    /// Distinct, in the order of their bits.
    package let tags: [Tag]
    /// None: nobody is meant.
    package let terms: [Term]

    /// The terms of an expression; nil when there would be more than the limits.
    package init?(_ expression: TagExpression) {
        var places: [Tag: Int] = [:]
        Self.collect(expression.root, &places)
        guard places.count <= Self.tagLimit, let terms = Self.terms(expression.root, isNegated: false, places) else {
            return nil
        }
        tags = places.sorted { $0.value < $1.value }.map(\.key)
        self.terms = terms
    }

    /// Whether a target with exactly these tags is meant.
    package func matches(_ own: Set<Tag>) -> Bool {
        let bits = tags.enumerated().reduce(UInt64(0)) { $0 | (own.contains($1.element) ? 1 << UInt64($1.offset) : 0) }
        return terms.contains { bits & $0.cares == $0.wants }
    }

    /// As few tags as possible, one of which everybody has who is meant; nil when somebody is meant who has none of the tags.
    package var anchors: [Tag]? {
        var open = terms
        var anchors: [Tag] = []
        while let first = open.first {
            // The one of its tags that most of the other terms want too; a term that wants none is open to anybody.
            let bits = tags.indices.map { 1 << UInt64($0) }.filter { first.wants & $0 != 0 }
            let shares = bits.map { bit in open.count { $0.wants & bit != 0 } }
            guard let best = zip(bits, shares).max(by: { $0.1 < $1.1 })?.0 else { return nil }
            anchors.append(tags[best.trailingZeroBitCount])
            open.removeAll { $0.wants & best != 0 }
        }
        return anchors
    }

    private static func collect(_ node: TagExpression.Node, _ places: inout [Tag: Int]) {
        switch node {
        case .tag(let tag): if places[tag] == nil { places[tag] = places.count }
        case .not(let inner): collect(inner, &places)
        case .all(let parts), .any(let parts): for part in parts { collect(part, &places) }
        }
    }

    /// Negations move down to the tags on the way (De Morgan), so that only unions and intersections are left.
    private static func terms(_ node: TagExpression.Node, isNegated: Bool, _ places: [Tag: Int]) -> [Term]? {
        switch (node, isNegated) {
        case (.tag(let tag), _):
            let bit: UInt64 = 1 << UInt64(places[tag] ?? 0)
            return [Term(cares: bit, wants: isNegated ? 0 : bit)]
        case (.not(let inner), _): return terms(inner, isNegated: !isNegated, places)
        case (.any(let parts), false), (.all(let parts), true): return union(parts, isNegated, places)
        case (.all(let parts), false), (.any(let parts), true): return intersection(parts, isNegated, places)
        }
    }

    private static func union(_ parts: [TagExpression.Node], _ isNegated: Bool, _ places: [Tag: Int]) -> [Term]? {
        var all: [Term] = []
        for part in parts {
            guard let terms = terms(part, isNegated: isNegated, places) else { return nil }
            all = reduced(all + terms)
            guard all.count <= termLimit else { return nil }
        }
        return all
    }

    private static func intersection(_ parts: [TagExpression.Node], _ isNegated: Bool, _ places: [Tag: Int])
        -> [Term]?
    {
        var all = [Term(cares: 0, wants: 0)]
        for part in parts {
            guard let terms = terms(part, isNegated: isNegated, places) else { return nil }
            all = reduced(all.flatMap { left in terms.compactMap { left.joined($0) } })
            guard all.count <= termLimit else { return nil }
        }
        return all
    }

    /// Without what another term covers.
    private static func reduced(_ terms: [Term]) -> [Term] {
        var kept: [Term] = []
        for term in terms where !kept.contains(where: term.isCovered) {
            kept.removeAll { $0.isCovered(by: term) }
            kept.append(term)
        }
        return kept
    }
}
