internal import CNGHTTP2
internal import Glibc

/// One client's HTTP/2 session: it converts requests and bytes, without a socket, a clock or a thread.
///
/// Its `Connection` creates and ends it, and calls it on that connection's loop only. Requests wait in the session's own queue, never in nghttp2's, which would
/// fix their fields, including an authorization that may expire. A stream is started only if `min(peer's limit, own limit)` allows it; every request gets
/// exactly one completion.
///
/// Usage: call `enqueue`, `receive`, `expire` and `cancel` in any order; then `write` until it returns nothing; then take `completions` and `events`.
@safe
package final class Session {
    /// The state that every request uses.
    @safe
    struct Books {
        /// The shared heads of requests.
        var heads = HeldBlocks()
        /// The shared fields that were added when requests started.
        var dispatches = HeldBlocks()
        /// Requests that completed since the owner last emptied the list.
        var ended: [Completion] = []
        /// Names with `Indexing.nameOnce` that this connection has entered in the peer's table.
        var placedNames: [UnsafeMutablePointer<UInt8>] = unsafe []
    }

    let limits: HTTP2Limits
    private let initialStreamLimit: Int
    let collected: [FieldName]
    /// Freed in `deinit`, before `memory`; every callback of nghttp2 runs inside a call on this session.
    let handle: OpaquePointer
    private let memory: SessionMemory

    /// `capacity` slots; the first `slotCount` of them are initialized.
    let slots: UnsafeMutablePointer<Slot>
    let capacity: Int
    var slotCount = 0
    // The following is internal, with `package` accessors where needed: the compiler proves the absence of overlapping accesses only for members that no other
    // module can reach, and the check at run time costs 80 instructions each.
    var freeSlots = SlotList()
    var queue = SlotList()
    var opened = 0
    var started: UInt32 = 0
    /// The array for one submit call; nghttp2 copies the descriptors, but not the bytes that they point to.
    let scratch: UnsafeMutablePointer<nghttp2_nv>
    /// The state that every request uses. It is allocated separately, like the slots, because each access to a property of this class would be checked for
    /// overlaps at run time, which costs 80 instructions.
    let books: UnsafeMutablePointer<Books>
    /// The blocks that are in `scratch` since the last request; the next request usually shares them. They are retained like those of a slot.
    var scratchHead = HeldBlocks.none
    var scratchDispatched = HeldBlocks.none
    var scratchCount = 0
    /// Where the path goes in `scratch`.
    var scratchPathPlace = 0
    /// The slot whose header block is being read.
    private var headersSlot: Int?
    /// The stream of the last look-up, and its slot: all callbacks of an answer look up the same stream. 0: none.
    var lastStreamID: Int32 = 0
    var lastSlot = 0
    /// The store for answers, until it is full; retained by the session. It is unmanaged, because a managed reference would be counted at each use.
    var store: Unmanaged<ResponseStore>?

    var hasSettings = false
    var reportedLimit: Int
    /// Set by a GOAWAY of either side, the end of stream numbers or a fatal error. No stream starts after it.
    var isRefusing: HTTP2Error?
    /// Set when nghttp2 has failed; then it may only be freed. The next `receive` or `write` throws it.
    var failure: HTTP2Error?
    /// A lower bound of all requests' deadlines. If it is too early, `expire` finds nothing and corrects it.
    var earliestDeadline = Moment.never

    /// Streams that exist, including those whose request has completed.
    package var openCount: Int { opened }
    /// Streams started since the session began.
    package var startedCount: UInt32 { started }
    /// Requests that completed since the owner last emptied the list.
    package var completions: [Completion] {
        get { unsafe books.pointee.ended }
        set { unsafe books.pointee.ended = newValue }
    }
    /// Other events since the owner last emptied the list.
    package var events: [SessionEvent] = []

    /// Starts a session. The first bytes of `write` are the preface and our SETTINGS.
    ///
    /// - Parameters:
    ///   - limits: the limits.
    ///   - initialStreamLimit: how many streams may be open before the peer's SETTINGS arrive.
    ///   - collectedFields: the response fields to keep, at most 255.
    /// - Throws: `outOfMemory`.
    package convenience init(
        limits: HTTP2Limits = HTTP2Limits(),
        initialStreamLimit: Int = 1,
        collectedFields: [FieldName] = []
    ) throws(HTTP2Error) {
        try self.init(limits, initialStreamLimit, collectedFields, memory: SessionMemory())
    }

    /// Starts a session with the given memory.
    ///
    /// - Throws: `outOfMemory`.
    init(
        _ limits: HTTP2Limits,
        _ initialStreamLimit: Int,
        _ collectedFields: [FieldName],
        memory: SessionMemory
    ) throws(HTTP2Error) {
        self.limits = limits
        self.initialStreamLimit = initialStreamLimit
        self.memory = memory
        collected = Array(collectedFields.prefix(Int(UInt8.max)))
        capacity = max(0, limits.maxConcurrentStreams) + max(0, limits.maxQueuedRequests)
        reportedLimit = min(initialStreamLimit, limits.maxConcurrentStreams)
        guard let handle = unsafe makeHandle(initialStreamLimit: initialStreamLimit, memory) else {
            throw HTTP2Error(.outOfMemory, isUnsent: true)
        }
        unsafe self.handle = handle
        unsafe slots = .allocate(capacity: max(1, capacity))
        unsafe scratch = .allocate(
            capacity: 1 + 2 * HTTP2Limits.maxFieldsPerBlock + HTTP2Limits.maxFieldsPerRequest
        )
        unsafe books = .allocate(capacity: 1)
        unsafe books.initialize(to: Books())
        unsafe nghttp2_session_set_user_data(handle, Unmanaged.passUnretained(self).toOpaque())
        try unsafe check(submitPreface(handle, limits))
    }

    deinit {
        unsafe nghttp2_session_del(handle)
        unsafe store?.release()
        unsafe slots.deinitialize(count: slotCount)
        unsafe slots.deallocate()
        unsafe scratch.deallocate()
        unsafe books.deinitialize(count: 1)
        unsafe books.deallocate()
    }

    // MARK: State for the owner

    /// How many streams may be open at once at this moment.
    package var streamLimit: Int {
        guard hasSettings else { return min(initialStreamLimit, limits.maxConcurrentStreams) }
        let peer = unsafe nghttp2_session_get_remote_settings(handle, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
        return min(Int(peer), limits.maxConcurrentStreams)
    }

    /// Requests that wait for the stream limit.
    package var queuedCount: Int { queue.count }

    /// A lower bound of all requests' deadlines; nil if no request has one.
    package var nextDeadline: ContinuousClock.Instant? {
        earliestDeadline == .never ? nil : earliestDeadline.instant
    }

    /// How many more requests `enqueue` accepts: the free streams and a short queue.
    ///
    /// The queue is never longer than the stream limit, so that a limit of 1 lets one request wait, not hundreds.
    package var credits: Int {
        guard isRefusing == nil else { return 0 }
        let limit = streamLimit
        let room = limit + min(limits.maxQueuedRequests, limit) - openCount - queuedCount
        return max(0, min(room, capacity - openCount - queuedCount))
    }

    /// How many bytes of request bodies the peer's connection window still allows.
    package var sendWindowBytes: Int { Int(unsafe nghttp2_session_get_remote_window_size(handle)) }

    /// Whether neither side has anything left to send, so that the socket can be closed.
    package var isFinished: Bool {
        unsafe failure != nil || (nghttp2_session_want_read(handle) == 0 && nghttp2_session_want_write(handle) == 0)
    }

    // MARK: Calls of the owner

    /// Takes the whole batch. Requests that exceed the credits, are too large or are malformed complete at once as unsent.
    package func enqueue(_ batch: inout RequestBatch) {
        unsafe batch.bytes.withUnsafeBufferPointer { bytes in
            unsafe batch.fields.withUnsafeBufferPointer { fields in
                var (place, head) = (-1, HeldBlocks.none)
                for entry in batch.remaining {
                    if entry.head != place {
                        place = entry.head
                        head = unsafe books.pointee.heads.number(of: batch.heads[place])
                    }
                    unsafe enqueue(entry, bytes, fields, head)
                }
            }
        }
        batch.removeAll()
    }

    /// Processes bytes that were received from the peer.
    ///
    /// - Throws: `protocolError`, `outOfMemory`: the session has failed; call `fail`.
    package func receive(_ bytes: UnsafeBufferPointer<UInt8>) throws(HTTP2Error) {
        if let failure { throw failure }
        guard let base = bytes.baseAddress, !bytes.isEmpty else { return }
        let used = unsafe nghttp2_session_mem_recv(handle, base, bytes.count)
        if used < 0 { try died(used) }
    }

    /// Starts as many requests as the stream limit allows, and appends up to about one TLS record of output.
    ///
    /// A request is started only when nghttp2 has no other output, so that its HEADERS are the next bytes. No request ever waits inside the library, where it
    /// could not be withdrawn, and its fields are read while they are still in the processor's cache.
    ///
    /// - Parameters:
    ///   - output: receives the bytes.
    ///   - dispatched: fields to add to each request that is started by this call.
    /// - Throws: `protocolError`, `outOfMemory`: the session has failed; call `fail`.
    package func write(into output: inout RawBytes, dispatched: HeaderBlock?) throws(HTTP2Error) {
        if let failure { throw failure }
        let dispatched = dispatched.map { unsafe books.pointee.dispatches.number(of: $0) } ?? HeldBlocks.none
        while output.unreadCount < HTTP2Limits.writeChunkBytes {
            var chunk: UnsafePointer<UInt8>?
            let count = unsafe nghttp2_session_mem_send(handle, &chunk)
            if count < 0 { try died(count) }
            guard count > 0, let chunk = unsafe chunk else {
                if startNext(dispatched) { continue }
                if let failure { throw failure }
                return
            }
            // nghttp2 reuses the bytes on the next call, so they are copied here.
            guard unsafe output.append(chunk, count: count) else { throw HTTP2Error(.outOfMemory) }
        }
    }

    /// Converts nghttp2's fatal error into an `HTTP2Error` and stores it.
    private func died(_ code: Int) throws(HTTP2Error) {
        do {
            try check(Int32(clamping: code))
        } catch {
            failure = error
            throw error
        }
    }

    /// Cancels requests: queued ones complete as unsent, open ones are reset by RST_STREAM unless their answer has arrived.
    package func cancel(_ ids: [UInt64]) {
        let wanted = Set(ids)
        end(HTTP2Error(.canceled)) { !$0.isCompleted && wanted.contains($0.id) }
    }

    /// Cancels requests whose deadline has passed.
    package func expire(at now: ContinuousClock.Instant) {
        let now = Moment(now)
        guard earliestDeadline <= now else { return }
        end(HTTP2Error(.deadlineExceeded)) { $0.deadline <= now }
        earliestDeadline = .never
        for index in 0..<slotCount where unsafe slots[index].state != .free && !slots[index].isReset {
            unsafe earliestDeadline = min(earliestDeadline, slots[index].deadline)
        }
    }

    /// Completes every request because the connection is closed. Open requests get the error, queued ones get it as unsent.
    package func fail(_ error: HTTP2Error) {
        isRefusing = isRefusing ?? error
        failQueued(error)
        for index in 0..<slotCount where unsafe slots[index].state == .open { complete(index, .failure(error)) }
    }

    /// Announces the end of requests to the peer, and refuses further ones. Open streams continue.
    package func goAway() {
        refuse(HTTP2Error(.notSent, isUnsent: true))
        let flags = UInt8(NGHTTP2_FLAG_NONE.rawValue)
        note { unsafe nghttp2_submit_goaway(handle, flags, 0, NGHTTP2_NO_ERROR.rawValue, nil, 0) }
    }

    /// Sends a PING; `SessionEvent.pingAnswered` follows.
    package func ping() {
        note { unsafe nghttp2_submit_ping(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil) }
    }

    // MARK: Callbacks of nghttp2

    func headersBegan(_ header: nghttp2_frame_hd) {
        // Until our SETTINGS are acknowledged, a peer may also push; the fields of a push promise belong to a request that the peer made up.
        headersSlot = header.type == UInt8(NGHTTP2_HEADERS.rawValue) ? slot(of: header.stream_id) : nil
    }

    func fieldReceived(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        guard let index = headersSlot, let bytes = value.baseAddress, let first = unsafe name.first else { return }
        if first == UInt8(ascii: ":") {
            // `:status` is the only pseudo field of a response (RFC 9113 §8.3.2).
            guard value.count == 3 else { return }
            unsafe slots[index].resetResponse()
            unsafe slots[index].status = Int(bytes[0]) * 100 + Int(bytes[1]) * 10 + Int(bytes[2]) - 48 * 111
            return
        }
        guard let base = name.baseAddress else { return }
        for (place, field) in collected.enumerated() where unsafe field.matches(base, count: name.count) {
            let limit = limits.maxResponseFieldBytes
            unsafe slots[index].keep(UInt8(clamping: place), value: bytes, count: value.count, limit: limit)
        }
    }

    func bodyReceived(_ streamID: Int32, _ bytes: UnsafePointer<UInt8>, count: Int) {
        guard let index = slot(of: streamID) else { return }
        unsafe slots[index].keepBody(bytes, count: count, limit: limits.maxResponseBodyBytes)
    }

    func frameReceived(_ frame: UnsafePointer<nghttp2_frame>) {
        let header = unsafe frame.pointee.hd
        switch UInt32(header.type) {
        case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
            if header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 { responseEnded(header.stream_id) }
        case NGHTTP2_SETTINGS.rawValue:
            if header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) == 0 { settingsReceived() }
        case NGHTTP2_PING.rawValue:
            if header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0 { events.append(.pingAnswered) }
        case NGHTTP2_GOAWAY.rawValue:
            unsafe goAwayReceived(frame.pointee.goaway)
        default:
            break
        }
    }

    func streamClosed(_ streamID: Int32, code: UInt32) {
        guard let index = slot(of: streamID) else { return }
        closeSlot(index, code: code)
    }

    func readBody(
        slot index: Int,
        into target: UnsafeMutablePointer<UInt8>,
        count: Int,
        flags: UnsafeMutablePointer<UInt32>
    ) -> Int {
        guard index < slotCount, unsafe slots[index].state == .open else {
            return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
        }
        let offset = unsafe slots[index].bodyStart + slots[index].bodySent
        let rest = unsafe slots[index].request.count - offset
        let length = min(count, rest)
        if length > 0, let source = unsafe slots[index].request.pointer(at: offset) {
            unsafe memcpy(target, source, length)
        }
        unsafe slots[index].bodySent += length
        if length == rest { unsafe flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
        return length
    }
}
