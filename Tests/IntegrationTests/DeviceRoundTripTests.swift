import Foundation
import Model
import Testing

@testable import CommandSupport

/// Devices that leave an app by `devices export` and enter another one by `devices import`.
@Suite(.serialized, .timeLimit(.minutes(10)), .sharedWorld())
struct DeviceRoundTripTests {
    private static let rows = WholeDevice.lines("r", 1100, users: 900)

    /// Writes the devices of an app to a file, those of all dialects or of one, and returns its content.
    private func export(_ app: String, _ format: String, vendor: String? = nil) async throws -> (
        path: String, content: Data
    ) {
        let world = try SharedWorld.current
        let path = world.material.path("\(app).\(format)")
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let process = Process()
        process.executableURL = URL(filePath: World.programs + "/push-gateway")
        process.arguments =
            [
                "devices", "export", "--tenant", "acme", "--app", app, "--format", format, "--data-dir",
                world.material.path("data"),
            ] + (vendor.map { ["--vendor", $0] } ?? [])
        // Not the progress, which goes to the standard error.
        process.standardOutput = FileHandle(forWritingAtPath: path)
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return (path: path, content: try Data(contentsOf: URL(filePath: path)))
    }

    private func importing(_ path: String, _ app: String) async throws {
        let done = try await SharedWorld.current.command(["devices", "import", path, "--tenant", "acme", "--app", app])
        #expect(done.status == 0 && !FileManager.default.fileExists(atPath: path + ".rejects"), "\(done.log)")
    }

    /// The first line that differs; nil: the same bytes.
    private func difference(_ found: Data, _ wanted: Data) -> String? {
        if found == wanted { return nil }
        let lines = [found, wanted].map { String(decoding: $0, as: UTF8.self).components(separatedBy: "\n") }
        for (left, right) in zip(lines[0], lines[1]) where left != right { return "\(left)\nis not\n\(right)" }
        return "\(found.count) bytes are not \(wanted.count)"
    }

    @Test func theRowsHaveEveryColumn() throws {
        let row = try #require(try JSONParser.parse(Self.rows["r0"] ?? "").object)
        #expect(row.pairs.map { $0.key } == DeviceColumn.allCases.map(\.rawValue))
    }

    // Rows are imported in another order than that of their keys, and devices get other ids in each app.
    @Test func whatWasExportedIsExportedAgainAfterAnImport() async throws {
        let world = try SharedWorld.current
        try await world.applyUPMC()
        let list = world.material.path("list.ndjson")
        try Self.rows.values.joined(separator: "\n").write(toFile: list, atomically: true, encoding: .utf8)
        try await importing(list, "shop")
        let wanted = WholeDevice.file(Self.rows)

        let first = try await export("shop", "ndjson")
        #expect(difference(first.content, wanted) == nil)
        try await importing(first.path, "v0")
        let second = try await export("v0", "ndjson", vendor: "native")
        #expect(difference(second.content, wanted) == nil)

        let table = try await export("shop", "csv", vendor: "native")
        try await importing(table.path, "v1")
        let copy = try await export("v1", "csv")
        #expect(difference(copy.content, table.content) == nil)
        let lines = try await export("v1", "ndjson")
        #expect(difference(lines.content, wanted) == nil)
    }
}
