internal import CNGHTTP2

// How a request gets a slot and then a stream, and how both end.
extension Session {
    // MARK: Into the queue

    func enqueue(
        _ entry: RequestBatch.Entry,
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ fields: UnsafeBufferPointer<RequestBatch.FieldEntry>,
        _ head: Int
    ) {
        if let refusal = refusal(of: entry) { return end(entry, refusal) }
        let index = takeSlot()
        unsafe slots[index].head = head
        unsafe books.pointee.heads.use(head)
        let own = unsafe UnsafeBufferPointer(rebasing: fields[entry.firstField..<entry.firstField + entry.fieldCount])
        guard let base = bytes.baseAddress,
            unsafe slots[index].fill(entry, bytes: base + entry.start, fields: own)
        else {
            release(index)
            return end(entry, HTTP2Error(.invalidRequest, isUnsent: true))
        }
        unsafe slots[index].state = .queued
        earliestDeadline = min(earliestDeadline, entry.deadline)
        unsafe queue.append(index, in: slots)
    }

    private func end(_ entry: RequestBatch.Entry, _ error: HTTP2Error) {
        unsafe books.pointee.ended.append(Completion(slot: entry.slot, result: .failure(error)))
    }

    private func refusal(of entry: RequestBatch.Entry) -> HTTP2Error? {
        if let isRefusing { return isRefusing.unsent }
        if opened + queue.count >= capacity { return HTTP2Error(.noCapacity, isUnsent: true) }
        let headerBytes = entry.byteCount - entry.bodyCount
        let isTooLarge =
            entry.bodyCount > limits.maxRequestBodyBytes || headerBytes > limits.maxRequestHeaderBytes
            || entry.fieldCount > HTTP2Limits.maxFieldsPerRequest
        return isTooLarge ? HTTP2Error(.requestTooLarge, isUnsent: true) : nil
    }

    private func takeSlot() -> Int {
        if let index = unsafe freeSlots.popFirst(in: slots) { return index }
        unsafe (slots + slotCount).initialize(to: Slot())
        slotCount += 1
        return slotCount - 1
    }

    func release(_ index: Int) {
        unsafe books.pointee.heads.letGo(slots[index].head)
        unsafe books.pointee.dispatches.letGo(slots[index].dispatched)
        unsafe slots[index].clear()
        unsafe freeSlots.append(index, in: slots)
    }

    // MARK: Out of the queue

    /// Opens a stream for the request at the front, if the stream limit allows it; returns false if there is nothing to do.
    func startNext(_ dispatched: Int) -> Bool {
        guard queue.count > 0, isRefusing == nil, opened < streamLimit,
            let index = unsafe queue.popFirst(in: slots)
        else { return false }
        start(index, dispatched)
        return failure == nil
    }

    private func start(_ index: Int, _ dispatched: Int) {
        let count = describe(index, dispatched)
        let streamID = submit(index, fieldCount: count)
        guard streamID > 0 else {
            let code: HTTP2Error.Code = streamID == NGHTTP2_ERR_NOMEM.rawValue ? .outOfMemory : .protocolError
            let error = HTTP2Error(code, isUnsent: true, underlying: describeError(streamID))
            complete(index, .failure(error))
            release(index)
            note { streamID }
            return
        }
        unsafe slots[index].streamID = streamID
        unsafe slots[index].state = .open
        opened += 1
        started += 1
        guard started >= limits.maxStreamsPerConnection else { return }
        events.append(.exhausted)
        refuse(HTTP2Error(.streamsExhausted, isUnsent: true))
    }

    /// The new stream's number, or nghttp2's error code.
    private func submit(_ index: Int, fieldCount: Int) -> Int32 {
        let data = unsafe UnsafeMutableRawPointer(bitPattern: index + 1)
        guard unsafe slots[index].bodyStart < slots[index].request.count else {
            return unsafe nghttp2_submit_request(handle, nil, scratch, fieldCount, nil, data)
        }
        var body = unsafe nghttp2_data_provider(
            source: nghttp2_data_source(fd: Int32(index)),
            read_callback: readRequestBody
        )
        return unsafe nghttp2_submit_request(handle, nil, scratch, fieldCount, &body, data)
    }

    /// Writes the request's fields into `scratch`, pseudo fields first (RFC 9113 §8.3), and returns how many there are.
    private func describe(_ index: Int, _ dispatched: Int) -> Int {
        unsafe slots[index].dispatched = dispatched
        unsafe books.pointee.dispatches.use(dispatched)
        let head = unsafe slots[index].head
        if scratchHead != head || scratchDispatched != dispatched { share(head, dispatched) }
        if let path = unsafe slots[index].request.pointer(at: 0) {
            unsafe scratch[scratchPathPlace] = nghttp2_nv(FieldName.path, value: path, count: slots[index].pathCount)
        }
        var count = scratchCount
        for field in 0..<(unsafe slots[index].fieldCount) {
            unsafe scratch[count] = slots[index].fields[field]
            if unsafe slots[index].nameOnceMask & 1 << UInt32(field) != 0 {
                unsafe scratch[count].flags |= indexingFlag(scratch[count])
            }
            count += 1
        }
        return count
    }

    /// Lays out the fields that consecutive requests share: pseudo fields, room for the path, the head's other fields, the dispatch fields.
    private func share(_ head: Int, _ dispatched: Int) {
        guard let block = unsafe books.pointee.heads[head] else { return }
        unsafe block.copy(0..<block.pseudoCount, to: scratch)
        unsafe block.copy(block.pseudoCount..<block.count, to: scratch + block.pseudoCount + 1)
        scratchPathPlace = block.pseudoCount
        scratchCount = block.count + 1
        if let block = unsafe books.pointee.dispatches[dispatched] {
            unsafe block.copy(0..<block.count, to: scratch + scratchCount)
            scratchCount += block.count
        }
        unsafe books.pointee.heads.use(head)
        unsafe books.pointee.heads.letGo(scratchHead)
        unsafe books.pointee.dispatches.use(dispatched)
        unsafe books.pointee.dispatches.letGo(scratchDispatched)
        (scratchHead, scratchDispatched) = (head, dispatched)
    }

    /// NO_INDEX for a `nameOnce` field that this connection has sent before.
    private func indexingFlag(_ field: nghttp2_nv) -> UInt8 {
        guard let name = unsafe field.name else { return 0 }
        // Compare by address: a name is a literal. The same text in two literals is entered twice, which costs one table entry.
        if unsafe books.pointee.placedNames.contains(name) { return UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue) }
        unsafe books.pointee.placedNames.append(name)
        return 0
    }

    // MARK: The end of a request

    /// Ends the chosen requests that have not completed: queued ones at once, open ones by RST_STREAM.
    func end(_ error: HTTP2Error, where isChosen: (borrowing Slot) -> Bool) {
        var isQueueStale = false
        for index in 0..<slotCount {
            guard unsafe slots[index].state != .free, unsafe isChosen(slots[index]) else { continue }
            if unsafe slots[index].state == .queued {
                complete(index, .failure(error.unsent))
                isQueueStale = true
            } else {
                complete(index, .failure(error))
                reset(index)
            }
        }
        if isQueueStale { rebuildQueue() }
    }

    /// Removes the completed requests from the queue.
    private func rebuildQueue() {
        var kept = SlotList()
        while let index = unsafe queue.popFirst(in: slots) {
            if unsafe slots[index].isCompleted { release(index) } else { unsafe kept.append(index, in: slots) }
        }
        queue = kept
    }

    /// Cancels an open stream. nghttp2 discards a finished stream, so a finished stream is never reset: servers count resets of finished streams and close the
    /// connection (rapid-reset limit).
    private func reset(_ index: Int) {
        guard unsafe !slots[index].isReset else { return }
        unsafe slots[index].isReset = true
        let flags = UInt8(NGHTTP2_FLAG_NONE.rawValue)
        note { unsafe nghttp2_submit_rst_stream(handle, flags, slots[index].streamID, NGHTTP2_CANCEL.rawValue) }
    }

    /// Calls nghttp2 unless it has failed, and records a failure of this call.
    func note(_ call: () -> Int32) {
        guard failure == nil else { return }
        let code = call()
        guard nghttp2_is_fatal(code) != 0 else { return }
        do { try check(code) } catch { failure = error }
    }

    /// Refuses further requests, and completes the waiting ones as unsent.
    func refuse(_ error: HTTP2Error) {
        isRefusing = isRefusing ?? error
        failQueued(error)
    }

    func failQueued(_ error: HTTP2Error) {
        while let index = unsafe queue.popFirst(in: slots) {
            complete(index, .failure(error.unsent))
            release(index)
        }
    }

    func complete(_ index: Int, _ result: Result<Response, HTTP2Error>) {
        guard unsafe !slots[index].isCompleted else { return }
        unsafe slots[index].isCompleted = true
        unsafe books.pointee.ended.append(Completion(slot: unsafe slots[index].id, result: result))
    }

    // MARK: Effects of a frame on a slot

    func slot(of streamID: Int32) -> Int? {
        if streamID == lastStreamID, streamID != 0 { return lastSlot }
        // The user data is the slot's number plus one, so that nghttp2's nil stands for a stream without a slot.
        let data = unsafe nghttp2_session_get_stream_user_data(handle, streamID)
        let index = Int(bitPattern: data) - 1
        guard index >= 0, index < slotCount else { return nil }
        lastStreamID = streamID
        lastSlot = index
        return index
    }

    func settingsReceived() {
        hasSettings = true
        let limit = streamLimit
        guard limit != reportedLimit else { return }
        reportedLimit = limit
        events.append(.streamLimit(limit))
    }

    func goAwayReceived(_ frame: nghttp2_goaway) {
        let length = min(unsafe frame.opaque_data_len, limits.maxGoAwayDebugBytes)
        let debug = unsafe Array(UnsafeBufferPointer(start: frame.opaque_data, count: length))
        let last = unsafe frame.last_stream_id
        let code = unsafe frame.error_code
        events.append(.goAway(GoAway(lastStreamID: last, code: code, debugData: debug)))
        // nghttp2 closes the streams above the last id with REFUSED_STREAM right after this callback.
        refuse(HTTP2Error(.goAway, isUnsent: true, peerCode: code))
    }

    func responseEnded(_ streamID: Int32) {
        guard let index = slot(of: streamID), unsafe slots[index].status >= 200 else { return }
        complete(index, .success(answer(of: index)))
    }

    /// The received response, moved to its final place.
    private func answer(of index: Int) -> Response {
        let status = unsafe UInt16(clamping: slots[index].status)
        let bytes = unsafe slots[index].response.unread
        let isCut = unsafe slots[index].isBodyTruncated
        guard !bytes.isEmpty else { return Response(status: status, isBodyTruncated: isCut) }
        if !isCut, unsafe slots[index].responseFieldBytes == bytes.count, let field = unsafe onlyField(bytes) {
            return Response(status: status, field: field)
        }
        guard let start = unsafe keep(bytes) else { return Response(status: status, isBodyTruncated: true) }
        let fieldBytes = unsafe slots[index].responseFieldBytes
        return Response(
            status: status,
            store: unsafe store?.takeUnretainedValue(),
            start: start,
            fieldBytes: fieldBytes,
            bodyBytes: bytes.count - fieldBytes,
            isBodyTruncated: isCut
        )
    }

    /// The only field of a response, if the bytes consist of one short field. Their layout is that of `ResponseStore`.
    private func onlyField(_ bytes: UnsafeBufferPointer<UInt8>) -> Response.Field? {
        let overhead = ResponseStore.fieldOverheadBytes
        guard bytes.count >= overhead, unsafe Int(bytes[1]) | Int(bytes[2]) << 8 == bytes.count - overhead,
            unsafe Int(bytes[0]) < collected.count
        else { return nil }
        let value = unsafe UnsafeBufferPointer(rebasing: bytes[overhead...])
        return unsafe Response.Field(collected[Int(bytes[0])], value)
    }

    /// The position of the bytes in `store` after they were copied; nil without memory.
    private func keep(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        if let start = unsafe store?._withUnsafeGuaranteedRef({ unsafe $0.append(bytes) }) { return start }
        unsafe store?.release()
        let fresh = ResponseStore(names: collected, capacity: max(ResponseStore.usualBytes, bytes.count))
        unsafe store = fresh.map { unsafe Unmanaged.passRetained($0) }
        return unsafe fresh?.append(bytes)
    }

    func closeSlot(_ index: Int, code: UInt32) {
        if unsafe !slots[index].isCompleted { complete(index, .failure(closeError(code, index))) }
        opened -= 1
        lastStreamID = 0
        release(index)
    }

    private func closeError(_ code: UInt32, _ index: Int) -> HTTP2Error {
        // A peer that has begun to answer has processed the request, even if it then sends REFUSED_STREAM.
        let isRefused = unsafe code == NGHTTP2_REFUSED_STREAM.rawValue && slots[index].status == 0
        let reason: HTTP2Error.Code =
            if isRefused { isRefusing?.code == .goAway ? .goAway : .refusedStream } else { .streamReset }
        return HTTP2Error(reason, isUnsent: isRefused, peerCode: code)
    }
}
