import ApplePayload
import Foundation
import Model
import Testing

/// The bytes of typed payloads. Expected values are Apple's own examples ("Generating a remote notification", "Starting and updating Live
/// Activities with ActivityKit push notifications", read 2026-11) or follow docs/contracts/apns.md#10 and docs/contracts/apns.md#17, written by hand.
struct PayloadEncoderTests {
    private func text(_ payload: APNsPayload, _ type: PushType = .alert) throws -> String {
        var encoder = PayloadEncoder()
        try encoder.encode(payload, for: type)
        return String(decoding: encoder.bytes, as: UTF8.self)
    }

    @Test func alertWithTitleSubtitleAndBody() throws {
        let alert = AlertContent(title: "Game Request", subtitle: "Five Card Draw", body: "Bob wants to play poker")
        let payload = APNsPayload(
            Aps(alert: .detailed(alert), category: "GAME_INVITATION"),
            custom: ["gameID": "12345678"]
        )
        #expect(
            try text(payload)
                == #"{"aps":{"alert":{"title":"Game Request","subtitle":"Five Card Draw","body":"Bob wants to play poker"},"#
                + #""category":"GAME_INVITATION"},"gameID":"12345678"}"#
        )
    }

    @Test func localizedAlertHasKeysAndArgumentsInsteadOfTexts() throws {
        let alert = AlertContent(
            title: .localized(key: "TITLE", arguments: ["Kim"]),
            subtitle: .localized(key: "SUBTITLE"),
            body: .localized(key: "GAME_PLAY_REQUEST_FORMAT", arguments: ["Shelly", "Rick"]),
            launchImage: "splash"
        )
        #expect(
            try text(APNsPayload(Aps(alert: .detailed(alert))))
                == #"{"aps":{"alert":{"title-loc-key":"TITLE","title-loc-args":["Kim"],"subtitle-loc-key":"SUBTITLE","#
                + #""loc-key":"GAME_PLAY_REQUEST_FORMAT","loc-args":["Shelly","Rick"],"launch-image":"splash"}}}"#
        )
    }

    @Test func badgeAndSoundAlone() throws {
        #expect(
            try text(APNsPayload(Aps(badge: 9, sound: .named("bingbong.aiff"))))
                == #"{"aps":{"badge":9,"sound":"bingbong.aiff"}}"#
        )
        #expect(try text(APNsPayload(Aps(badge: 0))) == #"{"aps":{"badge":0}}"#)
    }

    @Test func criticalSoundIsADictionary() throws {
        let aps = Aps(sound: .critical(name: "alarm.caf", volume: 0.75), interruptionLevel: .critical)
        #expect(
            try text(APNsPayload(aps))
                == #"{"aps":{"sound":{"critical":1,"name":"alarm.caf","volume":0.75},"interruption-level":"critical"}}"#
        )
    }

    @Test func everyOtherKeyOfTheDictionaryHasApplesName() throws {
        let aps = Aps(
            alert: .text("Hi"),
            threadID: "t",
            category: "c",
            isContentAvailable: true,
            isContentMutable: true,
            targetContentID: "w",
            interruptionLevel: .timeSensitive,
            relevanceScore: 1,
            filterCriteria: "work",
            urlArguments: ["a", "b/c"]
        )
        #expect(
            try text(APNsPayload(aps))
                == #"{"aps":{"alert":"Hi","thread-id":"t","category":"c","content-available":1,"mutable-content":1,"#
                + #""target-content-id":"w","interruption-level":"time-sensitive","relevance-score":1,"#
                + #""filter-criteria":"work","url-args":["a","b/c"]}}"#
        )
        #expect(Aps.InterruptionLevel.allCases.map(\.rawValue) == ["passive", "active", "time-sensitive", "critical"])
    }

    @Test func backgroundWidgetsControlsAndMDM() throws {
        let background = APNsPayload(Aps(isContentAvailable: true), custom: ["sync": true])
        #expect(try text(background, .background) == #"{"aps":{"content-available":1},"sync":true}"#)
        #expect(try text(APNsPayload(.contentChanged), .widgets) == #"{"aps":{"content-changed":true}}"#)
        #expect(try text(APNsPayload(.contentChanged), .controls) == #"{"aps":{"content-changed":true}}"#)
        #expect(try text(APNsPayload(.mdm(pushMagic: "A1-B2")), .mdm) == #"{"mdm":"A1-B2"}"#)
        #expect(try text(APNsPayload(Aps()), .voip) == #"{"aps":{}}"#)
    }

    // MARK: Live Activities

    @Test func liveActivityStart() throws {
        let start = LiveActivity.Start(
            attributesType: "AdventureAttributes",
            attributes: JSONObject([
                ("currentHealthLevel", JSON.int(100)), ("eventDescription", JSON.string("Adventure has begun!")),
            ]),
            asksForToken: true,
            channel: ChannelID("dHN0LXNyY2gtY2hubA==")
        )
        let activity = LiveActivity(
            .start(start),
            timestamp: Timestamp(milliseconds: 1_234_999),
            contentState: JSONObject([("currentHealthLevel", JSON.int(100))]),
            alert: LiveActivity.Alert(
                title: .localized(key: "%@ is on an adventure!", arguments: ["Power Panda"]),
                body: "Tap to follow",
                sound: "chime.aiff"
            )
        )
        #expect(
            try text(APNsPayload(.liveActivity(activity)), .liveActivity)
                == #"{"aps":{"timestamp":1234,"event":"start","content-state":{"currentHealthLevel":100},"#
                + #""attributes-type":"AdventureAttributes","attributes":{"currentHealthLevel":100,"#
                + #""eventDescription":"Adventure has begun!"},"input-push-token":1,"input-push-channel":"dHN0LXNyY2gtY2hubA==","#
                + #""alert":{"title":{"loc-key":"%@ is on an adventure!","loc-args":["Power Panda"]},"body":"Tap to follow","#
                + #""sound":"chime.aiff"}}}"#
        )
    }

    @Test func liveActivityUpdateAndEnd() throws {
        let state = JSONObject([("home", JSON.int(2)), ("away", JSON.int(1))])
        let update = LiveActivity(
            .update,
            timestamp: Timestamp(seconds: 1_790_000_000),
            contentState: state,
            staleDate: Timestamp(seconds: 1_790_000_900),
            relevanceScore: 75.5
        )
        #expect(
            try text(APNsPayload(.liveActivity(update)), .liveActivity)
                == #"{"aps":{"timestamp":1790000000,"event":"update","content-state":{"home":2,"away":1},"stale-date":1790000900,"#
                + #""relevance-score":75.5}}"#
        )
        let end = LiveActivity(.end(dismissalDate: Timestamp(seconds: 0)), timestamp: Timestamp(seconds: 1_790_000_000))
        #expect(
            try text(APNsPayload(.liveActivity(end)), .liveActivity)
                == #"{"aps":{"timestamp":1790000000,"event":"end","dismissal-date":0}}"#
        )
    }

    // MARK: JSON

    /// RFC 8259 §7: only characters that must be escaped are escaped, because payloads are counted in bytes.
    @Test(arguments: [
        ("plain", #"plain"#), ("say \"hi\"", #"say \"hi\""#), (#"C:\x"#, #"C:\\x"#), ("a\nb\tc\rd", #"a\nb\tc\rd"#),
        ("\u{8}\u{C}", #"\b\f"#), ("\u{0}\u{1}\u{1F}", #"\u0000\u0001\u001f"#), ("/\u{7F}\u{2028}", "/\u{7F}\u{2028}"),
        ("소포 🎁 é", "소포 🎁 é"), ("", ""), ("\"", #"\""#), (#"\\"#, #"\\\\"#),
        (
            "a long text that is longer than a vector, with one \" in it",
            #"a long text that is longer than a vector, with one \" in it"#
        ),
    ])
    func stringsHaveOnlyTheEscapesThatJSONRequires(text plain: String, expected: String) throws {
        #expect(try text(APNsPayload(Aps(alert: .text(plain)))) == #"{"aps":{"alert":"\#(expected)"}}"#)
    }

    /// Another parser reads the same text back, for every scalar below 0x800 and a sample above.
    @Test func foundationReadsBackEveryText() throws {
        let values = Array(0..<0x800) + [0xFFFD, 0xFFFF, 0x1F381, 0x10FFFF]
        let scalars = values.compactMap { Unicode.Scalar(UInt32($0)) }
        var encoder = PayloadEncoder()
        for start in stride(from: 0, to: scalars.count, by: 500) {
            let part = Array(scalars[start..<min(start + 500, scalars.count)])
            let text = String(String.UnicodeScalarView(part))
            try encoder.encode(APNsPayload(Aps(alert: .text(text))), for: .alert)
            let read = try JSONSerialization.jsonObject(with: Data(encoder.bytes)) as? [String: [String: String]]
            #expect(read?["aps"]?["alert"].map { Array($0.unicodeScalars) } == part)
        }
    }

    @Test func customKeysKeepTheirOrderAndTheirValues() throws {
        let nested: JSON = .object(
            JSONObject([("b", JSON.array([1, .null, .number("-2.50e3"), false])), ("a", JSON.object(JSONObject()))])
        )
        let payload = APNsPayload(Aps(badge: 1), custom: ["zeta": 1, "alpha": nested, "k\"ey": "v"])
        #expect(
            try text(payload)
                == #"{"aps":{"badge":1},"zeta":1,"alpha":{"b":[1,null,-2.50e3,false],"a":{}},"k\"ey":"v"}"#
        )
    }

    @Test(arguments: [
        (0.5, "0.5"), (0, "0"), (1, "1"), (0.1, "0.1"), (1e-7, "1e-07"), (Double.leastNonzeroMagnitude, "5e-324"),
    ])
    func numberIsWrittenAsJSON(value: Double, expected: String) throws {
        #expect(
            try text(APNsPayload(Aps(badge: 1, relevanceScore: value)))
                == #"{"aps":{"badge":1,"relevance-score":\#(expected)}}"#
        )
    }

    @Test(arguments: [Int.max, 1_234_567_890]) func largeIntegerIsExact(value: Int) throws {
        #expect(try text(APNsPayload(Aps(badge: value))) == #"{"aps":{"badge":\#(value)}}"#)
    }

    @Test func encoderIsUsedAgainAndLeavesNothingBehind() throws {
        var encoder = PayloadEncoder()
        try encoder.encode(APNsPayload(Aps(alert: .text(String(repeating: "x", count: 3000)))), for: .alert)
        let first = encoder.copy()
        try encoder.encode(APNsPayload(Aps(badge: 1)), for: .alert)
        #expect(String(decoding: encoder.bytes, as: UTF8.self) == #"{"aps":{"badge":1}}"#)
        #expect(first.count == 3000 + #"{"aps":{"alert":""}}"#.utf8.count)
        #expect(throws: PushFault.self) { try encoder.encode(APNsPayload(Aps()), for: .alert) }
        #expect(encoder.bytes.isEmpty)
    }

    // MARK: Size

    /// "4096 bytes for everything except 5120 for voip", counted in encoded UTF-8.
    @Test(arguments: [(PushType.alert, 4096), (.voip, 5120), (.unknown("newkind"), 4096)])
    func limitIsCountedInEncodedBytes(type: PushType, limit: Int) throws {
        let frame = #"{"aps":{"alert":""}}"#.utf8.count
        for filler in ["x", "é", "\"", "\u{1}"] {
            let width = try text(APNsPayload(Aps(alert: .text(filler))), type).utf8.count - frame
            let fits = (limit - frame) / width
            let rest = String(repeating: "y", count: limit - frame - fits * width)
            let exact = String(repeating: filler, count: fits) + rest
            #expect(try text(APNsPayload(Aps(alert: .text(exact))), type).utf8.count == limit)
            let fault = PushFault("payload", .tooLong(limit: limit), .payloadTooLarge)
            #expect(throws: fault) { try text(APNsPayload(Aps(alert: .text(exact + "y"))), type) }
            #expect(throws: fault) { try text(APNsPayload(Aps(alert: .text(exact + filler))), type) }
        }
    }

    @Test func oversizedTextIsRefusedWithoutEncodingIt() throws {
        var encoder = PayloadEncoder()
        let endless = String(repeating: "\u{1}", count: 1_000_000)
        for payload in [
            APNsPayload(Aps(alert: .text(endless))), APNsPayload(Aps(badge: 1), custom: ["k": .string(endless)]),
            APNsPayload(Aps(badge: 1), custom: ["k": .number(String(repeating: "1", count: 1_000_000))]),
            APNsPayload(Aps(badge: 1), custom: ["k": .array(Array(repeating: .null, count: 1_000_000))]),
        ] {
            #expect(throws: PushFault("payload", .tooLong(limit: 4096), .payloadTooLarge)) {
                try encoder.encode(payload, for: .alert)
            }
        }
    }
}
