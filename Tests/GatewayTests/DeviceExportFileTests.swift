import Adapters
import DeviceFiles
import Foundation
import Model
import Store
import Synchronization
import TestKit
import Testing

@testable import Gateway
@testable import Imports

/// Files in the formats of vendors and with maps, plain and compressed.
@Suite struct DeviceExportFileTests {
    private final class Rows: Sendable {
        private let rows = Mutex([DeviceRegistration]())

        var all: [DeviceRegistration] { rows.withLock { $0 } }

        func write(_ more: [DeviceRegistration]) -> ImportCounts {
            rows.withLock { $0 += more }
            return ImportCounts(created: more.count)
        }
    }

    private typealias Imported = (state: DeviceImport.State, rejects: [DeviceImport.Reject], rows: [DeviceRegistration])

    private func importing(
        _ content: [UInt8],
        _ reading: DeviceReading,
        at offset: Int = 0,
        line: Int = 1
    ) async throws -> Imported {
        let path = "\(ScratchFolder.root)/push-gateway-export-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        try Data(content).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let rows = Rows()
        var rejects: [DeviceImport.Reject] = []
        let work = DeviceImport(
            reading,
            target: DeviceImport.Target(
                write: { batch, turn async throws(StoreError) in
                    try await turn()
                    return rows.write(batch)
                },
                identifiers: TestIdentifiers()
            ),
            reject: { rejects.append($0) },
            done: { _ in }
        )
        var start = ImportCheckpoint(sourceBytes: content.count)
        (start.offset, start.line) = (offset, line)
        let source = try #require(FileHandle(forReadingAtPath: path))
        let state = try await work.run(source, from: start)
        return (state, rejects, rows.all)
    }

    private func braze() throws -> DeviceReading {
        .export(try #require(DeviceLine.export(of: .braze)), ExportTerms())
    }

    private func users(_ count: Int) -> [UInt8] {
        let lines = (0..<count).map { number in
            let token = String(format: "%08x", number)
            return #"{"external_id":"u\#(number)","push_tokens":[{"platform":"iOS","token":"\#(token)"}]}"# + "\n"
        }
        return Array(lines.joined().utf8)
    }

    /// A gzip file whose content is stored, not compressed.
    private func stored(_ content: [UInt8]) -> [UInt8] {
        var file: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]
        for start in stride(from: 0, to: content.count, by: 60_000) {
            let part = content[start..<min(start + 60_000, content.count)]
            let count = UInt16(part.count)
            file.append(start + 60_000 >= content.count ? 1 : 0)
            for number in [count, ~count] { file += [UInt8(number & 0xFF), UInt8(number >> 8)] }
            file += part
        }
        var sum = UInt32.max
        for byte in content {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        for number in [~sum, UInt32(content.count)] {
            file += (0..<4).map { UInt8(number >> UInt32(8 * $0) & 0xFF) }
        }
        return file
    }

    @Test func theVendorsWithAnExportAreKnown() {
        #expect(DeviceLine.exporting == [.notificationHubs, .braze])
    }

    @Test func aCompressedExportIsReadAsThePlainOne() async throws {
        let plain = users(3000)
        let first = try await importing(plain, try braze())
        let second = try await importing(stored(plain), try braze())
        #expect(first.rows.count == 3000 && first.rejects.isEmpty && first.rows == second.rows)
        #expect(first.state.checkpoint.offset == plain.count && second.state.checkpoint.offset == plain.count)
        #expect(first.rows.allSatisfy { $0.key?.rawValue.hasPrefix(DeviceRegistration.derivedKeyPrefix) == true })
        // From a checkpoint on: the offset is one of the content.
        let line = users(1000).count
        let rest = try await importing(stored(plain), try braze(), at: line, line: 1001)
        #expect(rest.rows == Array(first.rows.dropFirst(1000)))
    }

    @Test func halfACompressedFileIsRefusedWithItsLine() async throws {
        let file = stored(users(3000))
        do {
            _ = try await importing(Array(file[..<(file.count / 2)]), try braze())
            Issue.record("taken")
        } catch {
            let text = (error as? ImportProblem)?.description ?? ""
            #expect(text.contains("ends within its compressed data, after line"), "\(error)")
        }
    }

    @Test func rowsThatCannotBeReadAreRejectedWithTheirLines() async throws {
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: RecordSplitter.exportLimitBytes + 1)
        let latin: [UInt8] = Array(#"{"external_id":""#.utf8) + [0xB0, 0xA1] + Array("\"}\n".utf8)
        let file = users(1) + long + [10] + latin + Array("{}\n".utf8) + users(1)
        let (state, rejects, rows) = try await importing(file, try braze())
        #expect(rejects.map(\.line) == [2, 3] && rows.count == 2 && state.checkpoint.rejected == 2)
        #expect(rejects.first?.reason == "is longer than \(RecordSplitter.exportLimitBytes) bytes")
    }

    @Test(
        arguments: [
            ([0xFF, 0xFE, 0x7B, 0x00], "UTF-16"), (Array("PK\u{3}\u{4}x".utf8), "ZIP"),
            ([0xB0, 0xA1, 0x2C, 0x0A, 0x31, 0x0A], "UTF-8"),
        ] as [([UInt8], String)]
    )
    func anotherKindOfFileIsRefusedByItsName(content: [UInt8], name: String) async throws {
        do {
            _ = try await importing(content, .columns(.csv))
            Issue.record("taken")
        } catch {
            #expect((error as? ImportProblem)?.description.contains(name) == true, "\(error)")
        }
    }

    @Test func aTableIsReadByItsMap() async throws {
        let map = try ColumnMap(
            try JSONParser.parse(
                #"{"key":{"column":"DEVICE_ID","prefix":"APNS:"},"token":"PSID","acceptsPush":{"column":"YN","yes":"Y"}}"#
            )
        )
        let table = "\u{FEFF}DEVICE_ID,PSID,YN,MORE\r\nd1,aa01,Y,x\r\nd2,zz,N,x\r\nd3,aa03,N\r\n"
        let (_, rejects, rows) = try await importing(Array(table.utf8), .table(map))
        #expect(rows.map(\.key) == ["APNS:d1", "APNS:d3"] && rows.map(\.imported.acceptsPush) == [true, false])
        #expect(rejects.map(\.line) == [3] && rejects.first?.reason.hasPrefix("token") == true)
        await #expect(throws: ImportProblem.self) { () async throws in
            _ = try await importing(Array("DEVICE_ID,YN\n".utf8), .table(map))
        }
    }

    @Test func theTagsOfTheGatewayAreReadBackFromAnExport() throws {
        func tags(_ text: String) throws -> [String]? {
            let fields = try DeviceLine.fields(json: Array(#"{"key":"k","tags":["\#(text)"]}"#.utf8))
            return try DeviceLine.registration(fields, TestIdentifiers()).tags?.map(\.text)
        }
        for own in ["$Platform:ios", "$Variant", "$VariantsOnly", "$Variant:news", "$InstallationId:i-1"] {
            #expect(try tags(own) == [own])
        }
        for other in ["$Platform:web", "$Variant:", "$Variant:A", "$Other"] {
            #expect(throws: DeviceLine.Fault.self, "\(other)") { try tags(other) }
        }
    }

    @Test func theNameOfACompressedFileIndicatesTheFormat() {
        #expect(DeviceFormat(fileName: "a.CSV.gz") == .csv && DeviceFormat(fileName: "x/b.ndjson.gz") == .ndjson)
        #expect(DeviceFormat(fileName: "a.gz") == nil && DeviceFormat(fileName: "gz") == nil)
    }
}
