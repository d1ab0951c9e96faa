/// Streams whose answer is delayed, in the order in which they become due.
///
/// All answers have the same delay, so a ring in the order of arrival is also in the order of time.
struct DueQueue {
    private struct Entry {
        var due: UInt64
        var stream: UInt32
    }

    private var ring: [Entry] = Array(repeating: Entry(due: 0, stream: 0), count: 1_024)
    private var head = 0
    private(set) var count = 0

    /// When the first stream is due, in nanoseconds of the monotonic clock; nil if none waits.
    var next: UInt64? { count == 0 ? nil : ring[head].due }

    /// Adds a stream that is not due earlier than those before it.
    mutating func append(_ stream: UInt32, due: UInt64) {
        if count == ring.count { grow() }
        ring[(head + count) & (ring.count - 1)] = Entry(due: due, stream: stream)
        count += 1
    }

    /// Removes and returns the first stream that is due.
    mutating func pop(at now: UInt64) -> UInt32? {
        guard count > 0, ring[head].due <= now else { return nil }
        let stream = ring[head].stream
        head = (head + 1) & (ring.count - 1)
        count -= 1
        return stream
    }

    private mutating func grow() {
        var larger = Array(repeating: Entry(due: 0, stream: 0), count: ring.count * 2)
        for index in 0..<count { larger[index] = ring[(head + index) & (ring.count - 1)] }
        ring = larger
        head = 0
    }
}
