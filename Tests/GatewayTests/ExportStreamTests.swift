import AnswerShapes
import GatewayHTTP
import HTTPTypes
import Hummingbird
import Model
import NIOConcurrencyHelpers
import NIOCore
import TestKit
import Testing

@testable import NativeHTTP

/// An export, page by page, to a peer that knows whether it has all of it.
@Suite(.timeLimit(.minutes(5))) struct ExportStreamTests {
    private struct Writer: ResponseBodyWriter {
        let text: NIOLockedValueBox<String>
        let ends: NIOLockedValueBox<Int>

        mutating func write(_ buffer: ByteBuffer) async throws { text.withLockedValue { $0 += String(buffer: buffer) } }
        consuming func finish(_ trailingHeaders: HTTPFields?) async throws { ends.withLockedValue { $0 += 1 } }
    }

    private let text = NIOLockedValueBox("")
    private let ends = NIOLockedValueBox(0)

    /// Pages of two numbers, up to 5; the page after `failure` fails.
    private func export(header: String? = nil, failingAfter failure: String? = nil) -> ExportStream<String> {
        ExportStream(
            stream: ResponseStream(to: nil),
            header: header,
            first: ExportPage(lines: ["1", "2"], next: "2")
        ) { (after) throws(StoreError) in
            if after == failure { throw StoreError(.unavailable, "down") }
            let last = Int(after) ?? 0
            let lines = ((last + 1)...min(last + 2, 5)).map(String.init)
            return ExportPage(lines: lines, next: last + 2 < 5 ? "\(last + 2)" : nil)
        }
    }

    private func run(_ export: ExportStream<String>) async throws {
        try await export.run(into: Writer(text: text, ends: ends))
    }

    @Test func pagesFollowEachOtherAndTheAnswerEnds() async throws {
        try await run(export())
        #expect(text.withLockedValue { $0 } == "1\n2\n3\n4\n5\n")
        #expect(ends.withLockedValue { $0 } == 1)
    }

    @Test func aTableBeginsWithItsColumns() async throws {
        try await run(export(header: "n"))
        #expect(text.withLockedValue { $0 } == "n\r\n1\r\n2\r\n3\r\n4\r\n5\r\n")
    }

    // The peer must not take a part for the whole.
    @Test func aFailureLeavesTheAnswerWithoutItsEnd() async throws {
        await #expect(throws: StoreError.self) { try await run(export(failingAfter: "2")) }
        #expect(text.withLockedValue { $0 } == "1\n2\n")
        #expect(ends.withLockedValue { $0 } == 0)
    }

    @Test func aCursorBelongsToItsQuery() throws {
        let query = ExportQuery("events", "shop", nil, from: nil, TestIdentifiers())
        let other = ExportQuery("events", nil, nil, from: nil, TestIdentifiers())
        let cursor = query.cursor("12")
        #expect(try query.position(nil) == nil)
        #expect(try query.position(cursor) == "12")
        #expect(throws: Problem.self) { try other.position(cursor) }
        #expect(throws: Problem.self) { try query.position("\(cursor).12") }
        // A node of the previous version has returned it.
        #expect(try query.position("12") == "12")
    }

    // Texts come from people: a spreadsheet must not run them. Numbers, lists and nothing are cells too.
    @Test func cellsAreNeutralAndNothingIsEmpty() {
        struct Row { var text: String?; var number: Int }
        let shape = AnswerShape<Row>(
            "Row",
            [
                .optionalText("text") { $0.text }, .int("number", "") { $0.number },
                .texts("list", "", example: "a") { _ in ["a", "b"] },
            ]
        )
        let csv = ExportLines(shape: shape, format: .csv)
        #expect(csv.header == "text,number,list")
        #expect(csv.line(Row(text: "=1+1", number: 2)) == #"'=1+1,2,"[""a"",""b""]""#)
        #expect(csv.line(Row(text: nil, number: -2)).hasPrefix(",-2,"))
        let lines = ExportLines(shape: shape, format: .ndjson)
        #expect(
            lines.header == nil
                && lines.line(Row(text: nil, number: 1)) == #"{"text":null,"number":1,"list":["a","b"]}"#
        )
    }
}
