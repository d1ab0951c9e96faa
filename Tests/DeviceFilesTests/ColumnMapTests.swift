import DeviceFiles
import Model
import TestKit
import Testing

/// Tables of other systems by maps of their columns.
@Suite struct ColumnMapTests {
    /// The map of `docs/operations.md`, for the table of an on-premises vendor.
    private static let map = """
        {
            "key": {"columns": ["PNSID", "DEVICE_ID"], "joint": ":"},
            "platform": {"column": "PNSID", "values": {"APNS": "ios", "FCM": "android"}},
            "token": "PSID",
            "user": {"column": "CUID", "absent": ["GUEST"]},
            "acceptsPush": {"column": "PUSH_YN", "yes": "Y"},
            "environment": {
                "column": "APNS_MODE", "values": {"REAL": "production", "DEV": "sandbox"}, "value": "production"
            },
            "registeredAt": {"column": "REGDATE", "offset": "+09:00"},
            "groups": {"column": "TEAMS", "separator": ";"},
            "tags": {"value": "imported"},
            "attributes": {"model": "DEVICE_MD"},
            "consents": {
                "ads": {
                    "column": "AD_YN", "yes": "Y", "at": {"column": "AD_DATE", "offset": "+09:00"}, "source": "crm"
                }
            }
        }
        """
    private static let heading =
        "PNSID,DEVICE_ID,PSID,CUID,PUSH_YN,APNS_MODE,REGDATE,TEAMS,DEVICE_MD,AD_YN,AD_DATE,OTHER"

    private func fields(_ row: String, _ map: String = Self.map, _ heading: String = Self.heading) throws -> [String:
        JSON]
    {
        let map = try ColumnMap(try JSONParser.parse(map))
        return try map.fields(Array(row.utf8), headings: try map.headings(Array(heading.utf8)))
    }

    private func read(_ row: String) throws -> JSON { .object(JSONObject(try fields(row).map { ($0.key, $0.value) })) }

    @Test func everyRuleIsApplied() throws {
        let row = "APNS,6F0A,9f2c,hong,N,DEV,2026-03-02 10:00:00.5,a; b,\"iPhone,2\",Y,20260301090000,x"
        #expect(
            try read(row)
                == JSONParser.parse(
                    """
                    {"key": "APNS:6F0A", "platform": "ios", "token": "9f2c", "user": "hong", "acceptsPush": false,
                    "environment": "sandbox", "registeredAt": "2026-03-02T01:00:00.000Z", "groups": ["a", "b"],
                    "tags": ["imported"], "attributes": {"model": "iPhone,2"},
                    "consents": {"ads": {"state": "subscribed", "at": "2026-03-01T00:00:00.000Z", "source": "crm"}}}
                    """
                )
        )
        // Empty cells are absent, and so are a guest and a key of which a part is missing.
        #expect(
            try read("FCM,,tok,GUEST,,,,,,,")
                == JSONParser.parse(
                    #"{"platform": "android", "token": "tok", "environment": "production", "tags": ["imported"]}"#
                )
        )
    }

    @Test func theExampleOfTheGuideIsRead() throws {
        let map = """
            {"key": {"column": "DEVICE_ID", "prefix": "APNS:"}, "token": "PSID", "user": "CUID",
            "acceptsPush": {"column": "PUSH_YN", "yes": "Y"}, "separator": ";"}
            """
        let row = try fields("d1;aa;u;Y", map, "DEVICE_ID;PSID;CUID;PUSH_YN")
        #expect(row == ["key": "APNS:d1", "token": "aa", "user": "u", "acceptsPush": true])
    }

    @Test(arguments: [
        ("APNS,d,aa,u,Y,PROD", "environment"), ("APNS,d,aa,u,Y,DEV,yesterday", "registeredAt"),
        ("XYZ,d,aa", "platform"), ("APNS,d,aa,u,Y,DEV,,,,Y,soon", "ads"), ("\"open", "has a quote"),
        (String(repeating: ",", count: 20), "has 21 fields"),
    ])
    func aRowThatCannotBeReadNamesItsColumn(row: String, start: String) {
        do {
            _ = try fields(row)
            Issue.record("taken: \(row)")
        } catch {
            #expect((error as? ColumnMap.Fault)?.what.hasPrefix(start) == true, "\(error)")
        }
    }

    @Test func aTimeWithoutAZoneNeedsAnOffset() throws {
        let map = #"{"key": "K", "registeredAt": "T"}"#
        #expect(try fields("k,2026-03-02T01:00:00Z", map, "K,T")["registeredAt"] == "2026-03-02T01:00:00Z")
        #expect(throws: ColumnMap.Fault.self) { try fields("k,2026-03-02 01:00:00", map, "K,T") }
        for wrong in ["2026-13-02", "2026-02-30", "20260302010", "20260302-xx"] {
            let map = #"{"key": "K", "registeredAt": {"column": "T", "offset": "-03:30"}}"#
            #expect(throws: ColumnMap.Fault.self, "\(wrong)") { try fields("k,\(wrong)", map, "K,T") }
        }
    }

    @Test(arguments: [
        ("[]", "must name"), (#"{"user":"U"}"#, "needs a key"), (#"{"key":"K","colour":"C"}"#, "'colour'"),
        (#"{"key":{"prefix":"x"}}"#, "key: needs"), (#"{"key":{"column":"K","color":"x"}}"#, "key.color"),
        (#"{"key":"K","acceptsPush":"P"}"#, "acceptsPush: needs"),
        (#"{"key":{"column":"K","yes":"Y"}}"#, "key: cannot"), (#"{"key":"K","separator":"ab"}"#, "separator"),
        (#"{"key":"K","client":"C"}"#, "client"), (#"{"key":"K","consents":{"ads":"A"}}"#, "consents.ads"),
        (#"{"key":"K","consents":"A"}"#, "consents"),
        (#"{"key":"K","registeredAt":{"column":"T","offset":"9"}}"#, "registeredAt.offset"),
        (#"{"key":{"columns":[]}}"#, "key: needs"), (#"{"key":{"column":{"a":1}}}"#, "key.column"),
    ])
    func aWrongMapNamesItsPart(map: String, start: String) throws {
        let json = try JSONParser.parse(map)
        do throws(ColumnMap.Fault) {
            _ = try ColumnMap(json)
            Issue.record("taken: \(map)")
        } catch {
            #expect(error.what.hasPrefix(start), "\(error.what)")
        }
    }

    @Test func aTableWithoutAColumnOfTheMapIsRefused() throws {
        let map = try ColumnMap(try JSONParser.parse(#"{"key": "K", "token": "T"}"#))
        #expect(map.columns == ["K", "T"])
        for heading in ["K", "K,T,K", "\"K"] {
            #expect(throws: ColumnMap.Fault.self, "\(heading)") { try map.headings(Array(heading.utf8)) }
        }
        #expect(throws: ColumnMap.Fault.self) { try map.headings([0xC8, 0xA3]) }
        #expect(try map.headings(Array("K,X,X,T".utf8)) == ["K", "X", "X", "T"])
    }

    @Test func randomRowsNeverTrap() throws {
        let map = try ColumnMap(try JSONParser.parse(Self.map))
        let headings = try map.headings(Array(Self.heading.utf8))
        var random = SplitMix(state: 5)
        let parts = [",", "\"", "Y", "APNS", "2026", "-", "김", "\u{0}", " ", "9999999999999999"].map { Array($0.utf8) }
        for _ in 0..<5000 {
            var row: [UInt8] = []
            for _ in 0..<Int.random(in: 0..<30, using: &random) { row += parts.randomElement(using: &random) ?? [0xFF] }
            if Bool.random(using: &random) { row.append(0xFF) }
            _ = try? map.fields(row, headings: headings)
        }
    }
}
