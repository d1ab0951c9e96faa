import Foundation
package import Model

/// The tables of docs/security.md. Tests compare them with what the gateway does, so that the document cannot be wrong about it.
package struct SecurityDocument: Sendable {
    private let lines: [String]

    /// - Throws: when the file cannot be read.
    package init() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let text = try String(contentsOf: folder.appending(path: "../../../docs/security.md"), encoding: .utf8)
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The rows of the table with these titles, each as its cells. Empty: the document has no such table.
    package func table(_ titles: String...) -> [[String]] {
        guard let start = lines.firstIndex(where: { Self.cells($0) == titles }) else { return [] }
        return lines[start...].dropFirst(2).prefix { $0.hasPrefix("|") }.map(Self.cells)
    }

    /// The text below a heading of any depth, up to the next heading.
    package func section(_ title: String) -> String {
        guard let start = lines.firstIndex(where: { $0.hasPrefix("#") && $0.hasSuffix(" \(title)") }) else { return "" }
        return lines[start...].dropFirst().prefix { !$0.hasPrefix("#") }.joined(separator: "\n")
    }

    /// The texts between backticks.
    package static func code(in text: String) -> [String] {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }

    private static func cells(_ line: String) -> [String] {
        guard line.hasPrefix("|") else { return [] }
        return line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// The cells of a vendor in the table of the section "A posture for each vendor": the vendor, what it sends, the refused calls, the settings.
    package func posture(of vendor: Vendor) -> [String] {
        table(
            "vendor",
            "what unmodified apps and back ends send",
            "calls that a default binding refuses",
            "settings that allow them"
        ).first { $0.first?.hasSuffix("(vendors/\(vendor).md)") ?? false } ?? []
    }

    /// The calls that a default binding of a vendor refuses: last parts of paths, or beginnings of paths (`/api/v3/*`).
    package func refusedCalls(of vendor: Vendor) -> Set<String> {
        let cells = posture(of: vendor)
        return cells.count > 2 ? Set(Self.code(in: cells[2])) : []
    }

    /// The entry of `refusedCalls` that lists a call.
    package func entry(for path: String, of vendor: Vendor) -> String? {
        refusedCalls(of: vendor).first { entry in
            if entry.hasSuffix("*") { return path.hasPrefix(entry.dropLast()) }
            // An entry with slashes is a whole path.
            return entry.contains("/") ? Self.parts(entry) == Self.parts(path) : Self.name(entry) == Self.name(path)
        }
    }

    private static func parts(_ path: String) -> [Substring] { path.prefix { $0 != "?" }.split(separator: "/") }

    /// The last part of a path, as dialects compare it: without query, ending and case.
    package static func name(_ path: String) -> String {
        let last = path.prefix { $0 != "?" }.split(separator: "/").last ?? ""
        return last.prefix { $0 != "." }.lowercased()
    }
}
