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

    // A spreadsheet may write UTF-16.
    @Test(arguments: [("wide.json", ["--from", "braze"]), ("wide.csv", [])] as [(String, [String])])
    func aFileInUTF16SaysSo(_ name: String, _ options: [String]) async throws {
        let text = name.hasSuffix(".csv") ? "key,token\nwide,aabb\n" : #"{"external_id":"wide","push_tokens":[]}"#
        let units = text.utf16.flatMap { unit -> [UInt8] in [UInt8(unit & 0xFF), UInt8(unit >> 8)] }
        let found = try await run(try write(name, [[0xFF, 0xFE] + units]), options)
        #expect(found.status == 2 && found.log.contains("line 1: the file is UTF-16"), "\(found.log)")
    }
}
