import NIOCore
import NIOHPACK
import NIOHTTP2

/// One response on its way out.
struct Answer: Sendable {
    var streamID: HTTP2StreamID
    var apnsID: String

    /// The development environment's second id.
    var uniqueID: String?

    /// nil for 200.
    var refusal: Refusal?

    /// The frames: HEADERS alone for 200, HEADERS and DATA with the reason otherwise.
    func frames(allocator: ByteBufferAllocator) -> (HTTP2Frame, HTTP2Frame?) {
        var headers = HPACKHeaders()
        headers.add(name: ":status", value: refusal.map { String($0.status) } ?? "200")
        // Not indexed: an id never comes twice, and would push everything else out of the 4 KiB table.
        headers.add(name: "apns-id", value: apnsID, indexing: .nonIndexable)
        if let uniqueID { headers.add(name: "apns-unique-id", value: uniqueID, indexing: .nonIndexable) }
        guard let refusal, refusal.status != 200 else {
            return (frame(.headers(.init(headers: headers, endStream: true))), nil)
        }
        headers.add(name: "content-type", value: "application/json")
        if let seconds = refusal.retryAfter { headers.add(name: "retry-after", value: String(seconds)) }
        let body = allocator.buffer(string: Self.body(of: refusal))
        return (
            frame(.headers(.init(headers: headers, endStream: false))),
            frame(.data(.init(data: .byteBuffer(body), endStream: true)))
        )
    }

    private func frame(_ payload: HTTP2Frame.FramePayload) -> HTTP2Frame {
        HTTP2Frame(streamID: streamID, payload: payload)
    }

    /// `{"reason":"…"}`, with `timestamp` in milliseconds for 410.
    private static func body(of refusal: Refusal) -> String {
        let reason = refusal.reason.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        let timestamp = refusal.timestamp.map { ",\"timestamp\":\($0)" } ?? ""
        return "{\"reason\":\"\(reason)\"\(timestamp)}"
    }
}
