internal import Bytes

/// Requests for a connection: one buffer of bytes and a list of positions in it.
///
/// The **producer** encodes each request's path, fields and payload directly into the batch, on its own thread; the connection's loop copies them once, into
/// the slot's memory. A batch keeps its memory after `removeAll` and `Connection.submit`, so a producer creates one and fills it repeatedly.
package struct RequestBatch: Sendable {
    struct FieldEntry: Sendable {
        let name: FieldName
        let count: Int
    }

    /// Plain numbers, so that a batch of any size is copied and discarded without visiting its entries.
    struct Entry: Sendable {
        let slot: UInt64
        let deadline: Moment
        /// An index into `heads`.
        var head: Int
        /// Where the request's bytes start. They are path, field values and body, in this order.
        var start: Int
        var pathCount = 0
        var bodyCount = 0
        var firstField: Int
        var fieldCount = 0
        var byteCount = 0
    }

    private(set) var bytes: [UInt8] = []
    private(set) var fields: [FieldEntry] = []
    private(set) var entries: [Entry] = []
    /// The shared fields: one block per run of consecutive requests with the same block.
    private(set) var heads: [HeaderBlock] = []
    /// The first entry that was not taken yet.
    private var first = 0

    /// Creates an empty batch.
    package init() {}

    /// How many requests are in the batch.
    package var count: Int { entries.count - first }
    /// Whether the batch contains no requests.
    package var isEmpty: Bool { first == entries.count }

    /// The caller's id of a request in the batch; index 0 is the front.
    package func slot(at index: Int) -> UInt64 { entries[first + index].slot }

    /// Adds a request at the end.
    ///
    /// - Parameters:
    ///   - slot: the caller's own id, below 2^63 and unique among its requests in flight on one connection; the completion contains it.
    ///   - head: the shared fields; nil for those of the previous request. Without a previous request, nothing is added.
    ///   - deadline: when the request fails unless it was answered.
    ///   - write: encodes path, fields and body, in this order.
    package mutating func append(
        slot: UInt64,
        head: HeaderBlock?,
        deadline: Moment,
        _ write: (inout RequestWriter) -> Void
    ) {
        if let head, heads.last !== head { heads.append(head) }
        guard !heads.isEmpty else { return }
        var entry = Entry(
            slot: slot,
            deadline: deadline,
            head: heads.count - 1,
            start: bytes.count,
            firstField: fields.count
        )
        var writer = RequestWriter(bytes: [], fields: [])
        // Swapped in and out instead of copied: the writer owns the buffers while it writes.
        swap(&writer.bytes, &bytes)
        swap(&writer.fields, &fields)
        write(&writer)
        swap(&writer.bytes, &bytes)
        swap(&writer.fields, &fields)
        entry.pathCount = writer.pathCount
        entry.bodyCount = writer.bodyCount
        entry.fieldCount = fields.count - entry.firstField
        entry.byteCount = bytes.count - entry.start
        entries.append(entry)
    }

    /// Adds a request at the end, for callers without a `Moment`: creating one costs a division.
    package mutating func append(
        slot: UInt64,
        head: HeaderBlock,
        deadline: ContinuousClock.Instant,
        _ write: (inout RequestWriter) -> Void
    ) {
        append(slot: slot, head: head, deadline: Moment(deadline), write)
    }

    /// Removes all requests and keeps the memory.
    package mutating func removeAll() {
        heads.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: true)
        fields.removeAll(keepingCapacity: true)
        entries.removeAll(keepingCapacity: true)
        first = 0
    }

    /// Moves up to `limit` requests from the front of `other` to the end of this batch and returns how many.
    mutating func take(_ limit: Int, from other: inout RequestBatch) -> Int {
        let taken = min(limit, other.count)
        guard taken > 0 else { return 0 }
        if isEmpty, taken == other.count, other.first == 0 {
            removeAll()
            swap(&self, &other)
            return taken
        }
        // All remaining entries are copied at once: one by one, they would cost as much as their encoding.
        if taken == other.count {
            copyAll(of: other)
        } else {
            for index in 0..<taken { copy(other.entries[other.first + index], from: other) }
        }
        other.first += taken
        other.dropTaken()
        return taken
    }

    /// Frees the room of the taken requests once they are half of the batch: a batch that is never quite empty must not grow without limit.
    private mutating func dropTaken() {
        if isEmpty { return removeAll() }
        guard first * 2 >= entries.count else { return }
        let (byteStart, fieldStart, headStart) = (entries[first].start, entries[first].firstField, entries[first].head)
        heads.removeFirst(headStart)
        bytes.removeFirst(byteStart)
        fields.removeFirst(fieldStart)
        entries.removeFirst(first)
        first = 0
        for index in entries.indices {
            entries[index].start -= byteStart
            entries[index].firstField -= fieldStart
            entries[index].head -= headStart
        }
    }

    /// The requests that were not taken, in order.
    var remaining: ArraySlice<Entry> { entries[first...] }

    private mutating func copyAll(of other: RequestBatch) {
        guard let front = other.remaining.first else { return }
        let (byteShift, fieldShift) = (bytes.count - front.start, fields.count - front.firstField)
        // The first head may be the same as that of our last entry.
        let isShared = heads.last === other.heads[front.head]
        let headShift = heads.count - front.head - (isShared ? 1 : 0)
        heads.append(contentsOf: other.heads[(front.head + (isShared ? 1 : 0))...])
        bytes.append(contentsOf: other.bytes[front.start...])
        fields.append(contentsOf: other.fields[front.firstField...])
        entries.reserveCapacity(entries.count + other.count)
        for entry in other.remaining {
            var moved = entry
            moved.head += headShift
            moved.start += byteShift
            moved.firstField += fieldShift
            entries.append(moved)
        }
    }

    private mutating func copy(_ entry: Entry, from other: RequestBatch) {
        let head = other.heads[entry.head]
        if heads.last !== head { heads.append(head) }
        var moved = entry
        moved.head = heads.count - 1
        moved.start = bytes.count
        moved.firstField = fields.count
        bytes.append(contentsOf: other.bytes[entry.start..<entry.start + entry.byteCount])
        fields.append(contentsOf: other.fields[entry.firstField..<entry.firstField + entry.fieldCount])
        entries.append(moved)
    }
}

/// Encodes one request into a batch. Call `path` (also in pieces), then `field` for each field, then `body` (also in pieces).
package struct RequestWriter {
    fileprivate var bytes: [UInt8]
    fileprivate var fields: [RequestBatch.FieldEntry]
    fileprivate var pathCount = 0
    fileprivate var bodyCount = 0

    fileprivate init(bytes: [UInt8], fields: [RequestBatch.FieldEntry]) {
        self.bytes = bytes
        self.fields = fields
    }

    /// Adds a piece of the path. A text is passed on as bytes: read as a sequence of code units, it costs twice as much.
    package mutating func path(_ text: String) { path(text.utf8Span.span) }
    /// Adds two pieces of the path; the first is a literal.
    package mutating func path(_ prefix: StaticString, _ text: String) {
        let before = bytes.count
        let text = text.utf8Span.span
        bytes.append(addingCapacity: prefix.utf8CodeUnitCount + text.count) { $0.append(prefix, copying: text, "") }
        pathCount += bytes.count - before
    }
    /// Adds a piece of the path.
    package mutating func path(_ piece: Span<UInt8>) { pathCount += append(piece) }

    /// Adds a field whose value only this request has.
    package mutating func field(_ name: FieldName, _ value: String) { field(name, value.utf8Span.span) }
    /// Adds a field whose value only this request has.
    package mutating func field(_ name: FieldName, _ value: Span<UInt8>) {
        fields.append(.init(name: name, count: append(value)))
    }

    /// Adds a field whose value `write` encodes in place, at most `capacity` bytes.
    package mutating func field(_ name: FieldName, capacity: Int, _ write: (inout OutputSpan<UInt8>) -> Void) {
        let before = bytes.count
        bytes.append(addingCapacity: capacity, initializingWith: write)
        fields.append(.init(name: name, count: bytes.count - before))
    }

    /// Adds a piece of the body.
    package mutating func body(_ piece: [UInt8]) { bodyCount += append(piece.span) }

    private mutating func append(_ piece: Span<UInt8>) -> Int {
        bytes.append(addingCapacity: piece.count) { $0.append(copying: piece) }
        return piece.count
    }
}
