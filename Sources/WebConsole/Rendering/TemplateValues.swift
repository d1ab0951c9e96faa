import Mustache
import PageParts

/// Text as HTML. The escaping is ours, because swift-mustache compares whole characters: it leaves a quotation mark with a combining accent
/// as it is, which ends an attribute.
enum Escaping {
    /// Escapes the five characters of markup, byte by byte, and shows control characters as pictures: HTML cannot contain them.
    static func text(_ text: String) -> String {
        guard text.utf8.contains(where: isSpecial) else { return text }
        var out = ""
        out.reserveCapacity(text.utf8.count + 16)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": out += "&amp;"
            case "<": out += "&lt;"
            case ">": out += "&gt;"
            case "\"": out += "&quot;"
            case "'": out += "&#39;"
            case "\n", "\t": out.unicodeScalars.append(scalar)
            // A carriage return in front of a line end adds nothing.
            case "\r": continue
            case "\u{0}"..."\u{1F}": out.unicodeScalars.append(Unicode.Scalar(0x2400 + scalar.value) ?? "\u{FFFD}")
            case "\u{7F}"..."\u{9F}": out += "\u{FFFD}"
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out
    }

    /// Whether a byte begins or may begin a character that `text` changes.
    private static func isSpecial(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<0x20, 0x7F, 0xC2, UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"),
            UInt8(ascii: "\""), UInt8(ascii: "'"):
            true
        default: false
        }
    }
}

/// Text or markup as a template gets it: already escaped, so that neither `{{name}}` nor `{{{name}}}` writes a raw text. The templates turn
/// the escaping of the library off.
struct WrittenValue: MustacheCustomRenderable {
    let renderText: String
    let isNull: Bool
}

/// The fields of a view. A template finds a name only here, never in the view around it, so that a wrong name cannot find another value.
struct WrittenFields: MustacheParent {
    let fields: [String: View]

    func child(named name: String) -> Any? {
        guard let view = fields[name] else { return WrittenValue(renderText: "", isNull: true) }
        return view.written
    }
}

extension View {
    /// The value that the library renders.
    var written: Any {
        switch self {
        case .text(let text): WrittenValue(renderText: Escaping.text(text), isNull: false)
        case .flag(let flag): flag
        case .list(let views): views.map(\.written)
        case .fields(let fields): WrittenFields(fields: fields)
        case .markup(let markup): WrittenValue(renderText: markup.html, isNull: false)
        case .none: WrittenValue(renderText: "", isNull: true)
        }
    }

    /// The text; none if it is missing or empty.
    static func optional(_ text: String?) -> View {
        guard let text, !text.isEmpty else { return .none }
        return .text(text)
    }

    /// The markup; none if it is missing.
    static func optional(_ markup: Markup?) -> View { markup.map { .markup($0) } ?? .none }

    /// A view of each value.
    static func each<Value>(_ values: some Sequence<Value>, _ view: (Value) -> View) -> View {
        .list(values.map(view))
    }
}

extension Markup {
    /// A text as it is written.
    init(text: String) { self.init(trusted: Escaping.text(text)) }

    /// Several pieces, one behind the other.
    init(_ pieces: [Markup]) { self.init(trusted: pieces.map(\.html).joined()) }
}
