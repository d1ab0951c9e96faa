internal import Glibc

/// Memory that the answers of one session share: it is filled from front to back and never moved or overwritten.
///
/// Made by a session, which starts another when one is full; freed when the last `Response` that lies in it is gone. So one
/// kept answer keeps `capacity` bytes alive.
///
/// An answer's bytes are its kept fields, each as the index of its name (1 byte), the length (2 bytes, low byte first) and the
/// value, and then the body.
// @unchecked: holds plain memory. Protected by: only the session appends, always behind everything that a `Response` refers to,
// and a `Response` reaches another thread only through the connection's report. Who may call: the session `append`, anyone
// the rest, for a range that a `Response` has.
@safe
final class ResponseStore: @unchecked Sendable {
    /// The fields that the session keeps, at most 255.
    private let names: [FieldName]
    private let base: UnsafeMutablePointer<UInt8>
    private let capacity: Int
    private var count = 0

    /// 16 KiB: some four hundred answers with an id. More would let one kept answer hold more memory than a TLS record.
    static let usualBytes = 16_384
    /// Name index and length in front of each value.
    static let fieldOverheadBytes = 3

    /// A store with room for so many bytes, or nil if there is no memory.
    init?(names: [FieldName], capacity: Int) {
        guard let memory = unsafe malloc(max(1, capacity)) else { return nil }
        unsafe base = memory.assumingMemoryBound(to: UInt8.self)
        self.names = names
        self.capacity = capacity
    }

    deinit { unsafe free(base) }

    /// Where the bytes were put, or nil if there is no room.
    func append(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard let source = bytes.baseAddress, bytes.count <= capacity - count else { return nil }
        let start = count
        unsafe memcpy(base + start, source, bytes.count)
        count += bytes.count
        return start
    }

    /// Where the first value of a field lies among an answer's fields.
    func find(_ name: FieldName, from start: Int, count: Int) -> Range<Int>? {
        var offset = start
        while offset + ResponseStore.fieldOverheadBytes <= start + count {
            let index = unsafe Int(base[offset])
            let length = unsafe Int(base[offset + 1]) | Int(base[offset + 2]) << 8
            let value = offset + ResponseStore.fieldOverheadBytes
            if index < names.count, names[index] == name { return value..<value + length }
            offset = value + length
        }
        return nil
    }

    /// A copy of bytes.
    func copy(_ start: Int, count: Int) -> [UInt8] {
        unsafe Array(UnsafeBufferPointer(start: base + start, count: count))
    }

    /// Bytes as text; what is not UTF-8 is replaced.
    func text(_ start: Int, count: Int) -> String {
        unsafe String(decoding: UnsafeBufferPointer(start: base + start, count: count), as: UTF8.self)
    }

    /// Lends bytes.
    func lend<R>(_ start: Int, count: Int, _ body: (Span<UInt8>) -> R) -> R {
        let buffer = unsafe UnsafeBufferPointer(start: base + start, count: count)
        return body(unsafe buffer.span)
    }
}
