package import Model
import PostgresClient

/// Encodes JSON for columns of type `json` and `jsonb`.
///
/// U+0000 is replaced, as in texts: `json` would store its escape, and every statement that reads a member of the document would fail.
package enum DocumentText {
    package static func of(_ value: JSON) -> String {
        var bytes = JSONWriter.bytes(value)
        // JSONWriter writes U+0000 only as this escape.
        if hasEscape(bytes) { bytes = cleaned(bytes) }
        return String(decoding: bytes, as: UTF8.self)
    }

    package static func of(_ value: JSONObject) -> String { of(.object(value)) }

    private static let escape = Array("\\u0000".utf8)
    private static let backslash = UInt8(ascii: "\\")

    private static func hasEscape(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= escape.count else { return false }
        return bytes.indices.dropLast(escape.count - 1).contains {
            bytes[$0] == backslash && bytes[$0..<($0 + escape.count)].elementsEqual(escape)
        }
    }

    private static func cleaned(_ bytes: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(bytes.count)
        var rest = bytes[...]
        while let byte = rest.first {
            if rest.starts(with: escape) {
                out.append(contentsOf: "\u{FFFD}".utf8)
                rest = rest.dropFirst(escape.count)
            } else {
                // A backslash escapes the next character: in `\\u0000` the second backslash does not begin an escape.
                let count = byte == backslash ? 2 : 1
                out.append(contentsOf: rest.prefix(count))
                rest = rest.dropFirst(count)
            }
        }
        return out
    }
}
