import FoundationEssentials
package import Model
package import PostgresClient

// Converts model values to parameters. No value from a caller may make the server refuse a statement, so U+0000 is replaced and times are clamped.
extension PostgresValue {
    /// Text in which U+0000 is replaced, because PostgreSQL cannot store it.
    package static func string(_ value: String?) -> PostgresValue { .text(value.map(cleaned)) }

    /// Texts, each as `string(_:)`.
    package static func strings(_ values: [String?]) -> PostgresValue { .texts(values.map { $0.map(cleaned) }) }

    /// The text of an identifier.
    package static func id(_ value: (some TextIdentifier)?) -> PostgresValue { .string(value?.rawValue) }

    /// The UUID of an identifier.
    package static func id(_ value: (some UUIDIdentifier)?) -> PostgresValue { .uuid(value?.rawValue) }

    /// The UUIDs of identifiers.
    package static func ids<ID: UUIDIdentifier>(_ values: [ID?]) -> PostgresValue {
        .uuids(values.map { $0?.rawValue })
    }

    /// Tags in the form in which they compare, each once.
    package static func tags(_ values: [Tag]) -> PostgresValue { .strings(Set(values).map(\.text).sorted()) }

    /// A moment, `timestamptz`.
    package static func time(_ value: Timestamp?) -> PostgresValue { .milliseconds(value.map(bounded)) }

    /// Moments, `timestamptz[]`.
    package static func times(_ values: [Timestamp?]) -> PostgresValue { .milliseconds(values.map { $0.map(bounded) }) }

    /// A length of time, `interval`.
    package static func interval(_ value: Duration?) -> PostgresValue {
        .untyped(value.map { "\(min(max($0.milliseconds, 0), longest)) milliseconds" })
    }

    /// JSON as its text, for columns of type `json`: key order and number spelling stay.
    package static func document(_ value: JSON?) -> PostgresValue { .untyped(value.map(DocumentText.of)) }

    private static func cleaned(_ text: String) -> String {
        guard text.hasByte(0) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value == 0 ? "\u{FFFD}" : $0 }))
    }

    private static func bounded(_ time: Timestamp) -> Int64 { min(max(time.milliseconds, 0), latest) }

    /// The year 9999. A time beyond the server's range would make an insert fail, and arithmetic on a slightly smaller one too.
    private static let latest: Int64 = 253_370_764_800_000

    /// 100 years, for the same reason.
    private static let longest: Int64 = 3_155_760_000_000
}
