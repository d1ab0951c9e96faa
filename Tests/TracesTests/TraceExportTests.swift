import Model
import Testing

@testable import Traces

struct TraceExportTests {
    private static let trace = TraceContext.TraceID(high: 0x5b8e_fff7_9803_8103, low: 0xd269_b633_813f_c60c)

    // The example of the OTLP specification, https://github.com/open-telemetry/opentelemetry-proto/blob/main/examples/trace.json: ids are hex, 64-bit numbers are
    // text, enums are numbers.
    @Test func aSpanIsWrittenAsTheSpecificationShows() throws {
        var context = TraceContext(traceID: Self.trace, spanID: 0xeee1_9b7e_c3c1_b174, isSampled: true)
        context.state = "congo=t61rcWkgMzE"
        let span = SpanRecord(
            context,
            parent: 0xeee1_9b7e_c3c1_b173,
            name: "I'm a server span",
            kind: .server,
            begin: 1_544_712_660_000_000_000,
            end: 1_544_712_661_000_000_000,
            attributes: [
                SpanRecord.Attribute("my.span.attr", .string("some value")), SpanRecord.Attribute("count", .int(-7)),
                SpanRecord.Attribute("ratio", .double(0.5)), SpanRecord.Attribute("flag", .bool(true)),
                SpanRecord.Attribute("list", .list([.string("a"), .int(1)])),
            ],
            links: [TraceContext(traceID: Self.trace, spanID: 1, isSampled: true)],
            isError: true
        )
        let expected = """
            {"resourceSpans":[{"resource":{"attributes":[\
            {"key":"service.name","value":{"stringValue":"push-gateway"}},\
            {"key":"service.version","value":{"stringValue":"1.2.3"}},\
            {"key":"service.instance.id","value":{"stringValue":"node-1"}}]},\
            "scopeSpans":[{"scope":{"name":"push-gateway","version":"1.2.3"},"spans":[{\
            "traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","traceState":"congo=t61rcWkgMzE",\
            "parentSpanId":"eee19b7ec3c1b173","flags":1,"name":"I'm a server span","kind":2,\
            "startTimeUnixNano":"1544712660000000000","endTimeUnixNano":"1544712661000000000","attributes":[\
            {"key":"my.span.attr","value":{"stringValue":"some value"}},{"key":"count","value":{"intValue":"-7"}},\
            {"key":"ratio","value":{"doubleValue":0.5}},{"key":"flag","value":{"boolValue":true}},\
            {"key":"list","value":{"arrayValue":{"values":[{"stringValue":"a"},{"intValue":"1"}]}}}],\
            "links":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"0000000000000001"}],\
            "status":{"code":2}}]}]}]}
            """
        let body = TraceExport(version: "1.2.3", node: "node-1").body(of: [span])
        #expect(String(decoding: body, as: UTF8.self) == expected)
    }

    @Test func aFirstSpanHasNeitherParentNorStateNorStatus() throws {
        let context = TraceContext(traceID: Self.trace, spanID: 2, isSampled: true)
        let span = SpanRecord(context, parent: nil, name: "push", kind: .client, begin: 1, end: UInt64.max)
        let json = try JSONParser.parse(TraceExport(version: "1", node: "n").body(of: [span]))
        let written = json["resourceSpans"]?.array?.first?["scopeSpans"]?.array?.first?["spans"]?.array?.first
        #expect(written?["parentSpanId"] == nil && written?["traceState"] == nil && written?["status"] == nil)
        #expect(written?["links"] == nil && written?["kind"] == .int(3))
        #expect(written?["endTimeUnixNano"] == "18446744073709551615")
    }

    @Test(arguments: [
        ("", 0), ("{}", 0), (#"{"partialSuccess":{}}"#, 0), (#"{"partialSuccess":{"rejectedSpans":"3"}}"#, 3),
        (#"{"partialSuccess":{"rejectedSpans":2,"errorMessage":"x"}}"#, 2), ("no JSON", 0),
        (#"{"partialSuccess":{"rejectedSpans":"-5"}}"#, 0), (#"{"partialSuccess":3}"#, 0),
    ])
    func theRejectedSpansOfAnAnswerAreRead(_ answer: String, _ count: Int) {
        #expect(TraceExport.rejected(in: Array(answer.utf8)) == count)
    }

    // "Retryable Response Codes" of the OTLP specification.
    @Test func answersAreRetriedWhereTheSpecificationSaysSo() {
        func answer(_ status: Int, _ after: String? = nil) -> ExportMachine<SpanRecord>.Answer {
            CollectorClient.answer(status: status, retryAfter: after, body: [])
        }
        for status in [429, 502, 503, 504] { #expect(answer(status) == .deferred(after: nil)) }
        #expect(answer(503, "7") == .deferred(after: .seconds(7)))
        #expect(answer(503, "Fri, 31 Dec 2027 23:59:59 GMT") == .deferred(after: nil))
        for status in [200, 202] { #expect(answer(status) == .accepted(rejected: 0)) }
        for status in [301, 400, 401, 404, 500] { #expect(answer(status) == .refused) }
    }
}
