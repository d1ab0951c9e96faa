internal import CNGHTTP2

/// Fields that many requests share. They are encoded for nghttp2 once, then passed by reference.
///
/// The protocol layer above creates them: one per (topic, push type, priority), or one for the current authorization. A block is immutable; a new value needs a
/// new block. A stream keeps its blocks alive until it closes, because nghttp2 is configured not to copy the bytes.
// @unchecked: nghttp2_nv holds pointers. Protected by: nothing is written after init. Callers: any thread may read, only the session reads the pointers.
@safe
package final class HeaderBlock: @unchecked Sendable {
    private let bytes: UnsafeMutablePointer<UInt8>
    private let fields: UnsafeMutablePointer<nghttp2_nv>

    /// All fields, pseudo fields first.
    let count: Int
    /// How many of them are pseudo fields; the path follows these.
    let pseudoCount: Int

    /// Creates a request's shared head: the pseudo fields except `:path`, and the given fields.
    ///
    /// - Throws: `invalidRequest` for bytes that HTTP/2 forbids, `requestTooLarge` above 24 fields.
    package convenience init(
        method: String,
        scheme: String = "https",
        authority: String,
        fields: [(FieldName, String)] = []
    ) throws(HTTP2Error) {
        let pseudo: [(FieldName, String)] = [
            (FieldName(":method"), method), (FieldName(":scheme"), scheme), (FieldName(":authority"), authority),
        ]
        try self.init(all: pseudo + fields, pseudoCount: pseudo.count)
    }

    /// Creates a block of fields only, to be added to requests that have their own head.
    ///
    /// - Throws: `invalidRequest` for bytes that HTTP/2 forbids, `requestTooLarge` above 24 fields.
    package convenience init(fields: [(FieldName, String)]) throws(HTTP2Error) {
        try self.init(all: fields, pseudoCount: 0)
    }

    private init(all: [(FieldName, String)], pseudoCount: Int) throws(HTTP2Error) {
        guard all.count <= HTTP2Limits.maxFieldsPerBlock else { throw HTTP2Error(.requestTooLarge, isUnsent: true) }
        for (index, field) in all.enumerated() where !HeaderBlock.isValid(field, isPseudo: index < pseudoCount) {
            throw HTTP2Error(.invalidRequest, isUnsent: true, underlying: "field \(field.0)")
        }
        unsafe bytes = .allocate(capacity: max(1, all.reduce(0) { $0 + $1.1.utf8.count }))
        unsafe fields = .allocate(capacity: max(1, all.count))
        count = all.count
        self.pseudoCount = pseudoCount
        var offset = 0
        for (index, (name, value)) in all.enumerated() {
            let start = unsafe bytes + offset
            for byte in value.utf8 {
                unsafe bytes[offset] = byte
                offset += 1
            }
            unsafe (fields + index).initialize(to: nghttp2_nv(name, value: start, count: value.utf8.count))
        }
    }

    deinit {
        unsafe bytes.deallocate()
        unsafe fields.deallocate()
    }

    /// Copies the descriptors of a range of fields. The bytes they point to are valid as long as the block.
    func copy(_ range: Range<Int>, to target: UnsafeMutablePointer<nghttp2_nv>) {
        unsafe target.update(from: fields + range.lowerBound, count: range.count)
    }

    private static func isValid(_ field: (FieldName, String), isPseudo: Bool) -> Bool {
        let (name, value) = field
        guard isPseudo == name.isPseudo, unsafe nghttp2_check_header_name(name.base, name.count) != 0 else {
            return false
        }
        return unsafe Array(value.utf8).withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return true }
            return unsafe nghttp2_check_header_value_rfc9113(base, buffer.count) != 0
        }
    }
}

extension nghttp2_nv {
    /// Creates a descriptor that borrows name and value: nghttp2 copies neither.
    init(_ name: FieldName, value: UnsafeMutablePointer<UInt8>, count: Int) {
        var flags = NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue
        if name.indexing == .never { flags |= NGHTTP2_NV_FLAG_NO_INDEX.rawValue }
        unsafe self.init(name: name.base, value: value, namelen: name.count, valuelen: count, flags: UInt8(flags))
    }
}
