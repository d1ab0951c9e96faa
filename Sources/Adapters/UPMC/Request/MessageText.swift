import Model

/// `MESSAGE`: plain text, or JSON with `title` and `body`, possibly with raw line ends, possibly encoded twice (docs/contracts/upmc.md#1.9.1).
struct MessageText: Equatable {
    var title: String?
    var body: String
    /// The text as received, if it was JSON.
    var source: String?

    init(_ text: String, decodesTwice: Bool) {
        let text = decodesTwice ? PercentCoding.decodeAgain(text) ?? text : text
        guard text.first(where: { !$0.isWhitespace }) == "{", let object = Self.object(text) else {
            self.init(title: nil, body: text, source: nil)
            return
        }
        let title = object["title"]?.lenientString
        let body = object["body"]?.lenientString
        guard title != nil || body != nil else {
            self.init(title: nil, body: text, source: nil)
            return
        }
        self.init(title: title.flatMap { $0.isEmpty ? nil : $0 }, body: body ?? "", source: text)
    }

    private init(title: String?, body: String, source: String?) {
        self.title = title
        self.body = body
        self.source = source
    }

    private static func object(_ text: String) -> JSONObject? {
        if let object = (try? JSONParser.parse(text))?.object { return object }
        return (try? JSONParser.parse(repaired(Array(text.utf8))))?.object
    }

    /// Replaces control characters inside strings by their escapes.
    private static func repaired(_ bytes: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        var isInside = false
        var isEscaped = false
        for byte in bytes {
            if isInside, byte < 0x20 {
                switch byte {
                case 0x0A: out += Array("\\n".utf8)
                case 0x0D: out += Array("\\r".utf8)
                case 0x09: out += Array("\\t".utf8)
                default: out.append(0x20)  // other control characters display nothing
                }
                isEscaped = false
                continue
            }
            if byte == UInt8(ascii: "\""), !isEscaped { isInside.toggle() }
            isEscaped = isInside && byte == UInt8(ascii: "\\") && !isEscaped
            out.append(byte)
        }
        return out
    }
}
