import Glibc

/// A byte buffer with a front and an end, in plain memory that is reused. TLS reads into it and writes from it.
@safe
struct PlainBuffer: ~Copyable {
    private let base: UnsafeMutablePointer<UInt8>
    private let capacity: Int
    private var start = 0
    private var end = 0

    /// Creates a buffer with room for `capacity` bytes; it never grows.
    init(capacity: Int) {
        unsafe base = .allocate(capacity: capacity)
        self.capacity = capacity
    }

    deinit { unsafe base.deallocate() }

    /// How many bytes it contains.
    var count: Int { end - start }
    /// How many more bytes fit after the end.
    var room: Int { capacity - end }
    /// The address of the first byte.
    var front: UnsafeMutablePointer<UInt8> { unsafe base + start }
    /// The address for the next byte.
    var back: UnsafeMutablePointer<UInt8> { unsafe base + end }

    /// Counts bytes that were written at `back`, at most `room`.
    mutating func added(_ length: Int) { end = min(capacity, end + length) }

    /// Removes bytes at the front.
    mutating func consume(_ length: Int) {
        start = min(end, start + length)
        if start == end {
            start = 0
            end = 0
        }
    }

    /// Moves the contents to the start of the memory, so that there is room again.
    mutating func compact() {
        guard start > 0 else { return }
        unsafe memmove(base, base + start, count)
        end -= start
        start = 0
    }

    /// Appends bytes; returns false if they do not fit.
    mutating func append(_ bytes: UnsafePointer<UInt8>, count length: Int) -> Bool {
        guard length <= room else { return false }
        unsafe memcpy(back, bytes, length)
        end += length
        return true
    }
}
