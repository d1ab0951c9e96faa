/// What the peer answered.
///
/// Twenty-four bytes and at most one reference, whatever came back: kept fields and body lie in memory that many answers of a
/// batch share, so an answer costs no allocation of its own.
package struct Response: Sendable {
    private let store: ResponseStore?
    private let start: Int32
    private let fieldBytes: Int32
    private let bodyBytes: Int32
    private let code: UInt16
    /// Whether the body was longer than `HTTP2Limits.maxResponseBodyBytes` and was cut there.
    package let isBodyTruncated: Bool

    /// An answer without kept fields and body.
    init(status: UInt16, isBodyTruncated: Bool = false) {
        self.init(status: status, store: nil, start: 0, fieldBytes: 0, bodyBytes: 0, isBodyTruncated: isBodyTruncated)
    }

    /// An answer whose fields, then body, are in the store from `start` on.
    init(status: UInt16, store: ResponseStore?, start: Int, fieldBytes: Int, bodyBytes: Int, isBodyTruncated: Bool) {
        code = status
        self.store = store
        self.start = Int32(clamping: start)
        self.fieldBytes = Int32(clamping: fieldBytes)
        self.bodyBytes = Int32(clamping: bodyBytes)
        self.isBodyTruncated = isBodyTruncated
    }

    /// The status code, 200...999.
    package var status: Int { Int(code) }

    /// The body, empty if there is none. Copied at each call.
    package var body: ArraySlice<UInt8> {
        guard let store, bodyBytes > 0 else { return [] }
        return store.copy(Int(start + fieldBytes), count: Int(bodyBytes))[...]
    }

    /// The first value of a field, if the connection was told to keep it (`ConnectionConfiguration.collectedFields`).
    package func value(_ name: FieldName) -> String? {
        guard let store, let range = store.find(name, from: Int(start), count: Int(fieldBytes)) else { return nil }
        return store.text(range.lowerBound, count: range.count)
    }

    /// Lends the bytes of a field's first value, without making a `String`; nil as with `value`.
    package func withValue<R>(_ name: FieldName, _ body: (Span<UInt8>) -> R) -> R? {
        guard let store, let range = store.find(name, from: Int(start), count: Int(fieldBytes)) else { return nil }
        return store.lend(range.lowerBound, count: range.count, body)
    }
}
