import Foundation
import Testing

@testable import APNsSimulator

@Suite struct ScriptBookTests {
    @Test func anAnswerWithoutTimesStays() throws {
        var book = ScriptBook()
        try book.add([ScriptedAnswer(token: "AB", status: 410)])
        for _ in 0..<3 { #expect(book.take("ab")?.status == 410) }
        #expect(book.take("cd") == nil)
    }

    @Test func answersOfOneTokenAreUsedUpInOrder() throws {
        var book = ScriptBook()
        try book.add([
            ScriptedAnswer(token: "ab", status: 503, times: 2), ScriptedAnswer(token: "ab", status: 429, times: 1),
        ])
        #expect((0..<4).map { _ in book.take("ab")?.status } == [503, 503, 429, nil])
        #expect(book.isEmpty)
    }

    @Test func aNewerAnswerReplacesOneWithoutEnd() throws {
        var book = ScriptBook()
        try book.add([ScriptedAnswer(token: "ab", status: 503)])
        try book.add([ScriptedAnswer(token: "ab", status: 410, times: 1)])
        #expect(book.take("ab")?.status == 410)
        #expect(book.take("ab") == nil)
    }

    @Test func theTokensOwnAnswerComesBeforeTheLongestPrefix() throws {
        var book = ScriptBook()
        try book.add([
            ScriptedAnswer(token: "*", status: 500), ScriptedAnswer(token: "ab*", status: 429, times: 1),
            ScriptedAnswer(token: "abcd", status: 410, times: 1),
        ])
        #expect((0..<3).map { _ in book.take("abcd")?.status } == [410, 429, 500])
    }

    @Test func tooManyAnswersAreRefusedCompletely() throws {
        var book = ScriptBook()
        let prefixes = (0...ScriptBook.largestPrefixCount).map { ScriptedAnswer(token: "\($0)*", status: 500) }
        #expect(throws: SimulatorError.self) { try book.add(prefixes) }
        #expect(book.isEmpty)
    }

    @Test(arguments: [
        ("{}", "a list"), (#"[{"status":410}]"#, "no token"), (#"[{"token":"ab"}]"#, "neither status nor fault"),
        (#"[{"token":"ab","status":410,"fault":"close"}]"#, "both"), (#"[{"token":"ab","status":99}]"#, "a status"),
        (#"[{"token":"ab","fault":"explode"}]"#, "a fault"),
        (#"[{"token":"ab","status":410,"tiems":1}]"#, "a typing error"),
        (#"[{"token":"ab","status":410,"times":0}]"#, "no times"), (#"[{"token":"","status":410}]"#, "an empty token"),
        (#"[{"token":"ab","fault":"reset","code":-1}]"#, "a negative code"),
        (#"[{"token":"ab","status":500,"latencyMs":99999999999}]"#, "a wait of years"),
    ])
    func malformedScriptsAreRefused(json: String, what: String) {
        #expect(throws: DecodingError.self, "\(what)") {
            try JSONDecoder().decode([ScriptedAnswer].self, from: Data(json.utf8))
        }
    }

    @Test func theJSONFormIsComplete() throws {
        let json = """
            [{"token":"ab","status":410,"reason":"ExpiredToken","timestamp":17,"times":2,"latencyMs":5,"retryAfter":9},
             {"token":"cd*","fault":"goaway","code":2,"reason":"IdleTimeout","processed":true,"delivered":true}]
            """
        let answers = try JSONDecoder().decode([ScriptedAnswer].self, from: Data(json.utf8))
        var first = ScriptedAnswer(token: "ab", status: 410, reason: "ExpiredToken", timestamp: 17, times: 2)
        first.latency = .milliseconds(5)
        first.retryAfter = 9
        let second = ScriptedAnswer(
            token: "cd*",
            fault: .goAway(code: 2, reason: "IdleTimeout", isProcessed: true),
            isDelivered: true
        )
        #expect(answers == [first, second])
    }
}
