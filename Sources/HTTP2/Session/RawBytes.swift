internal import Glibc

/// Plain memory for bytes that C reads or writes. It grows, is reused and is freed with its owner.
///
/// It is not an array, because a pointer into it must stay valid between two calls. A pointer stays valid until the next `append` or `reserve`.
@safe
package struct RawBytes: ~Copyable {
    private var base: UnsafeMutablePointer<UInt8>?
    private var capacity = 0
    /// How many bytes it holds, including the consumed ones.
    private(set) var count = 0
    /// How many bytes at the front were consumed.
    private var consumed = 0

    /// Creates an empty memory.
    package init() {}

    deinit { unsafe free(base) }

    /// The bytes that were appended and not consumed yet.
    package var unread: UnsafeBufferPointer<UInt8> {
        unsafe UnsafeBufferPointer(start: base.map { unsafe $0 + consumed }, count: count - consumed)
    }

    var unreadCount: Int { count - consumed }
    package var isEmpty: Bool { count == consumed }

    /// Removes all bytes and keeps the memory.
    package mutating func removeAll() {
        count = 0
        consumed = 0
    }

    /// Removes `length` bytes at the front.
    mutating func consume(_ length: Int) {
        consumed += min(length, unreadCount)
        if isEmpty { removeAll() }
    }

    /// Appends bytes; returns false if there is not enough memory.
    @discardableResult
    mutating func append(_ bytes: UnsafePointer<UInt8>, count length: Int) -> Bool {
        guard length > 0 else { return true }
        guard let spare = unsafe reserve(length) else { return false }
        unsafe memcpy(spare, bytes, length)
        count += length
        return true
    }

    /// Reserves room for `length` bytes after the last one; returns nil if there is not enough memory. `added` then counts the bytes that were written.
    mutating func reserve(_ length: Int) -> UnsafeMutablePointer<UInt8>? {
        if count + length > capacity {
            let wanted = max(count + length, capacity * 2, 256)
            guard let grown = unsafe realloc(base, wanted) else { return nil }
            unsafe base = grown.assumingMemoryBound(to: UInt8.self)
            capacity = wanted
        }
        return unsafe base.map { unsafe $0 + count }
    }

    /// Counts bytes that C wrote into the memory from `reserve`.
    mutating func added(_ length: Int) { count += length }

    /// A pointer to the byte at `offset` from the start of the memory, including consumed bytes.
    func pointer(at offset: Int) -> UnsafeMutablePointer<UInt8>? {
        unsafe base.map { unsafe $0 + offset }
    }
}
