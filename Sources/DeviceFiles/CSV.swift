/// Reads and writes one record of comma-separated values, RFC 4180.
package enum CSV {
    /// An error in a record.
    package struct Fault: Error, Equatable {
        package var what: String

        package init(what: String) { self.what = what }
    }

    /// The fields of a record, without their quotes. `separator`: the byte between two fields, in ASCII.
    ///
    /// - Throws: `Fault` for an unterminated quote, for text after a closing quote, and for invalid UTF-8.
    package static func fields(
        _ record: [UInt8],
        separator: UInt8 = UInt8(ascii: ",")
    ) throws(Fault) -> [String] {
        var fields: [String] = []
        var index = 0
        while true {
            fields.append(try field(record, &index, separator))
            guard index < record.count else { return fields }
            guard record[index] == separator else { throw Fault(what: "has text after a closing quote") }
            index += 1
        }
    }

    private static let quote = UInt8(ascii: "\"")

    /// Reads the field that begins at `index` and advances `index` to its end. It compares bytes: in UTF-8, quotes and commas are never part of another
    /// character.
    private static func field(
        _ record: [UInt8],
        _ index: inout Int,
        _ separator: UInt8
    ) throws(Fault) -> String {
        guard index < record.count, record[index] == quote else {
            let start = index
            while index < record.count, record[index] != separator { index += 1 }
            return try text(record[start..<index])
        }
        index += 1
        var field: [UInt8] = []
        while index < record.count {
            let byte = record[index]
            index += 1
            if byte != quote {
                field.append(byte)
            } else if index < record.count, record[index] == quote {
                index += 1
                field.append(quote)
            } else {
                return try text(field[...])
            }
        }
        throw Fault(what: "has a quote that is not closed")
    }

    private static func text(_ bytes: ArraySlice<UInt8>) throws(Fault) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Fault(what: "is not UTF-8") }
        return text
    }

    /// Formats fields as a record without a line end.
    package static func record(_ fields: [String]) -> String { fields.map(quoted).joined(separator: ",") }

    /// The first characters that make a spreadsheet run a cell as a formula.
    private static let formula: Set<UInt8> = Set("=+-@\t\r\n".utf8)
    private static let apostrophe = UInt8(ascii: "'")

    /// A cell that a spreadsheet shows as text: one that it would run as a formula gets an apostrophe. So does one that begins with apostrophes followed by
    /// such a character; therefore `original` restores every text.
    package static func neutral(_ cell: String) -> String { isFormula(cell) ? "'" + cell : cell }

    /// The text of which `neutral` made the cell.
    package static func original(_ cell: String) -> String {
        cell.utf8.first == apostrophe && isFormula(cell) ? String(cell.dropFirst()) : cell
    }

    /// Whether the first byte after any apostrophes begins a formula. Bytes, because a line break and its predecessor are one character.
    private static func isFormula(_ cell: String) -> Bool {
        cell.utf8.first { $0 != apostrophe }.map { formula.contains($0) } ?? false
    }

    private static func quoted(_ field: String) -> String {
        let needsQuotes = field.unicodeScalars.contains { $0 == "," || $0 == "\"" || $0 == "\n" || $0 == "\r" }
        guard needsQuotes else { return field }
        return "\"" + field.replacing("\"", with: "\"\"") + "\""
    }
}
