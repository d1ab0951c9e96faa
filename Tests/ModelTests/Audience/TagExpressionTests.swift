import Model
import TestKit
import Testing

/// docs/contracts/notificationhubs.md#6.
@Suite struct TagExpressionTests {
    private func matches(_ text: String, _ tags: [String]) throws -> Bool {
        try TagExpression(text).matches(Set(tags.compactMap { Tag($0) }))
    }

    /// The complete table of test vectors (docs/contracts/notificationhubs.md#6).
    @Test(arguments: [
        ("seoul", ["Seoul"], true), ("a && !b", ["a"], true), ("a && !b", ["a", "b"], false),
        ("(a || b) && c", ["b", "c"], true), ("(a || b) && c", ["a", "b"], false), ("a || b && c", ["a"], true),
        ("!(a || b)", [], true), ("$InstallationId:{5d9c} && news", ["$InstallationId:{5d9c}", "news"], true),
        ("$UserId:u-1", ["$UserId:{u-1}"], true),
    ])
    func documentedVectorHolds(_ text: String, _ tags: [String], _ expected: Bool) throws {
        #expect(try matches(text, tags) == expected)
    }

    @Test func valuesOfSystemTagsCompareWithCaseAndTheirNamesWithout() throws {
        #expect(try matches("$userid:{Kim}", ["$UserId:Kim"]))
        #expect(try !matches("$UserId:{kim}", ["$UserId:{Kim}"]))
        #expect(try matches("$InstallationId:{a=b}", ["$InstallationId:{a=b}"]))
    }

    @Test func lettersOfEveryScriptAreTags() throws {
        #expect(try matches("서울 && !부산", ["서울"]))
        #expect(Tag(String(repeating: "가", count: 120)) != nil)
        #expect(Tag(String(repeating: "가", count: 121)) == nil)
    }

    @Test func unionMayHaveTwentyTagsAndAnythingElseSix() throws {
        let twenty = (1...20).map { "t\($0)" }
        #expect(try TagExpression(twenty.joined(separator: " || ")).tagCount == 20)
        for text in [
            (twenty + ["x"]).joined(separator: "||"), (1...7).map { "t\($0)" }.joined(separator: "&&"),
            "!" + twenty.prefix(7).joined(separator: "||"),
        ] {
            #expect(throws: TagExpression.Fault(code: .tooManyTags, offset: 0)) { try TagExpression(text) }
        }
        #expect(try TagExpression((1...6).map { "t\($0)" }.joined(separator: "&&")).tagCount == 6)
    }

    @Test(arguments: [
        ("", TagExpression.Fault.Code.empty, 0), (" \t\r\n", .empty, 0), ("seoul && && vip", .syntax, 9),
        ("a &", .syntax, 2),
        ("a | b", .syntax, 2), ("(a", .syntax, 2), ("a)", .syntax, 1), ("a b", .syntax, 2), ("a && ?", .character, 5),
        ("$Group:{x}", .character, 0), ("$UserId:{}", .character, 0), ("a=b", .syntax, 1), ("!", .syntax, 1),
    ])
    func faultNamesItsKindAndPosition(_ text: String, _ code: TagExpression.Fault.Code, _ offset: Int) {
        #expect(throws: TagExpression.Fault(code: code, offset: offset)) { try TagExpression(text) }
    }

    @Test func depthAndLengthAreBoundedBeforeParsing() {
        let deep = String(repeating: "(", count: 4000) + "a" + String(repeating: ")", count: 4000)
        #expect(throws: TagExpression.Fault(code: .tooDeep, offset: 32)) { try TagExpression(deep) }
        #expect(throws: TagExpression.Fault(code: .tooDeep, offset: 32)) {
            try TagExpression(String(repeating: "!", count: 8000) + "a")
        }
        #expect(throws: TagExpression.Fault(code: .tooLong, offset: 0)) {
            try TagExpression(String(repeating: "a", count: 8193))
        }
    }
}
