/// One record of comma-separated values, RFC 4180.
enum CSV {
    /// What is wrong with a record.
    struct Fault: Error, Equatable {
        var what: String
    }

    /// The fields of a record, quotes taken off.
    ///
    /// - Throws: `Fault` for a quote that is not closed, text behind a closing one, and what is not UTF-8.
    static func fields(_ record: [UInt8]) throws(Fault) -> [String] {
        guard let text = String(validating: record, as: UTF8.self) else { throw Fault(what: "is not UTF-8") }
        var fields: [String] = []
        var rest = text.unicodeScalars[...]
        while true {
            fields.append(try field(&rest))
            guard let separator = rest.popFirst() else { return fields }
            guard separator == "," else { throw Fault(what: "has text behind a closing quote") }
        }
    }

    private static func field(_ rest: inout Substring.UnicodeScalarView) throws(Fault) -> String {
        guard rest.first == "\"" else {
            let field = rest.prefix { $0 != "," }
            rest = rest[field.endIndex...]
            return String(field)
        }
        rest.removeFirst()
        var field = ""
        while let scalar = rest.popFirst() {
            if scalar != "\"" {
                field.unicodeScalars.append(scalar)
            } else if rest.first == "\"" {
                rest.removeFirst()
                field += "\""
            } else {
                return field
            }
        }
        throw Fault(what: "has a quote that is not closed")
    }

    /// The record of these fields, without a line end.
    static func record(_ fields: [String]) -> String { fields.map(quoted).joined(separator: ",") }

    private static func quoted(_ field: String) -> String {
        let needsQuotes = field.unicodeScalars.contains { $0 == "," || $0 == "\"" || $0 == "\n" || $0 == "\r" }
        guard needsQuotes else { return field }
        return "\"" + field.replacing("\"", with: "\"\"") + "\""
    }
}
