import Foundation
import Model
import Testing

@testable import CommandSupport

/// Devices that leave an app by `devices export` and enter another one by `devices import`.
@Suite(.serialized, .timeLimit(.minutes(10)), .sharedWorld())
struct DeviceRoundTripTests {
    /// Rows with every column that an import takes, and names that need quotes.
    private static let rows = (0..<1100).map { number in
        #"{"key":"r\#(number)","token":"\#(String(format: "%016x", number + 70_000))","user":"r\#(number % 900)","#
            + #""name":"Kim, \"\#(number)\"","phone":"0106\#(String(format: "%07d", number))","appVersion":"2.\#(number % 9)","#
            + #""tags":["t\#(number % 3)"],"groups":["g \#(number % 5)"],"badge":\#(number % 900 % 4),"#
            + #""registeredAt":"2026-03-02T01:00:00.\#(100 + number % 900)Z","acceptsPush":\#(number % 2 == 0),"#
            + #""consents":{"news":{"state":"subscribed","at":"2026-03-01T00:00:00.000Z"},"sale":"unsubscribed"}}"#
    }

    /// Writes the devices of an app to a file, and returns its lines.
    private func export(_ app: String, _ format: String) async throws -> (path: String, lines: [String]) {
        let world = try SharedWorld.current
        let path = world.material.path("\(app).\(format)")
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let process = Process()
        process.executableURL = URL(filePath: World.programs + "/push-gateway")
        process.arguments = [
            "devices", "export", "--tenant", "acme", "--app", app, "--vendor", "native", "--format", format,
            "--data-dir", world.material.path("data"),
        ]
        // Not the progress, which goes to the standard error.
        process.standardOutput = FileHandle(forWritingAtPath: path)
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        return (path: path, lines: text.split(separator: "\n").map(String.init))
    }

    private func importing(_ path: String, _ app: String) async throws {
        let done = try await SharedWorld.current.command(["devices", "import", path, "--tenant", "acme", "--app", app])
        #expect(done.status == 0 && !FileManager.default.fileExists(atPath: path + ".rejects"), "\(done.log)")
    }

    // The order is that of the devices' ids, which each app draws.
    @Test func whatWasExportedIsExportedAgainAfterAnImport() async throws {
        let world = try SharedWorld.current
        try await world.applyUPMC()
        let list = world.material.path("list.ndjson")
        try Self.rows.joined(separator: "\n").write(toFile: list, atomically: true, encoding: .utf8)
        try await importing(list, "shop")
        for (format, app) in [("ndjson", "v0"), ("csv", "v1")] {
            let first = try await export("shop", format)
            #expect(first.lines.count == Self.rows.count + (format == "csv" ? 1 : 0))
            try await importing(first.path, app)
            let second = try await export(app, format)
            #expect(first.lines.sorted() == second.lines.sorted(), "\(format)")
        }
    }
}
