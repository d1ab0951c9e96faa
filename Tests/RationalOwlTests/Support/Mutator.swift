import Model

/// A generator whose whole run follows from its seed (SplitMix64, Steele et al. 2014).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// Turns a documented body into one that a broken or hostile client could send.
struct Mutator {
    var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// Still a JSON object, with one or two values replaced, removed or added: it reaches the rules behind the parser.
    mutating func typeCorrect(_ object: JSONObject) -> [UInt8] {
        var object = object
        for _ in 0..<(Int.random(in: 0..<4, using: &random) == 0 ? 2 : 1) { object = changed(object) }
        return JSONWriter.bytes(.object(object))
    }

    /// Anything: bytes flipped, cut, repeated or strewn in.
    mutating func raw(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...2, using: &random) where !bytes.isEmpty {
            let index = Int.random(in: bytes.indices, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.remove(at: index)
            case 2: bytes.insert(Array("{}[]\",:\\0e-\u{0}".utf8).randomElement(using: &random) ?? 0, at: index)
            case 3: bytes.removeLast(bytes.count - index)
            default: bytes.insert(contentsOf: bytes[index...].prefix(16), at: index)
            }
        }
        return bytes
    }

    private mutating func changed(_ object: JSONObject) -> JSONObject {
        var object = object
        guard let key = object.keys.randomElement(using: &random), let value = object[key] else { return object }
        switch Int.random(in: 0..<8, using: &random) {
        case 0: object[key] = nil
        case 1: object["extra"] = value
        default: object[key] = changed(value)
        }
        return object
    }

    private mutating func changed(_ value: JSON) -> JSON {
        switch value {
        case .object(let inner) where Int.random(in: 0..<4, using: &random) > 0: .object(changed(inner))
        case .array(let list) where Int.random(in: 0..<4, using: &random) > 0: .array(changed(list))
        case .number: [.number(number()), .string(number())].randomElement(using: &random) ?? .null
        case .string(let text) where Int.random(in: 0..<3, using: &random) > 0: .string(sibling(of: text))
        case .string, .null, .bool, .array, .object: .string(text())
        }
    }

    private mutating func changed(_ list: [JSON]) -> [JSON] {
        guard let element = list.randomElement(using: &random) else { return list }
        return switch Int.random(in: 0..<3, using: &random) {
        case 0: list + list
        case 1: [changed(element)] + list
        default: list.map { changed($0) }
        }
    }

    /// Another value of the same form, as another tenant's id or another person's phone would be.
    private mutating func sibling(of text: String) -> String {
        text.dropLast() + String(Int.random(in: 0...9, using: &random))
    }

    private mutating func number() -> String {
        [
            "0", "1", "2", "3", "7", "11", "12", "-1", "303", "9223372036854775807", "9223372036854775808", "-0", "1.5",
            "1e3",
            "1e999",
        ].randomElement(using: &random) ?? "0"
    }

    /// Boundary values, another tenant's ids, and text that stores and parsers trip over.
    private mutating func text() -> String {
        let limit = RationalOwlTexts.all.randomElement(using: &random) ?? ""
        return Bool.random(using: &random)
            ? limit : String(repeating: "가", count: Int.random(in: 0...200, using: &random))
    }
}

/// Texts for mutations.
enum RationalOwlTexts {
    static let all = [
        "", " ", "0", "1", "2", "null", "\u{0}", "a\u{0}b", "\u{FEFF}", "'; DROP TABLE device; --", "%s%n", "\\", "\"",
        "\u{202E}",
        "ffffffff-1111-4222-8333-444455556666", "SVRffffffff-2222-4333-8444-555555555555",
        "ffffffffffffffffffffffffffffffff", "01099999999", "+82 10-9999-9999", "2026/12/25 13:30:0", "1/1/1 0:0:0",
        "9999/99/99 99:99:99", "https://127.0.0.1/", "https://[::1]/", "javascript:alert(1)", "aGVsbG8=", "{}", "[",
        "[[]]",
        "{\"t\":1}", String(repeating: "x", count: 127), String(repeating: "x", count: 128),
        String(repeating: "x", count: 129),
        String(repeating: "x", count: 3000), "👨‍👩‍👧‍👦",
    ]
}
