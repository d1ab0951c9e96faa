import Foundation
import Imports
import Model
import TestKit
import Testing

@testable import GatewayBench

/// The files and figures of `bench import`.
@Suite struct BenchImportTests {
    @Test func aFileIsCompressedBesideItself() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "bench-import-\(UUID()).csv").path
        defer { for end in ["", ".gz", ".gzip.log"] { try? FileManager.default.removeItem(atPath: path + end) } }
        let text = Data(String(repeating: "bench-1,ios,production\n", count: 1000).utf8)
        try text.write(to: URL(filePath: path))
        // The second time, the compressed file exists.
        for _ in 0..<2 {
            try await ImportRun.compress(path)
            let compressed = try #require(FileManager.default.contents(atPath: path + ".gz"))
            #expect(compressed.starts(with: [0x1F, 0x8B]) && compressed.count < text.count)
        }
        #expect(FileManager.default.contents(atPath: path) == text)
        await #expect(throws: (any Error).self) { try await ImportRun.compress(path + ".missing") }
        try? FileManager.default.removeItem(atPath: path + ".missing.gzip.log")
    }

    @Test(arguments: [ImportFormat.braze, .notificationhubs])
    func theReferenceHasTheFactsOfTheExport(_ format: ImportFormat) throws {
        let token = String(repeating: "0a", count: 32)
        let reader = try #require(DeviceLine.export(of: Vendor(format.rawValue)))
        let line = Array(try ImportFile(format: format).line(7, token: token).utf8)
        let commands = try reader.registrations(inExport: line, ExportTerms())
        let table = ImportFile(format: format, isTable: true)
        let headings = try #require(table.heading).split(separator: ",").map(String.init)
        let row = try DeviceLine.fields(csv: Array(try table.line(7, token: token).utf8), headings: headings)
        let device = try DeviceLine.registration(row, TestIdentifiers())
        #expect(commands == [.registration(.register(device))])
        #expect(device.user != nil || device.tags?.isEmpty == false, "\(device)")
    }

    @Test func theSpreadIsThatOfTheRates() {
        #expect(ImportReport.spread([900, 1200, 1000]) == 1200.0 / 900)
        #expect(ImportReport.spread([1000]) == 1 && ImportReport.spread([]) == 1 && ImportReport.spread([0, 5]) == 1)
    }
}
