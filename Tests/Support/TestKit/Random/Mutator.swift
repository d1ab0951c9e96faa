package import Model

/// Turns a documented body into one that a broken or hostile client could send.
package struct Mutator: Sendable {
    package var random: SplitMix
    /// Texts of interest in addition to the boundary values: ids that exist, in this tenant and in another.
    private let known: [String]

    package init(seed: UInt64, known: [String] = []) {
        random = SplitMix(state: seed)
        self.known = known
    }

    /// One invalid body: with correct types if `index` is even, otherwise arbitrary.
    package mutating func body(_ index: Int, from document: JSON) -> [UInt8] {
        if index.isMultiple(of: 2) { return typeCorrect(document) }
        return index % 4 == 1 ? raw(JSONWriter.bytes(document)) : JSONWriter.bytes(restructured(document, depth: 0))
    }

    /// The document with one or two values replaced, removed or added, so that it reaches the rules behind the
    /// parser.
    package mutating func typeCorrect(_ document: JSON) -> [UInt8] {
        guard case .object(var object) = document else { return JSONWriter.bytes(changed(document)) }
        for _ in 0..<(chance(0.25) ? 2 : 1) { object = changed(object) }
        return JSONWriter.bytes(.object(object))
    }

    /// Arbitrary changes: bytes that are flipped, cut, repeated or inserted.
    package mutating func raw(_ bytes: [UInt8]) -> [UInt8] {
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

    // MARK: Values

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
        case .object(let inner) where chance(0.75): .object(changed(inner))
        case .array(let list) where chance(0.75): .array(changed(list))
        case .number: chance(0.5) ? .number(number()) : .string(number())
        case .string(let text) where chance(0.75): .string(sibling(of: text))
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

    /// Another value of the same form, like the id of another tenant or the phone of another person.
    private mutating func sibling(of text: String) -> String {
        if chance(0.3), let other = known.randomElement(using: &random) { return other }
        return text.dropLast() + String(Int.random(in: 0...9, using: &random))
    }

    private mutating func number() -> String { Self.numbers.randomElement(using: &random) ?? "0" }

    private mutating func text() -> String {
        chance(0.5)
            ? Self.texts.randomElement(using: &random) ?? ""
            : String(repeating: "가", count: Int.random(in: 0...200, using: &random))
    }

    // MARK: Structure

    private mutating func restructured(_ json: JSON, depth: Int) -> JSON {
        guard case .object(let object) = json else { return chance(0.3) ? anything(depth: depth) : json }
        var out = JSONObject()
        for (key, value) in object.pairs {
            switch Int.random(in: 0..<8, using: &random) {
            case 0: continue
            case 1: out[key] = anything(depth: depth)
            case 2: out[key + "x"] = value
            case 3: out[key] = restructured(value, depth: depth + 1)
            default: out[key] = value
            }
        }
        return .object(out)
    }

    private mutating func anything(depth: Int) -> JSON {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: .null
        case 1: .bool(chance(0.5))
        case 2: .number(number())
        case 3: .array(depth > 3 ? [] : (0..<3).map { _ in anything(depth: depth + 1) })
        case 4: .object(depth > 3 ? JSONObject() : JSONObject([("a", anything(depth: depth + 1))]))
        default: .string(text())
        }
    }

    private mutating func chance(_ probability: Double) -> Bool {
        Double.random(in: 0..<1, using: &random) < probability
    }

    private static let numbers = [
        "0", "1", "2", "3", "7", "11", "12", "-1", "301", "303", "999999999999", "9223372036854775807",
        "-9223372036854775808", "9223372036854775808", "18446744073709551616", "-0", "1.5", "1e3", "1e400", "1e999",
    ]

    /// Texts that often break stores, parsers and displays.
    private static let texts =
        [
            "", " ", "0", "1", "2", "-1", "null", "\u{0}", "a\u{0}b", "\u{FEFF}", "'; DROP TABLE gateway.device; --",
            "%s%n",
            "%00%0a", "\\", "\"", "홍길동🙂\u{202E}", "👨‍👩‍👧‍👦", "{}", "[", "[[]]", "{\"t\":1}", "1e309", "99999999999999999999",
            "ffffffff-1111-4222-8333-444455556666", "00000000-0000-0000-0000-000000000000",
            "SVRffffffff-2222-4333-8444-555555555555", "ffffffffffffffffffffffffffffffff", "01099999999",
            "+82 10-9999-9999", "2026/12/25 13:30:0", "1/1/1 0:0:0", "2026/13/45 99:99:99", "9999/99/99 99:99:99",
            "https://127.0.0.1/", "https://[::1]/", "javascript:alert(1)", "aGVsbG8=",
        ] + [127, 128, 129, 3000].map { String(repeating: "x", count: $0) }
}
