/// A strict reader of our HTML: all attributes are quoted, all elements are closed, and `<` occurs in tags only.
enum Wellformed {
    struct Fault: Error, CustomStringConvertible { var description: String }

    private static let void: Set<String> = ["meta", "link", "input", "br", "img"]

    /// - Returns: the elements with the names of their attributes, in order.
    @discardableResult
    static func check(_ html: String) throws -> [String] {
        var reader = Reader(bytes: Array(html.utf8))
        var open: [String] = []
        var found: [String] = []
        while let tag = try reader.next() {
            if tag.isEnd {
                guard open.popLast() == tag.name else {
                    throw Fault(description: "</\(tag.name)> closes \(open.last ?? "")")
                }
            } else {
                found.append(([tag.name] + tag.attributes).joined(separator: " "))
                if !tag.isClosed, !void.contains(tag.name) { open.append(tag.name) }
            }
        }
        guard open.isEmpty else { throw Fault(description: "open: \(open)") }
        return found
    }

    private struct Tag {
        var name: String
        var attributes: [String] = []
        var isEnd = false
        var isClosed = false
    }

    private struct Reader {
        let bytes: [UInt8]
        var at = 0

        init(bytes: [UInt8]) { self.bytes = bytes }

        private func byte(_ offset: Int = 0) -> UInt8? { at + offset < bytes.count ? bytes[at + offset] : nil }

        private mutating func name() -> String {
            let start = at
            while let byte = byte(), byte != 0x20, !Array("=/>\n".utf8).contains(byte) { at += 1 }
            return String(decoding: bytes[start..<at], as: UTF8.self)
        }

        mutating func next() throws -> Tag? {
            while let byte = byte(), byte != UInt8(ascii: "<") {
                if byte == UInt8(ascii: ">") { throw Fault(description: "a > in text") }
                if byte < 0x20, byte != 0x0A, byte != 0x09 { throw Fault(description: "a control character") }
                at += 1
            }
            guard byte() != nil else { return nil }
            at += 1
            if byte() == UInt8(ascii: "!") {
                while byte() != UInt8(ascii: ">") { at += 1 }
                at += 1
                return try next()
            }
            var tag = Tag(name: "")
            if byte() == UInt8(ascii: "/") {
                tag.isEnd = true
                at += 1
            }
            tag.name = name()
            guard tag.name.utf8.first.map({ (0x61...0x7A).contains($0) }) == true else {
                throw Fault(description: "a tag without a name")
            }
            while true {
                while byte() == 0x20 || byte() == 0x0A { at += 1 }
                switch byte() {
                case nil: throw Fault(description: "an open tag")
                case UInt8(ascii: ">"):
                    at += 1
                    return tag
                case UInt8(ascii: "/"):
                    tag.isClosed = true
                    at += 1
                default: try attribute(of: &tag)
                }
            }
        }

        private mutating func attribute(of tag: inout Tag) throws {
            let attribute = name()
            tag.attributes.append(attribute)
            guard byte() == UInt8(ascii: "=") else { return }
            at += 1
            guard byte() == UInt8(ascii: "\"") else { throw Fault(description: "\(attribute) is not quoted") }
            at += 1
            while let byte = byte(), byte != UInt8(ascii: "\"") {
                if byte == UInt8(ascii: "<") { throw Fault(description: "a < in \(attribute)") }
                at += 1
            }
            at += 1
            guard [0x20, 0x0A, UInt8(ascii: ">"), UInt8(ascii: "/")].contains(byte() ?? 0) else {
                throw Fault(description: "text behind \(attribute)")
            }
        }
    }
}
