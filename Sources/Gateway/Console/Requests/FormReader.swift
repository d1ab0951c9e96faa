import Model
package import PageParts

/// Reads forms: `application/x-www-form-urlencoded` and `multipart/form-data`. Never traps on any input.
package enum FormReader {
    /// 1,000 fields: the largest form has a field per recipient of a list.
    package static let fieldLimit = 1000

    /// 2 KiB of headers per part: a browser writes two short lines.
    private static let headBytes = 2 << 10

    package enum Failure: Error, Equatable {
        /// Not a form of either type.
        case unknownType
        case malformed
        case tooMany
    }

    /// - Parameters:
    ///   - bytes: the body.
    ///   - type: its Content-Type.
    /// - Returns: the fields in their order.
    /// - Throws: `Failure`.
    package static func fields(_ bytes: [UInt8], type: String?) throws(Failure) -> FormFields {
        let parts = (type ?? "").split(separator: ";", maxSplits: 8, omittingEmptySubsequences: true)
        let name = parts.first.map { trimmed($0).lowercased() } ?? ""
        switch name {
        case "application/x-www-form-urlencoded": return try urlEncoded(bytes)
        case "multipart/form-data":
            guard let boundary = boundary(parts.dropFirst()) else { throw .malformed }
            return try multipart(bytes, boundary)
        default: throw bytes.isEmpty ? Failure.malformed : Failure.unknownType
        }
    }

    private static func urlEncoded(_ bytes: [UInt8]) throws(Failure) -> FormFields {
        var fields: [FormFields.Field] = []
        for pair in bytes.split(separator: UInt8(ascii: "&"), maxSplits: fieldLimit, omittingEmptySubsequences: true) {
            guard fields.count < fieldLimit else { throw .tooMany }
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts.first.flatMap({ PercentCoding.decode($0, plusIsSpace: true) }) else {
                throw .malformed
            }
            guard parts.count == 2 else {
                fields.append(FormFields.Field(name, .text("")))
                continue
            }
            guard let value = PercentCoding.decode(parts[1], plusIsSpace: true) else { throw .malformed }
            fields.append(FormFields.Field(name, .text(value)))
        }
        return FormFields(fields)
    }

    // MARK: Multipart (RFC 7578)

    private static func boundary(_ parameters: ArraySlice<Substring>) -> [UInt8]? {
        for parameter in parameters {
            let parts = trimmed(parameter).split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == "boundary" else { continue }
            let value = parts[1].hasPrefix("\"") ? parts[1].dropFirst().prefix { $0 != "\"" } : parts[1]
            // 70 characters (RFC 2046 §5.1.1).
            return (1...70).contains(value.utf8.count) ? Array(value.utf8) : nil
        }
        return nil
    }

    private static func multipart(_ bytes: [UInt8], _ boundary: [UInt8]) throws(Failure) -> FormFields {
        let mark = Array("--".utf8) + boundary
        guard let first = position(of: mark, in: bytes, from: 0) else { throw .malformed }
        var fields: [FormFields.Field] = []
        var at = first + mark.count
        let next = Array("\r\n".utf8) + mark
        while !isEnd(bytes, at) {
            guard fields.count < fieldLimit else { throw .tooMany }
            guard let start = position(of: Array("\r\n".utf8), in: bytes, from: at),
                let end = position(of: next, in: bytes, from: start)
            else { throw .malformed }
            // Without headers, the part begins with the empty line itself.
            guard let field = part(bytes[min(start + 2, end)..<end]) else { throw .malformed }
            fields.append(field)
            at = end + next.count
        }
        return FormFields(fields)
    }

    /// Whether the last boundary ends here: `--`.
    private static func isEnd(_ bytes: [UInt8], _ at: Int) -> Bool {
        bytes.count >= at + 2 && bytes[at] == UInt8(ascii: "-") && bytes[at + 1] == UInt8(ascii: "-")
    }

    private static func part(_ bytes: ArraySlice<UInt8>) -> FormFields.Field? {
        let all = Array(bytes)
        guard let gap = position(of: Array("\r\n\r\n".utf8), in: all, from: 0), gap <= headBytes else { return nil }
        let head = String(decoding: all[..<gap], as: UTF8.self)
        let body = Array(all[(gap + 4)...])
        for line in head.split(separator: "\r\n", omittingEmptySubsequences: true) {
            guard line.lowercased().hasPrefix("content-disposition:") else { continue }
            guard let name = parameter("name", of: line) else { return nil }
            if let file = parameter("filename", of: line) {
                return FormFields.Field(name, .file(name: file, bytes: body))
            }
            guard let text = String(validating: body, as: UTF8.self) else { return nil }
            return FormFields.Field(name, .text(text))
        }
        return nil
    }

    /// A quoted parameter of a header. Browsers write a quotation mark in it as `%22`.
    private static func parameter(_ name: String, of line: Substring) -> String? {
        for part in line.split(separator: ";").dropFirst() {
            let parts = trimmed(part).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].lowercased() == name else { continue }
            let value = parts[1]
            guard value.hasPrefix("\""), value.hasSuffix("\""), value.count >= 2 else { return String(value) }
            return String(value.dropFirst().dropLast())
        }
        return nil
    }

    /// The first occurrence of `part` from `start` on. `part` is not empty.
    private static func position(of part: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
        guard let head = part.first, bytes.count >= part.count else { return nil }
        var at = max(0, start)
        while at <= bytes.count - part.count {
            if bytes[at] == head, bytes[at..<(at + part.count)].elementsEqual(part) { return at }
            at += 1
        }
        return nil
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        var text = Substring(text)
        while text.first == " " || text.first == "\t" { text.removeFirst() }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return String(text)
    }
}
