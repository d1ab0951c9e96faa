internal import Model

/// Reads RFC 8259 JSON from bytes, token by token, without building values. It is used for answers of APNs, whose end may be cut off.
///
/// It does not recurse (each open bracket is a bit), allocates nothing and never traps. The caller must check that the bytes are UTF-8; outside of strings the
/// scanner accepts only ASCII anyway.
struct JSONScanner {
    /// The next token. Ranges are byte offsets; the range of a string excludes its quotes and includes its escapes.
    enum Token: Equatable {
        case beginObject, endObject, beginArray, endArray
        case key(Range<Int>)
        case string(Range<Int>)
        case number(Range<Int>)
        /// `true`, `false` or `null`.
        case word(Range<Int>)
        /// The single value is complete and nothing follows.
        case end
    }

    /// Why the bytes are not JSON.
    struct Fault: Error, Equatable {
        /// The fault, as a fixed sentence that contains nothing of the input.
        let what: String
        /// Where reading stopped. Unit: bytes.
        let offset: Int
    }

    /// 64 open brackets, one bit each. Deeper input is an attack on recursive parsers.
    static let maximumDepth = 64

    /// The tokens that may come next.
    private enum Expectation {
        case value, valueOrEnd, keyOrEnd, key, commaOrEnd, nothing
    }

    /// How many brackets are open.
    private(set) var depth = 0
    /// One bit per open bracket, the innermost lowest; 1 stands for an object.
    private var brackets: UInt64 = 0
    private var expectation = Expectation.value
    private var index = 0

    private var isInObject: Bool { depth > 0 && brackets & 1 == 1 }

    /// The next token of `bytes`, which must be the same in each call.
    ///
    /// - Throws: `Fault`; do not call it again after that.
    mutating func next(in bytes: Span<UInt8>) throws(Fault) -> Token {
        skipSpace(bytes)
        if expectation == .commaOrEnd, byte(bytes) == UInt8(ascii: ",") {
            index += 1
            skipSpace(bytes)
            expectation = isInObject ? .key : .value
        }
        guard let first = byte(bytes) else {
            guard expectation == .nothing else { throw fault("the text ended early") }
            return .end
        }
        switch expectation {
        case .nothing: throw fault("text after the value")
        case .commaOrEnd:
            guard first == closing else { throw fault("a comma or a closing bracket is missing") }
            return close()
        case .keyOrEnd where first == closing, .valueOrEnd where first == closing: return close()
        case .keyOrEnd, .key: return .key(try key(bytes, first))
        case .value, .valueOrEnd: return try value(bytes, first)
        }
    }

    // MARK: Pieces

    private var closing: UInt8 { isInObject ? UInt8(ascii: "}") : UInt8(ascii: "]") }

    private func fault(_ what: String) -> Fault { Fault(what: what, offset: index) }

    private func byte(_ bytes: Span<UInt8>) -> UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipSpace(_ bytes: Span<UInt8>) {
        while let byte = byte(bytes), byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }

    private mutating func key(_ bytes: Span<UInt8>, _ first: UInt8) throws(Fault) -> Range<Int> {
        guard first == UInt8(ascii: "\"") else { throw fault("a key must be a string") }
        let range = try string(bytes)
        skipSpace(bytes)
        guard byte(bytes) == UInt8(ascii: ":") else { throw fault("a colon is missing") }
        index += 1
        expectation = .value
        return range
    }

    private mutating func value(_ bytes: Span<UInt8>, _ first: UInt8) throws(Fault) -> Token {
        switch first {
        case UInt8(ascii: "{"): return try open(isObject: true)
        case UInt8(ascii: "["): return try open(isObject: false)
        case UInt8(ascii: "\""):
            let range = try string(bytes)
            valueEnded()
            return .string(range)
        case UInt8(ascii: "t"): return try word("true", bytes)
        case UInt8(ascii: "f"): return try word("false", bytes)
        case UInt8(ascii: "n"): return try word("null", bytes)
        default:
            let start = index
            guard let end = JSONNumber.end(in: bytes, from: start) else { throw fault("not a value") }
            index = end
            valueEnded()
            return .number(start..<end)
        }
    }

    private mutating func open(isObject: Bool) throws(Fault) -> Token {
        guard depth < Self.maximumDepth else { throw fault("nested deeper than \(Self.maximumDepth)") }
        depth += 1
        brackets = brackets << 1 | (isObject ? 1 : 0)
        index += 1
        expectation = isObject ? .keyOrEnd : .valueOrEnd
        return isObject ? .beginObject : .beginArray
    }

    private mutating func close() -> Token {
        let token: Token = isInObject ? .endObject : .endArray
        index += 1
        depth -= 1
        brackets >>= 1
        valueEnded()
        return token
    }

    private mutating func valueEnded() { expectation = depth == 0 ? .nothing : .commaOrEnd }

    private mutating func word(_ word: String, _ bytes: Span<UInt8>) throws(Fault) -> Token {
        let start = index
        for expected in word.utf8 {
            guard byte(bytes) == expected else { throw fault("not a value") }
            index += 1
        }
        valueEnded()
        return .word(start..<index)
    }

    // MARK: Strings

    private mutating func string(_ bytes: Span<UInt8>) throws(Fault) -> Range<Int> {
        index += 1
        let start = index
        while true {
            // Most of a payload consists of these characters.
            var place = index
            while place < bytes.count, bytes[place] >= 0x20, bytes[place] != UInt8(ascii: "\""),
                bytes[place] != UInt8(ascii: "\\")
            {
                place += 1
            }
            index = place
            switch byte(bytes) {
            case UInt8(ascii: "\""):
                index += 1
                return start..<index - 1
            case UInt8(ascii: "\\"): try escape(bytes)
            case nil: throw fault("the string did not end")
            default: throw fault("a control character in a string")
            }
        }
    }

    private mutating func escape(_ bytes: Span<UInt8>) throws(Fault) {
        index += 1
        switch byte(bytes) {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            index += 1
        case UInt8(ascii: "u"):
            index += 1
            let unit = try fourDigits(bytes)
            // A single surrogate cannot be encoded in UTF-8, and the decoders on the device refuse it.
            guard !(0xDC00..<0xE000).contains(unit) else { throw fault("half a surrogate pair") }
            if (0xD800..<0xDC00).contains(unit) { try lowSurrogate(bytes) }
        default: throw fault("unknown escape")
        }
    }

    private mutating func lowSurrogate(_ bytes: Span<UInt8>) throws(Fault) {
        guard byte(bytes) == UInt8(ascii: "\\") else { throw fault("half a surrogate pair") }
        index += 1
        guard byte(bytes) == UInt8(ascii: "u") else { throw fault("half a surrogate pair") }
        index += 1
        guard (0xDC00..<0xE000).contains(try fourDigits(bytes)) else { throw fault("half a surrogate pair") }
    }

    private mutating func fourDigits(_ bytes: Span<UInt8>) throws(Fault) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = byte(bytes), let digit = HexCoding.value(of: byte) else {
                throw fault("four hex digits are missing")
            }
            value = value << 4 | UInt32(digit)
            index += 1
        }
        return value
    }
}
