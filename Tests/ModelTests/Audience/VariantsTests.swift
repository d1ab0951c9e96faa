import TestKit
import Testing

@testable import Model

/// Variants: a query of the index must include every match.
struct VariantsTests {
    private static let names = ["a", "b", "c", "d"].compactMap { Tag($0) }

    private static func sets(_ number: Int) -> Set<Model.Tag> {
        Set(names.enumerated().filter { number & 1 << $0.offset != 0 }.map(\.element))
    }

    @Test(arguments: [
        "a", "!a", "a && b", "a || !b", "!(a && b)", "(a || b) && !(c || d)", "!(!a || b)", "a && (b || c) && !d",
        "!(!(!a))",
    ])
    func identitiesWithAMatchingVariantAreCandidates(_ text: String) throws {
        let expression = try TagExpression(text)
        let terms = try #require(TagTerms(expression))
        let wide = expression.overVariants
        var meant = 0
        for own in 0..<16 {
            for theirs in 0..<16 {
                let (identity, variant) = (Self.sets(own), Self.sets(theirs))
                let matches = expression.matches(identity.union(variant))
                #expect(terms.matches(identity.union(variant)) == matches)
                guard matches else { continue }
                meant += 1
                // The other variants have every tag, and must not hide this one.
                let listed = identity.union(Self.names.map { .ofVariant($0) })
                #expect(wide.matches(listed.union([.hasVariants])))
                #expect(!wide.matches(listed), "without variants")
            }
        }
        #expect(meant > 0)
    }

    @Test func aVariantsTagDoesNotBelongToItsIdentity() throws {
        let a = try #require(Tag("a"))
        #expect(try !TagExpression("a").matches([.ofVariant(a)]))
        #expect(try TagExpression("a").overVariants.matches([.ofVariant(a), .hasVariants]))
    }

    @Test func termsAreReadBackFromTheirRow() throws {
        let terms = try #require(
            TagTerms(try TagExpression("$UserId:{Mi} && (a || !b)").narrowed(to: Tag(Platform.ios)))
        )
        #expect(TagTerms(terms.json) == terms)
        #expect(TagTerms(["tags": ["a"], "cares": [1], "wants": []]) == nil)
        #expect(TagTerms("x") == nil)
    }

    /// Six tags and twenty variants stay within the limits of a query (`TagTerms`), also if each is looked up in two
    /// places.
    @Test(arguments: [
        "a && b && c && d && e && f", "(a || b) && (c || d) && (e || f)", "(a || b || c) && (d || e || f)",
        (1...20).map { "t\($0)" }.joined(separator: " || "),
    ])
    func theWidestExpressionsHaveTerms(_ text: String) throws {
        #expect(TagTerms(try TagExpression(text).overVariants.narrowed(to: Tag(Platform.ios))) != nil)
    }
}
