import Foundation
import Model
import Testing

@testable import CommandSupport
@testable import GatewayBench

/// Exports with lines that are no devices: each is rejected with its line and its reason, the other lines are imported, and the memory is bounded.
@Suite(.serialized, .timeLimit(.minutes(10)), .sharedWorld())
struct MalformedExportTests {
    /// 40 MiB: an import that kept the line would take more than the permitted memory.
    private static let longLineBytes = 40 << 20
    /// 24 MiB: one record has at most 1 MiB, and memory wavers by some MiB.
    private static let moreMemoryMiB = 24.0

    private static let space = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"

    private static func line(_ number: Int, tag: String = "seoul") -> String {
        "<AppleRegistrationDescription xmlns=\"\(space)\"><ETag>1</ETag><RegistrationId>\(number)-1-1</RegistrationId>"
            + "<Tags>\(tag)</Tags><DeviceToken>\(String(format: "%064x", number))</DeviceToken></AppleRegistrationDescription>"
    }

    /// Nine levels of ten: a reader that expands them takes gigabytes.
    private static let laughs: String = {
        let levels = (1...9).map { level in
            "<!ENTITY l\(level) \"\(String(repeating: "&l\(level - 1);", count: 10))\">"
        }
        return "<!DOCTYPE a [<!ENTITY l0 \"lol\">\(levels.joined())]><a>&l9;</a>"
    }()

    /// Runs an import, and returns its status, its output and its peak memory.
    private func run(_ path: String, _ options: [String]) async throws -> (status: Int32?, log: String, peak: Double) {
        let world = try SharedWorld.current
        let log = world.material.path("malformed.log")
        let process = try ChildProcess(
            "push-gateway devices import",
            program: World.programs + "/push-gateway",
            arguments: [
                "devices", "import", path, "--tenant", "acme", "--app", "shop", "--data-dir",
                world.material.path("data"),
            ] + options,
            logFile: log
        )
        var peak = 0.0
        while process.isRunning {
            peak = max(peak, ProcessUsage.peakMiB(process.processID))
            try await Task.sleep(for: .milliseconds(5))
        }
        let status = await process.stop()
        return (status, String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self), peak)
    }

    private func write(_ name: String, _ lines: [[UInt8]]) throws -> String {
        let path = try SharedWorld.current.material.path(name)
        try Data(Array(lines.joined(separator: [UInt8(ascii: "\n")]))).write(to: URL(filePath: path))
        return path
    }

    /// The line and the reason of each rejected row.
    private func rejects(_ path: String) throws -> [(line: Int64, reason: String)] {
        let text = try String(contentsOfFile: path + ".rejects", encoding: .utf8)
        return try text.split(separator: "\n").map { line in
            let json = try JSONParser.parse(String(line))
            return (line: try #require(json["line"]?.int), reason: try #require(json["reason"]?.string))
        }
    }

    private func known(_ first: Int, _ last: Int) async throws -> String {
        try await SharedWorld.current.value(
            """
            SELECT count(*)::text AS value FROM gateway.device d
            WHERE d.token IN (SELECT lpad(to_hex(n), 64, '0') FROM generate_series(\(first), \(last)) AS n)
            """
        )
    }

    @Test func eachMalformedLineIsRejectedWithItsReasonInBoundedMemory() async throws {
        let plain = try write("plain.xml", [Array(Self.line(1).utf8), Array(Self.line(2).utf8)])
        let first = try await run(plain, ["--from", "notificationhubs"])
        #expect(first.status == 0, "\(first.log)")
        // "서울" in EUC-KR.
        let foreign = Self.line(4, tag: "\u{1}").utf8.flatMap { byte -> [UInt8] in
            byte == 1 ? [0xBC, 0xAD, 0xBF, 0xEF] : [byte]
        }
        let path = try write(
            "malformed.xml",
            [
                Array(Self.line(3).utf8), foreign, Array(Self.laughs.utf8),
                [UInt8](repeating: UInt8(ascii: "x"), count: Self.longLineBytes),
                Array(Self.line(7).utf8.dropLast(40)), Array("<a>&xxe;</a>".utf8), Array(Self.line(9).utf8),
            ]
        )
        let found = try await run(path, ["--from", "notificationhubs"])
        #expect(found.status == 0, "\(found.log)")
        let rejected = try rejects(path)
        #expect(rejected.map(\.line) == [2, 3, 4, 5, 6])
        let reasons = [
            "is not XML in UTF-8", "contains a document", "is longer than 1048576", "is not XML", "contains a document",
        ]
        for (reject, reason) in zip(rejected, reasons) { #expect(reject.reason.hasPrefix(reason), "\(reject)") }
        #expect(try await known(1, 9) == "4")
        #expect(first.peak > 0 && found.peak <= first.peak + Self.moreMemoryMiB, "\(first.peak) MiB, \(found.peak) MiB")
    }

    /// A format, three of its lines and a fourth one whose user is U+0001, the beginning of a file, and a line that is not a row.
    private struct Format {
        var name: String
        var options: [String]
        var heading: [String] = []
        var lines: [String]
        var limitBytes: Int
        var foreign: String
        var broken: (line: String, reason: String)
    }

    /// Imports a file with three devices. Between them are a line in EUC-KR, one that is too long, and a broken one.
    private func expectOnlyDevices(_ format: Format, tokens: ClosedRange<Int>) async throws {
        let heading = format.heading.map { Array($0.utf8) }
        let lines = format.lines.map { Array($0.utf8) }
        try #require(lines.count == 4)
        let first = try await run(try write("plain-" + format.name, heading + [lines[0]]), format.options)
        #expect(first.status == 0, "\(first.log)")
        let foreign = lines[3].flatMap { byte -> [UInt8] in byte == 1 ? [0xBC, 0xAD, 0xBF, 0xEF] : [byte] }
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: Self.longLineBytes)
        let path = try write(
            format.name,
            heading + [lines[1], foreign, long, Array(format.broken.line.utf8), lines[2]]
        )
        let found = try await run(path, format.options)
        #expect(found.status == 0, "\(found.log)")
        let rejected = try rejects(path)
        #expect(rejected.map { Int($0.line) - heading.count } == [2, 3, 4])
        let reasons = [format.foreign, "is longer than \(format.limitBytes)", format.broken.reason]
        for (reject, reason) in zip(rejected, reasons) { #expect(reject.reason.hasPrefix(reason), "\(reject)") }
        #expect(try await known(tokens.lowerBound, tokens.upperBound) == "3")
        #expect(first.peak > 0 && found.peak <= first.peak + Self.moreMemoryMiB, "\(first.peak) MiB, \(found.peak) MiB")
    }

    private static func token(_ number: Int) -> String { String(format: "%064x", number) }

    // The tables of vendors in Korea are often in EUC-KR.
    @Test func aTableHasItsLinesRejectedOneByOne() async throws {
        let map = try write("malformed.yaml", [Array("key: ID\ntoken: PSID\nuser: CUID\n".utf8)])
        let lines = [(101, "u"), (102, "u"), (103, "u"), (104, "\u{1}")].map { number, user in
            "m\(number),\(Self.token(number)),\(user)"
        }
        let format = Format(
            name: "malformed.txt",
            options: ["--map", map, "--vendor", "upmc"],
            heading: ["ID,PSID,CUID"],
            lines: lines,
            limitBytes: 65_536,
            foreign: "is not UTF-8",
            broken: ("a,b,c,d", "has 4 fields under 3 headings")
        )
        try await expectOnlyDevices(format, tokens: 101...104)
    }

    // A line that nests without end is refused by its depth.
    @Test func anExportOfUsersHasItsLinesRejectedOneByOne() async throws {
        let lines = [(201, "u"), (202, "u"), (203, "u"), (204, "\u{1}")].map { number, user in
            #"{"external_id":"\#(user)\#(number)","push_tokens":"#
                + #"[{"app":"Shop","platform":"iOS","token":"\#(Self.token(number))"}]}"#
        }
        let format = Format(
            name: "malformed.json",
            options: ["--from", "braze"],
            lines: lines,
            limitBytes: 1_048_576,
            foreign: "is not JSON",
            broken: (String(repeating: "[", count: 500_000), "is not JSON")
        )
        try await expectOnlyDevices(format, tokens: 201...204)
    }

    // A spreadsheet may write UTF-16.
    @Test(arguments: [("wide.json", ["--from", "braze"]), ("wide.csv", [])] as [(String, [String])])
    func aFileInUTF16SaysSo(_ name: String, _ options: [String]) async throws {
        let text = name.hasSuffix(".csv") ? "key,token\nwide,aabb\n" : #"{"external_id":"wide","push_tokens":[]}"#
        let units = text.utf16.flatMap { unit -> [UInt8] in [UInt8(unit & 0xFF), UInt8(unit >> 8)] }
        let found = try await run(try write(name, [[0xFF, 0xFE] + units]), options)
        #expect(found.status == 2 && found.log.contains("line 1: the file is UTF-16"), "\(found.log)")
    }
}
