import NIOCore
import NIOHPACK
import NIOHTTP2

/// One response to a request.
struct Answer: Sendable {
    var streamID: HTTP2StreamID
    var apnsID: String

    /// Whether the id is sent as `apns-request-id`: for broadcasts and channel management.
    var isRequestID = false

    /// The delivery that is counted when the answer is sent; nil if the request is not a push or is refused.
    var delivery: Ledger.Delivery?

    /// The second id, which the development environment sends.
    var uniqueID: String?

    /// Nil for a success.
    var refusal: RuleRefusal?

    /// The contents of a successful answer.
    var reply = SuccessReply()

    /// The unusual form of the answer, if any.
    var shape: ScriptedAnswer.Shape?

    /// The frames: only HEADERS for 200 without a body, otherwise HEADERS and DATA.
    func frames(allocator: ByteBufferAllocator) -> [HTTP2Frame] {
        let body = shape == .bodyless ? "" : self.body
        guard !body.isEmpty else { return [frame(.headers(.init(headers: headers, endStream: true)))] }
        var frames = [frame(.headers(.init(headers: headers, endStream: false)))]
        let bytes = allocator.buffer(string: body)
        let step = shape == .split ? 1 : bytes.readableBytes
        for start in stride(from: 0, to: bytes.readableBytes, by: step) {
            guard let part = bytes.getSlice(at: bytes.readerIndex + start, length: step) else { break }
            let isLast = start + step >= bytes.readableBytes
            frames.append(frame(.data(.init(data: .byteBuffer(part), endStream: isLast))))
        }
        return frames
    }

    private var isRefused: Bool { refusal.map { $0.status != 200 } ?? false }

    private var headers: HPACKHeaders {
        var headers = HPACKHeaders()
        let status = refusal?.status ?? reply.status
        headers.add(name: ":status", value: status == 200 ? "200" : String(status))
        // Not indexed: an id never occurs twice, and would evict all other entries from the 4 KiB table.
        let id = shape == .upperCaseId ? apnsID.uppercased() : apnsID
        headers.add(name: isRequestID ? "apns-request-id" : "apns-id", value: id, indexing: .nonIndexable)
        if let uniqueID { headers.add(name: "apns-unique-id", value: uniqueID, indexing: .nonIndexable) }
        if let channelID = reply.channelID, !isRefused {
            headers.add(name: "apns-channel-id", value: channelID, indexing: .nonIndexable)
        }
        if shape == .extra { headers.add(name: "x-apns-simulator", value: "extra") }
        if isRefused || !reply.body.isEmpty { headers.add(name: "content-type", value: "application/json") }
        if let seconds = refusal?.retryAfter { headers.add(name: "retry-after", value: String(seconds)) }
        return headers
    }

    private var body: String {
        guard let refusal, isRefused else { return reply.body }
        return Self.body(of: refusal, isExtra: shape == .extra)
    }

    /// `{"reason":"…"}`, with `timestamp` in milliseconds for 410.
    private static func body(of refusal: RuleRefusal, isExtra: Bool) -> String {
        let reason = refusal.reason.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        let timestamp = refusal.timestamp.map { ",\"timestamp\":\($0)" } ?? ""
        return "{\"reason\":\"\(reason)\"\(timestamp)\(isExtra ? ",\"hint\":{\"x\":[1,null]}" : "")}"
    }

    private func frame(_ payload: HTTP2Frame.FramePayload) -> HTTP2Frame {
        HTTP2Frame(streamID: streamID, payload: payload)
    }
}
