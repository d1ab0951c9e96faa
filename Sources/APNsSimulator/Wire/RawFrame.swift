import NIOCore

/// HTTP/2 frames as bytes, for frames that swift-nio-http2 would not send, or not at that moment. RFC 9113 §4.1 and §6.
enum RawFrame {
    static let headerBytes = 9
    static let dataType: UInt8 = 0
    static let resetType: UInt8 = 3
    static let settingsType: UInt8 = 4
    static let goAwayType: UInt8 = 7
    static let maxConcurrentStreams: UInt16 = 3
    static let initialWindowSize: UInt16 = 4

    /// The largest stream id. In a GOAWAY it states nothing about any stream.
    static let largestStreamID = 0x7fff_ffff

    static func reset(stream: Int, code: Int) -> ByteBuffer {
        var frame = header(length: 4, type: resetType, stream: stream)
        frame.writeInteger(UInt32(truncatingIfNeeded: code))
        return frame
    }

    static func goAway(lastStream: Int, code: Int, debugText: String) -> ByteBuffer {
        var frame = header(length: 8 + debugText.utf8.count, type: goAwayType, stream: 0)
        frame.writeInteger(UInt32(truncatingIfNeeded: lastStream & largestStreamID))
        frame.writeInteger(UInt32(truncatingIfNeeded: code))
        frame.writeString(debugText)
        return frame
    }

    /// A PING whose answer is ignored. The fault `half` cuts it if no answer is pending.
    static var ping: ByteBuffer {
        var frame = header(length: 8, type: 6, stream: 0)
        frame.writeInteger(UInt64(0x6861_6c66_6861_6c66))
        return frame
    }

    private static func header(length: Int, type: UInt8, stream: Int) -> ByteBuffer {
        var frame = ByteBuffer()
        frame.reserveCapacity(headerBytes + length)
        frame.writeInteger(UInt8(truncatingIfNeeded: length >> 16))
        frame.writeInteger(UInt16(truncatingIfNeeded: length))
        frame.writeInteger(type)
        frame.writeInteger(UInt8(0))
        frame.writeInteger(UInt32(truncatingIfNeeded: stream & largestStreamID))
        return frame
    }
}
