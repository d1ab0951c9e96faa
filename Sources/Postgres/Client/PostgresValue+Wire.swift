import FoundationEssentials

/// Type numbers of `pg_type`, which never change for built-in types (src/include/catalog/pg_type.dat).
enum TypeID {
    static let inferred: UInt32 = 0
    static let bool: UInt32 = 16
    static let bytea: UInt32 = 17
    static let name: UInt32 = 19
    static let int8: UInt32 = 20
    static let int2: UInt32 = 21
    static let int4: UInt32 = 23
    static let text: UInt32 = 25
    static let oid: UInt32 = 26
    static let json: UInt32 = 114
    static let float4: UInt32 = 700
    static let float8: UInt32 = 701
    static let boolArray: UInt32 = 1000
    static let byteaArray: UInt32 = 1001
    static let int2Array: UInt32 = 1005
    static let int4Array: UInt32 = 1007
    static let textArray: UInt32 = 1009
    static let int8Array: UInt32 = 1016
    static let float8Array: UInt32 = 1022
    static let varchar: UInt32 = 1043
    static let date: UInt32 = 1082
    static let timestamp: UInt32 = 1114
    static let timestamptz: UInt32 = 1184
    static let timestamptzArray: UInt32 = 1185
    static let numeric: UInt32 = 1700
    static let uuid: UInt32 = 2950
    static let uuidArray: UInt32 = 2951
    static let jsonb: UInt32 = 3802
}

/// Converts between PostgreSQL's clock, which counts microseconds from 2000-01-01 UTC, and Unix time.
enum PostgresTime {
    static let epochOffset: Int64 = 946_684_800_000_000
    /// 4713 BC and AD 294276 are the limits of timestamptz. These values are safely inside (years 1 and 9999).
    static let earliest: Int64 = -62_135_596_800_000_000
    static let latest: Int64 = 253_402_300_799_999_999

    static func fromUnix(_ microseconds: Int64) -> Int64 {
        min(max(microseconds, earliest), latest) - epochOffset
    }

    /// Converts to Unix time. The two infinities are the extreme values of Int64 and are not changed.
    static func toUnix(_ microseconds: Int64) -> Int64 {
        let (sum, overflow) = microseconds.addingReportingOverflow(epochOffset)
        return overflow ? microseconds : sum
    }
}

extension PostgresValue {
    /// The type that is declared to the server when the statement is prepared.
    var typeID: UInt32 {
        switch self {
        case .null, .untyped: TypeID.inferred
        case .bool: TypeID.bool
        case .int16: TypeID.int2
        case .int32: TypeID.int4
        case .int64: TypeID.int8
        case .double: TypeID.float8
        case .text: TypeID.text
        case .bytes: TypeID.bytea
        case .uuid: TypeID.uuid
        case .timestamp: TypeID.timestamptz
        case .json: TypeID.jsonb
        case .bools: TypeID.boolArray
        case .int16s: TypeID.int2Array
        case .int32s: TypeID.int4Array
        case .int64s: TypeID.int8Array
        case .doubles: TypeID.float8Array
        case .texts: TypeID.textArray
        case .uuids: TypeID.uuidArray
        case .byteArrays: TypeID.byteaArray
        case .timestamps: TypeID.timestamptzArray
        }
    }

    /// Whether `append` writes PostgreSQL's binary format. Values of an inferred type must be sent as text.
    var isBinary: Bool {
        switch self {
        case .null, .untyped: false
        default: true
        }
    }

    /// Appends the wire bytes to `out`. Returns false for NULL, which has no bytes.
    ///
    /// - Throws: `invalidParameter` for text with a NUL, or an array of more than `WireLimits.arrayElementCount`.
    func append(to out: inout [UInt8]) throws(PostgresError) -> Bool {
        switch self {
        case .null: return false
        case .bool(let value): return try Wire.append(value, to: &out)
        case .int16(let value): return try Wire.append(value, to: &out)
        case .int32(let value): return try Wire.append(value, to: &out)
        case .int64(let value): return try Wire.append(value, to: &out)
        case .double(let value): return try Wire.append(value, to: &out)
        case .text(let value), .untyped(let value): return try Wire.append(value, to: &out)
        case .bytes(let value): return try Wire.append(value, to: &out)
        case .uuid(let value): return try Wire.append(value, to: &out)
        case .timestamp(let value): return try Wire.append(value.map(PostgresTime.fromUnix), to: &out)
        case .json(let value):
            guard let value else { return false }
            out.append(1)  // jsonb's binary format is a version byte, 1, and then the text.
            return try Wire.append(value, to: &out)
        case .bools(let values): try Wire.append(values, element: TypeID.bool, to: &out)
        case .int16s(let values): try Wire.append(values, element: TypeID.int2, to: &out)
        case .int32s(let values): try Wire.append(values, element: TypeID.int4, to: &out)
        case .int64s(let values): try Wire.append(values, element: TypeID.int8, to: &out)
        case .doubles(let values): try Wire.append(values, element: TypeID.float8, to: &out)
        case .texts(let values): try Wire.append(values, element: TypeID.text, to: &out)
        case .uuids(let values): try Wire.append(values, element: TypeID.uuid, to: &out)
        case .byteArrays(let values): try Wire.append(values, element: TypeID.bytea, to: &out)
        case .timestamps(let values):
            try Wire.append(values.map { $0.map(PostgresTime.fromUnix) }, element: TypeID.timestamptz, to: &out)
        }
        return true
    }
}

/// Limits of what one statement may contain.
enum WireLimits {
    /// 100,000 elements per array. A slice has 500 and a bulk statement some thousands; more would build one packet of tens of
    /// megabytes, held in memory twice.
    static let arrayElementCount = 100_000

    /// 64 MiB per value. The server's own limit is 1 GB, and a client that sends so much delays all other clients.
    static let valueBytes = 64 << 20
}

/// A type that can be written in PostgreSQL's binary format.
protocol WireEncodable {
    func appendWire(to out: inout [UInt8]) throws(PostgresError)
}

/// Writers of the binary format: big-endian numbers, arrays with a 20-byte header (src/backend/utils/adt/arrayfuncs.c).
enum Wire {
    static func append(_ value: (some WireEncodable)?, to out: inout [UInt8]) throws(PostgresError) -> Bool {
        guard let value else { return false }
        let start = out.count
        try value.appendWire(to: &out)
        guard out.count - start <= WireLimits.valueBytes else {
            throw PostgresError(.invalidParameter, reason: "value too long")
        }
        return true
    }

    static func append<Element: WireEncodable>(_ values: [Element?], element: UInt32, to out: inout [UInt8])
        throws(PostgresError)
    {
        guard values.count <= WireLimits.arrayElementCount else {
            throw PostgresError(.invalidParameter, reason: "array too long")
        }
        out.reserveCapacity(out.count + 20 + values.count * 20)
        append(Int32(values.isEmpty ? 0 : 1), to: &out)  // dimensions
        append(Int32(values.contains { $0 == nil } ? 1 : 0), to: &out)  // has nulls
        append(Int32(bitPattern: element), to: &out)
        if values.isEmpty { return }
        append(Int32(values.count), to: &out)
        append(Int32(1), to: &out)  // lower bound
        for value in values { try appendField(value, to: &out) }
    }

    /// Appends a field preceded by its length: an element of an array.
    static func appendField(_ value: (some WireEncodable)?, to out: inout [UInt8]) throws(PostgresError) {
        let header = out.count
        append(Int32(-1), to: &out)
        if try append(value, to: &out) { patchLength(at: header, in: &out) }
    }

    /// Writes the number of bytes after the four at `header` into those four.
    static func patchLength(at header: Int, in out: inout [UInt8]) {
        let length = UInt32(truncatingIfNeeded: out.count - header - 4)
        for index in 0..<4 { out[header + index] = UInt8(truncatingIfNeeded: length >> UInt32(24 - 8 * index)) }
    }

    static func append(_ value: some FixedWidthInteger, to out: inout [UInt8]) {
        var shift = value.bitWidth - 8
        while shift >= 0 {
            out.append(UInt8(truncatingIfNeeded: value >> shift))
            shift -= 8
        }
    }
}

extension Bool: WireEncodable {
    func appendWire(to out: inout [UInt8]) { out.append(self ? 1 : 0) }
}
extension Int16: WireEncodable {
    func appendWire(to out: inout [UInt8]) { Wire.append(self, to: &out) }
}
extension Int32: WireEncodable {
    func appendWire(to out: inout [UInt8]) { Wire.append(self, to: &out) }
}
extension Int64: WireEncodable {
    func appendWire(to out: inout [UInt8]) { Wire.append(self, to: &out) }
}
extension Double: WireEncodable {
    func appendWire(to out: inout [UInt8]) { Wire.append(bitPattern, to: &out) }
}
extension [UInt8]: WireEncodable {
    func appendWire(to out: inout [UInt8]) { out.append(contentsOf: self) }
}
extension String: WireEncodable {
    func appendWire(to out: inout [UInt8]) throws(PostgresError) {
        let start = out.count
        out.append(contentsOf: utf8)
        guard !out[start...].contains(0) else { throw PostgresError(.invalidParameter, reason: "NUL in text") }
    }
}
extension UUID: WireEncodable {
    func appendWire(to out: inout [UInt8]) {
        let u = uuid
        out += [u.0, u.1, u.2, u.3, u.4, u.5, u.6, u.7, u.8, u.9, u.10, u.11, u.12, u.13, u.14, u.15]
    }
}
