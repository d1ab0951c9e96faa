import TestKit
import Testing

@testable import Model

/// The Testing module also has a type `Tag`.
private typealias Tag = Model.Tag

/// The two numbers that the database evaluates are equivalent to the expression.
@Suite struct TagTermsTests {
    private func terms(_ text: String) throws -> TagTerms { try #require(TagTerms(try TagExpression(text))) }

    private func matches(_ terms: TagTerms, _ tags: Set<Tag>) -> Bool {
        let bits = terms.tags.indices.reduce(0 as UInt64) { tags.contains(terms.tags[$1]) ? $0 | 1 << UInt64($1) : $0 }
        return terms.terms.contains { bits & $0.cares == $0.wants }
    }

    @Test func termsAreEquivalentToTheExpression() throws {
        let all = RandomTags.names.compactMap { Tag($0) }
        let subsets = (0..<(1 << all.count)).map { bits in
            Set(all.indices.filter { bits & 1 << $0 != 0 }.map { all[$0] })
        }
        for seed in 1...500 as ClosedRange<UInt64> {
            var random = RandomTags(seed: seed)
            let text = random.expression()
            let expression = try TagExpression(text)
            let terms = try terms(text)
            // Nine is the maximum number of terms of six tags.
            #expect(terms.terms.count <= 9, "\(text)")
            for tags in subsets {
                let isMeant = expression.matches(tags)
                #expect(matches(terms, tags) == isMeant, "\(text) of \(tags)")
                if isMeant, let anchors = terms.anchors {
                    #expect(!tags.isDisjoint(with: anchors), "\(text): \(tags) without \(anchors)")
                }
            }
            #expect((terms.anchors == nil) == expression.matches([]), "\(text)")
        }
    }

    @Test func anchorsAreMinimal() throws {
        #expect(try terms("(a || b || c) && d").anchors == [try #require(Tag("d"))])
        #expect(try terms("a || b").anchors?.count == 2)
        #expect(try terms("a && !b").anchors == [try #require(Tag("a"))])
        #expect(try terms("!a").anchors == nil)
        #expect(try terms("a || !b").anchors == nil)
    }

    @Test func contradictionsMatchNoIdentity() throws {
        let terms = try terms("a && !a")
        #expect(terms.terms.isEmpty && terms.anchors == [])
    }

    @Test func coveredTermsAreLeftOut() throws {
        #expect(try terms("a || a && b").terms.count == 1)
        #expect(try terms("a || a").terms.count == 1)
    }

    // Ten pairs are a thousand terms, and each identity would be compared with each of them.
    @Test func anExpressionWithTooManyTermsIsRefused() throws {
        let pairs = (0..<10).map { "(x\($0) || y\($0))" }.joined(separator: " && ")
        let limits = TagExpression.Limits(tagsInUnion: 100, tags: 100)
        #expect(TagTerms(try TagExpression(pairs, limits: limits)) == nil)
        let many = (0..<63).map { "t\($0)" }.joined(separator: " || ")
        #expect(TagTerms(try TagExpression(many, limits: limits)) == nil)
    }
}
