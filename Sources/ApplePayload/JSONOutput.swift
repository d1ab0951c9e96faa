internal import Bytes
internal import Model

/// Why a value could not be written as JSON.
enum JSONTrouble: Error {
    /// Nested deeper than `JSONParser.maximumDepth`.
    case tooDeep
    /// A number that does not follow the JSON grammar.
    case badNumber
}

/// Writes JSON byte by byte into existing memory, which is one byte larger than the payload may be. JSON that does not fit fills the memory completely, so that
/// one check of the count at the end shows whether everything fitted.
///
/// Each member is followed by a comma, and the closing bracket replaces the last comma; this needs no state and no branch per member. The code runs once per
/// push, so it creates no `String` and grows no array.
extension OutputSpan<UInt8> {
    /// Appends text that is already JSON: brackets, and keys with their quotes and colon.
    mutating func raw(_ text: StaticString) { append(copying: text) }

    mutating func raw(byte: Unicode.Scalar) {
        if freeCapacity > 0 { append(UInt8(ascii: byte)) }
    }

    /// Closes an object or an array that was opened with `raw`.
    mutating func close(_ bracket: Unicode.Scalar) {
        if let last = indices.last, self[last] == UInt8(ascii: ",") {
            self[last] = UInt8(ascii: bracket)
        } else {
            raw(byte: bracket)
        }
    }

    // MARK: Values

    /// Appends a string with its quotes. RFC 8259 §7: quotes, backslashes and control characters are escaped; other characters are written as UTF-8.
    mutating func json(_ text: String) { json(text, from: #"""#, to: #"""#) }

    /// Appends a string between two literals that contain its quotes.
    mutating func json(_ text: String, from start: StaticString, to end: StaticString) {
        let span = text.utf8Span.span
        if ByteChecks.isPlainJSON(span) {
            append(start, copying: span, end)
        } else {
            raw(start)
            escape(span)
            raw(end)
        }
    }

    mutating func json(_ texts: [String]) {
        raw(byte: "[")
        for text in texts {
            guard freeCapacity > 0 else { return }
            json(text)
            raw(byte: ",")
        }
        close("]")
    }

    mutating func json(_ value: Int64) {
        DecimalDigits.spell(value) { append(copying: $0) }
    }

    /// Appends a finite number; the caller must check that it is finite.
    mutating func json(_ value: Double) {
        if let whole = Int64(exactly: value) { json(whole) } else { append(copying: value.description.utf8Span.span) }
    }

    /// Appends any value, with keys in their order.
    ///
    /// - Throws: `JSONTrouble`; then a part of the value has been written.
    mutating func json(_ value: JSON, depth: Int = 0) throws(JSONTrouble) {
        switch value {
        case .null: raw("null")
        case .bool(let flag): raw(flag ? "true" : "false")
        case .number(let text):
            guard JSONNumber.isNumber(text.utf8Span.span) else { throw .badNumber }
            append(copying: text.utf8Span.span)
        case .string(let text): json(text)
        case .array(let elements):
            guard depth < JSONParser.maximumDepth else { throw .tooDeep }
            raw(byte: "[")
            for element in elements {
                guard freeCapacity > 0 else { return }
                try json(element, depth: depth + 1)
                raw(byte: ",")
            }
            close("]")
        case .object(let object): try json(object, depth: depth)
        }
    }

    /// Appends an object, with keys in their order.
    ///
    /// - Throws: `JSONTrouble`; then a part of the object has been written.
    mutating func json(_ object: JSONObject, depth: Int = 0) throws(JSONTrouble) {
        guard depth < JSONParser.maximumDepth else { throw .tooDeep }
        raw(byte: "{")
        for (key, value) in object.pairs {
            guard freeCapacity > 0 else { return }
            json(key)
            raw(byte: ":")
            try json(value, depth: depth + 1)
            raw(byte: ",")
        }
        close("}")
    }

    // MARK: Bytes

    private mutating func escape(_ span: Span<UInt8>) {
        var start = 0
        for index in span.indices where ByteChecks.needsEscape(span[index]) {
            append(copying: span.extracting(start..<index))
            guard freeCapacity > 0 else { return }
            escape(span[index])
            start = index + 1
        }
        append(copying: span.extracting(start..<span.count))
    }

    private mutating func escape(_ byte: UInt8) {
        raw(byte: "\\")
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): raw(byte: Unicode.Scalar(byte))
        case 0x08: raw(byte: "b")
        case 0x09: raw(byte: "t")
        case 0x0A: raw(byte: "n")
        case 0x0C: raw(byte: "f")
        case 0x0D: raw(byte: "r")
        default:
            raw("u00")
            raw(byte: Unicode.Scalar(ByteChecks.hexDigit(byte >> 4)))
            raw(byte: Unicode.Scalar(ByteChecks.hexDigit(byte)))
        }
    }
}
