import Foundation
import Model
import Testing

/// One documented example: the bytes of a fenced block of the contract, copied and never produced by this project's
/// encoder.
enum Fixture {
    /// The bytes of the fixture `name`, without the newline that ends the file.
    static func bytes(_ name: String) throws -> [UInt8] {
        let root = try #require(Bundle.module.resourceURL)
        let text = try String(contentsOf: root.appendingPathComponent("Fixtures/\(name)"), encoding: .utf8)
        return Array(text.utf8.last == 0x0A ? text.dropLast().utf8 : text.utf8[...])
    }

    /// The fixture `name` as JSON.
    static func json(_ name: String) throws -> JSON { try JSONParser.parse(try bytes(name)) }

    /// Every file that the manifest maps to an example.
    static func mappedFiles() throws -> Set<String> {
        let examples = try #require(try json("fixtures.json")["examples"]?.array)
        return Set(examples.compactMap { $0["file"]?.string })
    }
}
