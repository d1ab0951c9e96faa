package import Model

/// A finished span, ready to be sent.
package struct SpanRecord: Sendable, Hashable {
    /// The raw values are those of OTLP.
    package enum Kind: Int, Sendable {
        case `internal` = 1
        case server = 2
        case client = 3
        case producer = 4
        case consumer = 5
    }

    package enum Value: Sendable, Hashable {
        case string(String)
        case int(Int64)
        case double(Double)
        case bool(Bool)
        case list([Value])
    }

    package struct Attribute: Sendable, Hashable {
        package var key: String
        package var value: Value

        package init(_ key: String, _ value: Value) {
            self.key = key
            self.value = value
        }
    }

    /// Trace, own id and `tracestate`.
    package var context: TraceContext
    /// Nil: the first span of the trace.
    package var parent: UInt64?
    package var name: String
    package var kind: Kind
    /// Nanoseconds since 1970.
    package var begin: UInt64
    package var end: UInt64
    package var attributes: [Attribute]
    package var links: [TraceContext]
    package var isError: Bool

    package init(
        _ context: TraceContext,
        parent: UInt64?,
        name: String,
        kind: Kind,
        begin: UInt64,
        end: UInt64,
        attributes: [Attribute] = [],
        links: [TraceContext] = [],
        isError: Bool = false
    ) {
        self.context = context
        self.parent = parent
        self.name = name
        self.kind = kind
        self.begin = begin
        self.end = end
        self.attributes = attributes
        self.links = links
        self.isError = isError
    }
}
