import CNGHTTP2

/// A real nghttp2 *server* session in memory: the other end for a `Session`, without socket or TLS.
///
/// It answers nothing on its own: a test decides about each request.
@safe
final class PeerServer {
    /// A request as received.
    struct Received {
        var fields: [String: String] = [:]
        /// Fields that came as "never indexed" literals (RFC 7541 §6.2.3).
        var neverIndexed: Set<String> = []
        var body: [UInt8] = []
        var isComplete = false
        /// The code of the client's RST_STREAM, if it sent one.
        var resetCode: UInt32?
    }

    private let handle: OpaquePointer
    private var answers: [Int32: (bytes: [UInt8], sent: Int)] = [:]
    /// By stream.
    fileprivate(set) var requests: [Int32: Received] = [:]
    /// True if the client has sent GOAWAY.
    fileprivate(set) var hasGoAway = false
    /// The streams in the order they were opened.
    var streams: [Int32] { requests.keys.sorted() }

    /// A server that sends its SETTINGS with the first `output`.
    init?(maxStreams: UInt32? = 100, initialWindow: UInt32? = nil) {
        var callbacks: OpaquePointer?
        guard unsafe nghttp2_session_callbacks_new(&callbacks) == 0 else { return nil }
        defer { unsafe nghttp2_session_callbacks_del(callbacks) }
        unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks, onHeader)
        unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, onData)
        unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, onFrame)
        var session: OpaquePointer?
        guard unsafe nghttp2_session_server_new(&session, callbacks, nil) == 0, let session = unsafe session else {
            return nil
        }
        unsafe handle = session
        unsafe nghttp2_session_set_user_data(session, Unmanaged.passUnretained(self).toOpaque())
        settings(maxStreams: maxStreams, initialWindow: initialWindow)
    }

    deinit { unsafe nghttp2_session_del(handle) }

    func settings(maxStreams: UInt32?, initialWindow: UInt32? = nil) {
        var entries: [nghttp2_settings_entry] = []
        if let maxStreams {
            entries.append(
                .init(settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: maxStreams)
            )
        }
        if let initialWindow {
            entries.append(
                .init(settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue), value: initialWindow)
            )
        }
        _ = unsafe nghttp2_submit_settings(handle, 0, entries, entries.count)
    }

    /// Lets the client send as much as it likes, within the connection's window.
    func openConnectionWindow() {
        _ = unsafe nghttp2_session_set_local_window_size(handle, 0, 0, 1 << 30)
    }

    func respond(_ stream: Int32, status: Int, fields: [(String, String)] = [], body: [UInt8] = []) {
        let all = [(":status", String(status))] + fields
        unsafe withFields(all) { base, count in
            guard !body.isEmpty else {
                _ = unsafe nghttp2_submit_response(handle, stream, base, count, nil)
                return
            }
            answers[stream] = (body, 0)
            var provider = unsafe nghttp2_data_provider(
                source: nghttp2_data_source(fd: stream),
                read_callback: giveAnswer
            )
            _ = unsafe nghttp2_submit_response(handle, stream, base, count, &provider)
        }
    }

    func inform(_ stream: Int32, status: Int) {
        unsafe withFields([(":status", String(status))]) { base, count in
            _ = unsafe nghttp2_submit_headers(handle, 0, stream, nil, base, count, nil)
        }
    }

    func goAway(last: Int32, code: nghttp2_error_code = NGHTTP2_NO_ERROR, debug: String = "") {
        let bytes = Array(debug.utf8)
        _ = unsafe nghttp2_submit_goaway(handle, 0, last, code.rawValue, bytes, bytes.count)
    }

    func reset(_ stream: Int32, _ code: nghttp2_error_code) {
        _ = unsafe nghttp2_submit_rst_stream(handle, 0, stream, code.rawValue)
    }

    /// Passes bytes to it; false if the session cannot continue.
    @discardableResult
    func receive(_ bytes: [UInt8]) -> Bool {
        unsafe nghttp2_session_mem_recv(handle, bytes, bytes.count) == bytes.count
    }

    func output() -> [UInt8] {
        var all: [UInt8] = []
        while true {
            var chunk: UnsafePointer<UInt8>?
            let count = unsafe nghttp2_session_mem_send(handle, &chunk)
            guard count > 0 else { return all }
            unsafe all += Array(UnsafeBufferPointer(start: chunk, count: count))
        }
    }

    fileprivate func readAnswer(_ stream: Int32, into target: UnsafeMutableBufferPointer<UInt8>) -> (Int, Bool) {
        guard let answer = answers[stream] else { return (0, true) }
        let count = min(target.count, answer.bytes.count - answer.sent)
        _ = unsafe target.update(fromContentsOf: answer.bytes[answer.sent..<answer.sent + count])
        answers[stream]?.sent += count
        return (count, answer.sent + count == answer.bytes.count)
    }

    private func withFields(_ fields: [(String, String)], _ body: (UnsafePointer<nghttp2_nv>?, Int) -> Void) {
        // nghttp2 copies names and values, because no NO_COPY flag is set.
        var texts = fields.map { (Array($0.0.utf8), Array($0.1.utf8)) }
        var list: [nghttp2_nv] = unsafe []
        for index in texts.indices {
            let (nameCount, valueCount) = (texts[index].0.count, texts[index].1.count)
            let name = unsafe texts[index].0.withUnsafeMutableBufferPointer { $0.baseAddress }
            let value = unsafe texts[index].1.withUnsafeMutableBufferPointer { $0.baseAddress }
            unsafe list.append(
                nghttp2_nv(name: name, value: value, namelen: nameCount, valuelen: valueCount, flags: 0)
            )
        }
        unsafe list.withUnsafeBufferPointer { unsafe body($0.baseAddress, $0.count) }
        withExtendedLifetime(texts) {}
    }
}

private func server(_ data: UnsafeMutableRawPointer?) -> PeerServer? {
    unsafe data.map { unsafe Unmanaged<PeerServer>.fromOpaque($0).takeUnretainedValue() }
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
    guard let server = unsafe server(data), let frame = unsafe frame else { return 0 }
    let name = unsafe String(decoding: UnsafeBufferPointer(start: name, count: nameCount), as: UTF8.self)
    let value = unsafe String(decoding: UnsafeBufferPointer(start: value, count: valueCount), as: UTF8.self)
    let stream = unsafe frame.pointee.hd.stream_id
    server.requests[stream, default: .init()].fields[name] = value
    if flags & UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue) != 0 {
        server.requests[stream, default: .init()].neverIndexed.insert(name)
    }
    return 0
}

private func onData(
    _: OpaquePointer?,
    flags: UInt8,
    stream: Int32,
    bytes: UnsafePointer<UInt8>?,
    count: Int,
    data: UnsafeMutableRawPointer?
) -> Int32 {
    guard let server = unsafe server(data) else { return 0 }
    unsafe server.requests[stream, default: .init()].body += Array(UnsafeBufferPointer(start: bytes, count: count))
    return 0
}

private func onFrame(_: OpaquePointer?, frame: UnsafePointer<nghttp2_frame>?, data: UnsafeMutableRawPointer?) -> Int32 {
    guard let server = unsafe server(data), let frame = unsafe frame else { return 0 }
    let header = unsafe frame.pointee.hd
    switch UInt32(header.type) {
    case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
        if header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 {
            server.requests[header.stream_id, default: .init()].isComplete = true
        }
    case NGHTTP2_GOAWAY.rawValue:
        server.hasGoAway = true
    case NGHTTP2_RST_STREAM.rawValue:
        server.requests[header.stream_id, default: .init()].resetCode = unsafe frame.pointee.rst_stream.error_code
    default:
        break
    }
    return 0
}

private func giveAnswer(
    _: OpaquePointer?,
    stream: Int32,
    target: UnsafeMutablePointer<UInt8>?,
    count: Int,
    flags: UnsafeMutablePointer<UInt32>?,
    source: UnsafeMutablePointer<nghttp2_data_source>?,
    data: UnsafeMutableRawPointer?
) -> Int {
    guard let server = unsafe server(data), let target = unsafe target, let flags = unsafe flags else { return 0 }
    let (length, isLast) = unsafe server.readAnswer(
        stream,
        into: UnsafeMutableBufferPointer(start: target, count: count)
    )
    if isLast { unsafe flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
    return length
}
