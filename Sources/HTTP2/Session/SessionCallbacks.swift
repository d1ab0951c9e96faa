internal import CNGHTTP2

// The callbacks for nghttp2. Each recovers the session, calls one method and returns its code; none throws, traps, sends or receives. The session outlives
// every call, because it owns the handle that makes them.

/// The session in nghttp2's user data.
private func session(_ data: UnsafeMutableRawPointer?) -> Unmanaged<Session>? {
    unsafe data.map { unsafe Unmanaged<Session>.fromOpaque($0) }
}

/// Registers the callbacks below.
func registerSessionCallbacks(_ callbacks: OpaquePointer?) {
    unsafe nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, onBeginHeaders)
    unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks, onHeader)
    unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, onDataChunk)
    unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, onFrame)
    unsafe nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, onStreamClose)
}

private func onBeginHeaders(
    _: OpaquePointer?,
    frame: UnsafePointer<nghttp2_frame>?,
    data: UnsafeMutableRawPointer?
) -> Int32 {
    guard let session = unsafe session(data), let frame = unsafe frame else { return 0 }
    unsafe session._withUnsafeGuaranteedRef { unsafe $0.headersBegan(frame.pointee.hd) }
    return 0
}

private func onHeader(
    _: OpaquePointer?,
    frame: UnsafePointer<nghttp2_frame>?,
    name: UnsafePointer<UInt8>?,
    nameCount: Int,
    value: UnsafePointer<UInt8>?,
    valueCount: Int,
    flags: UInt8,
    data: UnsafeMutableRawPointer?
) -> Int32 {
    guard let session = unsafe session(data), let name = unsafe name, let value = unsafe value else { return 0 }
    unsafe session._withUnsafeGuaranteedRef {
        unsafe $0.fieldReceived(
            UnsafeBufferPointer(start: name, count: nameCount),
            UnsafeBufferPointer(start: value, count: valueCount)
        )
    }
    return 0
}

private func onDataChunk(
    _: OpaquePointer?,
    flags: UInt8,
    streamID: Int32,
    bytes: UnsafePointer<UInt8>?,
    count: Int,
    data: UnsafeMutableRawPointer?
) -> Int32 {
    guard let session = unsafe session(data), let bytes = unsafe bytes else { return 0 }
    unsafe session._withUnsafeGuaranteedRef { unsafe $0.bodyReceived(streamID, bytes, count: count) }
    return 0
}

private func onFrame(
    _: OpaquePointer?,
    frame: UnsafePointer<nghttp2_frame>?,
    data: UnsafeMutableRawPointer?
) -> Int32 {
    guard let session = unsafe session(data), let frame = unsafe frame else { return 0 }
    unsafe session._withUnsafeGuaranteedRef { unsafe $0.frameReceived(frame) }
    return 0
}

private func onStreamClose(
    _: OpaquePointer?,
    streamID: Int32,
    code: UInt32,
    data: UnsafeMutableRawPointer?
) -> Int32 {
    guard let session = unsafe session(data) else { return 0 }
    unsafe session._withUnsafeGuaranteedRef { $0.streamClosed(streamID, code: code) }
    return 0
}

/// Gives nghttp2 the next piece of a request's body; the number of the data source is the slot.
func readRequestBody(
    _: OpaquePointer?,
    streamID: Int32,
    target: UnsafeMutablePointer<UInt8>?,
    count: Int,
    flags: UnsafeMutablePointer<UInt32>?,
    source: UnsafeMutablePointer<nghttp2_data_source>?,
    data: UnsafeMutableRawPointer?
) -> Int {
    guard let session = unsafe session(data), let target = unsafe target, let flags = unsafe flags,
        let source = unsafe source
    else { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
    return unsafe session._withUnsafeGuaranteedRef {
        unsafe $0.readBody(slot: Int(source.pointee.fd), into: target, count: count, flags: flags)
    }
}
