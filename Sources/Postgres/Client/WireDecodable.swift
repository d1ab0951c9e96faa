import FoundationEssentials

/// A type that can be read from PostgreSQL's binary format. Decoding returns nil for another column type or malformed bytes.
protocol WireDecodable {
    init?(wire bytes: ArraySlice<UInt8>, type: UInt32)
}

/// Readers of the binary format. Every length is checked, because a broken server must not cause a trap.
enum WireReader {
    /// The big-endian integer that fills `bytes` exactly.
    static func integer<Value: FixedWidthInteger>(_ bytes: ArraySlice<UInt8>, as: Value.Type = Value.self) -> Value? {
        guard bytes.count == Value.bitWidth / 8 else { return nil }
        return bytes.reduce(Value(0)) { ($0 << 8) | Value(truncatingIfNeeded: $1) }
    }

    /// A one-dimensional array without NULLs.
    static func array<Value: WireDecodable>(_ bytes: ArraySlice<UInt8>) -> [Value]? {
        guard let dimensions = integer(bytes.prefix(4), as: Int32.self),
            let element = integer(bytes.dropFirst(8).prefix(4), as: UInt32.self)
        else { return nil }
        if dimensions == 0 { return [] }
        guard dimensions == 1, let count = integer(bytes.dropFirst(12).prefix(4), as: Int32.self), count >= 0 else {
            return nil
        }
        var rest = bytes.dropFirst(20)
        var values: [Value] = []
        values.reserveCapacity(min(Int(count), rest.count / 4))
        for _ in 0..<count {
            guard let length = integer(rest.prefix(4), as: Int32.self), length >= 0 else { return nil }
            let field = rest.dropFirst(4).prefix(Int(length))
            guard field.count == Int(length), let value = Value(wire: field, type: element) else { return nil }
            values.append(value)
            rest = rest.dropFirst(4 + Int(length))
        }
        return values
    }
}

extension Bool: WireDecodable {
    init?(wire bytes: ArraySlice<UInt8>, type: UInt32) {
        guard type == TypeID.bool, let byte = bytes.first else { return nil }
        self = byte != 0
    }
}

extension Double: WireDecodable {
    init?(wire bytes: ArraySlice<UInt8>, type: UInt32) {
        if type == TypeID.float8, let bits = WireReader.integer(bytes, as: UInt64.self) {
            self = Double(bitPattern: bits)
        } else if type == TypeID.float4, let bits = WireReader.integer(bytes, as: UInt32.self) {
            self = Double(Float(bitPattern: bits))
        } else if let whole = WireInteger(wire: bytes, type: type) {
            self = Double(whole.value)
        } else {
            return nil
        }
    }
}

extension String: WireDecodable {
    /// Types below 16384 are built in: of these, only the textual ones have text as their binary format. Types above belong to
    /// the database: enums, domains over text, citext.
    private static let firstUserType: UInt32 = 16384
    private static let textual: Set<UInt32> = [
        TypeID.text, TypeID.varchar, TypeID.name, TypeID.json, 18 /* "char" */, 705 /* unknown */, 1042 /* bpchar */,
    ]

    init?(wire bytes: ArraySlice<UInt8>, type: UInt32) {
        switch type {
        case TypeID.uuid:
            guard let uuid = UUID(wire: bytes, type: type) else { return nil }
            self = uuid.uuidString.lowercased()
        case TypeID.jsonb:
            guard bytes.first == 1 else { return nil }
            self = String(decoding: bytes.dropFirst(), as: UTF8.self)
        default:
            guard Self.textual.contains(type) || type >= Self.firstUserType else { return nil }
            self = String(decoding: bytes, as: UTF8.self)
        }
    }
}

extension [UInt8]: WireDecodable {
    init?(wire bytes: ArraySlice<UInt8>, type: UInt32) {
        guard type == TypeID.bytea else { return nil }
        self = Array(bytes)
    }
}

extension UUID: WireDecodable {
    init?(wire bytes: ArraySlice<UInt8>, type: UInt32) {
        guard type == TypeID.uuid, bytes.count == 16 else { return nil }
        let b = Array(bytes)
        self.init(
            uuid: (
                b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]
            )
        )
    }
}

/// A whole number of any integer type of the server.
struct WireInteger: WireDecodable {
    var value: Int64

    init?(wire bytes: ArraySlice<UInt8>, type: UInt32) {
        let read: Int64? =
            switch type {
            case TypeID.int8: WireReader.integer(bytes, as: Int64.self)
            case TypeID.int4: WireReader.integer(bytes, as: Int32.self).map(Int64.init)
            case TypeID.int2: WireReader.integer(bytes, as: Int16.self).map(Int64.init)
            case TypeID.oid: WireReader.integer(bytes, as: UInt32.self).map(Int64.init)
            case TypeID.numeric: Self.wholeNumeric(bytes)
            default: nil
            }
        guard let read else { return nil }
        value = read
    }

    /// Decodes `numeric`: base-10000 digits with the weight of the first digit (src/backend/utils/adt/numeric.c, numeric_send).
    private static func wholeNumeric(_ bytes: ArraySlice<UInt8>) -> Int64? {
        let words = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map { index in
            WireReader.integer(bytes[index..<min(index + 2, bytes.endIndex)], as: UInt16.self) ?? 0
        }
        guard words.count >= 4, bytes.count == 8 + 2 * Int(words[0]) else { return nil }
        let weight = Int(Int16(bitPattern: words[1]))
        let isNegative = words[2] == 0x4000
        guard isNegative || words[2] == 0, weight <= 4 else { return nil }  // otherwise NaN, an infinity, or too large
        let digits = words.dropFirst(4)
        guard digits.dropFirst(max(weight + 1, 0)).allSatisfy({ $0 == 0 }) else { return nil }
        var value: Int64 = 0
        for position in 0..<max(weight + 1, 0) {
            let digit = position < digits.count ? Int64(digits[digits.startIndex + position]) : 0
            let (shifted, overflowed) = value.multipliedReportingOverflow(by: 10_000)
            let (sum, overflowedAgain) = shifted.addingReportingOverflow(isNegative ? -digit : digit)
            if overflowed || overflowedAgain { return nil }
            value = sum
        }
        return value
    }
}

/// A point in time of any date or time type of the server.
struct WireTimestamp: WireDecodable {
    /// Unit: microseconds since 1970, UTC.
    var microseconds: Int64

    /// Milliseconds since 1970, UTC, rounded down.
    var milliseconds: Int64 {
        let (quotient, remainder) = microseconds.quotientAndRemainder(dividingBy: 1000)
        return remainder < 0 ? quotient - 1 : quotient
    }

    init?(wire bytes: ArraySlice<UInt8>, type: UInt32) {
        switch type {
        case TypeID.timestamptz, TypeID.timestamp:
            guard let raw = WireReader.integer(bytes, as: Int64.self) else { return nil }
            microseconds = PostgresTime.toUnix(raw)
        case TypeID.date:
            guard let days = WireReader.integer(bytes, as: Int32.self) else { return nil }
            // The infinities are the extreme values of Int32. They become those of Int64, as for timestamptz.
            let (product, overflow) = Int64(days).multipliedReportingOverflow(by: 86_400_000_000)
            microseconds = overflow ? (days < 0 ? .min : .max) : PostgresTime.toUnix(product)
        default:
            return nil
        }
    }
}
