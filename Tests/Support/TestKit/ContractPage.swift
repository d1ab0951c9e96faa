import Foundation

/// A page of docs/contracts. Tests take the documented calls and parameters from it, so that none that is added later is missing.
package struct ContractPage: Sendable {
    private struct Line {
        /// The number of its section: `5.1`; empty before the first section.
        let section: String
        let text: String
    }

    /// The lines outside of examples.
    private let lines: [Line]

    /// - Parameter name: that of the file, without its ending.
    /// - Throws: when the file cannot be read.
    package init(_ name: String) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let text = try String(contentsOf: folder.appending(path: "../../../docs/contracts/\(name).md"), encoding: .utf8)
        var section = ""
        var isExample = false
        var lines: [Line] = []
        for line in text.split(separator: "\n") {
            if line.hasPrefix("```") { isExample.toggle() }
            guard !isExample else { continue }
            if line.hasPrefix("##"), let number = line.drop(while: { $0 == "#" }).split(separator: " ").first {
                section = String(number)
            }
            lines.append(Line(section: section, text: String(line)))
        }
        self.lines = lines
    }

    /// The texts between backticks of all lines.
    package var code: [String] { lines.flatMap { SecurityDocument.code(in: $0.text) } }

    /// The texts between backticks of the lines that begin so.
    package func code(ofLines beginning: String) -> [String] {
        lines.filter { $0.text.hasPrefix(beginning) }.flatMap { SecurityDocument.code(in: $0.text) }
    }

    /// The texts between backticks in the first cells of a section's tables, if the cell begins with one. A text with choices becomes one text per choice.
    package func rows(of section: String) -> [String] {
        lines.filter { $0.section == section && $0.text.hasPrefix("| `") }.flatMap { line in
            let cell = line.text.dropFirst(2).prefix { $0 != "|" }
            return SecurityDocument.code(in: String(cell)).flatMap(Self.chosen)
        }
    }

    /// `/a/{b,c}` as `/a/b` and `/a/c`.
    private static func chosen(_ text: String) -> [String] {
        guard let open = text.firstIndex(of: "{"), let close = text[open...].firstIndex(of: "}") else { return [text] }
        let choices = text[text.index(after: open)..<close].split(separator: ",")
        guard choices.count > 1 else { return [text] }
        let rest = text[text.index(after: close)...]
        return choices.flatMap { chosen("\(text[..<open])\($0)\(rest)") }
    }
}
