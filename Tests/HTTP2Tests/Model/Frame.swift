/// HTTP/2 frames as bytes (RFC 9113 §4.1), written without a library, so that invalid frames can be written too.
enum Frame {
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    static let headerBytes = 9

    enum Kind: UInt8 {
        case data, headers, priority, resetStream, settings, pushPromise, ping, goAway, windowUpdate, continuation
    }

    enum Flag {
        static let endStream: UInt8 = 1
        static let ack: UInt8 = 1
        static let endHeaders: UInt8 = 4
        static let padded: UInt8 = 8
        static let priority: UInt8 = 32
    }

    enum Setting {
        static let maxConcurrentStreams: UInt16 = 3
        static let initialWindowSize: UInt16 = 4
    }

    static func make(_ kind: UInt8, flags: UInt8 = 0, stream: Int32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
        let length = [16, 8, 0].map { UInt8(truncatingIfNeeded: payload.count >> $0) }
        return length + [kind, flags] + number(UInt32(bitPattern: stream)) + payload
    }

    static func make(_ kind: Kind, flags: UInt8 = 0, stream: Int32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
        make(kind.rawValue, flags: flags, stream: stream, payload)
    }

    static func number(_ value: UInt32) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }

    static func settings(_ values: [(UInt16, UInt32)]) -> [UInt8] {
        make(.settings, values.flatMap { [UInt8($0.0 >> 8), UInt8(truncatingIfNeeded: $0.0)] + number($0.1) })
    }

    static func resetStream(_ stream: Int32, _ code: UInt32) -> [UInt8] {
        make(.resetStream, stream: stream, number(code))
    }

    static func goAway(last: Int32, _ code: UInt32, _ debug: [UInt8] = []) -> [UInt8] {
        make(.goAway, number(UInt32(bitPattern: last)) + number(code) + debug)
    }

    static func windowUpdate(_ stream: Int32, _ count: UInt32) -> [UInt8] {
        make(.windowUpdate, stream: stream, number(count))
    }

    /// A header block of literals without indexing (RFC 7541 §6.2.2), so short that each length fits into 7 bits.
    static func block(status: Int, _ fields: [(String, String)] = []) -> [UInt8] {
        // Index 8 of the static table is `:status`.
        var bytes: [UInt8] = [8, 3] + Array(String(status).utf8)
        for (name, value) in fields {
            bytes += [0, UInt8(name.utf8.count)] + Array(name.utf8) + [UInt8(value.utf8.count)] + Array(value.utf8)
        }
        return bytes
    }

    static func headers(_ stream: Int32, status: Int, _ fields: [(String, String)] = [], isLast: Bool) -> [UInt8] {
        let flags = Flag.endHeaders | (isLast ? Flag.endStream : 0)
        return make(.headers, flags: flags, stream: stream, block(status: status, fields))
    }

    static func data(_ stream: Int32, _ body: [UInt8], isLast: Bool) -> [UInt8] {
        make(.data, flags: isLast ? Flag.endStream : 0, stream: stream, body)
    }
}
