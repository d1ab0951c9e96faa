/// Escapes text for an element or an attribute.
enum XMLText {
    /// The text without characters that XML 1.0 cannot represent.
    static func escape(_ text: String) -> String {
        var out = ""
        for scalar in printable(text).unicodeScalars {
            switch scalar {
            case "&": out += "&amp;"
            case "<": out += "&lt;"
            case ">": out += "&gt;"
            default: out.unicodeScalars.append(scalar)  // all other characters are unchanged
            }
        }
        return out
    }

    /// For an attribute in double quotes.
    static func attribute(_ text: String) -> String { escape(text).replacing("\"", with: "&quot;") }

    /// The unchanged text in a CDATA section.
    static func verbatim(_ text: String) -> String {
        "<![CDATA[\(printable(text).replacing("]]>", with: "]]]]><![CDATA[>"))]]>"
    }

    private static func printable(_ text: String) -> String {
        var out = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\t", "\n", "\r": out.unicodeScalars.append(scalar)
            case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": continue
            default: out.unicodeScalars.append(scalar)  // all other characters are unchanged
            }
        }
        return out
    }
}
