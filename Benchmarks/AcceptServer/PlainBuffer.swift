import Glibc

/// Bytes between a front and an end, in plain memory that is used again: what TLS reads into and writes from.
@safe
struct PlainBuffer: ~Copyable {
    private let base: UnsafeMutablePointer<UInt8>
    private let capacity: Int
    private var start = 0
    private var end = 0

    /// Room for `capacity` bytes, made once.
    init(capacity: Int) {
        unsafe base = .allocate(capacity: capacity)
        self.capacity = capacity
    }

    deinit { unsafe base.deallocate() }

    /// How many bytes it holds.
    var count: Int { end - start }
    /// How many more it takes behind the end.
    var room: Int { capacity - end }
    /// Its first byte.
    var front: UnsafeMutablePointer<UInt8> { unsafe base + start }
    /// Where the next byte goes.
    var back: UnsafeMutablePointer<UInt8> { unsafe base + end }

    /// Counts bytes that were written at `back`, `room` at most.
    mutating func added(_ length: Int) { end = min(capacity, end + length) }

    /// Forgets bytes at the front.
    mutating func consume(_ length: Int) {
        start = min(end, start + length)
        if start == end {
            start = 0
            end = 0
        }
    }

    /// Moves what it holds to the very front, so that there is room again.
    mutating func compact() {
        guard start > 0 else { return }
        unsafe memmove(base, base + start, count)
        end -= start
        start = 0
    }

    /// Appends bytes; false if they do not fit.
    mutating func append(_ bytes: UnsafePointer<UInt8>, count length: Int) -> Bool {
        guard length <= room else { return false }
        unsafe memcpy(back, bytes, length)
        end += length
        return true
    }
}
