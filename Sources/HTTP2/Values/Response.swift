/// The peer's answer to a request.
///
/// It is a plain value with at most one reference: kept fields and body lie in memory that many answers of a batch share, so an answer needs no allocation of
/// its own. An answer that consists of only one short field contains it directly, so that no reference is counted.
package struct Response: Sendable {
    /// The only kept field of an answer without a body.
    struct Field: Sendable {
        /// The length of a UUID's text. Unit: bytes.
        static let capacity = 36

        let name: FieldName
        private let count: UInt8
        private let bytes: InlineArray<36, UInt8>

        /// Nil if the value is longer than `capacity`.
        init?(_ name: FieldName, _ value: UnsafeBufferPointer<UInt8>) {
            guard value.count <= Field.capacity else { return nil }
            var bytes = InlineArray<36, UInt8>(repeating: 0)
            var span = bytes.mutableSpan
            for index in 0..<value.count { unsafe span[index] = value[index] }
            self.name = name
            self.bytes = bytes
            count = UInt8(clamping: value.count)
        }

        /// The value as text; invalid UTF-8 is replaced.
        var text: String {
            unsafe bytes.span.extracting(first: Int(count)).withUnsafeBufferPointer {
                unsafe String(decoding: $0, as: UTF8.self)
            }
        }

        /// Passes the value to `body`; it is valid only during the call.
        func lend<R>(_ body: (Span<UInt8>) -> R) -> R { body(bytes.span.extracting(first: Int(count))) }
    }

    private let field: Field?
    private let store: ResponseStore?
    private let start: Int32
    private let fieldBytes: Int32
    private let bodyBytes: Int32
    private let code: UInt16
    /// Whether the body was longer than `HTTP2Limits.maxResponseBodyBytes` and was cut there.
    package let isBodyTruncated: Bool

    /// Creates an answer without kept fields and body.
    init(status: UInt16, isBodyTruncated: Bool = false) {
        self.init(status: status, store: nil, start: 0, fieldBytes: 0, bodyBytes: 0, isBodyTruncated: isBodyTruncated)
    }

    /// Creates an answer with one short field.
    init(status: UInt16, field: Field) {
        code = status
        self.field = field
        store = nil
        (start, fieldBytes, bodyBytes) = (0, 0, 0)
        isBodyTruncated = false
    }

    /// Creates an answer whose fields, followed by the body, start at `start` in the store.
    init(status: UInt16, store: ResponseStore?, start: Int, fieldBytes: Int, bodyBytes: Int, isBodyTruncated: Bool) {
        code = status
        field = nil
        self.store = store
        self.start = Int32(clamping: start)
        self.fieldBytes = Int32(clamping: fieldBytes)
        self.bodyBytes = Int32(clamping: bodyBytes)
        self.isBodyTruncated = isBodyTruncated
    }

    /// The status code, 200...999.
    package var status: Int { Int(code) }

    /// The body; empty if there is none. Each call copies it.
    package var body: ArraySlice<UInt8> {
        guard let store, bodyBytes > 0 else { return [] }
        return store.copy(Int(start + fieldBytes), count: Int(bodyBytes))[...]
    }

    /// The first value of a field, if the connection keeps it (`ConnectionConfiguration.collectedFields`).
    package func value(_ name: FieldName) -> String? {
        if let field, field.name == name { return field.text }
        guard let store, let range = store.find(name, from: Int(start), count: Int(fieldBytes)) else { return nil }
        return store.text(range.lowerBound, count: range.count)
    }

    /// Passes the bytes of a field's value to `body` if the answer contains nothing else except the status; nil otherwise.
    package func withOnlyValue<R>(_ name: FieldName, _ body: (Span<UInt8>) -> R) -> R? {
        guard let field, field.name == name else { return nil }
        return field.lend(body)
    }
}
