import Model
import Tracing

/// The spans of one send, for a message of a sampled trace. One task uses it.
struct PushSpans {
    /// 16 pushes of each send have a span: a trace of a campaign shows examples and does not fill the exporter's queue.
    static let limit = 16

    private var spans: [Int: any Tracing.Span] = [:]

    /// Begins the spans. They are children of the call that sent the message.
    ///
    /// - Parameters:
    ///   - pushes: the pushes of the send.
    ///   - lease: names the message.
    ///   - trace: the message's place in its trace.
    ///   - transport: the name of the transport.
    ///   - tracer: makes the spans.
    init(_ pushes: [Push], of lease: SliceLease, in trace: TraceContext, over transport: String, by tracer: any Tracer)
    {
        var context = ServiceContext.topLevel
        tracer.extract(trace, into: &context, using: StoredTrace())
        for push in pushes.prefix(Self.limit) {
            let span = Self.begin(context, tracer)
            span.attributes["messaging.system"] = "\(transport)"
            span.attributes["messaging.operation.type"] = "send"
            span.attributes["messaging.message.id"] = "\(lease.key.message)"
            span.attributes["push.tenant"] = "\(lease.key.tenant)"
            span.attributes["push.id"] = "\(push.id.lowercased)"
            span.attributes["push.count"] = pushes.count
            spans[push.slot] = span
        }
    }

    private static func begin(_ context: ServiceContext, _ tracer: some Tracer) -> any Tracing.Span {
        tracer.startSpan("push", context: context, ofKind: .client)
    }

    /// Some pushes have completed.
    mutating func completed(_ batch: [PushCompletion]) {
        for completion in batch {
            guard let span = spans.removeValue(forKey: completion.slot) else { continue }
            Self.note(completion.outcome, in: span)
            span.end()
        }
    }

    /// The send has ended: the others have no answer.
    mutating func ended() {
        for span in spans.values {
            span.setStatus(SpanStatus(code: .error))
            span.end()
        }
        spans = [:]
    }

    private static func note(_ outcome: Outcome, in span: any Tracing.Span) {
        span.attributes["push.outcome"] = "\(outcome.label)"
        switch outcome {
        case .accepted: break
        case .rejected(let rejection), .deferred(let rejection, _):
            span.attributes["http.response.status_code"] = rejection.status
            span.attributes["push.reason"] = "\(EngineMetrics.label(of: rejection.reason))"
            span.setStatus(SpanStatus(code: .error))
        case .unsent(let error), .indeterminate(let error):
            span.attributes["error.type"] = "\(error.code.name)"
            span.setStatus(SpanStatus(code: .error))
        }
    }
}

/// Reads the headers of a stored context.
private struct StoredTrace: Extractor {
    func extract(key: String, from carrier: TraceContext) -> String? {
        switch key {
        case TraceContext.parentHeader: carrier.parent
        case TraceContext.stateHeader: carrier.state
        default: nil
        }
    }
}
