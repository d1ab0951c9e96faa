internal import Bytes
internal import CNGHTTP2

/// The state of one request in a session: its bytes, its stream and the response so far.
///
/// Slots lie in one block of plain memory, which is allocated once and reused; the buffers inside keep the size they grew to.
@safe
struct Slot: ~Copyable {
    /// The states of a slot.
    enum State: UInt8 {
        /// Not in use. Goes to: queued.
        case free
        /// Waits for the stream limit. Goes to: open, free.
        case queued
        /// Its stream exists; its memory belongs to nghttp2 until the stream closes. Goes to: free.
        case open
    }

    var state = State.free
    /// Whether the completion was reported. An open slot may outlive that, because its stream must still close.
    var isCompleted = false
    /// Whether RST_STREAM was submitted for it.
    var isReset = false
    var isBodyTruncated = false
    var hasBody = false
    /// Bit n: the name of field n enters the peer's table once, and its value never enters it.
    var nameOnceMask: UInt32 = 0
    var streamID: Int32 = 0
    /// The next slot of the list it is in; negative for the last one.
    var next = -1
    var id: UInt64 = 0
    var deadline = Moment.never

    /// Path, field values and body, in this order.
    var request = RawBytes()
    var pathCount = 0
    var bodyStart = 0
    var bodySent = 0
    /// Descriptors of the request's own fields, which point into `request`.
    let fields: UnsafeMutablePointer<nghttp2_nv>
    var fieldCount = 0
    /// Numbers in the session's `heads` and `dispatches`. The blocks are kept alive because nghttp2 borrows their bytes.
    var head = HeldBlocks.none
    var dispatched = HeldBlocks.none

    var status = 0
    /// The kept fields in the layout of `ResponseStore`, then the body.
    var response = RawBytes()
    var responseFieldBytes = 0

    init() { unsafe fields = .allocate(capacity: HTTP2Limits.maxFieldsPerRequest) }

    deinit { unsafe fields.deallocate() }

    /// Copies a request into the slot.
    ///
    /// - Parameters:
    ///   - entry: the positions in `bytes`; its counts are within the limits.
    ///   - bytes: the entry's bytes.
    ///   - entryFields: the entry's fields.
    /// - Returns: false if there is not enough memory, or if the path or a field contains bytes that HTTP/2 forbids.
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
        // RFC 9113 §8.3.1: a path begins with a slash; a peer would reset the stream otherwise.
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

    /// Marks the slot as free. The caller has released its blocks before.
    mutating func clear() {
        state = .free
        isCompleted = false
        isReset = false
        streamID = 0
        head = HeldBlocks.none
        dispatched = HeldBlocks.none
        resetResponse()
    }

    /// Discards the response so far: an informational response (RFC 9110 §15.2) is followed by the final one.
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

/// Whether all bytes are visible ASCII, which is allowed in a path and a field value, and is the usual case. nghttp2 checks them byte by byte.
private func isVisible(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Bool {
    let buffer = unsafe UnsafeBufferPointer(start: bytes, count: count)
    return unsafe !buffer.span.contains(filler: UInt8(ascii: "x")) { $0.high | $0.below(0x21) | $0.equal(0x7F) }
}
