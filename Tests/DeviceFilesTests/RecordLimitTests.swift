import DeviceFiles
import Testing

/// The limits of records. `DeviceImportTests` tests how files are split.
@Suite struct RecordLimitTests {
    @Test func aLineOfAnExportMayBeLongerThanARowAndIsBoundedToo() {
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: RecordSplitter.limitBytes + 1)
        let endless = [UInt8](repeating: UInt8(ascii: "x"), count: 10 << 20)
        let file = long + [10] + endless + [10] + [UInt8(ascii: "y")]
        var splitter = RecordSplitter(quotes: false, limitBytes: RecordSplitter.exportLimitBytes)
        var records: [RecordSplitter.Record] = []
        for start in stride(from: 0, to: file.count, by: 262_144) {
            records += splitter.feed(file[start..<min(start + 262_144, file.count)])
        }
        records += splitter.finish().map { [$0] } ?? []
        #expect(records.map { $0.bytes?.count } == [long.count, nil, 1])
        #expect(records.map(\.line) == [1, 2, 3])
        // The rows of the gateway's own formats are shorter.
        var own = RecordSplitter(quotes: false)
        #expect(own.feed(long + [10]).map(\.bytes) == [nil])
    }
}
