import FoundationEssentials
import Model
import RationalOwl
import Testing

/// The push that the device receives (docs/contracts/rationalowl.md#6).
struct RationalOwlPayloadTests {
    static func notification(_ content: Content, message: String = Sample.messageText) throws -> Notification {
        Notification(
            message: try Sample.message(message),
            origin: .rationalOwl,
            content: content,
            sentAt: Timestamp(milliseconds: 1_731_999_999_123),
            collapseID: "the caller's own wish"
        )
    }

    static func payload(
        _ content: Content,
        message: String = Sample.messageText,
        platform: Platform = .ios,
        settings: JSONObject = JSONObject(),
        key: VendorDeviceKey = "d0d1d2d3d4d5d6d7d8d9dadbdcdddedf"
    ) throws -> PushPayload {
        let target = TargetFacts(
            target: TargetID(UUID()),
            identity: IdentityID(UUID()),
            device: nil,
            app: "shop",
            vendor: .rationalOwl,
            key: key,
            destination: PushDestination(
                platform: platform,
                environment: .sandbox,
                token: nil,
                tokenState: .active
            )
        )
        return try Mount.adapter.payload(
            for: notification(content, message: message),
            to: target,
            settings: BindingSettings(values: settings)
        )
    }

    static let image = MediaReference(id: "9d5a0c7be1f74d0c8f0d3f6b1a2c4e5d", hash: "00")

    /// docs/contracts/rationalowl.md#6.2: the collapse id is the message id; a caller's own collapse id is ignored.
    @Test func alertPushIsTheDocumentedOne() throws {
        let payload = try Self.payload(Content(title: "공지", body: "공지사항입니다~", media: Self.image))
        #expect(try JSONParser.parse(payload.bytes) == (try Fixture.json("payload/alert.json")))
        #expect(payload.type == .alert)
        #expect(payload.priority == 10)
        #expect(payload.collapseID == Sample.messageText)
        #expect(payload.reduced.isEmpty)
    }

    /// Because of this, the engine can encode the payload once per slice.
    @Test func payloadIsTheSameForEveryDevice() throws {
        let content = Content(title: "공지", body: "공지사항입니다~", media: Self.image)
        #expect(!Mount.adapter.isPersonal)
        #expect(try Self.payload(content, key: "a") == Self.payload(content, key: "b"))
    }

    /// docs/contracts/rationalowl.md#6.3.
    @Test func silentPushIsTheDocumentedOne() throws {
        let payload = try Self.payload(
            Content(data: keyed(["numberData": 11111, "stringData": "what you want"]), isSilent: true),
            message: "b2a1d6de-6b0e-4d0c-a9a7-6f0f5fd2a001"
        )
        #expect(try JSONParser.parse(payload.bytes) == (try Fixture.json("payload/silent.json")))
        #expect(payload.type == .background)
        #expect(payload.priority == 5)
        #expect(payload.collapseID == nil)
    }

    /// docs/contracts/rationalowl.md#16.5: 1000 syllables are 9.2 KB before shortening, and 3.8 KB after the first
    /// two steps.
    @Test func aThousandSyllablesFitByCuttingTheCopiesAlone() throws {
        let body = String(repeating: "가", count: 1000)
        let payload = try Self.payload(Content(title: "공지", body: body))
        let json = try JSONParser.parse(payload.bytes)
        #expect(payload.bytes.count <= 4096)
        #expect(payload.reduced == ["alert.body", "notiBody"])
        #expect(json["body"]?.string == body)
        #expect(json["aps"]?["alert"]?["body"]?.string == String(repeating: "가", count: 100))
        #expect(json["notiBody"]?.string == String(repeating: "가", count: 100))
        for key in ["mId", "type", "title", "body", "st", "notiTitle", "notiBody"] {
            #expect(json[key]?.string != nil, "\(key) must be there, and a string")
        }
    }

    /// docs/contracts/rationalowl.md#6.2: alert.body is shortened first, and only that if it is sufficient.
    @Test func cuttingStopsAsSoonAsItFits() throws {
        let payload = try Self.payload(Content(title: "t", body: String(repeating: "b", count: 1400)))
        #expect(payload.reduced == ["alert.body"])
    }

    /// docs/contracts/rationalowl.md#6.2: then the copies of the title to 40 characters, then the body with "…".
    @Test func textsAreShortenedInTheDocumentedOrder() throws {
        let body = String(repeating: "나", count: 2000)
        let title = String(repeating: "제", count: 90)
        let payload = try Self.payload(Content(title: title, body: body))
        let json = try JSONParser.parse(payload.bytes)
        #expect(payload.reduced == ["alert.body", "notiBody", "alert.title", "notiTitle", "body"])
        #expect(payload.bytes.count <= 4096)
        #expect(payload.bytes.count > 4090)
        #expect(json["aps"]?["alert"]?["title"]?.string == String(repeating: "제", count: 40))
        #expect(json["notiTitle"]?.string == String(repeating: "제", count: 40))
        #expect(json["title"]?.string == title)
        #expect(json["body"]?.string?.hasSuffix("나…") == true)
    }

    /// docs/contracts/rationalowl.md#6.2: a title over 100 characters is cut with `…`.
    @Test func aTitleOverAHundredCharactersIsCutWithAnEllipsis() throws {
        let payload = try Self.payload(Content(title: String(repeating: "제", count: 101), body: "b"))
        let json = try JSONParser.parse(payload.bytes)
        #expect(json["title"]?.string == String(repeating: "제", count: 100) + "…")
        #expect(payload.reduced == ["title"])
        let whole = try Self.payload(Content(title: String(repeating: "제", count: 100), body: "b"))
        #expect(whole.reduced.isEmpty)
    }

    /// I5: the longest text that the send call accepts, with the characters that need the most bytes, still fits.
    @Test(arguments: ["가", "\u{1}", "\"", "\\", "👨‍👩‍👧‍👦", "e\u{301}", "\u{1F600}"])
    func everyAcceptedTextFits(unit: String) throws {
        let cost = KoreanText.byteCount(unit)
        let text = String(repeating: unit, count: RationalOwlLimits.textBytes / cost)
        let payload = try Self.payload(Content(title: text, body: text, media: Self.image))
        #expect(payload.bytes.count <= 4096)
        #expect((try? JSONParser.parse(payload.bytes)) != nil)
    }

    /// I5: one "character" of thousands of combining marks is cut by its bytes.
    @Test func aCharacterOfManyMarksIsCutToo() throws {
        let text = "a" + String(repeating: "\u{301}", count: 3000)
        #expect(try Self.payload(Content(title: text, body: "b " + text)).bytes.count <= 4096)
    }

    /// docs/contracts/rationalowl.md#6.2: without a title no `alert.title`, but empty `title` and `notiTitle`.
    @Test func withoutTitleTheCustomKeysStayAndAreEmpty() throws {
        let json = try JSONParser.parse(try Self.payload(Content(body: "b")).bytes)
        #expect(json["aps"]?["alert"] == ["body": "b"])
        #expect(json["title"] == "")
        #expect(json["notiTitle"] == "")
    }

    /// docs/contracts/rationalowl.md#6.2: an empty alert body would keep the extension from being called.
    @Test func anEmptyBodyShowsTheTitleAndNothingAtAllIsRefused() throws {
        let json = try JSONParser.parse(try Self.payload(Content(title: "t")).bytes)
        #expect(json["aps"]?["alert"]?["body"] == "t")
        #expect(throws: AdapterError(.invalid, field: "body")) { try Self.payload(Content()) }
    }

    /// docs/contracts/rationalowl.md#6.1: reserved keys belong to the server, and every value is a string.
    @Test func callersKeysAreStringsAndNeverReplaceReservedOnes() throws {
        let data = keyed([
            "mId": "x", "type": 9, "st": 0, "aps": [:], "silent": "1", "SystemPush": "1",
            "received-at": 1,
            "show-notification": true, "notiTitle": "x", "ii": "x", "number": 1, "flag": false,
            "list": [1, "a"], "nothing": .null, "imgUrl": "https://img.example.com/a.jpg",
        ])
        let json = try JSONParser.parse(try Self.payload(Content(title: "t", body: "b", data: data)).bytes)
        let expected: JSON = [
            "aps": ["alert": ["title": "t", "body": "b"], "sound": "default", "mutable-content": 1],
            "mId": .string(Sample.messageText), "type": "1", "title": "t", "body": "b", "st": "1731999999123",
            "notiTitle": "t", "notiBody": "b", "number": "1", "flag": "false", "list": "[1,\"a\"]",
            "imgUrl": "https://img.example.com/a.jpg",
        ]
        #expect(json == expected)
    }

    /// docs/contracts/rationalowl.md#6.2, "Urgent": the type alone; time-sensitive only if the app enables it.
    @Test func urgentIsTypeTwoAndTimeSensitiveOnlyBySetting() throws {
        let content = Content(title: "t", body: "b", isUrgent: true)
        let plain = try JSONParser.parse(try Self.payload(content).bytes)
        #expect(plain["type"] == "2")
        #expect(plain["aps"]?["interruption-level"] == nil)
        let enabled = try JSONParser.parse(
            try Self.payload(content, settings: keyed(["push.timeSensitive": true])).bytes
        )
        #expect(enabled["aps"]?["interruption-level"] == "time-sensitive")
    }

    /// docs/contracts/rationalowl.md#15, `push.duplicateNotiKeys`.
    @Test func notiKeysCanBeSwitchedOff() throws {
        let settings = keyed(["push": ["duplicateNotiKeys": false]])
        let json = try JSONParser.parse(try Self.payload(Content(title: "t", body: "b"), settings: settings).bytes)
        #expect(json["notiTitle"] == nil)
        #expect(json["notiBody"] == nil)
    }

    /// docs/contracts/rationalowl.md#6.5: a data message, no `aps`.
    @Test func androidGetsTheDataKeysAlone() throws {
        let payload = try Self.payload(Content(title: "t", body: "b", media: Self.image), platform: .android)
        let expected: JSON = [
            "mId": .string(Sample.messageText), "type": "1", "title": "t", "body": "b", "st": "1731999999123",
            "ii": "9d5a0c7be1f74d0c8f0d3f6b1a2c4e5d",
        ]
        #expect(try JSONParser.parse(payload.bytes) == expected)
    }

    /// Silent pushes and raw payloads are never cut: they carry data, not text.
    @Test func dataThatDoesNotFitIsRefused() throws {
        let big = keyed(["k": .string(String(repeating: "x", count: 5000))])
        #expect(throws: AdapterError(.tooLarge)) { try Self.payload(Content(data: big, isSilent: true)) }
        #expect(throws: AdapterError(.tooLarge)) { try Self.payload(Content(body: "b", data: big)) }
        #expect(throws: AdapterError(.tooLarge)) { try Self.payload(Content(raw: .object(big))) }
        let raw: JSON = ["aps": ["alert": "as it is"]]
        #expect(try JSONParser.parse(try Self.payload(Content(raw: raw)).bytes) == raw)
    }
}
