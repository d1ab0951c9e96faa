import Model

/// One text of a template: a literal, or an expression that is the whole text (docs/contracts/notificationhubs.md#8). Pure, bounded, and without
/// recursion, because expressions do not nest.
///
/// Assumed: a text that begins with `$`, `.`, `%` or `#` is an expression only if a parenthesis follows: `$5 off` and `...` are literals.
struct TemplateExpression: Hashable {
    /// The source of one value.
    enum Part: Hashable {
        case literal(String)
        /// `$(name)`, `$(name, n)`, `$(name:{default})`.
        case text(name: String, limit: Int?, otherwise: String?)
        /// `.(name, n)`.
        case shortened(name: String, limit: Int)
        /// `%(name)`.
        case escaped(name: String)
    }

    enum Form: Hashable {
        /// The concatenated values of its parts.
        case joined([Part])
        /// `#(name)`.
        case number(name: String)
    }

    let form: Form

    /// - Throws: `TemplateFault`.
    init(_ text: String) throws(TemplateFault) {
        guard text.utf8.count <= HubsLimits.expressionBytes else { throw .tooLong }
        guard !text.hasPrefix("$body") else { throw .reserved }
        guard Self.isExpression(text) else {
            form = .joined([.literal(text)])
            return
        }
        var reader = Reader(text)
        if text.hasPrefix("#") {
            form = .number(name: try reader.number())
        } else if text.hasPrefix("{") {
            form = .joined(try reader.composite())
        } else {
            form = .joined([try reader.part(isWhole: true)])
        }
        guard reader.isAtEnd else { throw .parenthesis }
    }

    private static func isExpression(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first else { return false }
        return first == "{" || "$.%#".unicodeScalars.contains(first) && text.unicodeScalars.dropFirst().first == "("
    }

    /// The value of the expression with `values`.
    ///
    /// - Throws: `TemplateFault` for a `#(name)` whose value is not a number.
    func evaluated(with values: TemplateValues) throws(TemplateFault) -> JSON {
        switch form {
        case .number(let name):
            // Assumed: a missing number is also an error, and its push is skipped.
            guard let text = values[name], case .number(let number)? = try? JSONParser.parse(text) else {
                throw .number
            }
            return .number(number)
        case .joined(let parts):
            var text = ""
            for part in parts { text += Self.text(part, values) }
            return .string(text)
        }
    }

    private static func text(_ part: Part, _ values: TemplateValues) -> String {
        switch part {
        case .literal(let text): return text
        case .text(let name, let limit, let otherwise):
            let value = values[name] ?? otherwise ?? ""
            return limit.map { String(value.prefix($0)) } ?? value
        case .shortened(let name, let limit):
            let value = values[name] ?? ""
            // The dots are included in the limit.
            guard value.count > limit else { return value }
            return String(value.prefix(max(0, limit - 3))) + String("...".prefix(limit))
        case .escaped(let name): return PercentCoding.encode(values[name] ?? "")
        }
    }
}

/// The reason why a template produces no push. Texts: docs/contracts/notificationhubs.md#8.
enum TemplateFault: Error, Hashable {
    case tooLong, parenthesis, name, cut, token, composition, number, date, tooMany, tooLarge
    /// `$body` has a special meaning for the vendor.
    case reserved
}

/// The values of a template: the send's values precede the installation's (docs/contracts/notificationhubs.md#8). Names are compared without case.
struct TemplateValues {
    private var values: [String: String] = [:]

    init(send: JSONObject, installation: JSONObject) {
        for object in [installation, send] {
            for (name, value) in object.pairs { values[name.lowercased()] = value.lenientString }
        }
    }

    subscript(name: String) -> String? { values[name.lowercased()] }
}

/// Parses one expression. The offset only grows.
private struct Reader {
    private let text: [Unicode.Scalar]
    private var offset = 0

    init(_ text: String) { self.text = Array(text.unicodeScalars) }

    var isAtEnd: Bool { offset == text.count }

    private var next: Unicode.Scalar? { offset < text.count ? text[offset] : nil }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar else { return false }
        offset += 1
        return true
    }

    private mutating func skipSpace() {
        while let scalar = next, " \t\r\n".unicodeScalars.contains(scalar) { offset += 1 }
    }

    mutating func number() throws(TemplateFault) -> String {
        offset += 1
        guard take("(") else { throw .token }
        let name = try name()
        guard take(")") else { throw .parenthesis }
        return name
    }

    /// `{ part + part }`.
    mutating func composite() throws(TemplateFault) -> [TemplateExpression.Part] {
        offset += 1
        var parts: [TemplateExpression.Part] = []
        while true {
            guard parts.count < HubsLimits.expressionParts else { throw .tooMany }
            skipSpace()
            parts.append(try part(isWhole: false))
            skipSpace()
            if take("}") { return parts }
            guard take("+") else { throw isAtEnd ? .parenthesis : .composition }
        }
    }

    /// `isWhole`: the part is the whole expression, so a literal in quotes is not allowed.
    mutating func part(isWhole: Bool) throws(TemplateFault) -> TemplateExpression.Part {
        guard let kind = next else { throw .token }
        offset += 1
        if !isWhole, kind == "'" || kind == "\"" { return .literal(try quoted(kind)) }
        guard ["$", ".", "%"].contains(kind), take("(") else { throw .token }
        let name = try name()
        let limit = take(",") ? try limit() : nil
        var otherwise: String?
        if kind == "$", take(":") { otherwise = try fallback() }
        guard take(")") else { throw .parenthesis }
        switch (kind, limit) {
        case ("$", _): return .text(name: name, limit: limit, otherwise: otherwise)
        case (".", let limit?): return .shortened(name: name, limit: limit)
        case ("%", nil): return .escaped(name: name)
        default: throw .cut  // `.(name)` and `%(name, n)`
        }
    }

    private mutating func name() throws(TemplateFault) -> String {
        var name = String.UnicodeScalarView()
        while let scalar = next, scalar.isASCII, scalar == "_" || scalar.properties.isAlphabetic || isDigit(scalar) {
            name.append(scalar)
            offset += 1
        }
        guard (1...HubsLimits.propertyCharacters).contains(name.count) else { throw .name }
        return String(name)
    }

    private mutating func limit() throws(TemplateFault) -> Int {
        skipSpace()
        var number = 0
        let start = offset
        while let scalar = next, isDigit(scalar), offset - start < 6 {
            number = number * 10 + Int(scalar.value - 48)
            offset += 1
        }
        guard offset > start else { throw .cut }
        skipSpace()
        return number
    }

    private func isDigit(_ scalar: Unicode.Scalar) -> Bool { (48...57).contains(scalar.value) }

    /// `{…}`, in which `\}` is a brace.
    private mutating func fallback() throws(TemplateFault) -> String {
        guard take("{") else { throw .token }
        var text = String.UnicodeScalarView()
        while let scalar = next {
            offset += 1
            if scalar == "}" { return String(text) }
            if scalar == "\\", take("}") { text.append("}") } else { text.append(scalar) }
        }
        throw .parenthesis
    }

    /// A literal in quotes; a doubled quote is a quote character.
    private mutating func quoted(_ quote: Unicode.Scalar) throws(TemplateFault) -> String {
        var text = String.UnicodeScalarView()
        while let scalar = next {
            offset += 1
            if scalar == quote, !take(quote) { return String(text) }
            text.append(scalar)
        }
        throw .parenthesis
    }
}
