package import Model

/// JSON for reading, with one member per line. It is bounded, whatever a peer sends.
package struct ShownJSON {
    /// 16,384 bytes: more than any payload has.
    private static let byteLimit = 16_384
    /// 32 levels.
    private static let depthLimit = 32

    package private(set) var text = ""
    private var isCut = false

    package init(_ json: JSON) {
        write(json, depth: 0)
        if isCut { text += "\n…" }
    }

    private mutating func add(_ part: String) {
        guard !isCut else { return }
        let rest = Self.byteLimit - text.utf8.count
        if part.utf8.count > rest {
            // A scalar has at most four bytes.
            text.unicodeScalars.append(contentsOf: part.unicodeScalars.prefix(max(0, rest / 4)))
            isCut = true
        } else {
            text += part
        }
    }

    private mutating func write(_ json: JSON, depth: Int) {
        guard !isCut else { return }
        let inner = "\n" + String(repeating: "  ", count: depth + 1)
        let end = "\n" + String(repeating: "  ", count: depth)
        switch json {
        case .object where depth >= Self.depthLimit,
            .array where depth >= Self.depthLimit:
            add("…")
        case .object(let object) where !object.isEmpty:
            add("{")
            for (place, pair) in object.pairs.enumerated() where !isCut {
                add((place == 0 ? "" : ",") + inner)
                write(.string(pair.key), depth: depth + 1)
                add(": ")
                write(pair.value, depth: depth + 1)
            }
            add(end + "}")
        case .array(let array) where !array.isEmpty:
            add("[")
            for (place, element) in array.enumerated() where !isCut {
                add((place == 0 ? "" : ",") + inner)
                write(element, depth: depth + 1)
            }
            add(end + "]")
        case .string(let string) where string.utf8.count > Self.byteLimit:
            add("\"" + String(string.unicodeScalars.prefix(Self.byteLimit)))
        case .null, .bool, .number, .string, .array, .object: add(JSONWriter.text(json))
        }
    }
}
