import ArgumentParser
import DeviceFiles
import Foundation
import Model
import TestKit
import Testing

@testable import push_gateway

/// The options of `devices import`.
struct ImportOptionTests {
    private func fault(_ options: [String]) -> String? {
        do {
            _ = try Devices.Import.parse(["--tenant", "acme", "--app", "shop"] + options)
            return nil
        } catch {
            return Devices.Import.message(for: error)
        }
    }

    @Test(arguments: [
        ["a.csv"], ["a.csv.gz", "b.ndjson"], ["a.json", "--from", "braze", "--environment", "sandbox"],
        ["a.txt", "--from", "notificationhubs", "--vendor", "notificationhubs"], ["t.txt", "--map", "m.yaml"],
        ["-", "--format", "csv"], ["a.csv", "--as-of", "2026-03-02T01:00Z"],
        ["a.csv", "--as-of", "2026-03-02T01:00:00Z"],
        ["a.csv", "--compare"], ["a.csv", "--compare", "--max-difference", "0.5%"],
        ["a.csv", "--compare", "--max-difference", "0"],
    ])
    func allowedOptions(options: [String]) {
        #expect(fault(options) == nil)
    }

    @Test(arguments: [
        (["a.txt"], "does not indicate"), (["a.csv", "a.csv"], "twice"), (["a.csv", "-"], "standard input"),
        (["a.csv", "b.csv", "--rejects", "r"], "--rejects"), (["a.csv", "--as-of", "yesterday"], "--as-of"),
        (["a.csv", "--vendor", "nobody"], "--vendor"), (["a.csv", "--from", "nobody"], "--vendor"),
        (["a.csv", "--from", "ipns"], "--from"), (["a.csv", "--from", "braze", "--vendor", "ipns"], "--vendor"),
        (["a.csv", "--from", "braze", "--map", "m"], "--map"),
        (["a.csv", "--from", "braze", "--format", "csv"], "--format"),
        (["a.csv", "--environment", "sandbox"], "--from"), (["a.csv", "--export-app", "x"], "--from"),
        (["a", "--from", "braze", "--environment", "test"], "--environment"),
        (["a", "--map", "m", "--format", "ndjson"], "--map"), (["a.csv", "--max-difference", "1%"], "--compare"),
        (["a.csv", "--compare", "--dry-run"], "--dry-run"), (["a.csv", "--compare", "--max-difference", "x"], "share"),
        (["a.csv", "--compare", "--max-difference", "101%"], "share"),
    ])
    func refusedOptionsAreNamed(options: [String], name: String) {
        let text = fault(options)
        #expect(text?.contains(name) == true, "\(text ?? "allowed")")
    }

    @Test func sharesAreReadAndWritten() {
        #expect(Devices.Import.share("0.5%") == 0.005 && Devices.Import.share("0.005") == 0.005)
        #expect(
            Devices.Import.share("100%") == 1 && Devices.Import.share("-1") == nil && Devices.Import.share("") == nil
        )
        #expect(Devices.Import.percent(0.005) == "0.500 %" && Devices.Import.percent(1) == "100.000 %")
        #expect(Devices.Import.percent(0.000_01) == "0.001 %" && Devices.Import.percent(0) == "0.000 %")
    }

    @Test func aMapIsReadFromYAML() throws {
        let path = "\(ScratchFolder.root)/push-gateway-map-\(getpid())-\(UInt32.random(in: 0 ... .max)).yaml"
        defer { try? FileManager.default.removeItem(atPath: path) }
        func read(_ text: String) throws -> Set<String> {
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            return try MapFile.read(path).columns
        }
        let text = """
            key: { column: DEVICE_ID, prefix: "APNS:" }
            token: PSID
            acceptsPush: { column: PUSH_YN, yes: "Y" }
            environment: { column: APNS_MODE, values: { REAL: production, DEV: sandbox } }
            """
        #expect(try read(text) == ["DEVICE_ID", "PSID", "PUSH_YN", "APNS_MODE"])
        for wrong in ["token: [", "token: { column: A", "colour: C", "", String(repeating: " ", count: 70_000)] {
            #expect(throws: CommandFailure.self, "\(wrong.prefix(40))") { try read(wrong) }
        }
        #expect(throws: CommandFailure.self) { try MapFile.read(path + ".absent") }
    }
}

/// The maps of `docs/migration`.
struct MigrationMapTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../docs/migration").standardizedFileURL.path

    @Test(arguments: [
        (
            "upmc", "PNSID,DEVICE_ID,PSID,CUID,CNAME,PHONENUM,PUSH_YN,APNS_MODE,APP_VER,MODDATE",
            "APNS,6F0A,9f2c,GUEST,Hong,010-1,N,DEV,1.2,20260302100000",
            #"{"key":"APNS:6F0A","platform":"ios","token":"9f2c","name":"Hong","phone":"010-1","acceptsPush":false,"environment":"sandbox","appVersion":"1.2","registeredAt":"2026-03-02T01:00:00.000Z"}"#
        ),
        (
            "ipns", "DEVICE_ID,PUSH_TYPE,PUSH_TOKEN,USER_CN,PUSH_YN,START_TIME,END_TIME",
            "5B1C,ios,9f2c,E1,Y,0900,2100",
            #"{"key":"5B1C","platform":"ios","token":"9f2c","user":"E1","acceptsPush":true,"receivingWindow":"0900-2100"}"#
        ),
        (
            "rationalowl", "dRId,dt,pn,n", "d0d1,2,01022221111,Hong",
            #"{"key":"d0d1","platform":"ios","phone":"01022221111","name":"Hong"}"#
        ),
    ])
    func eachMapReadsItsTable(name: String, heading: String, row: String, wanted: String) throws {
        let map = try MapFile.read("\(Self.folder)/\(name).yaml")
        let fields = try map.fields(Array(row.utf8), headings: try map.headings(Array(heading.utf8)))
        let read = JSON.object(JSONObject(fields.map { ($0.key, $0.value) }))
        #expect(try read == JSONParser.parse(wanted))
    }
}
