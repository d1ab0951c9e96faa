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
    var streamID: Int32 = 0
    var id: UInt64 = 0
    var deadline = ContinuousClock.Instant.now

    /// Path, field values and body, one behind the other.
    var request = RawBytes()
    var pathCount = 0
    var bodyStart = 0
    var bodySent = 0
    /// Descriptors of the request's own fields, which point into `request`.
    let fields: UnsafeMutablePointer<nghttp2_nv>
    let names: UnsafeMutablePointer<FieldName>
    var fieldCount = 0
    /// Kept alive because nghttp2 borrows their bytes.
    var head: HeaderBlock?
    var dispatched: HeaderBlock?

    var status = 0
    /// Kept fields, then the body.
    var response = RawBytes()
    var responseFields: [Response.Field] = []
    var responseBodyStart = 0
    var hasBody = false

    init() {
        unsafe fields = .allocate(capacity: HTTP2Limits.maxFieldsPerRequest)
        unsafe names = .allocate(capacity: HTTP2Limits.maxFieldsPerRequest)
    }

    deinit {
        unsafe fields.deallocate()
        unsafe names.deallocate()
    }

    /// Takes over a request; false if there is no memory for it.
    mutating func fill(_ entry: RequestBatch.Entry, from batch: borrowing RequestBatch) -> Bool {
        id = entry.slot
        deadline = entry.deadline
        head = entry.head
        request.removeAll()
        let isCopied = unsafe batch.bytes.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return entry.byteCount == 0 }
            return unsafe request.append(base + entry.start, count: entry.byteCount)
        }
        guard isCopied else { return false }
        pathCount = entry.pathCount
        bodyStart = entry.byteCount - entry.bodyCount
        bodySent = 0
        describeFields(entry, of: batch)
        return true
    }

    private mutating func describeFields(_ entry: RequestBatch.Entry, of batch: borrowing RequestBatch) {
        fieldCount = entry.fieldCount
        var offset = pathCount
        for index in 0..<fieldCount {
            let field = batch.fields[entry.firstField + index]
            guard let value = unsafe request.pointer(at: offset) else { continue }
            unsafe (fields + index).initialize(to: nghttp2_nv(field.name, value: value, count: field.count))
            unsafe (names + index).initialize(to: field.name)
            offset += field.count
        }
    }

    /// Makes it nobody's again and lets go of what others own.
    mutating func clear() {
        state = .free
        isCompleted = false
        isReset = false
        streamID = 0
        head = nil
        dispatched = nil
        resetResponse()
    }

    /// Forgets what came back: an informational response (RFC 9110 §15.2) is followed by the real one.
    mutating func resetResponse() {
        status = 0
        isBodyTruncated = false
        hasBody = false
        responseBodyStart = 0
        response.removeAll()
        if !responseFields.isEmpty { responseFields.removeAll() }
    }

    /// Keeps one field of the response, if it fits and the body has not begun.
    mutating func keep(_ name: FieldName, value: UnsafePointer<UInt8>, count: Int, limit: Int) {
        guard !hasBody, response.count + count <= limit else { return }
        let start = response.count
        guard unsafe response.append(value, count: count) else { return }
        responseFields.append(Response.Field(name: name, range: start..<start + count))
        responseBodyStart = response.count
    }

    /// Keeps a piece of the body up to the limit.
    mutating func keepBody(_ bytes: UnsafePointer<UInt8>, count: Int, limit: Int) {
        hasBody = true
        let room = max(0, limit - (response.count - responseBodyStart))
        if count > room { isBodyTruncated = true }
        unsafe response.append(bytes, count: min(room, count))
    }

    /// The response as the caller gets it.
    var answer: Response {
        if response.count == 0 { return Response(status: status) }
        return Response(
            status: status,
            bytes: response.copy(),
            fields: responseFields,
            bodyStart: responseBodyStart,
            isBodyTruncated: isBodyTruncated
        )
    }
}
