import Model
import NIOConcurrencyHelpers
package import Tracing

/// One span of this process. Its end passes it to the exporter. Safe to use from any task.
package final class GatewaySpan: Tracing.Span {
    /// 32 attributes and 8 links: more would be a mistake of ours, and each span must stay small.
    private static let attributeLimit = 32
    private static let linkLimit = 8

    private struct State {
        var name: String
        var attributes = SpanAttributes()
        var links: [TraceContext] = []
        var isError = false
        var hasEnded = false
    }

    package let context: ServiceContext
    private let kind: SpanRecord.Kind
    private let parent: UInt64?
    private let begin: UInt64
    private let state: NIOLockedValueBox<State>
    /// Nil: not sampled.
    private let finish: (@Sendable (SpanRecord) -> Void)?

    init(
        _ name: String,
        context: ServiceContext,
        parent: UInt64?,
        kind: SpanRecord.Kind,
        begin: UInt64,
        finish: (@Sendable (SpanRecord) -> Void)?
    ) {
        state = NIOLockedValueBox(State(name: name))
        self.context = context
        self.parent = parent
        self.kind = kind
        self.begin = begin
        self.finish = finish
    }

    package var isRecording: Bool { finish != nil }

    package var operationName: String {
        get { state.withLockedValue(\.name) }
        set { state.withLockedValue { $0.name = newValue } }
    }

    package var attributes: SpanAttributes {
        get { state.withLockedValue(\.attributes) }
        set { state.withLockedValue { $0.attributes = newValue } }
    }

    package func setStatus(_ status: SpanStatus) { state.withLockedValue { $0.isError = status.code == .error } }

    /// Events are not sent.
    package func addEvent(_ event: SpanEvent) {}

    package func recordError<Instant: TracerInstant>(
        _ error: any Error,
        attributes: SpanAttributes,
        at instant: @autoclosure () -> Instant
    ) {
        setStatus(SpanStatus(code: .error))
    }

    package func addLink(_ link: SpanLink) {
        guard let trace = link.context.trace else { return }
        state.withLockedValue { if $0.links.count < Self.linkLimit { $0.links.append(trace) } }
    }

    package func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        guard let finish, let trace = context.trace else { return }
        let ended = state.withLockedValue { state -> State? in
            guard !state.hasEnded else { return nil }
            state.hasEnded = true
            return state
        }
        guard let ended else { return }
        var record = SpanRecord(
            trace,
            parent: parent,
            name: ended.name,
            kind: kind,
            begin: begin,
            end: max(begin, instant().nanosecondsSinceEpoch)
        )
        record.attributes = Self.attributes(ended.attributes)
        record.links = ended.links
        record.isError = ended.isError
        finish(record)
    }

    private static func attributes(_ attributes: SpanAttributes) -> [SpanRecord.Attribute] {
        var out: [SpanRecord.Attribute] = []
        attributes.forEach { key, value in
            guard out.count < attributeLimit, let value = SpanRecord.Value(value) else { return }
            out.append(SpanRecord.Attribute(key, value))
        }
        return out.sorted { $0.key < $1.key }
    }
}

extension SpanRecord.Value {
    /// Nil for kinds of values that the gateway does not use.
    init?(_ attribute: SpanAttribute) {
        switch attribute {
        case .int32(let number): self = .int(Int64(number))
        case .int64(let number): self = .int(number)
        case .double(let number): self = .double(number)
        case .bool(let value): self = .bool(value)
        case .string(let text): self = .string(text)
        case .stringArray(let texts): self = .list(texts.map { .string($0) })
        case .stringConvertible(let value): self = .string("\(value)")
        default: return nil
        }
    }
}
