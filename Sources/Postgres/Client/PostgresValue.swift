package import FoundationEssentials

/// One typed parameter of a statement.
///
/// Scalars take optionals, so that a nullable column does not change the statement's parameter types and therefore not its
/// prepared form. Everything except text is sent in PostgreSQL's binary format, so that neither side has to parse it.
package enum PostgresValue: Sendable, Equatable {
    /// NULL of a type that the server infers. Prefer a nil of a declared type.
    case null
    /// `boolean`.
    case bool(Bool?)
    /// `smallint`.
    case int16(Int16?)
    /// `integer`.
    case int32(Int32?)
    /// `bigint`. PostgreSQL also compares it with the smaller integer types and stores it into them.
    case int64(Int64?)
    /// `double precision`.
    case double(Double?)
    /// `text`. It must not contain U+0000, which PostgreSQL cannot store.
    case text(String?)
    /// `bytea`.
    case bytes([UInt8]?)
    /// `uuid`.
    case uuid(UUID?)
    /// `timestamptz`. Unit: microseconds since 1970, UTC.
    case timestamp(Int64?)
    /// `jsonb`, as its text.
    case json(String?)
    /// Text of a type that the server infers: interval, inet, enum …
    case untyped(String?)
    /// `boolean[]`.
    case bools([Bool?])
    /// `smallint[]`.
    case int16s([Int16?])
    /// `integer[]`.
    case int32s([Int32?])
    /// `bigint[]`.
    case int64s([Int64?])
    /// `double precision[]`.
    case doubles([Double?])
    /// `text[]`.
    case texts([String?])
    /// `uuid[]`.
    case uuids([UUID?])
    /// `bytea[]`.
    case byteArrays([[UInt8]?])
    /// `timestamptz[]`. Unit: microseconds since 1970, UTC.
    case timestamps([Int64?])

    /// `bigint` from Swift's `Int`.
    package static func int(_ value: Int?) -> PostgresValue { .int64(value.map(Int64.init)) }

    /// `bigint[]` from Swift's `Int`.
    package static func ints(_ values: [Int]) -> PostgresValue { .int64s(values.map { Int64($0) }) }

    /// `timestamptz` from milliseconds since 1970, UTC.
    ///
    /// A value outside the range of PostgreSQL's clock becomes the nearest limit.
    package static func milliseconds(_ value: Int64?) -> PostgresValue {
        .timestamp(value.map(microseconds(ofMilliseconds:)))
    }

    /// `timestamptz[]` from milliseconds since 1970, UTC.
    package static func milliseconds(_ values: [Int64?]) -> PostgresValue {
        .timestamps(values.map { $0.map(microseconds(ofMilliseconds:)) })
    }

    private static func microseconds(ofMilliseconds value: Int64) -> Int64 {
        let (product, overflow) = value.multipliedReportingOverflow(by: 1000)
        return overflow ? (value < 0 ? PostgresTime.earliest : PostgresTime.latest) : product
    }
}
