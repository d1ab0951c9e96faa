import Model

/// A small generator with a printable seed, so that a failure can be run again.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        // SplitMix64.
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// Makes wrong requests out of right ones.
struct Mutator {
    /// Ids that exist, in this tenant and in another: the interesting values.
    var known: [String]
    var random: SeededGenerator

    /// A request body. Even calls keep the types right and change values; odd ones break structure or bytes.
    mutating func body(from template: JSON, isTypeCorrect: Bool) -> [UInt8] {
        if isTypeCorrect { return JSONWriter.bytes(value(template, probability: 0.1)) }
        var bytes = JSONWriter.bytes(structure(template))
        switch Int.random(in: 0..<6, using: &random) {
        case 0 where !bytes.isEmpty: bytes = Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &random)))
        case 1 where !bytes.isEmpty:
            for _ in 0..<4 {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
        case 2:
            bytes = (0..<Int.random(in: 0..<200, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        default: break
        }
        return bytes
    }

    private mutating func value(_ json: JSON, probability: Double) -> JSON {
        switch json {
        case .object(let object):
            return .object(
                JSONObject(object.pairs.map { pair in (pair.key, value(pair.value, probability: probability)) })
            )
        case .array(let array):
            var out = array.map { element in value(element, probability: probability) }
            if Double.random(in: 0...1, using: &random) < 0.05 { out += out }
            return .array(out)
        case .string(let text): return chance(probability) ? .string(boundaryText(text)) : json
        case .number: return chance(probability) ? boundaryNumber() : json
        case .bool, .null: return json
        }
    }

    private mutating func structure(_ json: JSON) -> JSON {
        guard case .object(let object) = json else { return chance(0.3) ? anything(depth: 0) : json }
        var out = JSONObject()
        for (key, value) in object.pairs {
            switch Int.random(in: 0..<8, using: &random) {
            case 0: continue
            case 1: out[key] = anything(depth: 0)
            case 2: out[key + "x"] = value
            case 3: out[key] = structure(value)
            default: out[key] = value
            }
        }
        return .object(out)
    }

    private mutating func anything(depth: Int) -> JSON {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: .null
        case 1: .bool(Bool.random(using: &random))
        case 2: boundaryNumber()
        case 3: .array(depth > 3 ? [] : (0..<3).map { _ in anything(depth: depth + 1) })
        case 4: .object(depth > 3 ? JSONObject() : JSONObject([("a", anything(depth: depth + 1))]))
        default: .string(boundaryText("x"))
        }
    }

    private mutating func boundaryText(_ text: String) -> String {
        let choices = [
            "", " ", "0", "-1", "null", "\u{0}", "'; DROP TABLE gateway.device; --", "%00%0a", "홍길동🙂\u{202E}", "{}",
            String(repeating: "a", count: 129), String(repeating: "가", count: 3000), "2026/13/45 99:99:99",
            "2099/1/1 0:0:0",
            "99999999999999999999", "1e309", "+821012345678", "00000000-0000-0000-0000-000000000000", text + text,
            text.uppercased(),
        ]
        return chance(0.4) ? known.randomElement(using: &random) ?? "" : choices.randomElement(using: &random) ?? ""
    }

    private mutating func boundaryNumber() -> JSON {
        let choices = [
            "0", "-1", "1", "2", "3", "301", "999999999999", "9223372036854775807", "-9223372036854775808",
            "18446744073709551616", "1.5", "1e400", "-0",
        ]
        return .number(choices.randomElement(using: &random) ?? "0")
    }

    private mutating func chance(_ probability: Double) -> Bool {
        Double.random(in: 0..<1, using: &random) < probability
    }
}
