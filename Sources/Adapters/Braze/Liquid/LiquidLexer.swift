/// Splits the inside of expressions into tokens. The offset only grows, so each text is read once.
struct LiquidLexer {
    enum Token: Hashable {
        /// A plain word.
        case word(String)
        /// `${name}`.
        case name(String)
        /// A text in single or double quotes, without escapes.
        case text(String)
        case number(String)
        /// One of `symbols`.
        case symbol(String)
    }

    /// Thrown if the text does not continue with a token: it ends, or contains another character.
    struct Stray: Error {}

    /// Longer symbols come before their prefixes.
    private static let symbols = [
        "{{", "}}", "%}", "==", "!=", "<>", "<=", ">=", "<", ">", "=", "|", ":", ".", "(", ")",
    ].map { (text: $0, bytes: Array($0.utf8)) }

    private let bytes: [UInt8]
    private(set) var offset = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    var isAtEnd: Bool { offset >= bytes.count }

    /// Whether the remaining bytes begin with `text`; if so, skips it.
    mutating func take(_ text: StaticString) -> Bool {
        let wanted = text.description.utf8
        guard bytes[offset...].starts(with: wanted) else { return false }
        offset += wanted.count
        return true
    }

    /// The literal up to the next expression or the end.
    mutating func literal() -> String {
        let start = offset
        while offset < bytes.count {
            if bytes[offset] == UInt8(ascii: "{"), offset + 1 < bytes.count,
                bytes[offset + 1] == UInt8(ascii: "{") || bytes[offset + 1] == UInt8(ascii: "%")
            {
                break
            }
            offset += 1
        }
        return text(start, offset)
    }

    /// The text of the expression at `start`, for an error message: up to its end, or shortened.
    func excerpt(from start: Int) -> String {
        let head = String(decoding: bytes[start...].prefix(LiquidLimits.excerptCharacters * 4), as: UTF8.self)
            .prefix(LiquidLimits.excerptCharacters)
        var end = head.firstRange(of: head.hasPrefix("{{") ? "}}" : "%}")?.upperBound ?? head.endIndex
        // `{{${name}}}`: the name ends with a brace too.
        if end < head.endIndex, head[end] == "}" { end = head.index(after: end) }
        return String(head[..<end])
    }

    mutating func next() throws(Stray) -> Token {
        while offset < bytes.count, Self.isSpace(bytes[offset]) { offset += 1 }
        guard offset < bytes.count else { throw Stray() }
        let byte = bytes[offset]
        if byte == UInt8(ascii: "$") { return .name(try name()) }
        if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") { return .text(try quoted(byte)) }
        if Self.isDigit(byte) || byte == UInt8(ascii: "-") { return .number(try number()) }
        if Self.isWord(byte) {
            let start = offset
            while offset < bytes.count, Self.isWord(bytes[offset]) { offset += 1 }
            guard offset - start <= LiquidLimits.nameBytes else { throw Stray() }
            return .word(text(start, offset))
        }
        guard let symbol = Self.symbols.first(where: { bytes[offset...].starts(with: $0.bytes) }) else { throw Stray() }
        offset += symbol.bytes.count
        return .symbol(symbol.text)
    }

    private mutating func name() throws(Stray) -> String {
        guard take("${") else { throw Stray() }
        let start = offset
        while offset < bytes.count, bytes[offset] != UInt8(ascii: "}") { offset += 1 }
        guard offset < bytes.count, (1...LiquidLimits.nameBytes).contains(offset - start) else { throw Stray() }
        offset += 1
        return text(start, offset - 1)
    }

    private mutating func quoted(_ quote: UInt8) throws(Stray) -> String {
        offset += 1
        let start = offset
        while offset < bytes.count, bytes[offset] != quote { offset += 1 }
        guard offset < bytes.count else { throw Stray() }
        offset += 1
        return text(start, offset - 1)
    }

    /// `12`, `-3`, `0.5`.
    private mutating func number() throws(Stray) -> String {
        let start = offset
        if bytes[offset] == UInt8(ascii: "-") { offset += 1 }
        let whole = digits()
        guard whole > 0 else { throw Stray() }
        if offset + 1 < bytes.count, bytes[offset] == UInt8(ascii: "."), Self.isDigit(bytes[offset + 1]) {
            offset += 1
            _ = digits()
        }
        guard offset - start <= LiquidLimits.numberBytes else { throw Stray() }
        return text(start, offset)
    }

    private mutating func digits() -> Int {
        let start = offset
        while offset < bytes.count, Self.isDigit(bytes[offset]) { offset += 1 }
        return offset - start
    }

    private func text(_ start: Int, _ end: Int) -> String { String(decoding: bytes[start..<end], as: UTF8.self) }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isWord(_ byte: UInt8) -> Bool {
        isDigit(byte) || byte == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
