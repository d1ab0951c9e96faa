internal import CNGHTTP2

// How a request becomes a slot, a slot a stream, and how either ends.
extension Session {
    // MARK: Into the queue

    func enqueue(_ entry: RequestBatch.Entry, of batch: borrowing RequestBatch) {
        if let refusal = refusal(of: entry) {
            completions.append(Completion(slot: entry.slot, result: .failure(refusal)))
            return
        }
        let index = takeSlot()
        guard unsafe slots[index].fill(entry, from: batch), hasValidFields(index) else {
            release(index)
            let error = HTTP2Error(.invalidRequest, isUnsent: true)
            completions.append(Completion(slot: entry.slot, result: .failure(error)))
            return
        }
        unsafe slots[index].state = .queued
        noteDeadline(entry.deadline)
        queue.append(index)
    }

    private func refusal(of entry: RequestBatch.Entry) -> HTTP2Error? {
        if let isRefusing { return isRefusing.unsent }
        if openCount + queuedCount >= capacity { return HTTP2Error(.noCapacity, isUnsent: true) }
        let headerBytes = entry.byteCount - entry.bodyCount
        let isTooLarge =
            entry.bodyCount > limits.maxRequestBodyBytes || headerBytes > limits.maxRequestHeaderBytes
            || entry.fieldCount > HTTP2Limits.maxFieldsPerRequest
        return isTooLarge ? HTTP2Error(.requestTooLarge, isUnsent: true) : nil
    }

    private func hasValidFields(_ index: Int) -> Bool {
        let pathCount = unsafe slots[index].pathCount
        guard pathCount > 0, let path = unsafe slots[index].request.pointer(at: 0),
            unsafe nghttp2_check_path(path, pathCount) != 0
        else { return false }
        for field in 0..<(unsafe slots[index].fieldCount) {
            let value = unsafe slots[index].fields[field]
            guard unsafe nghttp2_check_header_value(value.value, value.valuelen) != 0 else { return false }
        }
        return true
    }

    private func takeSlot() -> Int {
        if let index = freeSlots.popLast() { return index }
        unsafe (slots + slotCount).initialize(to: Slot())
        slotCount += 1
        return slotCount - 1
    }

    private func release(_ index: Int) {
        unsafe slots[index].clear()
        freeSlots.append(index)
    }

    func noteDeadline(_ deadline: ContinuousClock.Instant) {
        nextDeadline = nextDeadline.map { min($0, deadline) } ?? deadline
    }

    // MARK: Out of the queue

    /// Opens streams for queued requests as far as the gate allows.
    func startQueued(_ dispatched: HeaderBlock?) {
        guard queueStart < queue.count else { return }
        let limit = streamLimit
        while queueStart < queue.count, openCount < limit, isRefusing == nil {
            let index = queue[queueStart]
            queueStart += 1
            start(index, dispatched)
        }
        if queueStart == queue.count || queueStart > capacity {
            queue.removeFirst(queueStart)
            queueStart = 0
        }
    }

    private func start(_ index: Int, _ dispatched: HeaderBlock?) {
        let count = describe(index, dispatched)
        let data = unsafe UnsafeMutableRawPointer(bitPattern: index + 1)
        var body = unsafe nghttp2_data_provider(
            source: nghttp2_data_source(fd: Int32(index)),
            read_callback: readRequestBody
        )
        let hasBody = unsafe slots[index].bodyStart < slots[index].request.count
        let streamID =
            unsafe hasBody
            ? nghttp2_submit_request(handle, nil, scratch, count, &body, data)
            : nghttp2_submit_request(handle, nil, scratch, count, nil, data)
        guard streamID > 0 else {
            complete(index, .failure(HTTP2Error(.protocolError, isUnsent: true, underlying: describeError(streamID))))
            return release(index)
        }
        unsafe slots[index].streamID = streamID
        unsafe slots[index].state = .open
        openCount += 1
        startedCount += 1
        guard startedCount >= limits.maxStreamsPerConnection else { return }
        events.append(.exhausted)
        refuse(HTTP2Error(.streamsExhausted, isUnsent: true))
    }

    /// Writes the request's fields into `scratch`, pseudo fields first (RFC 9113 §8.3), and says how many.
    private func describe(_ index: Int, _ dispatched: HeaderBlock?) -> Int {
        var count = 0
        let head = unsafe slots[index].head
        if let head {
            unsafe head.copy(0..<head.pseudoCount, to: scratch)
            count += head.pseudoCount
        }
        if let path = unsafe slots[index].request.pointer(at: 0) {
            unsafe scratch[count] = nghttp2_nv(FieldName(":path"), value: path, count: slots[index].pathCount)
            count += 1
        }
        if let head {
            unsafe head.copy(head.pseudoCount..<head.count, to: scratch + count)
            count += head.count - head.pseudoCount
        }
        if let dispatched {
            unsafe dispatched.copy(0..<dispatched.count, to: scratch + count)
            count += dispatched.count
            unsafe slots[index].dispatched = dispatched
        }
        for field in 0..<(unsafe slots[index].fieldCount) {
            unsafe scratch[count] = slots[index].fields[field]
            unsafe scratch[count].flags |= indexingFlag(slots[index].names[field])
            count += 1
        }
        return count
    }

    /// NO_INDEX for a `nameOnce` field that this connection has sent before.
    private func indexingFlag(_ name: FieldName) -> UInt8 {
        guard name.indexing == .nameOnce else { return 0 }
        if placedNames.contains(name) { return UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue) }
        placedNames.append(name)
        return 0
    }

    // MARK: The end of a request

    /// Ends the chosen requests that are not over: queued ones at once, open ones by RST_STREAM.
    func end(_ error: HTTP2Error, where isChosen: (borrowing Slot) -> Bool) {
        var isQueueStale = false
        for index in 0..<slotCount {
            guard unsafe slots[index].state != .free, unsafe isChosen(slots[index]) else { continue }
            if unsafe slots[index].state == .queued {
                complete(index, .failure(error.unsent))
                release(index)
                isQueueStale = true
            } else {
                complete(index, .failure(error))
                reset(index)
            }
        }
        guard isQueueStale else { return }
        queue = queue[queueStart...].filter { unsafe slots[$0].state == .queued }
        queueStart = 0
    }

    /// Gives up an open stream. A stream that is over is gone from nghttp2, so a finished one is never reset: servers count
    /// such resets and close the connection (rapid-reset limit, engineering notes).
    private func reset(_ index: Int) {
        guard unsafe !slots[index].isReset else { return }
        unsafe slots[index].isReset = true
        _ = unsafe nghttp2_submit_rst_stream(
            handle,
            UInt8(NGHTTP2_FLAG_NONE.rawValue),
            slots[index].streamID,
            NGHTTP2_CANCEL.rawValue
        )
    }

    /// Takes no more requests, and completes the waiting ones as unsent.
    func refuse(_ error: HTTP2Error) {
        isRefusing = isRefusing ?? error
        failQueued(error)
    }

    func failQueued(_ error: HTTP2Error) {
        for index in queue[queueStart...] {
            complete(index, .failure(error.unsent))
            release(index)
        }
        queue.removeAll(keepingCapacity: true)
        queueStart = 0
    }

    func complete(_ index: Int, _ result: Result<Response, HTTP2Error>) {
        guard unsafe !slots[index].isCompleted else { return }
        unsafe slots[index].isCompleted = true
        completions.append(Completion(slot: unsafe slots[index].id, result: result))
    }

    // MARK: What a frame means for a slot

    func slot(of streamID: Int32) -> Int? {
        // The slot's number plus one, so that nghttp2's nil stays "none".
        let data = unsafe nghttp2_session_get_stream_user_data(handle, streamID)
        let index = Int(bitPattern: data) - 1
        return index >= 0 && index < slotCount ? index : nil
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
        // Streams above the last id are closed by nghttp2 with REFUSED_STREAM right after this callback.
        refuse(HTTP2Error(.goAway, isUnsent: true, peerCode: code))
    }

    func responseEnded(_ streamID: Int32) {
        guard let index = slot(of: streamID), unsafe slots[index].status >= 200 else { return }
        complete(index, unsafe .success(slots[index].answer))
    }

    func closeSlot(_ index: Int, code: UInt32) {
        let isRefused = code == NGHTTP2_REFUSED_STREAM.rawValue
        let reason: HTTP2Error.Code =
            if isRefused { isRefusing?.code == .goAway ? .goAway : .refusedStream } else { .streamReset }
        complete(index, .failure(HTTP2Error(reason, isUnsent: isRefused, peerCode: code)))
        openCount -= 1
        release(index)
    }
}
