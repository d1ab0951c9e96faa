import Logging
import Model
import NIOConcurrencyHelpers
import Observability
import ServiceLifecycle
import Store
import Traces
import Tracing

/// Makes spans of receipts whose messages belong to sampled traces, also days after the push.
///
/// A receipt's caller pays a lock: the traces are looked up afterwards, in groups. Receipts above the bound get no span, and are counted. Safe to call from any task.
final class ReceiptTracing: Service {
    typealias Find =
        @Sendable (TenantID, StoreRequest<[String: TraceContext]>) async throws(StoreError)
        -> [String: TraceContext]

    /// 1,024 receipts that wait for their look-up, some hundred bytes each.
    static let waitingLimit = 1024
    /// Half a second: a group is one statement per app and dialect.
    private static let period = Duration.milliseconds(500)

    private struct Place: Hashable {
        var tenant: TenantID
        var scope: AppScope
    }

    private struct Receipt: Sendable {
        var reference: String
        var kind: ReceiptKind
        var time: UInt64
        /// The trace of the receipt's own call, if it is sampled.
        var call: TraceContext?
    }

    private struct State {
        var waiting: [Place: [Receipt]] = [:]
        var count = 0
    }

    private let state = NIOLockedValueBox(State())
    private let tracer: GatewayTracer
    private let logger: Logger
    private let find: Find

    init(tracer: GatewayTracer, logger: Logger, find: @escaping Find) {
        self.tracer = tracer
        self.logger = logger
        self.find = find
    }

    /// Notes the recorded receipts of a call.
    @inline(never)
    func note(_ commands: [Command], _ replies: [Reply], in call: CallScope) {
        let place = Place(tenant: call.tenant, scope: AppScope(app: call.app, vendor: call.vendor))
        for (command, reply) in zip(commands, replies) {
            guard case .receipt(let receipt) = command, case .receipt(let answer) = reply, answer.isRecorded else {
                continue
            }
            let entry = Receipt(
                reference: receipt.reference,
                kind: receipt.kind,
                time: DefaultTracerClock.now.nanosecondsSinceEpoch,
                call: ServiceContext.current?.trace
            )
            let isTaken = state.withLockedValue { state -> Bool in
                guard state.count < Self.waitingLimit else { return false }
                state.waiting[place, default: []].append(entry)
                state.count += 1
                return true
            }
            if !isTaken { MetricName.traceSpans.count([("end", SpanExporter.End.overflow.rawValue)]) }
        }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.period)
                await self.trace()
            }
        }
        // The listeners have stopped, and the pools are still open.
        await trace()
    }

    /// Looks up what waits.
    func trace() async {
        let waiting = state.withLockedValue { state in
            defer { state = State() }
            return state.waiting
        }
        for (place, receipts) in waiting {
            for start in stride(from: 0, to: receipts.count, by: FindTraces.limit) {
                await trace(Array(receipts[start...].prefix(FindTraces.limit)), of: place)
            }
        }
    }

    private func trace(_ receipts: [Receipt], of place: Place) async {
        let references = Set(receipts.map(\.reference)).sorted()
        do throws(StoreError) {
            let traces = try await find(place.tenant, StoreRequest(FindTraces(place.scope, references)) { $0 })
            for receipt in receipts {
                if let trace = traces[receipt.reference] { span(of: receipt, in: trace, place) }
            }
        } catch {
            // The spans are examples: a repeat is not worth a queue.
            MetricName.traceSpans.count([("end", SpanExporter.End.failed.rawValue)], by: receipts.count)
            logger.info("the traces of receipts were not found", metadata: [LogKey.error: "\(error)"])
        }
    }

    /// A child of the call that sent the message: with a link alone the trace would end at the push.
    private func span(of receipt: Receipt, in trace: TraceContext, _ place: Place) {
        var context = ServiceContext.topLevel
        context.trace = trace
        let time = ReceiptTime(nanosecondsSinceEpoch: receipt.time)
        let span = tracer.startSpan("receipt", context: context, ofKind: .consumer, at: time)
        span.attributes["push.receipt"] = "\(receipt.kind.rawValue)"
        span.attributes["push.tenant"] = "\(place.tenant)"
        span.attributes["push.app"] = "\(place.scope.app)"
        span.attributes["push.vendor"] = "\(place.scope.vendor)"
        if let call = receipt.call {
            var own = ServiceContext.topLevel
            own.trace = call
            span.addLink(SpanLink(context: own, attributes: [:]))
        }
        span.end(at: time)
    }
}

/// When a receipt was recorded.
private struct ReceiptTime: TracerInstant {
    let nanosecondsSinceEpoch: UInt64

    static func < (left: Self, right: Self) -> Bool { left.nanosecondsSinceEpoch < right.nanosecondsSinceEpoch }
}

extension ReceiptReply {
    fileprivate var isRecorded: Bool {
        switch self {
        case .recorded: true
        case .acknowledged(let isKnown, _): isKnown
        case .repeated, .orphan: false
        }
    }
}

extension ReceiptCommand {
    /// The message, as the caller named it.
    fileprivate var reference: String {
        switch self {
        case .report(_, let message, _, _): message
        case .reportNumber(_, let number, _): number
        case .acknowledge(_, let reference, _, _): reference
        }
    }

    fileprivate var kind: ReceiptKind {
        switch self {
        case .report(let kind, _, _, _), .reportNumber(let kind, _, _), .acknowledge(let kind, _, _, _): kind
        }
    }
}
