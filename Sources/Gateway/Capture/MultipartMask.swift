import Foundation
import Model

/// Masks a multipart body: each part has its name and its masked value.
struct MultipartMask: Sendable {
    let mask: CaptureMask
    /// 64 parts: no vendor sends more than twenty.
    static let partLimit = 64

    func body(_ bytes: [UInt8], boundary: [UInt8]) -> String {
        let parts = Self.split(bytes, by: Array("--".utf8) + boundary)
        guard !parts.isEmpty else { return "<unreadable multipart \(bytes.count)>" }
        var out = parts.prefix(Self.partLimit).map(part)
        if parts.count > Self.partLimit { out.append("<\(parts.count - Self.partLimit) more parts>") }
        return out.joined(separator: "\n")
    }

    /// The parts between the delimiters, each without the line break at its start and end.
    private static func split(_ bytes: [UInt8], by delimiter: [UInt8]) -> [ArraySlice<UInt8>] {
        var parts: [ArraySlice<UInt8>] = []
        var start: Int?
        var index = 0
        while index + delimiter.count <= bytes.count {
            guard bytes[index] == 0x2D, bytes[index..<index + delimiter.count].elementsEqual(delimiter) else {
                index += 1
                continue
            }
            if let start, start <= index { parts.append(trimmed(bytes[start..<index])) }
            index += delimiter.count
            start = index
        }
        return parts
    }

    private static func trimmed(_ slice: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var slice = slice
        for byte in [0x0D, 0x0A] as [UInt8] where slice.first == byte { slice = slice.dropFirst() }
        for byte in [0x0A, 0x0D] as [UInt8] where slice.last == byte { slice = slice.dropLast() }
        return slice
    }

    private func part(_ bytes: ArraySlice<UInt8>) -> String {
        let (head, body) = Self.divided(bytes)
        let fields = String(decoding: head, as: UTF8.self).split(whereSeparator: \.isNewline)
        let disposition = fields.first { $0.lowercased().hasPrefix("content-disposition") } ?? ""
        let type = fields.first { $0.lowercased().hasPrefix("content-type") }?.split(separator: ":").last
        let name = Self.parameter("name", of: disposition) ?? ""
        var line = "part \(mask.shown(name))"
        if let file = Self.parameter("filename", of: disposition) {
            line += " file <text \(file.unicodeScalars.count)>"
        }
        if let type {
            line += " \(TextScrub.scrub(Array(type.unicodeScalars.prefix(64))).trimmingCharacters(in: .whitespaces))"
        }
        return line + ": " + value(Array(body), mask.values.kind(of: name))
    }

    private func value(_ bytes: [UInt8], _ kind: KeyClass) -> String {
        guard let text = String(validating: bytes, as: UTF8.self), !text.unicodeScalars.contains("\0") else {
            return "<bytes \(bytes.count)>"
        }
        return mask.values.text(text, kind)
    }

    /// Splits a part into headers and value at the first empty line.
    private static func divided(_ bytes: ArraySlice<UInt8>) -> (ArraySlice<UInt8>, ArraySlice<UInt8>) {
        var index = bytes.startIndex
        while index < bytes.endIndex {
            for gap in [[0x0D, 0x0A, 0x0D, 0x0A], [0x0A, 0x0A]] as [[UInt8]] where bytes[index...].starts(with: gap) {
                return (bytes[..<index], bytes[(index + gap.count)...])
            }
            index += 1
        }
        return ([], bytes)
    }

    /// A parameter of a content disposition, such as `name="PSID"`.
    private static func parameter(_ name: String, of disposition: Substring) -> String? {
        for part in disposition.split(separator: ";").dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1)
            guard pair.count == 2, pair[0].trimmingCharacters(in: .whitespaces).lowercased() == name else { continue }
            return pair[1].trimmingCharacters(in: CharacterSet(charactersIn: " \"\r\n\t"))
        }
        return nil
    }
}

/// Masks XML: the tags stay, attributes and texts are masked. This is not a parser: unrecognized markup is masked as text.
struct XMLMask: Sendable {
    let values: ValueMask
    /// 64 levels of nested elements; deeper values are judged by their content alone.
    private static let depthLimit = 64

    func text(_ scalars: [Unicode.Scalar]) -> String {
        var out = ""
        var open: [KeyClass] = []
        var index = 0
        while index < scalars.count {
            if scalars[index] == "<" {
                guard let end = scalars[index...].firstIndex(of: ">") else {
                    return out + "<text \(scalars.count - index)>"
                }
                out += tag(Array(scalars[(index + 1)..<end]), &open)
                index = end + 1
            } else {
                let end = scalars[index...].firstIndex(of: "<") ?? scalars.count
                let content = String(String.UnicodeScalarView(scalars[index..<end]))
                let trimmed = content.trimmingCharacters(in: .whitespacesAndNewlines)
                out += trimmed.isEmpty ? "" : values.text(trimmed, open.last ?? .plain)
                index = end
            }
        }
        return out
    }

    private func tag(_ scalars: [Unicode.Scalar], _ open: inout [KeyClass]) -> String {
        guard let first = scalars.first else { return "<>" }
        if first == "!" { return "<!text \(scalars.count)>" }
        if first == "?" { return "<?text \(scalars.count)>" }
        if first == "/" {
            _ = open.popLast()
            return "</\(name(scalars.dropFirst()))>"
        }
        let isEmpty = scalars.last == "/"
        let inner = isEmpty ? scalars.dropLast() : scalars[...]
        let end = inner.firstIndex(where: \.properties.isWhitespace) ?? inner.endIndex
        let tag = String(String.UnicodeScalarView(inner[..<end]))
        if !isEmpty, open.count < Self.depthLimit { open.append(values.kind(of: tag, in: open.last ?? .plain)) }
        return "<\(name(inner[..<end]))\(attributes(inner[end...]))\(isEmpty ? "/" : "")>"
    }

    private func name(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        let trimmed = scalars.filter { !$0.properties.isWhitespace }
        return Shape.isName(trimmed) ? String(String.UnicodeScalarView(trimmed)) : "key \(trimmed.count)"
    }

    private func attributes(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        var out = ""
        var rest = scalars
        while let equals = rest.firstIndex(of: "=") {
            let key = rest[..<equals]
            let after = rest[(equals + 1)...].drop(while: \.properties.isWhitespace)
            guard let quote = after.first, quote == "\"" || quote == "'",
                let end = after.dropFirst().firstIndex(of: quote)
            else { return out + " text \(rest.count)" }
            let value = String(String.UnicodeScalarView(after[(after.startIndex + 1)..<end]))
            let kind = values.kind(of: String(String.UnicodeScalarView(key)))
            out += " \(name(key))=\"\(values.text(value, kind))\""
            rest = after[(end + 1)...]
        }
        return out
    }
}
