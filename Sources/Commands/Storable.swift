import Model

/// Checks whether a value can be stored. PostgreSQL's text and jsonb cannot contain U+0000; accepting it would turn a caller's error into a server error.
enum Storable {
    /// Whether `text` is no longer than `limit` bytes and holds no U+0000.
    static func fits(_ text: String, _ limit: Int) -> Bool { text.utf8.count <= limit && !text.hasByte(0) }

    /// As above; nil always fits.
    static func fits(_ text: String?, _ limit: Int) -> Bool { text.map { fits($0, limit) } ?? true }

    /// Whether `text` fits and is not empty.
    static func isKey(_ text: String) -> Bool { !text.isEmpty && fits(text, CommandLimits.keyBytes) }

    /// Whether the JSON text of `value` is within `limit` bytes and holds no U+0000.
    static func fits(_ value: JSON?, _ limit: Int) -> Bool {
        guard let value else { return true }
        return !holdsNull(value) && JSONWriter.bytes(value).count <= limit
    }

    private static func holdsNull(_ value: JSON) -> Bool {
        switch value {
        case .null, .bool, .number: false
        case .string(let text): text.hasByte(0)
        case .array(let array): array.contains(where: holdsNull)
        case .object(let object): object.pairs.contains { $0.key.hasByte(0) || holdsNull($0.value) }
        }
    }
}
