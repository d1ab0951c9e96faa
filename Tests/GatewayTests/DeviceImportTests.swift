import DeviceFiles
import Foundation
import Model
import Store
import Synchronization
import TestKit
import Testing

@testable import CommandSupport
@testable import Gateway
@testable import Imports

/// Files of devices: splitting into records, reading, and continuing.
@Suite struct DeviceImportTests {
    // MARK: Splitting

    private func cut(_ text: String, quotes: Bool, by size: Int) -> [RecordSplitter.Record] {
        var splitter = RecordSplitter(quotes: quotes)
        let bytes = Array(text.utf8)
        var records: [RecordSplitter.Record] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            records += splitter.feed(bytes[start..<min(start + size, bytes.count)])
        }
        return records + (splitter.finish().map { [$0] } ?? [])
    }

    @Test(arguments: [1, 2, 3, 7, 1000])
    func recordsDoNotDependOnTheChunksOfBytes(size: Int) {
        let text = "a,b\r\n\n\"x\ny\",\"say \"\"hi\"\"\"\nlast"
        let records = cut(text, quotes: true, by: size)
        #expect(
            records.map { String(decoding: $0.bytes ?? [], as: UTF8.self) } == [
                "a,b", "\"x\ny\",\"say \"\"hi\"\"\"", "last",
            ]
        )
        #expect(records.map(\.line) == [1, 3, 5])
        #expect(records.map(\.end) == [5, 25, 29])
        #expect(cut(text, quotes: false, by: size).count == 4)
    }

    // An import keeps thousands of records at a time.
    @Test func aRecordDoesNotTakeTheMemoryOfALongerOneBeforeIt() {
        let long = String(repeating: "x", count: 60_000)
        let lines = Array(repeating: String(repeating: "y", count: 100), count: 100)
        let records = cut(([long] + lines).joined(separator: "\n"), quotes: false, by: 4096)
        #expect(records.count == 101)
        #expect(records.dropFirst().allSatisfy { ($0.bytes?.capacity ?? .max) < 1000 })
    }

    @Test func unclosedRecordDoesNotConsumeTheRest() {
        let long = "\"" + String(repeating: "x", count: RecordSplitter.limitBytes + 5)
        let records = cut("a\n" + long + "\nb\n", quotes: true, by: 4096)
        #expect(records.map { $0.bytes.map { String(decoding: $0, as: UTF8.self) } } == ["a", nil, "b"])
        #expect(records.map(\.line) == [1, 2, 3])
    }

    // RFC 4180 §2.
    @Test func fieldsOfTheStandard() throws {
        #expect(try CSV.fields(Array(#"aaa,"b ""x"" b",,"c,c""#.utf8)) == ["aaa", #"b "x" b"#, "", "c,c"])
        #expect(throws: CSV.Fault.self) { try CSV.fields(Array(#""open"#.utf8)) }
        #expect(throws: CSV.Fault.self) { try CSV.fields(Array(#""a"b,c"#.utf8)) }
        #expect(throws: CSV.Fault.self) { try CSV.fields([0xFF]) }
        for fields in [["a", "b,c", "d\"e", "f\ng", ""], [""], ["\""]] {
            #expect(try CSV.fields(Array(CSV.record(fields).utf8)) == fields)
            #expect(fields.map { CSV.original(CSV.neutral($0)) } == fields)
        }
    }

    @Test func randomBytesGiveRecordsOrReasonsAndNeverATrap() {
        var random = SplitMix(state: 8)
        let alphabet = Array("\",\n\r{}:[]0aé\u{0}".utf8) + [0xFF]
        for _ in 0..<3000 {
            let count = Int.random(in: 0..<60, using: &random)
            let bytes = (0..<count).map { _ in alphabet.randomElement(using: &random) ?? 0 }
            for quotes in [true, false] {
                var splitter = RecordSplitter(quotes: quotes)
                for record in splitter.feed(bytes) + (splitter.finish().map { [$0] } ?? []) {
                    let raw = record.bytes ?? []
                    if let fields = try? DeviceLine.fields(csv: raw, headings: DeviceLine.columns) {
                        _ = try? DeviceLine.registration(fields, TestIdentifiers())
                    }
                    if let fields = try? DeviceLine.fields(json: raw) {
                        _ = try? DeviceLine.registration(fields, TestIdentifiers())
                    }
                }
            }
        }
    }

    // MARK: Rows

    private func row(_ json: String) throws -> DeviceRegistration {
        try DeviceLine.registration(try DeviceLine.fields(json: Array(json.utf8)), TestIdentifiers())
    }

    @Test func rowBecomesARegistration() throws {
        let full = try row(
            #"{"key":"k1","platform":"ios","environment":"sandbox","token":"ABCD","user":"u","name":"n","phone":"010-1234","attributes":{"a":1}}"#
        )
        #expect(full.key == "k1" && full.environment == .sandbox && full.token?.text == "abcd")
        #expect(full.phone == "0101234" && full.rawPhone == "010-1234" && full.attributes["a"] == .int(1))
        #expect(try row(#"{"key":"k","phone":821012345678}"#).phone == "821012345678")
        // The key is the same each time, and contains no part of the token.
        let key = try row(#"{"token":"abcd"}"#).key
        #expect(try row(#"{"token":"ABCD"}"#).key == key)
        #expect(key?.rawValue.hasPrefix("token-") == true && key?.rawValue.contains("abcd") == false)
    }

    @Test(arguments: [
        (#"{"user":"u"}"#, "key"), (#"{"key":"k","platform":"amiga"}"#, "platform"),
        (#"{"key":"k","token":"xyz"}"#, "token"),
        (#"{"key":"k","environment":"prod"}"#, "environment"), (#"{"key":"k","attributes":[]}"#, "attributes"),
        (#"{"key":"k","colour":"red"}"#, "'colour'"), (#"{"key":["k"]}"#, "key"), ("[]", "is not a JSON object"),
        ("{", "is not JSON"),
    ])
    func invalidRowNamesItsFault(json: String, start: String) {
        do throws(DeviceLine.Fault) {
            let fields = try DeviceLine.fields(json: Array(json.utf8))
            _ = try DeviceLine.registration(fields, TestIdentifiers())
            Issue.record("taken: \(json)")
        } catch {
            #expect(error.reason.hasPrefix(start), "\(error.reason)")
        }
    }

    // MARK: Whole imports

    /// Accepts the rows of an import, and fails on request.
    private final class Database: Sendable {
        private let state = Mutex((rows: [DeviceRegistration](), calls: 0, failsAt: Int.max))

        var rows: [DeviceRegistration] { state.withLock { $0.rows } }

        func fail(at call: Int) { state.withLock { $0.failsAt = call } }

        func write(_ rows: [DeviceRegistration]) throws(StoreError) -> ImportCounts {
            let isDown = state.withLock { state in
                state.calls += 1
                if state.calls < state.failsAt { state.rows += rows }
                return state.calls >= state.failsAt
            }
            if isDown { throw StoreError(.unavailable, "killed") }
            if rows.contains(where: { $0.user == "poison" }) { throw StoreError(.failed, "22021") }
            return .init(created: rows.count)
        }
    }

    private func file(_ text: String) throws -> String {
        let path = "\(ScratchFolder.root)/push-gateway-import-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    private func importing(
        _ path: String,
        _ format: DeviceFormat,
        into database: Database,
        from start: ImportCheckpoint? = nil,
        done: @escaping (DeviceImport.State) throws -> Void = { _ in }
    ) async throws -> (state: DeviceImport.State, rejects: [DeviceImport.Reject]) {
        let source = try #require(FileHandle(forReadingAtPath: path))
        let start = start ?? ImportCheckpoint(sourceBytes: 0)
        try source.seek(toOffset: UInt64(start.offset))
        var rejects: [DeviceImport.Reject] = []
        let target = DeviceImport.Target(
            write: { rows, turn async throws(StoreError) in
                try await turn()
                return try database.write(rows)
            },
            identifiers: TestIdentifiers(),
            batchesAtOnce: 2
        )
        var work = DeviceImport(.columns(format), target: target, reject: { rejects.append($0) }, done: done)
        work.batchRows = 500
        return (try await work.run(source, from: start), rejects)
    }

    private func table(_ count: Int) -> String {
        // The file has a byte order mark, a name with a line end, and a bad row in every hundred.
        "\u{FEFF}key,token,name\r\n"
            + (0..<count).map { number in
                number % 100 == 99
                    ? "k\(number),nohex,\r\n" : "k\(number),\(String(format: "%08x", number)),\"two\nlines\"\r\n"
            }.joined()
    }

    @Test func fileIsImportedInOrderAndBadRowsAreReported() async throws {
        let path = try file(table(1234))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let database = Database()
        let (state, rejects) = try await importing(path, .csv, into: database)
        #expect(state.checkpoint.created == 1222 && state.checkpoint.rejected == 12)
        #expect(database.rows.map { $0.key?.rawValue } == (0..<1234).filter { $0 % 100 != 99 }.map { "k\($0)" })
        // Each row has two lines, a bad row has one.
        #expect(rejects.map(\.line) == (0..<12).map { 2 + $0 * 199 + 198 })
        #expect(rejects.first?.text.contains("k99,nohex") == true)
    }

    @Test func killedImportContinuesWithoutLossOrDuplicates() async throws {
        let path = try file(table(3000))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let size = try #require(FileManager.default.contents(atPath: path)).count
        let all = (0..<3000).filter { $0 % 100 != 99 }.map { "k\($0)" }
        for call in 1...6 {
            let database = Database()
            database.fail(at: call)
            let checkpoint = path + ".checkpoint"
            defer { try? FileManager.default.removeItem(atPath: checkpoint) }
            await #expect(throws: StoreError.self) {
                _ = try await importing(path, .csv, into: database, from: ImportCheckpoint(sourceBytes: size)) {
                    state in
                    try state.checkpoint.write(checkpoint)
                }
            }
            database.fail(at: .max)
            let start = try ImportCheckpoint.read(checkpoint) ?? ImportCheckpoint(sourceBytes: size)
            let (state, rejects) = try await importing(path, .csv, into: database, from: start)
            #expect(database.rows.compactMap { $0.key?.rawValue } == all)
            #expect(state.checkpoint.created == 2970 && state.checkpoint.rejected == 30)
            #expect(rejects.allSatisfy { $0.line > start.line - 1 })
        }
    }

    @Test func rowThatTheDatabaseRefusesIsFoundAndTheOthersAreImported() async throws {
        let lines = (0..<20).map { #"{"key":"k\#($0)","user":"\#($0 == 7 ? "poison" : "u")"}"# }
        let path = try file(lines.joined(separator: "\n"))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let (state, rejects) = try await importing(path, .ndjson, into: Database())
        #expect(state.checkpoint.created == 19 && rejects.map(\.line) == [8])
    }

    @Test func rowsWithDecisionsOfUsersAreCounted() async throws {
        let rows = [
            #"{"key":"k1","token":"0000aa01"}"#, #"{"key":"k2","token":"0000aa02","acceptsPush":true}"#,
            #"{"key":"k3","token":"0000aa03","acceptsPush":false}"#,
        ]
        let path = try file(rows.joined(separator: "\n") + "\n")
        defer { try? FileManager.default.removeItem(atPath: path) }
        let found = try await importing(path, .ndjson, into: Database())
        #expect(found.rejects.isEmpty && found.state.checkpoint.created == 3)
        #expect(found.state.checkpoint.consents == 2 && found.state.checkpoint.optOuts == 1)
    }

    /// The batches that were written at the same time.
    private final class Overlaps: Sendable {
        private let state = Mutex((running: [[DeviceRegistration]](), most: 0, clashes: 0))

        var most: Int { state.withLock { $0.most } }
        var clashes: Int { state.withLock { $0.clashes } }

        func enter(_ rows: [DeviceRegistration]) {
            state.withLock { state in
                let names = Set(rows.map(\.token))
                state.clashes += state.running.count { !names.isDisjoint(with: $0.map(\.token)) }
                state.running.append(rows)
                state.most = max(state.most, state.running.count)
            }
        }

        func leave(_ rows: [DeviceRegistration]) {
            state.withLock { state in state.running.removeAll { $0.first?.key == rows.first?.key } }
        }
    }

    @Test(arguments: [true, false])
    func batchesThatShareATokenAreNeverWrittenConcurrently(sharing: Bool) async throws {
        // Every hundredth token is repeated in the next batch.
        let text =
            "key,token\n"
            + (0..<2000).map { number in
                let token = sharing && number % 100 == 0 ? number % 200 : number
                return "k\(number),\(String(format: "%08x", token))\n"
            }.joined()
        let path = try file(text)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let source = try #require(FileHandle(forReadingAtPath: path))
        let overlaps = Overlaps()
        let target = DeviceImport.Target(
            write: { rows, turn async throws(StoreError) in
                overlaps.enter(rows)
                try? await Task.sleep(for: .milliseconds(20))
                try await turn()
                overlaps.leave(rows)
                return .init(created: rows.count)
            },
            identifiers: TestIdentifiers(),
            batchesAtOnce: 2
        )
        var work = DeviceImport(.columns(.csv), target: target, reject: { _ in }, done: { _ in })
        work.batchRows = 200
        let state = try await work.run(source, from: ImportCheckpoint(sourceBytes: 0))
        #expect(state.checkpoint.created == 2000 && overlaps.clashes == 0)
        #expect(overlaps.most == (sharing ? 1 : 2))
    }

    @Test func tagsAreReadFromBothFormsAndWrittenUnchanged() throws {
        let headings = ["key", "tags"]
        func tags(_ record: String) throws -> [String]? {
            let fields = try DeviceLine.fields(csv: Array(record.utf8), headings: headings)
            return try DeviceLine.registration(fields, TestIdentifiers()).tags?.map(\.text)
        }
        #expect(try tags("k,VIP seoul;vip") == ["vip", "seoul", "vip"])
        #expect(try tags("k,;") == [] && tags("k,") == nil && tags("k") == nil)
        #expect(throws: DeviceLine.Fault.self) { try tags("k,a&b") }
        #expect(try row(#"{"key":"k","tags":["A","$UserId:{Kim}"]}"#).tags?.map(\.text) == ["a", "$UserId:Kim"])
        #expect(try row(#"{"key":"k","tags":[]}"#).tags == [] && row(#"{"key":"k","tags":null}"#).tags == nil)
        for bad in [#""a""#, "[1]", #"["a b"]"#] {
            #expect(throws: DeviceLine.Fault.self) { try row(#"{"key":"k","tags":\#(bad)}"#) }
        }
        let many = (0..<61).map { "t\($0)" }.joined(separator: " ")
        #expect(throws: DeviceLine.Fault.self) { try tags("k,\(many)") }
        let values: [(column: String, value: JSON?)] = [("key", "k"), ("tags", ["a", "$UserId:Kim"])]
        #expect(try tags(DeviceLine.line(values, .csv)) == ["a", "$UserId:Kim"])
        #expect(try row(DeviceLine.line(values, .ndjson)).tags?.count == 2)
    }

    @Test func theClientIsReadFromBothFormsAndWrittenUnchanged() throws {
        let client: JSONObject = ["appVersion": "=1", "model": "iPhone15,2"]
        let values: [(column: String, value: JSON?)] = [("key", "k"), ("client", .object(client))]
        let fields = try DeviceLine.fields(csv: Array(DeviceLine.line(values, .csv).utf8), headings: ["key", "client"])
        #expect(try DeviceLine.registration(fields, TestIdentifiers()).client.report == client)
        #expect(try row(DeviceLine.line(values, .ndjson)).client.report == client)
        #expect(try row(#"{"key":"k"}"#).client.isEmpty)
        #expect(throws: DeviceLine.Fault.self) { try row(#"{"key":"k","client":"iOS"}"#) }
    }

    @Test func unknownHeadingStopsTheImportWithItsName() async throws {
        for text in ["key,colour\nk,red\n", "key,key\n", "\"open\n"] {
            let path = try file(text)
            defer { try? FileManager.default.removeItem(atPath: path) }
            await #expect(throws: ImportProblem.self) { _ = try await importing(path, .csv, into: Database()) }
        }
    }

    @Test func otherFilesAreNotCheckpoints() throws {
        let path = try file(#"{"offset":-1}"#)
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(throws: ImportProblem.self) { try ImportCheckpoint.read(path) }
        #expect(try ImportCheckpoint.read(path + ".absent") == nil)
    }

    @Test func progressReportsShareRateAndRemainingTime() {
        let text = ProgressBar.text(done: 25, of: 100, rows: 5000, elapsed: .seconds(10))
        #expect(text == "[#######.......................] 25 %  5000 rows, 500/s, 30 s left")
        #expect(ProgressBar.text(done: 9, of: nil, rows: 9, elapsed: .seconds(3)) == "9 rows, 3/s")
    }

    /// A spreadsheet runs cells that begin with these characters. The import restores the texts.
    @Test(arguments: [
        "=HYPERLINK(\"http://x.example\")", "+82 10-1234-5678", "-1", "@SUM(A1)", "\t=1", "\r=1", "\r\n=1", "\n=1",
        "'=1",
        "''+1", "'", "''", "'quoted'", "plain", "1-2", "", "=", "'@",
    ])
    func anExportedCellIsNotAFormula(_ text: String) throws {
        let line = DeviceLine.line([("name", .string(text)), ("key", "k")], .csv)
        let cells = try CSV.fields(Array(line.utf8))
        let first = try #require(cells.first).utf8.first
        #expect(!Set("=+-@\t\r\n".utf8).contains(first ?? 0), "\(line)")
        let fields = try DeviceLine.fields(csv: Array(line.utf8), headings: ["name", "key"])
        #expect(fields["name"]?.string ?? "" == text)
        // Other formats contain the text itself.
        #expect(try JSONParser.parse(DeviceLine.line([("name", .string(text))], .ndjson))["name"]?.string == text)
    }
}
