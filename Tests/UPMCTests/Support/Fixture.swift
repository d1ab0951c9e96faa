import Foundation
import Model
import Testing

/// One documented example: the bytes of a fenced block of the contract, copied and never produced by this project's
/// encoder.
enum Fixture {
    /// The text of the fixture `name`, without the newline that ends the file.
    static func text(_ name: String) throws -> String {
        let root = try #require(Bundle.module.resourceURL)
        let text = try String(contentsOf: root.appendingPathComponent("Fixtures/\(name)"), encoding: .utf8)
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }

    static func json(_ name: String) throws -> JSON { try JSONParser.parse(try text(name)) }

    /// A token with the length of the documents' shortened `9f2c…`.
    static let token = "9f2c" + String(repeating: "0123456789", count: 6)

    /// The form of a documented request: lines joined, remarks in brackets dropped, and shortened values completed.
    static func form(_ text: some StringProtocol) -> String {
        text.split(separator: "\n").map { line in
            let line = line.prefix(while: { $0 != " " })
            return String(line)
        }.joined().replacing("9f2c…64hex", with: token).replacing("9f2c…", with: token)
            .replacing("DEVICE_ID=…", with: "DEVICE_ID=6F0A").replacing("APP_ID=…", with: "APP_ID=com.example.app")
            .replacing("PSID=…", with: "PSID=\(token)")
    }

    /// Path and form of a documented request.
    static func request(_ name: String) throws -> (path: String, form: String) {
        let text = try text(name)
        guard text.hasPrefix("POST ") else { return ("", form(text)) }
        let first = text.prefix { $0 != "\n" }
        let words = first.split(separator: " ").map(String.init)
        let rest = text.dropFirst(first.count)
        return (words[1], form((words.count > 2 ? words[2] : "") + rest))
    }
}
