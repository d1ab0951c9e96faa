internal import CNGHTTP2
internal import Glibc

/// One client's HTTP/2 session: bytes in, bytes out, no socket, no clock, no thread.
///
/// Made and ended by its `Connection`, and called on that connection's loop only. Requests wait in the session's own queue, never
/// in nghttp2's: their fields would be frozen there, an old authorization with them. A stream is started only when
/// `min(peer's limit, own cap)` allows; every request gets exactly one completion.
///
/// How to drive it: `enqueue`, `receive`, `expire`, `cancel` in any order; then `write` until it gives nothing; then take
/// `completions` and `events`.
@safe
package final class Session {
    /// What every request touches.
    @safe
    struct Books {
        /// The shared fields of requests.
        var heads = HeldBlocks()
        /// Those that were added when they were started.
        var dispatches = HeldBlocks()
        /// Requests that ended since the owner last emptied it.
        var ended: [Completion] = []
        /// Names with `Indexing.nameOnce` that this connection has placed in the peer's table.
        var placedNames: [UnsafeMutablePointer<UInt8>] = unsafe []
    }

    let limits: HTTP2Limits
    private let initialStreamLimit: Int
    let collected: [FieldName]
    /// Freed in `deinit`, before `memory`; every callback nghttp2 makes happens inside a call on this session.
    let handle: OpaquePointer
    private let memory: SessionMemory

    /// `capacity` slots, of which the first `slotCount` were made.
    let slots: UnsafeMutablePointer<Slot>
    let capacity: Int
    var slotCount = 0
    // What follows is internal, with `package` accessors where needed: the compiler proves the absence of overlapping accesses only
    // for what no other module can reach, and the check at run time costs 80 instructions each.
    var freeSlots = SlotList()
    var queue = SlotList()
    var opened = 0
    var started: UInt32 = 0
    /// The array that one submit call reads; nghttp2 copies the descriptors, not what they point to.
    let scratch: UnsafeMutablePointer<nghttp2_nv>
    /// What every request touches. In memory of its own, like the slots: as properties of ours each access was checked for overlaps at run time,
    /// 80 instructions.
    let books: UnsafeMutablePointer<Books>
    /// The blocks that lie in `scratch` since the last request, which the next one mostly shares. Held like a slot's.
    var scratchHead = HeldBlocks.none
    var scratchDispatched = HeldBlocks.none
    var scratchCount = 0
    /// Where the path goes in it.
    var scratchPathPlace = 0
    /// The slot whose header block is being read.
    private var headersSlot: Int?
    /// The stream that was looked up last, and its slot: an answer's callbacks all ask for the same one. 0: none.
    var lastStreamID: Int32 = 0
    var lastSlot = 0
    /// Where answers are put, until it is full; retained by this. Unmanaged, because a managed one is counted at every use.
    var store: Unmanaged<ResponseStore>?

    var hasSettings = false
    var reportedLimit: Int
    /// Set by a GOAWAY of either side, the end of stream numbers or a fatal error. Nothing starts after it.
    var isRefusing: HTTP2Error?
    /// nghttp2 has failed: it may only be freed now. Thrown by the next `receive` or `write`.
    var failure: HTTP2Error?
    /// No request's deadline is earlier. It may be stale on the early side; `expire` then finds nothing and mends it.
    var earliestDeadline = Moment.never

    /// Streams that exist, those whose caller was told already included.
    package var openCount: Int { opened }
    /// Streams started over the session's life.
    package var startedCount: UInt32 { started }
    /// Requests that ended since the owner last emptied it.
    package var completions: [Completion] {
        get { unsafe books.pointee.ended }
        set { unsafe books.pointee.ended = newValue }
    }
    /// What else happened since the owner last emptied it.
    package var events: [SessionEvent] = []

    /// Starts a session: the preface and our SETTINGS are the first bytes `write` gives.
    ///
    /// - Parameters:
    ///   - limits: the bounds.
    ///   - initialStreamLimit: how many streams may be open before the peer's SETTINGS are here.
    ///   - collectedFields: the response fields to keep, at most 255.
    /// - Throws: `outOfMemory`.
    package convenience init(
        limits: HTTP2Limits = HTTP2Limits(),
        initialStreamLimit: Int = 1,
        collectedFields: [FieldName] = []
    ) throws(HTTP2Error) {
        try self.init(limits, initialStreamLimit, collectedFields, memory: SessionMemory())
    }

    /// Starts a session with memory of the caller's choice.
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

    // MARK: What the owner asks

    /// How many streams may be open at once, now.
    package var streamLimit: Int {
        guard hasSettings else { return min(initialStreamLimit, limits.maxConcurrentStreams) }
        let peer = unsafe nghttp2_session_get_remote_settings(handle, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
        return min(Int(peer), limits.maxConcurrentStreams)
    }

    /// Requests that wait for the gate.
    package var queuedCount: Int { queue.count }

    /// No request's deadline is earlier; nil if there is none.
    package var nextDeadline: ContinuousClock.Instant? {
        earliestDeadline == .never ? nil : earliestDeadline.instant
    }

    /// How many more requests `enqueue` takes: the free streams and a short queue behind them.
    ///
    /// The queue is never longer than the stream limit, so that a limit of 1 lets one request wait, not hundreds.
    package var credits: Int {
        guard isRefusing == nil else { return 0 }
        let limit = streamLimit
        let room = limit + min(limits.maxQueuedRequests, limit) - openCount - queuedCount
        return max(0, min(room, capacity - openCount - queuedCount))
    }

    /// What the peer's connection window still lets us send, in bytes of body.
    package var sendWindowBytes: Int { Int(unsafe nghttp2_session_get_remote_window_size(handle)) }

    /// Whether neither side has anything left to say, so that the socket can be closed.
    package var isFinished: Bool {
        unsafe failure != nil || (nghttp2_session_want_read(handle) == 0 && nghttp2_session_want_write(handle) == 0)
    }

    /// Whether `write` has something to give.
    package var wantsWrite: Bool {
        if queuedCount > 0, openCount < streamLimit { return true }
        return unsafe nghttp2_session_want_write(handle) != 0
    }

    // MARK: What the owner does

    /// Takes the whole batch. What is beyond the credits, too large or malformed completes at once as unsent.
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

    /// Gives the session what the peer sent.
    ///
    /// - Throws: `protocolError`, `outOfMemory`: the session is dead; call `fail`.
    package func receive(_ bytes: UnsafeBufferPointer<UInt8>) throws(HTTP2Error) {
        if let failure { throw failure }
        guard let base = bytes.baseAddress, !bytes.isEmpty else { return }
        let used = unsafe nghttp2_session_mem_recv(handle, base, bytes.count)
        if used < 0 { try died(used) }
    }

    /// Starts what the gate lets through and appends up to about one TLS record of output.
    ///
    /// A request is started only when nghttp2 has nothing else to say, so its HEADERS are the next bytes: none ever waits inside
    /// the library, where it could not be taken back, and its fields are read while they are still in the processor's cache.
    ///
    /// - Parameters:
    ///   - output: gets the bytes.
    ///   - dispatched: fields to add to each request that is started now.
    /// - Throws: `protocolError`, `outOfMemory`: the session is dead; call `fail`.
    func write(into output: inout RawBytes, dispatched: HeaderBlock?) throws(HTTP2Error) {
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
            // The bytes die on the next call, so they are copied here.
            guard unsafe output.append(chunk, count: count) else { throw HTTP2Error(.outOfMemory) }
        }
    }

    /// Turns nghttp2's fatal error into ours and remembers it.
    private func died(_ code: Int) throws(HTTP2Error) {
        do {
            try check(Int32(clamping: code))
        } catch {
            failure = error
            throw error
        }
    }

    /// Ends requests the caller gave up: queued ones as unsent, open ones with RST_STREAM unless their answer is here.
    package func cancel(_ ids: [UInt64]) {
        let wanted = Set(ids)
        end(HTTP2Error(.canceled)) { !$0.isCompleted && wanted.contains($0.id) }
    }

    /// Ends requests whose deadline has passed, as `cancel` does.
    package func expire(at now: ContinuousClock.Instant) {
        let now = Moment(now)
        guard earliestDeadline <= now else { return }
        end(HTTP2Error(.deadlineExceeded)) { $0.deadline <= now }
        earliestDeadline = .never
        for index in 0..<slotCount where unsafe slots[index].state != .free && !slots[index].isReset {
            unsafe earliestDeadline = min(earliestDeadline, slots[index].deadline)
        }
    }

    /// Completes everything: the connection is gone. Open requests get the error, queued ones get it as unsent.
    package func fail(_ error: HTTP2Error) {
        isRefusing = isRefusing ?? error
        failQueued(error)
        for index in 0..<slotCount where unsafe slots[index].state == .open { complete(index, .failure(error)) }
    }

    /// Tells the peer that no more requests come, and takes none. Open streams go on.
    package func goAway() {
        refuse(HTTP2Error(.notSent, isUnsent: true))
        let flags = UInt8(NGHTTP2_FLAG_NONE.rawValue)
        note { unsafe nghttp2_submit_goaway(handle, flags, 0, NGHTTP2_NO_ERROR.rawValue, nil, 0) }
    }

    /// Asks the peer for a sign of life; `SessionEvent.pingAnswered` follows.
    package func ping() {
        note { unsafe nghttp2_submit_ping(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil) }
    }

    /// `receive` for bytes in an array.
    ///
    /// - Throws: as the other one.
    package func receive(_ bytes: [UInt8]) throws(HTTP2Error) {
        try unsafe bytes.withUnsafeBufferPointer { (buffer) throws(HTTP2Error) in try unsafe receive(buffer) }
    }

    /// All there is to send, as an array.
    ///
    /// - Parameter dispatched: fields to add to each request that is started now.
    /// - Throws: as `write`.
    /// - Returns: what the peer is to get, in order.
    package func output(dispatched: HeaderBlock? = nil) throws(HTTP2Error) -> [UInt8] {
        var output = RawBytes()
        var all: [UInt8] = []
        repeat {
            output.removeAll()
            try write(into: &output, dispatched: dispatched)
            all += output.copy()
        } while !output.isEmpty
        return all
    }

    // MARK: What nghttp2 tells

    func headersBegan(_ header: nghttp2_frame_hd) {
        // Until our SETTINGS are acknowledged, a peer may also push: those fields are requests of its own making.
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
