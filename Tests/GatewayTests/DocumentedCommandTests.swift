import ArgumentParser
import Foundation
import Testing

@testable import push_gateway

/// The commands of the documentation have the arguments that the program takes. They are parsed and not carried out; `VendorMigrationTests` runs those of
/// docs/migration.md.
@Suite struct DocumentedCommandTests {
    private static let documents = [
        "README.md", "docs/metrics.md", "docs/migrating.md", "docs/migration.md", "docs/operations.md",
        "docs/routing.md",
    ]
    /// The commands about migrations, and those that their guides use. Their examples have no placeholders.
    private static let names = [
        "analytics", "apply", "devices export", "devices import", "export", "migration", "routes", "tenant", "upstream",
    ]

    private static func text(_ path: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The arguments of the commands in the code blocks of a document.
    private static func commands(in text: String) -> [[String]] {
        text.split(separator: "\n").compactMap { line in
            let command = line.hasPrefix("$ ") ? line.dropFirst(2) : line
            guard command.hasPrefix("push-gateway ") else { return nil }
            let words = Array(words(of: command).dropFirst())
            let name = words.prefix(2).joined(separator: " ")
            return names.contains { name == $0 || name.hasPrefix($0 + " ") } ? words : nil
        }
    }

    /// The words of a line for a shell, up to a comment, a pipe or a redirection.
    private static func words(of line: Substring) -> [String] {
        var words: [String] = []
        var word = ""
        var isWord = false
        var quote: Character?
        for character in line {
            if let open = quote {
                if character == open { quote = nil } else { word.append(character) }
            } else if character == "'" || character == "\"" {
                quote = character
                isWord = true
            } else if character == " " {
                if isWord { words.append(word) }
                (word, isWord) = ("", false)
            } else if !isWord, "#>|".contains(character) {
                return words
            } else {
                word.append(character)
                isWord = true
            }
        }
        return isWord ? words + [word] : words
    }

    private static func fault(_ words: [String]) -> String? {
        do {
            _ = try PushGateway.parseAsRoot(words)
            return nil
        } catch {
            return PushGateway.message(for: error)
        }
    }

    @Test(arguments: documents) func eachCommandIsOneOfTheProgram(_ document: String) throws {
        let commands = Self.commands(in: try Self.text(document))
        #expect(!commands.isEmpty)
        for words in commands {
            let fault = Self.fault(words)
            #expect(fault == nil, "push-gateway \(words.joined(separator: " ")): \(fault ?? "")")
        }
    }

    @Test func theControlFindsWrongArguments() {
        let text = """
            push-gateway apply provisioning.yaml   # the file needs its option
            $ push-gateway devices import "a b.csv" --tenant acme --app shop | cat
            push-gateway status
                push-gateway apply --file in-a-list.yaml
            push-gateway migration rollback leave --whole > log
            """
        let commands = Self.commands(in: text)
        let expected = [
            ["apply", "provisioning.yaml"], ["devices", "import", "a b.csv", "--tenant", "acme", "--app", "shop"],
            ["migration", "rollback", "leave", "--whole"],
        ]
        #expect(commands == expected)
        #expect(commands.map { Self.fault($0) == nil } == [false, true, false])
    }
}
