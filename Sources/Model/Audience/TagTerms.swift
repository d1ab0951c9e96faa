/// A tag expression as a union of terms, each of which states whether certain tags are present. A database can evaluate a term with two numbers.
///
/// Each tag is a bit. A set of tags matches when its bits agree with the `wants` of one term wherever its `cares` has a bit. Of the expression's text, only
/// the tags reach a statement, as parameters.
package struct TagTerms: Sendable, Hashable {
    package struct Term: Sendable, Hashable {
        package var cares: UInt64
        /// A subset of `cares`.
        package var wants: UInt64

        /// The conjunction of both; nil if they contradict each other.
        func joined(_ other: Term) -> Term? {
            guard cares & other.cares & (wants ^ other.wants) == 0 else { return nil }
            return Term(cares: cares | other.cares, wants: wants | other.wants)
        }

        /// Whether `other` matches everything that `self` matches.
        func isCovered(by other: Term) -> Bool {
            other.cares & cares == other.cares && wants & other.cares == other.wants
        }
    }

    /// 62 tags: their bits fit into one `bigint`, whose sign bit stays unused.
    package static let tagLimit = 62
    /// 64 terms: each examined identity is compared with each term. Six tags produce at most nine terms, twenty in a union produce twenty.
    package static let termLimit = 64

    /// Distinct tags, in the order of their bits.
    package let tags: [Tag]
    /// If empty, nothing matches.
    package let terms: [Term]

    /// Converts an expression to terms. Returns nil when the limits are exceeded.
    package init?(_ expression: TagExpression) {
        var places: [Tag: Int] = [:]
        Self.collect(expression.root, &places)
        guard places.count <= Self.tagLimit, let terms = Self.terms(expression.root, isNegated: false, places) else {
            return nil
        }
        tags = places.sorted { $0.value < $1.value }.map(\.key)
        self.terms = terms
    }

    /// A smallest set of tags such that every match has at least one of them. Nil when a target without any of the tags can match.
    package var anchors: [Tag]? {
        var open = terms
        var anchors: [Tag] = []
        while let first = open.first {
            // The tag of the term that most of the other terms also want. A term that wants no tag can match any target.
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

    /// Moves negations down to the tags (De Morgan), so that only unions and intersections remain.
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

    /// Removes the terms that another term covers.
    private static func reduced(_ terms: [Term]) -> [Term] {
        var kept: [Term] = []
        for term in terms where !kept.contains(where: term.isCovered) {
            kept.removeAll { $0.isCovered(by: term) }
            kept.append(term)
        }
        return kept
    }
}
