internal import Bytes
internal import CNGHTTP2

/// One request's place in a session: its bytes, its stream and what came back so far.
///
/// Slots live in one run of plain memory, made once and used again; the buffers inside keep what they grew to.
@safe
struct Slot: ~Copyable {
    /// Where a request is.
    enum State: UInt8 {
        /// Nobody's. Goes to: queued.
        case free
        /// Waits for the gate. Goes to: open, free.
        case queued
        /// Its stream exists; its memory belongs to nghttp2 until the stream closes. Goes to: free.
        case open
    }

    var state = State.free
    /// Whether the caller was told how it ended. An open slot may outlive that: its stream still has to close.
    var isCompleted = false
    /// Whether RST_STREAM was submitted for it.
    var isReset = false
    var isBodyTruncated = false
    var hasBody = false
    /// Bit n: the name of field n is placed in the peer's table once, and its value never again.
    var nameOnceMask: UInt32 = 0
    var streamID: Int32 = 0
    /// The next slot of the list it is in; negative: it is the last.
    var next = -1
    var id: UInt64 = 0
    var deadline = Moment.never

    /// Path, field values and body, one behind the other.
    var request = RawBytes()
    var pathCount = 0
    var bodyStart = 0
    var bodySent = 0
    /// Descriptors of the request's own fields, which point into `request`.
    let fields: UnsafeMutablePointer<nghttp2_nv>
    var fieldCount = 0
    /// Numbers in the session's `heads` and `dispatches`: kept alive because nghttp2 borrows their bytes.
    var head = HeldBlocks.none
    var dispatched = HeldBlocks.none

    var status = 0
    /// Kept fields as in `ResponseStore`, then the body.
    var response = RawBytes()
    var responseFieldBytes = 0

    init() { unsafe fields = .allocate(capacity: HTTP2Limits.maxFieldsPerRequest) }

    deinit { unsafe fields.deallocate() }

    /// Takes over a request.
    ///
    /// - Parameters:
    ///   - entry: what lies where; its counts are within the limits.
    ///   - bytes: the entry's bytes.
    ///   - entryFields: the entry's fields.
    /// - Returns: false if there is no memory for it, or its path or fields have bytes that HTTP/2 forbids.
    mutating func fill(
        _ entry: RequestBatch.Entry,
        bytes: UnsafePointer<UInt8>,
        fields entryFields: UnsafeBufferPointer<RequestBatch.FieldEntry>
    ) -> Bool {
        id = entry.slot
        deadline = entry.deadline
        request.removeAll()
        guard entry.pathCount > 0, unsafe request.append(bytes, count: entry.byteCount) else { return false }
        pathCount = entry.pathCount
        bodyStart = entry.byteCount - entry.bodyCount
        bodySent = 0
        // RFC 9113 §8.3.1: a path begins with a slash; a peer would reset the stream.
        guard let path = unsafe request.pointer(at: 0),
            unsafe path[0] == UInt8(ascii: "/")
                && (isVisible(path, pathCount) || nghttp2_check_path(path, pathCount) != 0)
        else { return false }
        return unsafe describeFields(entryFields)
    }

    private mutating func describeFields(_ entryFields: UnsafeBufferPointer<RequestBatch.FieldEntry>) -> Bool {
        fieldCount = 0
        nameOnceMask = 0
        var offset = pathCount
        for index in 0..<entryFields.count {
            let field = unsafe entryFields[index]
            guard let value = unsafe request.pointer(at: offset),
                unsafe isVisible(value, field.count) || nghttp2_check_header_value_rfc9113(value, field.count) != 0
            else { return false }
            unsafe (fields + fieldCount).initialize(to: nghttp2_nv(field.name, value: value, count: field.count))
            if field.name.indexing == .nameOnce { nameOnceMask |= 1 << UInt32(fieldCount) }
            fieldCount += 1
            offset += field.count
        }
        return true
    }

    /// Makes it nobody's again. What it held is let go of before.
    mutating func clear() {
        state = .free
        isCompleted = false
        isReset = false
        streamID = 0
        head = HeldBlocks.none
        dispatched = HeldBlocks.none
        resetResponse()
    }

    /// Forgets what came back: an informational response (RFC 9110 §15.2) is followed by the real one.
    mutating func resetResponse() {
        status = 0
        isBodyTruncated = false
        hasBody = false
        responseFieldBytes = 0
        response.removeAll()
    }

    /// Keeps one field of the response, if it fits and the body has not begun.
    mutating func keep(_ name: UInt8, value: UnsafePointer<UInt8>, count: Int, limit: Int) {
        let length = ResponseStore.fieldOverheadBytes + count
        guard !hasBody, count <= Int(UInt16.max), response.count + length <= limit,
            let target = unsafe response.reserve(length)
        else { return }
        unsafe target[0] = name
        unsafe target[1] = UInt8(truncatingIfNeeded: count)
        unsafe target[2] = UInt8(truncatingIfNeeded: count >> 8)
        unsafe (target + ResponseStore.fieldOverheadBytes).update(from: value, count: count)
        response.added(length)
        responseFieldBytes = response.count
    }

    /// Keeps a piece of the body up to the limit.
    mutating func keepBody(_ bytes: UnsafePointer<UInt8>, count: Int, limit: Int) {
        hasBody = true
        let room = max(0, limit - (response.count - responseFieldBytes))
        let isKept = unsafe response.append(bytes, count: min(room, count))
        if count > room || !isKept { isBodyTruncated = true }
    }
}

/// Whether it is all visible ASCII, which a path and a field's value may be and nearly always are. nghttp2 looks at them byte by byte.
private func isVisible(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Bool {
    let buffer = unsafe UnsafeBufferPointer(start: bytes, count: count)
    return unsafe !buffer.span.contains(filler: UInt8(ascii: "x")) { $0.high | $0.below(0x21) | $0.equal(0x7F) }
}
