import Logging
import Model
import NIOConcurrencyHelpers
import Testing
import Tracing

@testable import Traces

struct TracerTests {
    private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    private let ended = NIOLockedValueBox<[SpanRecord]>([])

    private func tracer(_ ratio: Double) -> GatewayTracer {
        GatewayTracer(sampler: TraceSampler(ratio: ratio), seconds: { 0 }) { [ended] span in
            ended.withLockedValue { $0.append(span) }
        }
    }

    private struct Headers: Extractor, Injector {
        func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
        func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
    }

    @Test func aSampledCallContinuesItsCallersTrace() throws {
        let tracer = tracer(0)
        let call = try #require(tracer.callBegan(parent: Self.parent, state: "a=1", name: "POST"))
        call.operationName = "POST /send"
        call.attributes["http.response.status_code"] = 200
        let push = tracer.startSpan("push", context: call.context, ofKind: .client)
        push.setStatus(SpanStatus(code: .error))
        push.end()
        push.end()
        call.end()
        let spans = ended.withLockedValue { $0 }
        #expect(spans.map(\.name) == ["push", "POST /send"], "each ends once")
        #expect(Set(spans.map { "\($0.context.traceID)" }) == ["4bf92f3577b34da6a3ce929d0e0e4736"])
        #expect(spans[1].parent == 0x00f0_67aa_0ba9_02b7 && spans[1].kind == .server && !spans[1].isError)
        #expect(spans[0].parent == spans[1].context.spanID && spans[0].kind == .client && spans[0].isError)
        #expect(spans[1].attributes == [SpanRecord.Attribute("http.response.status_code", .int(200))])
        #expect(spans.allSatisfy { $0.context.state == "a=1" && $0.begin <= $0.end })
    }

    @Test func aCallThatIsNotSampledHasNoSpan() {
        #expect(tracer(0).callBegan(parent: nil, state: nil, name: "POST") == nil)
        #expect(tracer(1).callBegan(parent: String(Self.parent.dropLast(2)) + "00", state: nil, name: "POST") == nil)
        #expect(tracer(1).callBegan(parent: "wrong", state: "a=1", name: "POST")?.context.trace?.state == nil)
    }

    @Test func theContextPassesThroughHeaders() throws {
        let tracer = tracer(1)
        var context = ServiceContext.topLevel
        tracer.extract(["traceparent": Self.parent, "tracestate": "a=1"], into: &context, using: Headers())
        var headers: [String: String] = [:]
        tracer.inject(context, into: &headers, using: Headers())
        #expect(headers == ["traceparent": Self.parent, "tracestate": "a=1"])
    }

    // Anybody who reaches the listener can set the flag.
    @Test func callersChooseALimitedNumberOfTraces() {
        var sampler = TraceSampler(ratio: 0)
        let trace = TraceContext.TraceID(high: 1, low: .max)
        let chosen = (0..<1000).count { _ in sampler.samples(trace, parent: true, at: 5) }
        #expect(chosen == Int(TraceSampler.callersPerSecond))
        #expect((0..<1000).count { _ in sampler.samples(trace, parent: true, at: 5.5) } == 50)
    }

    @Test(arguments: [0, 0.1, 0.5, 1])
    func theRatioChoosesByTheTrace(_ ratio: Double) {
        var (first, second) = (TraceSampler(ratio: ratio), TraceSampler(ratio: ratio))
        var chosen = 0
        for _ in 0..<10_000 {
            let trace = TraceContext.TraceID(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max))
            let isChosen = first.samples(trace, parent: nil, at: 0)
            #expect(isChosen == second.samples(trace, parent: nil, at: 9), "every node chooses the same")
            if isChosen { chosen += 1 }
        }
        #expect(abs(Double(chosen) / 10_000 - ratio) < 0.03)
    }

    // The exporter's caller pays a lock, whatever the collector does.
    @Test func aCollectorThatNeverAnswersCostsNoWait() async throws {
        let counts = NIOLockedValueBox<[SpanExporter.End: Int]>([:])
        let exporter = SpanExporter(
            TraceExport(version: "1", node: "n"),
            send: { _ in
                try? await Task.sleep(for: .seconds(3600))
                return .refused
            },
            count: { end, spans in counts.withLockedValue { $0[end, default: 0] += spans } },
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        let running = Task { try await exporter.run() }
        let trace = TraceContext(traceID: .init(high: 1, low: 1), spanID: 1, isSampled: true)
        let span = SpanRecord(trace, parent: nil, name: "x", kind: .server, begin: 0, end: 1)
        let limit = ExportMachine<SpanRecord>.queueLimit
        for _ in 0..<2 * limit { exporter.ended(span) }
        let dropped = counts.withLockedValue { $0[.overflow] ?? 0 }
        #expect(dropped >= limit - ExportMachine<SpanRecord>.batchLimit && dropped <= limit)
        running.cancel()
        _ = await running.result
    }
}
