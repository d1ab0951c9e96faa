import Foundation
package import Model

/// The output of commands. Results go to standard output, everything else to standard error.
package enum Console {
    package static func print(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
    package static func print(_ json: JSON) { print(JSONWriter.text(json)) }
    package static func error(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }

    /// Formats rows under headings. Each column is as wide as its widest cell.
    package static func table(_ headings: [String], _ rows: [[String]]) -> String {
        let all = [headings] + rows
        let widths = headings.indices.map { column in
            all.map { $0.indices.contains(column) ? $0[column].count : 0 }.max() ?? 0
        }
        let lines = all.map { row in
            widths.indices.map { column in
                let cell = row.indices.contains(column) ? row[column] : ""
                return cell + String(repeating: " ", count: widths[column] - cell.count)
            }.joined(separator: "  ").trimmingCharacters(in: .whitespaces)
        }
        return lines.joined(separator: "\n")
    }
}
