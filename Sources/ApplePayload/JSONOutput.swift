internal import Bytes
internal import Model

/// Why a value could not be written as JSON.
enum JSONTrouble: Error {
    /// Nested deeper than `JSONParser.maximumDepth`.
    case tooDeep
    /// A number that is not spelt as JSON spells numbers.
    case badNumber
}

/// JSON written byte by byte into memory that is there already, one byte more than the payload may have: what does not fit fills it to the
/// brim, so that one look at the count in the end says whether all went in.
///
/// Members are written with a comma behind each, and the bracket that closes takes the last comma's place: no state, no branch per member.
/// This runs once per push, hence no `String` is built and no array grows on the way.
extension OutputSpan<UInt8> {
    /// Text that is JSON already: brackets, and keys with their quotes and colon.
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

    /// A string with its quotes. RFC 8259 §7: quotes, backslashes and control characters are escaped, all else is UTF-8 as it is.
    mutating func json(_ text: String) { json(text, from: #"""#, to: #"""#) }

    /// The same with what stands before and behind it, each with its quote.
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

    /// A finite number; the caller has checked that it is one.
    mutating func json(_ value: Double) {
        if let whole = Int64(exactly: value) { json(whole) } else { append(copying: value.description.utf8Span.span) }
    }

    /// Any value, keys in their order.
    ///
    /// - Throws: `JSONTrouble`; then a part of it has been written.
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

    /// An object, keys in their order.
    ///
    /// - Throws: `JSONTrouble`; then a part of it has been written.
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
