import PageParts

/// The variables of a text, `#{name}`. The console replaces them before it sends.
enum Variables {
    /// 20 variables: each is a field of the form.
    static let limit = 20
    /// 64 characters of a name.
    static let nameLimit = 64

    /// The names in the order of their first use, at most `limit`.
    static func names(in texts: String...) -> [String] {
        var names: [String] = []
        for text in texts {
            for part in parts(of: text) {
                if case .variable(let name) = part, !names.contains(name), names.count < limit { names.append(name) }
            }
        }
        return names
    }

    /// The text with the values of its variables; a variable without a value stays as it is.
    static func fill(_ text: String, _ values: [String: String]) -> String {
        var out = ""
        for part in parts(of: text) {
            switch part {
            case .text(let text): out += text
            case .variable(let name): out += values[name] ?? "#{\(name)}"
            }
        }
        return out
    }

    private enum Part {
        case text(String)
        case variable(String)
    }

    private static func parts(of text: String) -> [Part] {
        var parts: [Part] = []
        var rest = text[...]
        var plain = ""
        while let hash = rest.firstIndex(of: "#") {
            let open = rest.index(after: hash)
            guard open < rest.endIndex, rest[open] == "{",
                let close = rest[open...].prefix(nameLimit + 2).firstIndex(of: "}"),
                let name = name(rest[rest.index(after: open)..<close])
            else {
                plain += rest[...hash]
                rest = rest[open...]
                continue
            }
            plain += rest[..<hash]
            if !plain.isEmpty { parts.append(.text(plain)) }
            plain = ""
            parts.append(.variable(name))
            rest = rest[rest.index(after: close)...]
        }
        plain += rest
        if !plain.isEmpty { parts.append(.text(plain)) }
        return parts
    }

    /// Letters, digits, `_`, `-` and `.`.
    private static func name(_ text: Substring) -> String? {
        guard !text.isEmpty,
            text.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" || $0 == "." })
        else { return nil }
        return String(text)
    }
}
