internal import CNGHTTP2

/// Creates a client session with our callbacks and options; nil without memory. The caller frees it by `nghttp2_session_del`.
func makeHandle(initialStreamLimit: Int, _ memory: SessionMemory) -> OpaquePointer? {
    var callbacks: OpaquePointer?
    var option: OpaquePointer?
    // Both are read only while the session is created, and freed here.
    defer {
        unsafe nghttp2_session_callbacks_del(callbacks)
        unsafe nghttp2_option_del(option)
    }
    guard unsafe nghttp2_session_callbacks_new(&callbacks) == 0, unsafe nghttp2_option_new(&option) == 0 else {
        return nil
    }
    unsafe registerSessionCallbacks(callbacks)
    // Without this option, nghttp2 would assume 100 until the peer's SETTINGS arrive.
    unsafe nghttp2_option_set_peer_max_concurrent_streams(option, UInt32(clamping: initialStreamLimit))
    unsafe nghttp2_option_set_max_reserved_remote_streams(option, 0)
    var handle: OpaquePointer?
    // nghttp2 copies the struct; the memory it points to belongs to the session.
    var functions = unsafe memory.functions
    guard unsafe nghttp2_session_client_new3(&handle, callbacks, nil, option, &functions) == 0 else { return nil }
    return unsafe handle
}

/// Queues our SETTINGS and the larger connection window. Returns 0 or nghttp2's error code.
func submitPreface(_ handle: OpaquePointer, _ limits: HTTP2Limits) -> Int32 {
    let flags = UInt8(NGHTTP2_FLAG_NONE.rawValue)
    var settings = nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue),
        value: 0
    )
    let result = unsafe nghttp2_submit_settings(handle, flags, &settings, 1)
    guard result == 0 else { return result }
    return unsafe nghttp2_session_set_local_window_size(handle, flags, 0, limits.receiveWindowBytes)
}

/// nghttp2's text for an error code.
func describeError(_ code: Int32) -> String {
    unsafe nghttp2_strerror(code).map { unsafe String(cString: $0) } ?? "nghttp2 error \(code)"
}

/// Converts nghttp2's error code into an `HTTP2Error`.
///
/// - Throws: `protocolError` or `outOfMemory` for any negative code.
func check(_ code: Int32) throws(HTTP2Error) {
    guard code < 0 else { return }
    let isMemory = code == NGHTTP2_ERR_NOMEM.rawValue
    throw HTTP2Error(isMemory ? .outOfMemory : .protocolError, underlying: describeError(code))
}
