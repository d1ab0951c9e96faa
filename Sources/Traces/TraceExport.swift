import Model

/// The body of an export: OTLP 1.x as JSON.
///
/// Ids are hex, not base64; numbers of 64 bits are text; enums are numbers; names are in lower camel case.
/// Source: OTLP Specification 1.9, "JSON Protobuf Encoding", https://opentelemetry.io/docs/specs/otlp/, read 2026-11-26.
package struct TraceExport: Sendable {
    /// Describes the process.
    private let resource: [SpanRecord.Attribute]
    private let version: String

    /// - Parameters:
    ///   - version: the program's version.
    ///   - node: the id of this process.
    package init(version: String, node: String) {
        self.version = version
        resource = [
            SpanRecord.Attribute("service.name", .string(Self.name)),
            SpanRecord.Attribute("service.version", .string(version)),
            SpanRecord.Attribute("service.instance.id", .string(node)),
        ]
    }

    private static let name = "push-gateway"

    package func body(of spans: [SpanRecord]) -> [UInt8] {
        let scope: JSON = [
            "scope": ["name": .string(Self.name), "version": .string(version)],
            "spans": .array(spans.map(Self.json)),
        ]
        let json: JSON = [
            "resourceSpans": [["resource": ["attributes": Self.json(resource)], "scopeSpans": [scope]]]
        ]
        return JSONWriter.bytes(json)
    }

    /// The number of spans that a collector rejected, by its answer (`partialSuccess`).
    package static func rejected(in answer: [UInt8]) -> Int {
        guard !answer.isEmpty, let json = try? JSONParser.parse(answer) else { return 0 }
        let count = json["partialSuccess"]?["rejectedSpans"]
        return max(0, count?.int.map { Int($0) } ?? count?.string.flatMap { Int($0) } ?? 0)
    }

    private static func json(_ span: SpanRecord) -> JSON {
        var object = ids(of: span.context)
        object["parentSpanId"] = span.parent.map { .string(TraceContext.text($0)) }
        object["flags"] = span.context.isSampled ? 1 : 0
        object["name"] = .string(span.name)
        object["kind"] = .int(span.kind.rawValue)
        object["startTimeUnixNano"] = .string("\(span.begin)")
        object["endTimeUnixNano"] = .string("\(span.end)")
        object["attributes"] = json(span.attributes)
        if !span.links.isEmpty { object["links"] = .array(span.links.map { .object(ids(of: $0)) }) }
        // 2 is STATUS_CODE_ERROR; without an error the status stays unset.
        if span.isError { object["status"] = ["code": 2] }
        return .object(object)
    }

    private static func ids(of context: TraceContext) -> JSONObject {
        var object = JSONObject()
        object["traceId"] = .string("\(context.traceID)")
        object["spanId"] = .string(TraceContext.text(context.spanID))
        object["traceState"] = context.state.map { .string($0) }
        return object
    }

    private static func json(_ attributes: [SpanRecord.Attribute]) -> JSON {
        .array(attributes.map { ["key": .string($0.key), "value": json($0.value)] })
    }

    private static func json(_ value: SpanRecord.Value) -> JSON {
        switch value {
        case .string(let text): ["stringValue": .string(text)]
        case .int(let number): ["intValue": .string("\(number)")]
        case .double(let number): ["doubleValue": number.isFinite ? .number("\(number)") : .string("\(number)")]
        case .bool(let value): ["boolValue": .bool(value)]
        case .list(let values): ["arrayValue": ["values": .array(values.map { json($0) })]]
        }
    }
}
