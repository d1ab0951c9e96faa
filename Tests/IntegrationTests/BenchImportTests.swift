import Foundation
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

    @Test func theSpreadIsThatOfTheRates() {
        #expect(ImportReport.spread([900, 1200, 1000]) == 1200.0 / 900)
        #expect(ImportReport.spread([1000]) == 1 && ImportReport.spread([]) == 1 && ImportReport.spread([0, 5]) == 1)
    }
}
