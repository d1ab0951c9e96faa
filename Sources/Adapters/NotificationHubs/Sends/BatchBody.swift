import Model

/// The body of a batch of direct sends: `multipart/mixed` with two parts, the notification and the handles of its devices
/// (docs/contracts/notificationhubs.md#7.4).
///
/// Parts are identified by their names and may be in any order (Assumed). They are limited by the size of the body.
struct BatchBody {
    /// The payload, byte for byte.
    let notification: [UInt8]
    /// A JSON array of handles.
    let devices: [UInt8]

    /// - Throws: `AdapterError` with the text of the answer.
    init(_ body: [UInt8], contentType: String) throws(AdapterError) {
        guard let delimiter = Self.delimiter(contentType) else {
            throw AdapterError(.invalid, field: "The Content-Type of a batch is multipart/mixed with a boundary")
        }
        guard var rest = Self.cut(body[...], at: delimiter)?.after else { throw Self.unreadable }
        var found: [String: [UInt8]] = [:]
        // The loop ends after two parts, because each name may occur once.
        while !rest.starts(with: Self.dashes) {
            guard let start = Self.line(rest)?.after, let (part, after) = Self.cut(start, at: delimiter),
                let (name, bytes) = Self.content(part), Self.names.contains(name),
                found.updateValue(bytes, forKey: name) == nil
            else { throw Self.unreadable }
            rest = after
        }
        guard let notification = found["notification"], let devices = found["devices"] else { throw Self.unreadable }
        self.notification = notification
        self.devices = devices
    }

    private static let names: Set = ["notification", "devices"]
    private static let dashes = Array("--".utf8)
    private static let unreadable = AdapterError(
        .unreadable,
        field: "The body is not a multipart batch of a notification and its devices"
    )

    /// The start of each line between two parts.
    private static func delimiter(_ contentType: String) -> [UInt8]? {
        let words = contentType.split(separator: ";")
        guard words.first?.lowercased().filter({ !$0.isWhitespace }) == "multipart/mixed",
            let boundary = parameter("boundary", of: words.dropFirst())
        else { return nil }
        let bytes = Array(boundary.utf8)
        guard (1...HubsLimits.boundaryBytes).contains(bytes.count), bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            return nil
        }
        return dashes + bytes
    }

    /// The bytes before the first line that begins with `delimiter`, and all bytes after the delimiter. The line end before a boundary belongs to the
    /// boundary, with or without carriage return (RFC 2046 §5.1.1).
    private static func cut(_ bytes: ArraySlice<UInt8>, at delimiter: [UInt8])
        -> (before: ArraySlice<UInt8>, after: ArraySlice<UInt8>)?
    {
        if bytes.starts(with: delimiter) { return (bytes.prefix(0), bytes.dropFirst(delimiter.count)) }
        var rest = bytes
        while let end = rest.firstIndex(of: 0x0A) {
            rest = rest[end...].dropFirst()
            guard rest.starts(with: delimiter) else { continue }
            let before = bytes[..<end]
            return (before.last == 0x0D ? before.dropLast() : before, rest.dropFirst(delimiter.count))
        }
        return nil
    }

    /// The first line, and the bytes after it.
    private static func line(_ bytes: ArraySlice<UInt8>) -> (text: ArraySlice<UInt8>, after: ArraySlice<UInt8>)? {
        guard let end = bytes.firstIndex(of: 0x0A) else { return nil }
        let text = bytes[..<end]
        return (text.last == 0x0D ? text.dropLast() : text, bytes[end...].dropFirst())
    }

    /// A part's name, and the bytes after its headers. Nil: it has no name.
    private static func content(_ part: ArraySlice<UInt8>) -> (name: String, bytes: [UInt8])? {
        var name: String?
        var rest = part
        while let (text, after) = line(rest), part.count - after.count <= HubsLimits.partHeadBytes {
            guard !text.isEmpty else { return name.map { ($0, Array(after)) } }
            rest = after
            guard let words = String(validating: text, as: UTF8.self)?.split(separator: ";"),
                words.first?.lowercased().hasPrefix("content-disposition:") == true
            else { continue }
            name = parameter("name", of: words.dropFirst())
        }
        return nil
    }

    private static func parameter(_ name: String, of words: ArraySlice<Substring>) -> String? {
        for word in words {
            let halves = word.split(separator: "=", maxSplits: 1)
            guard halves.count == 2, halves[0].lowercased().filter({ !$0.isWhitespace }) == name else { continue }
            return halves[1].filter { $0 != "\"" && !$0.isWhitespace }
        }
        return nil
    }
}
