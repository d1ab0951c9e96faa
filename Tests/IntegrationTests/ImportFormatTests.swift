import Foundation
import Model
import Testing

@testable import CommandSupport

/// `devices import` of a vendor's export, and of a table by a map, as processes.
@Suite(.serialized, .timeLimit(.minutes(10)), .sharedWorld())
struct ImportFormatTests {
    private func run(_ arguments: [String]) async throws -> (status: Int32?, log: String) {
        try await SharedWorld.current.command(
            ["devices", "import"] + arguments + ["--tenant", "acme", "--app", "shop"]
        )
    }

    private func write(_ name: String, _ lines: [String]) throws -> String {
        let path = try SharedWorld.current.material.path(name)
        try (lines.joined(separator: "\n") + "\n").write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    private func users(_ numbers: Range<Int>, state: String = "opted_in") -> [String] {
        numbers.map { number in
            let token = String(format: "%064x", number + 7000)
            return #"{"external_id":"f\#(number)","push_subscribe":"\#(state)","push_tokens":"#
                + #"[{"app":"Shop","platform":"iOS","token":"\#(token)","device_id":"d\#(number)"}]}"#
        }
    }

    /// The number in the table of counts.
    private func count(_ name: String, _ log: String) -> Int? {
        log.split(separator: "\n").first { $0.hasPrefix(name + " ") }
            .flatMap { $0.dropFirst(name.count).split(separator: " ").first.flatMap { Int($0) } }
    }

    @Test func anExportIsImportedOnceAndCompared() async throws {
        let first = try write("export-1.json", users(0..<60) + ["{"])
        let second = try write("export-2.json", users(60..<100))
        let asOf = ["--as-of", Timestamp(seconds: Int64(Date().timeIntervalSince1970) - 60).rfc3339]
        let imported = try await run([first, second, "--from", "braze"] + asOf)
        #expect(imported.status == 0, "\(imported.log)")
        #expect(count("new", imported.log) == 100 && count("rejected", imported.log) == 1, "\(imported.log)")
        #expect(!FileManager.default.fileExists(atPath: first + ".checkpoint"))
        #expect(!FileManager.default.fileExists(atPath: second + ".checkpoint"))
        let again = try await run([first, second, "--from", "braze"] + asOf)
        #expect(count("unchanged", again.log) == 100 && count("changed", again.log) == 0, "\(again.log)")

        // A file without its bad line agrees; other files do not.
        let whole = try write("export-3.json", users(0..<100))
        let equal = try await run([whole, "--from", "braze", "--compare", "--max-difference", "0"])
        #expect(equal.status == 0 && count("in the export", equal.log) == 100, "\(equal.log)")
        let half = try await run([second, "--from", "braze", "--compare"])
        #expect(half.status == 1 && count("only here", half.log) == 60, "\(half.log)")
        #expect(half.log.contains("60.000 %"), "\(half.log)")
        let muted = try write("export-4.json", users(0..<1, state: "unsubscribed") + users(1..<101))
        let other = try await run([muted, "--from", "braze", "--compare", "--max-difference", "5%"])
        #expect(other.status == 0 && count("push setting differs", other.log) == 1, "\(other.log)")
        #expect(count("only in the export", other.log) == 1, "\(other.log)")
        let empty = try await run([try write("export-5.json", []), "--from", "braze", "--compare"])
        #expect(empty.status == 1 && empty.log.contains("nothing was compared"), "\(empty.log)")
        // The comparisons have changed nothing.
        let last = try await run([whole, "--from", "braze", "--dry-run"])
        #expect(count("unchanged", last.log) == 100, "\(last.log)")
    }

    @Test func aTableIsImportedByItsMap() async throws {
        let map = try write("map.yaml", ["key: { column: ID, prefix: \"APNS:\" }", "token: PSID", "separator: \";\""])
        let table = try write("table.txt", ["ID;PSID;X", "m1;aa71;1", "m2;nohex;2"])
        let imported = try await run([table, "--map", map, "--vendor", "upmc"])
        #expect(imported.status == 0 && count("new", imported.log) == 1, "\(imported.log)")
        #expect(try String(contentsOfFile: table + ".rejects", encoding: .utf8).contains("token: is not a token"))
        let wrong = try await run([try write("wrong.txt", ["ID;OTHER"]), "--map", map, "--vendor", "upmc"])
        #expect(wrong.status == 2 && wrong.log.contains("no column 'PSID'"), "\(wrong.log)")
    }

    @Test func aDamagedFileEndsTheImportAndTheRestContinues() async throws {
        let path = try write("users.json", users(200..<300))
        let zip = Process()
        zip.executableURL = URL(filePath: "/bin/gzip")
        zip.arguments = [path]
        try zip.run()
        zip.waitUntilExit()
        let whole = try Data(contentsOf: URL(filePath: path + ".gz"))
        try whole.prefix(whole.count / 2).write(to: URL(filePath: path + ".gz"))
        let damaged = try await run([path + ".gz", "--from", "braze"])
        #expect(damaged.status == 1 && damaged.log.contains("ends within its compressed data"), "\(damaged.log)")
        #expect(damaged.log.contains("after line"), "\(damaged.log)")
        try whole.write(to: URL(filePath: path + ".gz"))
        let imported = try await run([path + ".gz", "--from", "braze", "--no-checkpoint"])
        #expect(imported.status == 0, "\(imported.log)")
        #expect((count("new", imported.log) ?? 0) + (count("unchanged", imported.log) ?? 0) == 100, "\(imported.log)")
    }
}
