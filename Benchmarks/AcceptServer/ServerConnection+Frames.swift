import Glibc

/// The state of one connection's frame reader.
@safe
struct FrameProgress: ~Copyable {
    var hasPreface = false
    /// The stream whose header block continues in CONTINUATION frames; 0 for none.
    var openBlock: UInt32 = 0
    var openBlockEndsStream = false
    /// The received part of that block; at most 64 KiB.
    var block: [UInt8] = []
    /// Body bytes since the last WINDOW_UPDATE.
    var unacknowledged = 0
    /// The state of the encoding of `apns-id`: see `answer`.
    var isNamePlaced = false
    var mayIndex = true
    var mustEmptyTable = false
    var nextOwnID: UInt64 = 0
}

/// A frame's header (RFC 9113 §4.1).
private struct Frame {
    var type: UInt8
    var flags: UInt8
    var stream: UInt32
    var length: Int

    func has(_ flag: UInt8) -> Bool { flags & flag != 0 }

    static let endStream: UInt8 = 0x1
    static let acknowledges: UInt8 = 0x1
    static let endHeaders: UInt8 = 0x4
    static let padded: UInt8 = 0x8
    static let priority: UInt8 = 0x20
}

// The part of HTTP/2 that an accept-only server needs (RFC 9113): it reads requests and writes header blocks without bodies.
extension ServerConnection {
    fileprivate static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    private static let maxFrameBytes = 16_384
    private static let maxBlockBytes = 65_536
    /// 1 GiB of connection window, so that flow control does not affect the measurement.
    private static let windowBytes: UInt32 = 1 << 30

    /// Writes SETTINGS and the larger connection window.
    func writePreface() {
        var frame: [UInt8] = [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3]
        frame += ServerConnection.bytes(settings.streamLimit)
        frame += [0, 0, 4, 8, 0, 0, 0, 0, 0] + ServerConnection.bytes(ServerConnection.windowBytes)
        send(frame)
    }

    /// Handles every complete frame in the input.
    ///
    /// - Throws: `connection` for anything that HTTP/2 forbids.
    func readFrames() throws(ServerError) {
        if !progress.hasPreface {
            let expected = ServerConnection.preface
            guard input.count >= expected.count else { return }
            guard unsafe memcmp(input.front, expected, expected.count) == 0 else { throw .connection("preface") }
            input.consume(expected.count)
            progress.hasPreface = true
        }
        while input.count >= 9 {
            let bytes = unsafe input.front
            let length = unsafe Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])
            guard length <= ServerConnection.maxFrameBytes else { throw .connection("frame size") }
            guard input.count >= 9 + length, output.room > 1_024 else { return }
            let stream = unsafe ServerConnection.number(bytes + 5) & 0x7FFF_FFFF
            let frame = unsafe Frame(type: bytes[3], flags: bytes[4], stream: stream, length: length)
            try unsafe handle(frame, bytes + 9)
            input.consume(9 + length)
        }
    }

    private func handle(_ frame: Frame, _ payload: UnsafeMutablePointer<UInt8>) throws(ServerError) {
        guard progress.openBlock == 0 || frame.type == 9 else { throw .connection("CONTINUATION expected") }
        switch frame.type {
        case 0: bodyReceived(frame)
        case 1: try unsafe headersReceived(frame, payload)
        case 3:
            if streams.remove(frame.stream) != nil { counts.resets += 1 }
        case 4: try unsafe settingsReceived(frame, payload)
        case 6: unsafe pingReceived(frame, payload)
        case 9: try unsafe blockContinued(frame, payload)
        default: break
        }
    }

    // MARK: Requests

    private func bodyReceived(_ frame: Frame) {
        progress.unacknowledged += frame.length
        if progress.unacknowledged > Int(ServerConnection.windowBytes / 2) {
            send([0, 0, 4, 8, 0, 0, 0, 0, 0] + ServerConnection.bytes(UInt32(progress.unacknowledged)))
            progress.unacknowledged = 0
        }
        if frame.has(Frame.endStream) { requestEnded(frame.stream) }
    }

    private func headersReceived(_ frame: Frame, _ payload: UnsafeMutablePointer<UInt8>) throws(ServerError) {
        var (start, count) = (0, frame.length)
        if frame.has(Frame.padded) {
            guard count > 0 else { throw .connection("padding") }
            count -= 1 + Int(unsafe payload[0])
            start += 1
        }
        if frame.has(Frame.priority) {
            count -= 5
            start += 5
        }
        guard count >= 0, frame.stream & 1 == 1 else { throw .connection("HEADERS") }
        guard frame.has(Frame.endHeaders) else {
            progress.openBlock = frame.stream
            progress.openBlockEndsStream = frame.has(Frame.endStream)
            progress.block = unsafe Array(UnsafeBufferPointer(start: payload + start, count: count))
            return
        }
        let id = try unsafe fields.apnsID(in: payload + start, count: count)
        requestBegan(frame.stream, id, isWhole: frame.has(Frame.endStream))
    }

    private func blockContinued(_ frame: Frame, _ payload: UnsafeMutablePointer<UInt8>) throws(ServerError) {
        guard frame.stream == progress.openBlock, frame.stream != 0,
            progress.block.count + frame.length <= ServerConnection.maxBlockBytes
        else { throw .connection("CONTINUATION") }
        unsafe progress.block.append(contentsOf: UnsafeBufferPointer(start: payload, count: frame.length))
        guard frame.has(Frame.endHeaders) else { return }
        progress.openBlock = 0
        let block = progress.block
        let id = try unsafe fields.apnsID(in: block, count: block.count)
        requestBegan(frame.stream, id, isWhole: progress.openBlockEndsStream)
    }

    private func requestBegan(_ stream: UInt32, _ id: ApnsID, isWhole: Bool) {
        // The block may be a trailer; then the request is already known.
        if !streams.contains(stream), !streams.insert(stream, id) {
            counts.refused += 1
            // RST_STREAM with REFUSED_STREAM.
            return send([0, 0, 4, 3, 0] + ServerConnection.bytes(stream) + [0, 0, 0, 7])
        }
        if isWhole { requestEnded(stream) }
    }

    private func requestEnded(_ stream: UInt32) {
        guard streams.contains(stream) else { return }
        counts.requests += 1
        if settings.latency == 0 { answer(stream) } else { due.append(stream, due: now + settings.latency) }
    }

    /// Writes `:status 200` and the request's apns-id, unless the stream was reset in the meantime.
    ///
    /// HPACK (RFC 7541): 0x88 is `:status 200` of the static table. The first answer adds the name `apns-id` to the dynamic table. It stays entry 62 there,
    /// because nothing else is added: the values all differ and are not indexed.
    func answer(_ stream: UInt32) {
        guard var id = streams.remove(stream), output.room > 128 else { return }
        if id[0] == 0 { id = ownID() }
        counts.answers += 1
        let start = unsafe output.back
        var place = 9
        func put(_ byte: UInt8) {
            unsafe start[place] = byte
            place += 1
        }
        if progress.mustEmptyTable {
            put(0x20)
            progress.mustEmptyTable = false
            progress.isNamePlaced = false
        }
        put(0x88)
        if progress.isNamePlaced {
            put(0x0F)
            put(0x2F)
        } else {
            put(progress.mayIndex ? 0x40 : 0x00)
            put(7)
            for byte in "apns-id".utf8 { put(byte) }
            progress.isNamePlaced = progress.mayIndex
        }
        put(36)
        for index in 0..<36 { unsafe start[place + index] = id[index] }
        place += 36
        let length = place - 9
        unsafe start[0] = 0
        unsafe start[1] = 0
        unsafe start[2] = UInt8(length)
        unsafe start[3] = 1
        unsafe start[4] = Frame.endStream | Frame.endHeaders
        for index in 0..<4 { unsafe start[5 + index] = UInt8(truncatingIfNeeded: stream >> UInt32(24 - 8 * index)) }
        output.added(place)
    }

    /// Creates an id for a request without one, as APNs does.
    private func ownID() -> ApnsID {
        progress.nextOwnID &+= 1
        var id = ApnsID(repeating: UInt8(ascii: "0"))
        for index in [8, 13, 18, 23] { id[index] = UInt8(ascii: "-") }
        var rest = progress.nextOwnID
        var index = 35
        while rest > 0, index > 23 {
            id[index] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
            index -= 1
        }
        return id
    }

    // MARK: Frames of the connection

    private func settingsReceived(_ frame: Frame, _ payload: UnsafeMutablePointer<UInt8>) throws(ServerError) {
        guard !frame.has(Frame.acknowledges) else { return }
        guard frame.length.isMultiple(of: 6) else { throw .connection("SETTINGS") }
        for start in stride(from: 0, to: frame.length, by: 6) {
            // HEADER_TABLE_SIZE is below the default: do not use the table from here on.
            guard unsafe payload[start] == 0, unsafe payload[start + 1] == 1 else { continue }
            guard unsafe ServerConnection.number(payload + start + 2) < 4_096 else { continue }
            progress.mayIndex = false
            progress.mustEmptyTable = true
        }
        send([0, 0, 0, 4, 1, 0, 0, 0, 0])
    }

    private func pingReceived(_ frame: Frame, _ payload: UnsafeMutablePointer<UInt8>) {
        guard !frame.has(Frame.acknowledges), frame.length == 8 else { return }
        unsafe send([0, 0, 8, 6, 1, 0, 0, 0, 0] + Array(UnsafeBufferPointer(start: payload, count: 8)))
    }

    // MARK: Bytes

    private func send(_ frame: [UInt8]) { _ = unsafe output.append(frame, count: frame.count) }

    private static func bytes(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
    }

    private static func number(_ bytes: UnsafeMutablePointer<UInt8>) -> UInt32 {
        unsafe UInt32(bytes[0]) << 24 | UInt32(bytes[1]) << 16 | UInt32(bytes[2]) << 8 | UInt32(bytes[3])
    }
}
