import Model
import NIOConcurrencyHelpers
package import Tracing

/// The tracer of this process: reads and writes W3C Trace Context, decides which traces are recorded, and makes their spans.
///
/// There is one per node, and none where `tracing.endpoint` is not set. Safe to use from any task.
package final class GatewayTracer: Tracer {
    package typealias Span = GatewaySpan

    private let sampler: NIOLockedValueBox<TraceSampler>
    private let random: @Sendable () -> UInt64
    private let seconds: @Sendable () -> Double
    private let finish: @Sendable (SpanRecord) -> Void

    /// - Parameters:
    ///   - sampler: decides which traces are recorded.
    ///   - random: the source of ids.
    ///   - seconds: seconds from any fixed moment, for the sampler. Nil: those of the system's clock.
    ///   - finish: receives each sampled span at its end.
    package init(
        sampler: TraceSampler,
        random: @escaping @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) },
        seconds: (@Sendable () -> Double)? = nil,
        finish: @escaping @Sendable (SpanRecord) -> Void
    ) {
        self.sampler = NIOLockedValueBox(sampler)
        self.random = random
        let start = ContinuousClock.now
        self.seconds = seconds ?? { (ContinuousClock.now - start) / .seconds(1) }
        self.finish = finish
    }

    /// A call from outside. Nil: its trace is not sampled, so it costs nothing further.
    ///
    /// - Parameters:
    ///   - parent: `traceparent`, as the caller sent it.
    ///   - state: `tracestate`.
    ///   - name: the name of its span, until its route is known.
    /// - Returns: the span, or nil.
    package func callBegan(parent: String?, state: String?, name: String) -> GatewaySpan? {
        let caller = parent.flatMap { TraceContext(parent: $0, state: state) }
        let trace = caller?.traceID ?? TraceContext.TraceID(high: random(), low: id())
        let now = seconds()
        guard sampler.withLockedValue({ $0.samples(trace, parent: caller?.isSampled, at: now) }) else { return nil }
        let context = TraceContext(traceID: trace, spanID: id(), isSampled: true, state: caller?.state)
        return span(name, context, of: .topLevel, parent: caller?.spanID, .server, DefaultTracerClock.now)
    }

    package func startSpan<Instant: TracerInstant>(
        _ operationName: String,
        context: @autoclosure () -> ServiceContext,
        ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant,
        function: String,
        file fileID: String,
        line: UInt
    ) -> GatewaySpan {
        let base = context()
        var trace = base.trace ?? TraceContext(traceID: .init(high: random(), low: id()), spanID: 1, isSampled: false)
        if base.trace == nil {
            let now = seconds()
            trace.isSampled = sampler.withLockedValue { [trace] in $0.samples(trace.traceID, parent: nil, at: now) }
        }
        trace.spanID = id()
        return span(operationName, trace, of: base, parent: base.trace?.spanID, SpanRecord.Kind(kind), instant())
    }

    private func span(
        _ name: String,
        _ trace: TraceContext,
        of base: ServiceContext,
        parent: UInt64?,
        _ kind: SpanRecord.Kind,
        _ instant: some TracerInstant
    ) -> GatewaySpan {
        var context = base
        context.trace = trace
        return GatewaySpan(
            name,
            context: context,
            parent: parent,
            kind: kind,
            begin: instant.nanosecondsSinceEpoch,
            finish: trace.isSampled ? finish : nil
        )
    }

    /// A random id that is not zero.
    private func id() -> UInt64 { max(1, random()) }

    package func forceFlush() {}

    // MARK: Instrument

    package func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier,
        into context: inout ServiceContext,
        using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard let parent = extractor.extract(key: TraceContext.parentHeader, from: carrier) else { return }
        let state = extractor.extract(key: TraceContext.stateHeader, from: carrier)
        context.trace = TraceContext(parent: parent, state: state)
    }

    package func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext,
        into carrier: inout Carrier,
        using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let trace = context.trace else { return }
        injector.inject(trace.parent, forKey: TraceContext.parentHeader, into: &carrier)
        if let state = trace.state { injector.inject(state, forKey: TraceContext.stateHeader, into: &carrier) }
    }
}

extension SpanRecord.Kind {
    init(_ kind: SpanKind) {
        switch kind {
        case .server: self = .server
        case .client: self = .client
        case .producer: self = .producer
        case .consumer: self = .consumer
        case .internal: self = .internal
        }
    }
}
