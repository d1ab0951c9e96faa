internal import Glibc

/// Memory that the answers of one session share. It is filled from front to back and never moved or overwritten.
///
/// Created by a session, which creates another when one is full; freed with the last `Response` in it. Therefore one kept answer keeps `capacity` bytes alive.
///
/// An answer's bytes are its kept fields, each as the index of its name (1 byte), the length (2 bytes, little-endian) and the value, followed by the body.
// @unchecked: holds plain memory. Protected by: only the session appends, always after all bytes that a `Response` refers to, and a `Response` reaches another
// thread only through the connection's report. Callers: the session for `append`, any thread for the other methods, for a range that a `Response` has.
@safe
final class ResponseStore: @unchecked Sendable {
    /// The fields that the session keeps, at most 255.
    private let names: [FieldName]
    private let base: UnsafeMutablePointer<UInt8>
    private let capacity: Int
    private var count = 0

    /// 16 KiB, for about four hundred answers with an id. With more, one kept answer would hold more memory than a TLS record.
    static let usualBytes = 16_384
    /// The name index and the length before each value.
    static let fieldOverheadBytes = 3

    /// Creates a store with this capacity; nil if there is not enough memory.
    init?(names: [FieldName], capacity: Int) {
        guard let memory = unsafe malloc(max(1, capacity)) else { return nil }
        unsafe base = memory.assumingMemoryBound(to: UInt8.self)
        self.names = names
        self.capacity = capacity
    }

    deinit { unsafe free(base) }

    /// Appends bytes and returns their position; nil if they do not fit.
    func append(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard let source = bytes.baseAddress, bytes.count <= capacity - count else { return nil }
        let start = count
        unsafe memcpy(base + start, source, bytes.count)
        count += bytes.count
        return start
    }

    /// The position of a field's first value among an answer's fields.
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

    /// A copy of a range of bytes.
    func copy(_ start: Int, count: Int) -> [UInt8] {
        unsafe Array(UnsafeBufferPointer(start: base + start, count: count))
    }

    /// A range of bytes as text; invalid UTF-8 is replaced.
    func text(_ start: Int, count: Int) -> String {
        unsafe String(decoding: UnsafeBufferPointer(start: base + start, count: count), as: UTF8.self)
    }
}
