import Foundation
import ProgramSupport
import Testing

/// Adds the stub vendor to a copy of the product's own list by the steps of `docs/adding-a-vendor.md`, and compiles the result.
///
/// The behavior of the vendor is tested with the list in `Tests/Vendors`, which has the same form.
struct DocumentedStepsTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let mark = "        // One line for each vendor.\n"

    @Test func oneFolderAndOneLineAreEnough() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "adapters-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let adapters = directory.appending(path: "Adapters")
        try FileManager.default.createDirectory(at: adapters, withIntermediateDirectories: true)
        // Step 1: the folder.
        let folder = adapters.appending(path: "Stub")
        try FileManager.default.copyItem(at: Self.root.appending(path: "Tests/Vendors/Stub"), to: folder)
        // Step 2: the line.
        let list = try Self.text("Sources/Adapters/Vendors.swift")
        #expect(list.contains(Self.mark))
        let added = list.replacingOccurrences(of: Self.mark, with: Self.mark + (try line))
        try added.write(to: adapters.appending(path: "Vendors.swift"), atomically: true, encoding: .utf8)

        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).map { folder.path + "/" + $0 }
        #expect(try await Self.faults(files + [adapters.path + "/Vendors.swift"]) == "")
        // Without the folder the line is an error, which proves that the compiler checks it.
        #expect(try await Self.faults([adapters.path + "/Vendors.swift"]).contains("StubAdapter"))
    }

    @Test func theVendorsOfTheTestsAreListedLikeThoseOfTheProduct() throws {
        let list = try Self.text("Tests/Vendors/Vendors.swift")
        // The formatter removes the comma of a list with one element.
        #expect(list.contains(Self.mark + (try line).replacingOccurrences(of: ",\n", with: "\n")))
    }

    /// The line for the stub vendor that the page describes.
    private var line: String {
        get throws {
            let page = try Self.text("docs/adding-a-vendor.md")
            let start = try #require(page.range(of: "## 2. The line"))
            let fence = try #require(page.range(of: "```swift\n", range: start.upperBound..<page.endIndex))
            let end = try #require(page.range(of: "```", range: fence.upperBound..<page.endIndex))
            return page[fence.upperBound..<end.lowerBound].replacingOccurrences(of: "XAdapter", with: "StubAdapter")
        }
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The compiler's messages for files that are compiled as the target `Adapters`; empty: none.
    private static func faults(_ files: [String]) async throws -> String {
        let modules = Bundle.main.bundleURL.appending(path: "Modules").path
        let arguments: [String] =
            [
                "swiftc", "-typecheck", "-module-name", "Adapters", "-I", modules, "-swift-version", "6",
                "-package-name", root.lastPathComponent.lowercased().replacingOccurrences(of: "-", with: "_"),
            ]
            + ["ExistentialAny", "MemberImportVisibility", "InternalImportsByDefault"]
            .flatMap { ["-enable-upcoming-feature", $0] } + files
        let ending = try await ChildProgram.run("/usr/bin/env", arguments)
        let said = ending.output + ending.errors
        return ending.status == 0 ? "" : said.isEmpty ? "status \(ending.status)" : said
    }
}
