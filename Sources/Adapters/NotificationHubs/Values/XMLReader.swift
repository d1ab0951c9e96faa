/// One element of a document with its content. Names are local names, without a namespace prefix.
struct XMLElement: Hashable {
    let name: String
    let attributes: [String: String]
    /// All text directly inside the element, with entities resolved.
    fileprivate(set) var text = ""
    fileprivate(set) var children: [XMLElement] = []

    func child(_ name: String) -> XMLElement? { children.first { $0.name == name } }
}

/// Parses the small documents of registrations: elements, attributes, text, CDATA, comments.
///
/// It refuses document types, and all entities except XML's five and character references: no definition of a peer is ever expanded. Pure; every count
/// has a limit.
struct XMLReader {
    enum Fault: Error, Hashable {
        /// The document is not well-formed, or not UTF-8.
        case syntax
        /// The document has a document type, or an entity that would need one.
        case forbidden
        /// The document exceeds one of the limits.
        case tooLarge
    }

    private let bytes: [UInt8]
    private var place = 0
    /// The open elements, the outermost first. A list is used, so that depth uses no stack.
    private var open: [XMLElement] = []
    private var root: XMLElement?
    private var count = 0

    /// Parses a document and returns its outermost element.
    ///
    /// - Throws: `Fault`.
    static func read(_ bytes: [UInt8]) throws(Fault) -> XMLElement {
        guard bytes.count <= HubsLimits.bodyBytes else { throw .tooLarge }
        guard String(validating: bytes, as: UTF8.self) != nil else { throw .syntax }
        let hasMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
        var reader = XMLReader(hasMark ? Array(bytes.dropFirst(3)) : bytes)
        return try reader.document()
    }

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    private mutating func document() throws(Fault) -> XMLElement {
        while place < bytes.count {
            guard at(UInt8(ascii: "<")) else {
                let end = bytes[place...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
                try add(try resolved(bytes[place..<end]))
                place = end
                continue
            }
            switch place + 1 < bytes.count ? bytes[place + 1] : 0 {
            case UInt8(ascii: "/"): try close()
            case UInt8(ascii: "?"): _ = try upTo("?>", after: 2)
            case UInt8(ascii: "!"): try declaration()
            default: try begin()
            }
        }
        guard open.isEmpty, let root else { throw .syntax }
        return root
    }

    private mutating func declaration() throws(Fault) {
        if at("<![CDATA[") {
            try add(String(decoding: try upTo("]]>", after: 9), as: UTF8.self))
        } else if at("<!--") {
            _ = try upTo("-->", after: 4)
        } else {
            throw .forbidden
        }
    }

    private func at(_ mark: String) -> Bool { bytes[place...].starts(with: mark.utf8) }

    private func at(_ byte: UInt8) -> Bool { place < bytes.count && bytes[place] == byte }

    /// The bytes from `start` up to `mark`; parsing continues after the mark.
    private mutating func upTo(_ mark: String, after start: Int) throws(Fault) -> ArraySlice<UInt8> {
        let begin = place + start
        guard begin <= bytes.count, let first = mark.utf8.first else { throw .syntax }
        var rest = bytes[begin...]
        while let found = rest.firstIndex(of: first) {
            rest = bytes[found...]
            guard !rest.starts(with: mark.utf8) else {
                place = found + mark.utf8.count
                return bytes[begin..<found]
            }
            rest = rest.dropFirst()
        }
        throw .syntax
    }

    private mutating func add(_ text: String) throws(Fault) {
        guard let last = open.indices.last else {
            // Outside the outermost element only white space is allowed.
            guard text.utf8.allSatisfy({ Self.isBlank($0) }) else { throw .syntax }
            return
        }
        open[last].text += text
    }

    private mutating func close() throws(Fault) {
        let name = Self.bare(try upTo(">", after: 2))
        guard let element = open.popLast(), element.name.utf8.elementsEqual(name) else { throw .syntax }
        try finish(element)
    }

    private mutating func finish(_ element: XMLElement) throws(Fault) {
        if let last = open.indices.last {
            open[last].children.append(element)
        } else {
            guard root == nil else { throw .syntax }
            root = element
        }
    }

    private mutating func begin() throws(Fault) {
        place += 1
        let name = name()
        guard !name.isEmpty else { throw .syntax }
        count += 1
        guard count <= HubsLimits.elementCount, open.count < HubsLimits.elementDepth else { throw .tooLarge }
        var attributes: [String: String] = [:]
        while true {
            let hasBlank = skipBlanks()
            if at(UInt8(ascii: "/")), place + 1 < bytes.count, bytes[place + 1] == UInt8(ascii: ">") {
                place += 2
                try finish(XMLElement(name: Self.local(name), attributes: attributes))
                return
            }
            if at(UInt8(ascii: ">")) {
                place += 1
                open.append(XMLElement(name: Self.local(name), attributes: attributes))
                return
            }
            guard hasBlank, attributes.count < HubsLimits.attributeCount else { throw .syntax }
            let (key, value) = try attribute()
            // Attributes that differ only in their prefix count as duplicates, because this format identifies them by their local names.
            guard attributes.updateValue(value, forKey: key) == nil || key.hasPrefix("xmlns") else { throw .syntax }
        }
    }

    private mutating func attribute() throws(Fault) -> (String, String) {
        let name = name()
        skipBlanks()
        guard !name.isEmpty, at(UInt8(ascii: "=")) else { throw .syntax }
        place += 1
        skipBlanks()
        guard place < bytes.count, bytes[place] == UInt8(ascii: "\"") || bytes[place] == UInt8(ascii: "'") else {
            throw .syntax
        }
        let value = try upTo(bytes[place] == UInt8(ascii: "'") ? "'" : "\"", after: 1)
        guard !value.contains(UInt8(ascii: "<")) else { throw .syntax }
        let isSpace = name.starts(with: "xmlns".utf8)
        return (isSpace ? String(decoding: name, as: UTF8.self) : Self.local(name), try resolved(value))
    }

    /// The bytes of a name; empty if there is none.
    private mutating func name() -> ArraySlice<UInt8> {
        let begin = place
        while place < bytes.count, !Self.endsName(bytes[place]) { place += 1 }
        return bytes[begin..<place]
    }

    private static func endsName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "/"), UInt8(ascii: "="), UInt8(ascii: "\""),
            UInt8(ascii: "'"), UInt8(ascii: "&"):
            true
        default: isBlank(byte)
        }
    }

    @discardableResult private mutating func skipBlanks() -> Bool {
        let begin = place
        while place < bytes.count, Self.isBlank(bytes[place]) { place += 1 }
        return place > begin
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    private static func local(_ name: ArraySlice<UInt8>) -> String { String(decoding: bare(name), as: UTF8.self) }

    /// A name without its prefix, and without blanks behind it.
    private static func bare(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let bare = name.prefix { !isBlank($0) }
        let from = bare.firstIndex(of: UInt8(ascii: ":")).map { $0 + 1 } ?? bare.startIndex
        return bare[from...]
    }

    private static let entities = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]

    private func resolved(_ raw: ArraySlice<UInt8>) throws(Fault) -> String {
        guard raw.contains(UInt8(ascii: "&")) else { return String(decoding: raw, as: UTF8.self) }
        var text = ""
        for (index, part) in raw.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).enumerated() {
            guard index > 0 else {
                text += String(decoding: part, as: UTF8.self)
                continue
            }
            guard let end = part.firstIndex(of: UInt8(ascii: ";")) else { throw .syntax }
            text += try Self.entity(String(decoding: part[..<end], as: UTF8.self))
            text += String(decoding: part[(end + 1)...], as: UTF8.self)
        }
        return text
    }

    private static func entity(_ name: String) throws(Fault) -> String {
        if let known = entities[name] { return known }
        guard name.hasPrefix("#"), name.utf8.count <= 10 else { throw .forbidden }
        let digits = name.dropFirst()
        let value = digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits, radix: 10)
        guard let value, let scalar = Unicode.Scalar(value), value >= 0x20 || [0x09, 0x0A, 0x0D].contains(value) else {
            throw .syntax
        }
        return String(Character(scalar))
    }
}
