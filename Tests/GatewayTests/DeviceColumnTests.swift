import Foundation
import Model
import TestKit
import Testing
import TransferStore

@testable import Imports
@testable import Store

/// The columns about users and times, and that an export is read as it was written.
@Suite struct DeviceColumnTests {
    private func row(_ json: String) throws -> DeviceRegistration {
        try DeviceLine.registration(try DeviceLine.fields(json: Array(json.utf8)), TestIdentifiers())
    }

    private func row(csv line: String, _ headings: [String]) throws -> DeviceRegistration {
        let fields = try DeviceLine.fields(csv: Array(line.utf8), headings: headings)
        return try DeviceLine.registration(fields, TestIdentifiers())
    }

    @Test func columnsAreReadFromBothForms() throws {
        let time = try #require(Timestamp(rfc3339: "2026-03-02T01:00:00.250Z"))
        let json = try row(
            """
            {"key":"k","user":"u","acceptsPush":false,"badge":3,"registeredAt":"2026-03-02T10:00:00.25+09:00",\
            "appVersion":"1.2","client":{"appVersion":"1.0","model":"m"},"groups":["b b","a","a"],\
            "consents":{"sale":"unsubscribed",\
            "news":{"state":"subscribed","at":"2026-03-02T01:00:00.250Z","source":"crm"}}}
            """
        )
        #expect(json.imported.acceptsPush == false && json.imported.badge == 3 && json.imported.registeredAt == time)
        #expect(json.client[.appVersion] == "1.2" && json.client[.model] == "m")
        #expect(json.imported.groups == ["a", "b b"])
        #expect(
            json.imported.consents == [
                RecordedConsent(subject: "news", state: .subscribed, at: time, source: "crm"),
                RecordedConsent(subject: "sale", state: .unsubscribed),
            ]
        )
        let csv = try row(
            csv: #"k,u,true,0,"[""a""]","{""news"":""subscribed""}""#,
            ["key", "user", "acceptsPush", "badge", "groups", "consents"]
        )
        #expect(csv.imported.acceptsPush == true && csv.imported.badge == 0 && csv.imported.groups == ["a"])
        #expect(csv.imported.consents == [RecordedConsent(subject: "news", state: .subscribed)])
        #expect(try row(#"{"key":"k"}"#).imported == ImportedFacts())
    }

    @Test(arguments: [
        (#"{"key":"k","acceptsPush":"maybe"}"#, "acceptsPush"), (#"{"key":"k","badge":-1}"#, "badge"),
        (#"{"key":"k","badge":1.5}"#, "badge"), (#"{"key":"k","badge":99999999999}"#, "badge"),
        (#"{"key":"k","registeredAt":"yesterday"}"#, "registeredAt"),
        (#"{"key":"k","consents":{"news":"subscribed"}}"#, "consents"),
        (#"{"key":"k","groups":["g"]}"#, "groups"), (#"{"key":"k","user":"u","groups":"g"}"#, "groups"),
        (#"{"key":"k","user":"u","groups":[""]}"#, "groups"),
        (#"{"key":"k","user":"u","consents":{"news":"perhaps"}}"#, "consents"),
        (#"{"key":"k","user":"u","consents":{"news":{"state":"subscribed","at":"soon"}}}"#, "consents"),
        (#"{"key":"k","user":"u","consents":{"":"subscribed"}}"#, "consents"),
    ])
    func anInvalidColumnNamesItsFault(json: String, start: String) {
        do throws(DeviceLine.Fault) {
            let fields = try DeviceLine.fields(json: Array(json.utf8))
            _ = try DeviceLine.registration(fields, TestIdentifiers())
            Issue.record("taken: \(json)")
        } catch {
            #expect(error.reason.hasPrefix(start), "\(error.reason)")
        }
    }

    @Test func aCheckpointKeepsTheCountsAndTheTimeOfTheFile() throws {
        let path = "\(ScratchFolder.root)/push-gateway-checkpoint-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        defer { try? FileManager.default.removeItem(atPath: path) }
        var checkpoint = ImportCheckpoint(sourceBytes: 9)
        (checkpoint.unchanged, checkpoint.older) = (3, 4)
        (checkpoint.optOuts, checkpoint.consents) = (5, 6)
        checkpoint.asOf = "2026-03-02T01:00:00Z"
        try checkpoint.write(path)
        #expect(try ImportCheckpoint.read(path) == checkpoint)
        // As an earlier version writes it.
        let old =
            #"{"sourceBytes":9,"offset":0,"line":1,"created":0,"updated":2,"rejected":0,"rejectBytes":0,"headings":[]}"#
        try old.write(toFile: path, atomically: true, encoding: .utf8)
        let read = try #require(try ImportCheckpoint.read(path))
        #expect(read.updated == 2 && read.unchanged == 0 && read.older == 0 && read.asOf == nil)
    }

    // MARK: Round trips

    private typealias Exported = (device: DeviceFacts, identity: IdentityEntry, facts: ExportedFacts)

    /// The device that an import of the row into an empty app stores.
    private func stored(_ row: DeviceRegistration) throws -> Exported {
        let registeredAt = row.imported.registeredAt ?? Timestamp(milliseconds: 0)
        let device = DeviceFacts(
            id: DeviceID(UUID()),
            app: "shop",
            platform: row.platform,
            environment: row.environment ?? .production,
            token: row.token,
            tokenState: row.token == nil ? TokenState.none : .active,
            tokenRegisteredAt: nil,
            createdAt: registeredAt,
            clock: row.clock,
            identities: []
        )
        let identity = IdentityEntry(
            id: IdentityID(UUID()),
            vendor: .native,
            key: try #require(row.key),
            state: .active,
            user: row.user,
            name: row.name,
            phone: row.phone,
            acceptsPush: row.imported.acceptsPush ?? true,
            attributes: row.attributes,
            client: row.client,
            registeredAt: registeredAt,
            assurance: .claimed,
            tags: row.tags ?? []
        )
        let facts = ExportedFacts(
            consents: row.imported.consents,
            groups: row.imported.groups ?? [],
            badge: row.imported.badge.map { Int($0) }
        )
        return (device, identity, facts)
    }

    private static let texts = [
        "plain", "김철수", "a,b", "say \"hi\"", "two\nlines", "=1+1", "'quoted", " spaces ", "+82", "{}", "\t",
    ]

    private func registration(_ number: Int, _ random: inout SplitMix) -> DeviceRegistration {
        func text() -> String? { Bool.random(using: &random) ? Self.texts.randomElement(using: &random) : nil }
        let user = text()
        var row = DeviceRegistration(
            key: VendorDeviceKey("k\(number)\(text() ?? "")"),
            platform: .ios,
            environment: Bool.random(using: &random) ? .sandbox : .production,
            token: Bool.random(using: &random) ? DeviceToken(apns: String(format: "%08x", number)) : nil,
            user: user.map { UserID($0) },
            name: text(),
            phone: Bool.random(using: &random) ? "0101234\(number)" : nil
        )
        if let text = text() { row.attributes = ["a": .string(text), "n": ["x": [1, .null]]] }
        if Bool.random(using: &random) { row.tags = ["seoul", "vip"].compactMap { Tag($0) } }
        if Bool.random(using: &random) { row.clock.timeZone = TimeZoneName("Asia/Seoul") }
        if Bool.random(using: &random) { row.clock.window = DailyWindow("0900-2100") }
        if Bool.random(using: &random) { row.client.set(.appVersion, "=\(number).1") }
        if Bool.random(using: &random) { row.client.set(.model, "iPhone15,2") }
        row.imported.acceptsPush = Bool.random(using: &random)
        row.imported.registeredAt = Timestamp(milliseconds: 1_790_000_000_000 + Int64(number) * 977)
        if Bool.random(using: &random) { row.imported.badge = Int32.random(in: 0...99, using: &random) }
        if user != nil, Bool.random(using: &random) { row.imported.groups = ["a b", "g,1", "김"] }
        if user != nil, Bool.random(using: &random) {
            row.imported.consents = [
                RecordedConsent(subject: "news", state: .subscribed, at: row.imported.registeredAt, source: "import/1"),
                RecordedConsent(subject: "sale, \"now\"", state: .unsubscribed),
            ]
        }
        return row
    }

    /// import(export(x)) = x, byte for byte.
    @Test(arguments: DeviceFormat.allCases, [1, 2, 3] as [UInt64])
    func anExportIsReadAsItWasWritten(_ format: DeviceFormat, _ seed: UInt64) throws {
        var random = SplitMix(state: seed)
        for number in 0..<200 {
            let first = try stored(registration(number, &random))
            let values = DeviceLine.values(first.device, first.identity, first.facts)
            #expect(values.map { $0.column } == DeviceLine.columns)
            let line = DeviceLine.line(values, format)
            let read =
                switch format {
                case .csv: try row(csv: line, DeviceLine.columns)
                case .ndjson: try row(line)
                }
            let second = try stored(read)
            let again = DeviceLine.line(DeviceLine.values(second.device, second.identity, second.facts), format)
            #expect(again == line, "seed \(seed)")
            #expect(second.facts == first.facts && second.identity.attributes == first.identity.attributes)
        }
    }
}
