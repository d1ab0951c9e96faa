/// Parses RFC 8259 JSON from bytes: strict syntax, checked UTF-8, limited depth. Never traps on any input.
package struct JSONParser {
    /// 64 levels. Deeper input is an attack on the stack: no vendor's format nests deeper than 10 levels.
    package static let maximumDepth = 64

    /// 250,000 values: a value costs up to a hundred times its bytes, so that a list of digits could otherwise fill the memory. The longest
    /// documented lists have thousands of values.
    package static let valueLimit = 250_000

    private let bytes: [UInt8]
    private var index = 0
    private var count = 0
    private var depth = 0

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Parses `bytes`, which must contain exactly one value.
    ///
    /// - Throws: `JSONError` with the byte offset of the first fault.
    package static func parse(_ bytes: [UInt8]) throws(JSONError) -> JSON {
        var parser = JSONParser(bytes)
        // A byte order mark is not JSON, but some Windows callers send one.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { parser.index = 3 }
        parser.skipSpace()
        let value = try parser.value()
        parser.skipSpace()
        guard parser.index == bytes.count else { throw parser.fault("text after the value") }
        return value
    }

    /// Parses `text`, which must contain exactly one value.
    ///
    /// - Throws: `JSONError` with the byte offset of the first fault.
    package static func parse(_ text: String) throws(JSONError) -> JSON { try parse(Array(text.utf8)) }

    private func fault(_ what: String) -> JSONError { JSONError(what: what, offset: index) }

    private var current: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipSpace() {
        while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }

    private mutating func value() throws(JSONError) -> JSON {
        count += 1
        guard count <= Self.valueLimit else {
            throw JSONError(what: "more than \(Self.valueLimit) values", offset: index, hasTooManyValues: true)
        }
        switch current {
        case UInt8(ascii: "{"): return try nested { (parser) throws(JSONError) in try parser.objectBody() }
        case UInt8(ascii: "["): return try nested { (parser) throws(JSONError) in try parser.arrayBody() }
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        case .some(let byte) where byte == UInt8(ascii: "-") || isDigit(byte): return try number()
        case .some: throw fault("not a value")
        case nil: throw fault("the text ended early")
        }
    }

    private mutating func nested(_ body: (inout JSONParser) throws(JSONError) -> JSON) throws(JSONError) -> JSON {
        guard depth < Self.maximumDepth else { throw fault("nested deeper than \(Self.maximumDepth)") }
        depth += 1
        defer { depth -= 1 }
        index += 1
        return try body(&self)
    }

    private mutating func objectBody() throws(JSONError) -> JSON {
        // The fields of a call at once. The objects in them may be many.
        var object = JSONObject(reserving: depth == 1 ? 8 : 0)
        skipSpace()
        if take(UInt8(ascii: "}")) { return .object(object) }
        while true {
            skipSpace()
            guard current == UInt8(ascii: "\"") else { throw fault("a key must be a string") }
            let key = try string()
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw fault("':' expected") }
            skipSpace()
            object[key] = try value()
            skipSpace()
            if take(UInt8(ascii: ",")) { continue }
            guard take(UInt8(ascii: "}")) else { throw fault("',' or '}' expected") }
            return .object(object)
        }
    }

    private mutating func arrayBody() throws(JSONError) -> JSON {
        var array: [JSON] = []
        skipSpace()
        if take(UInt8(ascii: "]")) { return .array(array) }
        while true {
            skipSpace()
            array.append(try value())
            skipSpace()
            if take(UInt8(ascii: ",")) { continue }
            guard take(UInt8(ascii: "]")) else { throw fault("',' or ']' expected") }
            return .array(array)
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard current == byte else { return false }
        index += 1
        return true
    }

    private mutating func literal(_ word: String, _ value: JSON) throws(JSONError) -> JSON {
        guard bytes[index...].starts(with: word.utf8) else { throw fault("not a value") }
        index += word.utf8.count
        return value
    }

    private func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

    private mutating func digits() -> Int {
        let start = index
        while let byte = current, isDigit(byte) { index += 1 }
        return index - start
    }

    private mutating func number() throws(JSONError) -> JSON {
        let start = index
        _ = take(UInt8(ascii: "-"))
        let leadsWithZero = current == UInt8(ascii: "0")
        let count = digits()
        guard count > 0, !leadsWithZero || count == 1 else { throw fault("not a number") }
        if take(UInt8(ascii: ".")) { guard digits() > 0 else { throw fault("digits expected after '.'") } }
        if let byte = current, byte | 0x20 == UInt8(ascii: "e") {
            index += 1
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            guard digits() > 0 else { throw fault("digits expected in the exponent") }
        }
        return .number(String(decoding: bytes[start..<index], as: UTF8.self))
    }

    private mutating func string() throws(JSONError) -> String {
        index += 1
        let start = index
        // Fast path: a string without escapes consists of its bytes.
        while let byte = current, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { index += 1 }
        if current == UInt8(ascii: "\"") {
            defer { index += 1 }
            return try checked(bytes[start..<index])
        }
        var out = Array(bytes[start..<index])
        while let byte = current {
            switch byte {
            case UInt8(ascii: "\""):
                index += 1
                return try checked(out[...])
            case UInt8(ascii: "\\"): try escape(into: &out)
            case 0..<0x20: throw fault("a control character in a string")
            default:
                out.append(byte)
                index += 1
            }
        }
        throw fault("the string did not end")
    }

    private func checked(_ slice: ArraySlice<UInt8>) throws(JSONError) -> String {
        guard let text = try? String(copying: UTF8Span(validating: slice.span)) else { throw fault("not UTF-8") }
        return text
    }

    private mutating func escape(into out: inout [UInt8]) throws(JSONError) {
        index += 1
        guard let byte = current else { throw fault("the string did not end") }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): out.append(byte)
        case UInt8(ascii: "b"): out.append(0x08)
        case UInt8(ascii: "f"): out.append(0x0C)
        case UInt8(ascii: "n"): out.append(0x0A)
        case UInt8(ascii: "r"): out.append(0x0D)
        case UInt8(ascii: "t"): out.append(0x09)
        case UInt8(ascii: "u"): try unicodeEscape(into: &out)
        default: throw fault("unknown escape")
        }
    }

    private mutating func unicodeEscape(into out: inout [UInt8]) throws(JSONError) {
        let first = try hex4()
        var scalar = UInt32(first)
        if (0xD800..<0xDC00).contains(first), index + 1 < bytes.count, bytes[index] == UInt8(ascii: "\\"),
            bytes[index + 1] == UInt8(ascii: "u")
        {
            index += 2
            let second = try hex4()
            guard (0xDC00..<0xE000).contains(second) else { throw fault("half a surrogate pair") }
            scalar = 0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00)
        }
        guard let unicode = Unicode.Scalar(scalar) else { throw fault("half a surrogate pair") }
        out.append(contentsOf: Array(String(Character(unicode)).utf8))
    }

    private mutating func hex4() throws(JSONError) -> UInt16 {
        guard bytes.count - index >= 4 else { throw fault("four hex digits expected") }
        var value: UInt16 = 0
        for byte in bytes[index..<(index + 4)] {
            guard let digit = HexCoding.value(of: byte) else { throw fault("four hex digits expected") }
            value = value << 4 | UInt16(digit)
        }
        index += 4
        return value
    }
}

/// Why bytes are not valid JSON. It contains no part of the input, so that it may be logged.
package struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
    package var what: String
    /// Byte offset at which reading stopped.
    package var offset: Int
    /// Whether the reason is the number of values (`JSONParser.valueLimit`).
    package var hasTooManyValues = false

    package var description: String { "not JSON at byte \(offset): \(what)" }
}
