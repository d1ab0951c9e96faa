import Model

/// Parses `multipart/form-data` (RFC 7578). No input traps. Parts are limited by the size of the body.
enum MultipartBody {
    struct Part: Equatable {
        var name: String
        /// Whether it has a file name.
        var isFile: Bool
        var bytes: [UInt8]
    }

    /// The parts in order.
    ///
    /// - Throws: `AdapterError(.unreadable)` if the boundary is missing or invalid, a part is not closed, or there are more parts than the limit.
    static func parse(_ body: [UInt8], contentType: String) throws(AdapterError) -> [Part] {
        guard let boundary = boundary(in: contentType) else { throw AdapterError(.unreadable) }
        let delimiter = Array("--".utf8) + boundary
        var rest = body[...]
        guard let first = find(delimiter, in: rest) else { throw AdapterError(.unreadable) }
        rest = rest[(first + delimiter.count)...]
        var parts: [Part] = []
        while !rest.starts(with: Array("--".utf8)) {
            guard parts.count < UPMCLimits.fieldCount, let start = afterLineEnd(rest),
                let end = find([0x0A] + delimiter, in: start)
            else { throw AdapterError(.unreadable) }
            // The line end before a boundary belongs to the boundary, with or without its carriage return.
            let content = start[..<end]
            parts.append(try part(content.last == 0x0D ? content.dropLast() : content))
            rest = start[end...].dropFirst(1 + delimiter.count)
        }
        return parts
    }

    private static func boundary(in contentType: String) -> [UInt8]? {
        for parameter in contentType.split(separator: ";").dropFirst() {
            let halves = parameter.split(separator: "=", maxSplits: 1)
            guard halves.count == 2, trimmed(halves[0]).lowercased() == "boundary" else { continue }
            let text = trimmed(halves[1]).filter { $0 != "\"" }
            let bytes = Array(text.utf8)
            guard !bytes.isEmpty, bytes.count <= UPMCLimits.boundaryBytes, bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
            else { return nil }
            return bytes
        }
        return nil
    }

    private static func part(_ bytes: ArraySlice<UInt8>) throws(AdapterError) -> Part {
        let head: ArraySlice<UInt8>
        let content: ArraySlice<UInt8>
        let window = bytes.prefix(UPMCLimits.partHeaderBytes)
        if let end = find(Array("\r\n\r\n".utf8), in: window) {
            head = bytes[..<end]
            content = bytes[(end + 4)...]
        } else if let end = find(Array("\n\n".utf8), in: window) {
            head = bytes[..<end]
            content = bytes[(end + 2)...]
        } else {
            throw AdapterError(.unreadable)
        }
        guard let text = String(validating: head, as: UTF8.self) else { throw AdapterError(.unreadable) }
        let lines = text.split(whereSeparator: { $0.isNewline })
        guard let line = lines.first(where: { $0.lowercased().hasPrefix("content-disposition:") }),
            let name = parameter("name", of: line)
        else { throw AdapterError(.unreadable) }
        return Part(name: name, isFile: parameter("filename", of: line) != nil, bytes: Array(content))
    }

    private static func parameter(_ name: String, of line: Substring) -> String? {
        for parameter in line.split(separator: ";").dropFirst() {
            let halves = parameter.split(separator: "=", maxSplits: 1)
            guard halves.count == 2, trimmed(halves[0]).lowercased() == name else { continue }
            return trimmed(halves[1]).filter { $0 != "\"" }
        }
        return nil
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }

    /// The bytes after the line end that must follow a boundary.
    private static func afterLineEnd(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        if bytes.starts(with: [0x0D, 0x0A]) { return bytes.dropFirst(2) }
        return bytes.first == 0x0A ? bytes.dropFirst() : nil
    }

    /// The position of `needle` in `bytes`.
    private static func find(_ needle: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        guard let first = needle.first, bytes.count >= needle.count else { return nil }
        var from = bytes.startIndex
        while let at = bytes[from...].firstIndex(of: first), at + needle.count <= bytes.endIndex {
            if bytes[at..<(at + needle.count)].elementsEqual(needle) { return at }
            from = at + 1
        }
        return nil
    }
}
