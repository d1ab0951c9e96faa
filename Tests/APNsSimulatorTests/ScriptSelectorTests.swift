import Foundation
import Testing

@testable import APNsSimulator

/// The selectors of script entries (docs/simulator.md#the-script).
@Suite struct ScriptSelectorTests {
    @Test func aStreamSelectorMatchesThatRequestOfEveryConnection() throws {
        var book = try book(#"[{"stream":2,"status":503}]"#)
        #expect(book.take(.init(token: "ab", connection: 1, stream: 1)) == nil)
        #expect(book.take(.init(token: "ab", connection: 1, stream: 2))?.status == 503)
        #expect(book.take(.init(token: "ab", connection: 7, stream: 2))?.status == 503)
    }

    @Test func everyPartOfTheSelectorMustMatch() throws {
        var book = try book(#"[{"token":"ab*","connection":3,"stream":2,"status":503}]"#)
        #expect(book.take(.init(token: "abcd", connection: 3, stream: 1)) == nil)
        #expect(book.take(.init(token: "abcd", connection: 2, stream: 2)) == nil)
        #expect(book.take(.init(token: "cdef", connection: 3, stream: 2)) == nil)
        #expect(book.take(.init(token: "ABcd", connection: 3, stream: 2))?.status == 503)
    }

    @Test func everyCountsOnlyMatchingRequests() throws {
        var book = try book(#"[{"token":"ab*","every":3,"status":503}]"#)
        let taken = (1...9).map { _ in
            _ = book.take(.init(token: "cd"))
            return book.take(.init(token: "ab"))?.status
        }
        #expect(taken == [nil, nil, 503, nil, nil, 503, nil, nil, 503])
    }

    @Test func aShareIsDrawnFromTheSeed() throws {
        func taken(seed: UInt64) throws -> [Bool] {
            var book = try book(#"[{"share":0.25,"status":503}]"#, seed: seed)
            return (0..<4000).map { _ in book.take(.init(token: "ab")) != nil }
        }
        let first = try taken(seed: 1)
        #expect(try taken(seed: 1) == first)
        #expect(try taken(seed: 2) != first)
        #expect((900...1100).contains(first.filter { $0 }.count))
    }

    @Test func anEntryIsUsedUpByTimesAndByItsLifetime() throws {
        var book = try book(#"[{"share":1,"status":503,"times":2},{"share":1,"status":429,"forMs":100}]"#, now: 1_000)
        #expect((0..<3).map { _ in book.take(.init(token: "ab", now: 2_000))?.status } == [503, 503, 429])
        #expect(book.take(.init(token: "ab", now: 100_001_000)) == nil)
        #expect(book.isEmpty)
    }

    @Test func eventsAreSelectedSeparately() throws {
        var book = try book(
            """
            [{"connection":"*","fault":"close"},{"connection":"*","fault":"slowHandshake","latencyMs":5},
             {"share":1,"at":"headers","fault":"reset"},{"token":"ab","status":410}]
            """
        )
        #expect(book.take(.init(connection: 1, moment: .accept))?.fault == .slowHandshake(.milliseconds(5)))
        #expect(book.take(.init(connection: 1, moment: .open))?.fault == .close)
        #expect(book.take(.init(token: "ab", moment: .headers))?.fault == .reset(code: 7))
        #expect(book.take(.init(token: "ab", moment: .end))?.status == 410)
        #expect(book.take(.init(token: "cd", moment: .end)) == nil)
    }

    @Test func conditionsComeBeforeTheTokensOwnAnswers() throws {
        var book = try book(#"[{"token":"ab","status":410},{"share":1,"status":503,"times":1}]"#)
        #expect((0..<2).map { _ in book.take(.init(token: "ab"))?.status } == [503, 410])
    }

    @Test func tooManyConditionsAreRefusedCompletely() throws {
        var book = ScriptBook()
        let entry = ScriptedAnswer(ScriptSelector(stream: 1), fault: .close)
        #expect(throws: SimulatorError.self) {
            try book.add(Array(repeating: entry, count: ScriptBook.largestConditionCount + 1))
        }
        #expect(book.isEmpty)
    }

    /// Every form in docs/simulator.md.
    @Test(arguments: [
        (#"{"token":"a","fault":"reset"}"#, Fault.reset(code: 7)),
        (#"{"token":"a","fault":"reset","code":2}"#, .reset(code: 2)),
        (#"{"token":"a","fault":"goaway"}"#, .goingAway(GoAwayFault())),
        (#"{"token":"a","fault":"goaway","processed":true}"#, .goingAway(GoAwayFault(lastStream: .this))),
        (
            #"{"share":0.1,"fault":"goaway","code":11,"text":"","lastStream":"zero","twice":"same","then":"tcpReset"}"#,
            .goingAway(GoAwayFault(code: 11, debugText: "", lastStream: .zero, repetition: .same, ending: .tcpReset))
        ),
        (
            #"{"every":9,"fault":"goaway","reason":"IdleTimeout","lastStream":"max","twice":"graceful","then":"drain"}"#,
            .goingAway(
                GoAwayFault(
                    debugText: #"{"reason":"IdleTimeout"}"#,
                    lastStream: .max,
                    repetition: .graceful,
                    ending: .drain
                )
            )
        ),
        (#"{"token":"a","fault":"silence"}"#, .silence), (#"{"token":"a","fault":"close"}"#, .close),
        (#"{"token":"a","fault":"tcpReset"}"#, .tcpReset), (#"{"token":"a","fault":"half"}"#, .half(then: .close)),
        (#"{"token":"a","fault":"half","then":"stay"}"#, .half(then: .stay)),
        (#"{"token":"a","fault":"tlsAlert"}"#, .tlsAlert(code: nil)),
        (#"{"connection":"*","at":"accept","fault":"tlsAlert","code":48}"#, .tlsAlert(code: 48)),
        (#"{"token":"a","fault":"freeze"}"#, .freeze(until: nil)),
        (#"{"token":"a","fault":"freeze","restoreMs":20}"#, .freeze(until: .milliseconds(20))),
        (
            #"{"token":"a","fault":"settings","streams":3,"restoreMs":20,"refuse":true}"#,
            .settings(StreamLimitChange(streams: 3, restoredAfter: .milliseconds(20), refusesStreamsAbove: true))
        ),
        (#"{"token":"a","fault":"settings"}"#, .settings(StreamLimitChange(streams: 1))),
        (
            #"{"token":"a","fault":"starve","windowBytes":10,"restoreMs":20}"#,
            .starve(windowBytes: 10, until: .milliseconds(20))
        ),
        (#"{"token":"a","fault":"raw","bytes":"00ff7F"}"#, .raw([0, 255, 127])),
        (#"{"token":"a","fault":"shutdown"}"#, .shutDown),
        (#"{"connection":1,"fault":"slowHandshake","latencyMs":9}"#, .slowHandshake(.milliseconds(9))),
    ])
    func everyFaultHasItsForm(json: String, fault: Fault) throws {
        let entry = try JSONDecoder().decode(ScriptedAnswer.self, from: Data(json.utf8))
        #expect(entry.fault == fault)
        #expect(entry.fault?.name == fault.name)
    }

    @Test(arguments: [
        #"{"connection":0,"fault":"close"}"#, #"{"connection":"one","fault":"close"}"#, #"{"stream":0,"status":500}"#,
        #"{"every":0,"status":500}"#, #"{"share":0,"status":500}"#, #"{"share":1.5,"status":500}"#,
        #"{"share":1,"status":500,"forMs":0}"#, #"{"share":1,"at":"later","fault":"close"}"#,
        #"{"connection":"*","status":500}"#, #"{"connection":"*","fault":"reset"}"#,
        #"{"connection":"*","token":"a","at":"open","fault":"close"}"#,
        #"{"connection":"*","at":"accept","fault":"goaway"}"#,
        #"{"token":"a","fault":"slowHandshake","at":"end"}"#, #"{"token":"a","at":"headers","status":500}"#,
        #"{"token":"a","fault":"goaway","reason":"x","text":"y"}"#, #"{"token":"a","fault":"goaway","lastStream":"7"}"#,
        #"{"token":"a","fault":"goaway","then":"never"}"#, #"{"token":"a","fault":"raw"}"#,
        #"{"token":"a","fault":"raw","bytes":"0"}"#, #"{"token":"a","fault":"raw","bytes":"zz"}"#,
        #"{"token":"a","fault":"tlsAlert","code":256}"#, #"{"token":"a","fault":"settings","streams":-1}"#,
        #"{"token":"a","fault":"starve","windowBytes":65536}"#, #"{"token":"a","status":400,"shape":"round"}"#,
        #"{"token":"a","status":400,"latency":{"uniform":[9,1]}}"#,
        #"{"token":"a","status":400,"latency":1,"latencyMs":1}"#,
    ])
    func unplayableEntriesAreRefused(json: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(ScriptedAnswer.self, from: Data(json.utf8))
        }
    }

    private func book(_ json: String, seed: UInt64 = 1, now: UInt64 = 0) throws -> ScriptBook {
        var book = ScriptBook(seed: seed)
        try book.add(try JSONDecoder().decode([ScriptedAnswer].self, from: Data(json.utf8)), now: now)
        return book
    }
}
