import Model

/// Masks one value: the result is its kind and length, or the value itself when its shape is that of a flag, a code or a time.
///
/// A value is hidden unless it is known to be harmless, because a customer's traffic contains unforeseen data. Equal values get no common mark: otherwise
/// somebody who guesses a phone number could verify the guess.
struct ValueMask: Sendable {
    var keepsTexts: Bool
    /// The vendors' own field names.
    let names: [String: KeyClass]

    /// Four levels of JSON inside JSON text; deeper JSON is treated as text.
    static let nestingLimit = 4
    /// Hexadecimal texts of 16 or more digits are ids or tokens.
    private static let hexLimit = 16
    /// Up to five digits are a code or a count; six may be a verification code from a text message.
    private static let shownDigits = 5

    func kind(of name: String, in parent: KeyClass = .plain) -> KeyClass { KeyClass(name, names, in: parent) }

    func text(_ value: String, _ kind: KeyClass, depth: Int = 0) -> String {
        let scalars = Array(value.unicodeScalars)
        guard !scalars.isEmpty else { return "" }
        let count = scalars.count
        switch kind {
        case .secret: return Shape.isHex(scalars) && count >= Self.hexLimit ? "<hex \(count)>" : "<secret \(count)>"
        case .phone: return Self.phone(scalars)
        case .text, .personal, .plain: break
        }
        if depth < Self.nestingLimit, let nested = nested(scalars, value, kind, depth) { return nested }
        switch kind {
        case .text: return keepsTexts ? TextScrub.scrub(scalars) : Self.named(scalars) ?? "<text \(count)>"
        case .personal: return Self.named(scalars) ?? "<text \(count)>"
        case .plain, .secret, .phone: return Shape.isHarmless(scalars, value) ? value : Self.plain(scalars)
        }
    }

    /// Masks JSON inside a text; the result is a text again.
    private func nested(_ scalars: [Unicode.Scalar], _ value: String, _ kind: KeyClass, _ depth: Int) -> String? {
        guard scalars.first == "{" || scalars.first == "[", let json = try? JSONParser.parse(value) else { return nil }
        return JSONWriter.text(self.json(json, kind, depth: depth + 1))
    }

    func json(_ value: JSON, _ kind: KeyClass = .plain, depth: Int = 0) -> JSON {
        switch value {
        case .null, .bool: return value
        case .number(let text): return number(text, kind)
        case .string(let text): return .string(self.text(text, kind, depth: depth))
        case .array(let elements): return .array(elements.map { json($0, kind, depth: depth) })
        case .object(let object):
            let pairs = object.pairs.enumerated().map { index, pair in
                (
                    Shape.isName(Array(pair.key.unicodeScalars))
                        ? pair.key : "<key \(pair.key.unicodeScalars.count) #\(index)>",
                    json(pair.value, self.kind(of: pair.key, in: kind), depth: depth)
                )
            }
            return .object(JSONObject(pairs))
        }
    }

    private func number(_ text: String, _ kind: KeyClass) -> JSON {
        let digits = text.unicodeScalars.count { Shape.isDigit($0) }
        let isHidden = kind != .plain && kind != .text || digits > Self.shownDigits
        return isHidden ? .string("<number \(digits)>") : .number(text)
    }

    /// Keeps the last two digits of a phone number, enough to distinguish test phones.
    private static func phone(_ scalars: [Unicode.Scalar]) -> String {
        let digits = scalars.filter(Shape.isDigit)
        guard digits.count >= 8 else { return "<phone \(scalars.count)>" }
        return "<phone \(digits.count) …\(String(String.UnicodeScalarView(digits.suffix(2))))>"
    }

    /// A mask with a more specific kind than "text".
    private static func named(_ scalars: [Unicode.Scalar]) -> String? {
        let count = scalars.count
        if Shape.isUUID(scalars) { return "<uuid>" }
        if Shape.isHex(scalars), count >= hexLimit { return "<hex \(count)>" }
        if Shape.isEmail(scalars) { return "<email \(count)>" }
        return nil
    }

    private static func plain(_ scalars: [Unicode.Scalar]) -> String {
        let count = scalars.count
        if let named = named(scalars) { return named }
        if Shape.isPhone(scalars) { return phone(scalars) }
        if scalars.allSatisfy(Shape.isDigit) { return "<digits \(count)>" }
        if String(String.UnicodeScalarView(scalars.prefix(8))).lowercased().hasPrefix("http") {
            return "<url \(count)>"
        }
        return Shape.isBase64(scalars) ? "<base64 \(count)>" : "<text \(count)>"
    }
}

/// Masks the parts of a shown text that look like an address, a number or a token.
enum TextScrub {
    static func scrub(_ scalars: [Unicode.Scalar]) -> String {
        var out = String.UnicodeScalarView()
        for piece in numbers(words(scalars)) { out.append(contentsOf: piece) }
        // Removes control characters, which could control the terminal that shows the text.
        return String(String.UnicodeScalarView(out.map { isControl($0) ? "\u{FFFD}" : $0 }))
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 && scalar.value != 0x0A && scalar.value != 0x09 || (0x7F...0x9F).contains(scalar.value)
    }

    private static let separators = Set<Unicode.Scalar>(" \t\r\n\"'<>,;(){}[]&=?/|".unicodeScalars)

    private static func words(_ scalars: [Unicode.Scalar]) -> [Unicode.Scalar] {
        var out: [Unicode.Scalar] = []
        var word: [Unicode.Scalar] = []
        func end() {
            let isToken =
                Shape.isUUID(word) || Shape.isEmail(word) || Shape.holdsToken(word)
                || word.count >= 16 && Shape.isHex(word)
                || word.count >= 20 && Shape.isBase64(word) && word.contains(where: Shape.isDigit)
            out += isToken ? Array("<masked \(word.count)>".unicodeScalars) : word
            word.removeAll(keepingCapacity: true)
        }
        for scalar in scalars {
            if separators.contains(scalar) {
                end()
                out.append(scalar)
            } else {
                word.append(scalar)
            }
        }
        end()
        return out
    }

    /// Runs of at least seven digits, with spaces and hyphens between them.
    private static func numbers(_ scalars: [Unicode.Scalar]) -> [[Unicode.Scalar]] {
        var pieces: [[Unicode.Scalar]] = []
        var run: [Unicode.Scalar] = []
        func end() {
            guard !run.isEmpty else { return }
            let digits = run.count(where: Shape.isDigit)
            pieces.append(digits >= 7 ? Array("<digits \(digits)>".unicodeScalars) : run)
            // The piece keeps its memory: the next run must not take as much as the longest one before it.
            run = []
        }
        for scalar in scalars {
            if Shape.isDigit(scalar) || !run.isEmpty && "-. ".unicodeScalars.contains(scalar) {
                run.append(scalar)
            } else {
                end()
                pieces.append([scalar])
            }
        }
        end()
        return pieces
    }
}
