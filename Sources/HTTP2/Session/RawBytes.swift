internal import Glibc

/// Plain memory that grows, is reused and is freed with its owner: for bytes that C reads or writes.
///
/// Not an array, because a pointer into it must stay good between two calls; it stays good until the next `append` or
/// `reserve`.
@safe
struct RawBytes: ~Copyable {
    private var base: UnsafeMutablePointer<UInt8>?
    private var capacity = 0
    /// How many bytes it holds, the consumed ones included.
    private(set) var count = 0
    /// How many bytes at the front were consumed.
    private var consumed = 0

    deinit { unsafe free(base) }

    /// What was appended and not consumed yet.
    var unread: UnsafeBufferPointer<UInt8> {
        unsafe UnsafeBufferPointer(start: base.map { unsafe $0 + consumed }, count: count - consumed)
    }

    var unreadCount: Int { count - consumed }
    var isEmpty: Bool { count == consumed }

    /// Forgets what it holds and keeps the memory.
    mutating func removeAll() {
        count = 0
        consumed = 0
    }

    /// Forgets `length` bytes at the front.
    mutating func consume(_ length: Int) {
        consumed += min(length, unreadCount)
        if isEmpty { removeAll() }
    }

    /// Appends bytes; false if there is no memory.
    @discardableResult
    mutating func append(_ bytes: UnsafePointer<UInt8>, count length: Int) -> Bool {
        guard length > 0 else { return true }
        guard let spare = unsafe reserve(length) else { return false }
        unsafe memcpy(spare, bytes, length)
        count += length
        return true
    }

    /// Room for `length` more bytes behind the last one, or nil if there is no memory. `added` makes them part of it.
    mutating func reserve(_ length: Int) -> UnsafeMutablePointer<UInt8>? {
        if count + length > capacity {
            let wanted = max(count + length, capacity * 2, 256)
            guard let grown = unsafe realloc(base, wanted) else { return nil }
            unsafe base = grown.assumingMemoryBound(to: UInt8.self)
            capacity = wanted
        }
        return unsafe base.map { unsafe $0 + count }
    }

    /// Counts bytes that C wrote into what `reserve` gave.
    mutating func added(_ length: Int) { count += length }

    /// A pointer to the byte at `offset` from the very front, consumed or not.
    func pointer(at offset: Int) -> UnsafeMutablePointer<UInt8>? {
        unsafe base.map { unsafe $0 + offset }
    }

    /// A copy of all bytes, consumed or not.
    func copy() -> [UInt8] { unsafe Array(UnsafeBufferPointer(start: base, count: count)) }
}
