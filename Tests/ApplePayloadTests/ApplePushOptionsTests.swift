import ApplePayload
import Model
import Testing

/// Options of a message for Apple: their stored form, the push of the native format, and the changes to a vendor's payload.
struct ApplePushOptionsTests {
    private func options(_ change: (inout ApplePushOptions) -> Void) -> ApplePushOptions {
        var options = ApplePushOptions()
        change(&options)
        return options
    }

    private var full: ApplePushOptions {
        options {
            $0.type = .alert
            $0.priority = 5
            $0.collapseID = "order"
            $0.expiresAt = Timestamp(milliseconds: 1_790_000_000_000)
            $0.interruptionLevel = .timeSensitive
            $0.relevanceScore = 0.5
            $0.targetContentID = "window"
            $0.filterCriteria = "work"
            $0.isContentMutable = true
            $0.isContentAvailable = true
            $0.criticalVolume = 0.25
            $0.title = ApplePushOptions.Localized(key: "T", arguments: ["1", "2"])
            $0.subtitle = ApplePushOptions.Localized(key: "S")
            $0.body = ApplePushOptions.Localized(key: "B")
            $0.launchImage = "start"
            $0.urlArguments = ["a"]
        }
    }

    private func document(_ payload: PushPayload) throws -> JSON { try JSONParser.parse(payload.bytes) }

    private func fault(_ options: ApplePushOptions, _ content: Content) -> PushFault? {
        options.fault(in: content, custom: JSONObject(), collapseID: nil)
    }

    @Test func theStoredFormHoldsEverything() throws {
        let stored = try JSONParser.parse(JSONWriter.bytes(.object(full.json)))
        #expect(ApplePushOptions(stored: try #require(stored.object)) == full)
        #expect(ApplePushOptions().json.isEmpty)
        #expect(ApplePushOptions(stored: [:]) == ApplePushOptions())
        // Of a later version, or damaged: what cannot be read is left out.
        #expect(ApplePushOptions(stored: ["priority": "x", "title": [:], "new": 1]) == ApplePushOptions())
    }

    @Test func theNativePushHasEveryHeaderAndMember() throws {
        let payload = try full.push(
            Content(title: "t", body: "b", sound: "bell"),
            custom: ["k": 1],
            collapseID: "other"
        )
        #expect(payload.type == .alert && payload.priority == 5 && payload.collapseID == "order")
        #expect(payload.expiresAt == Timestamp(milliseconds: 1_790_000_000_000))
        let expected: JSON = [
            "aps": [
                "alert": [
                    "title-loc-key": "T", "title-loc-args": ["1", "2"], "subtitle-loc-key": "S", "loc-key": "B",
                    "launch-image": "start",
                ],
                "sound": ["critical": 1, "name": "bell", "volume": .number("0.25")], "content-available": 1,
                "mutable-content": 1, "target-content-id": "window", "interruption-level": "time-sensitive",
                "relevance-score": .number("0.5"), "filter-criteria": "work", "url-args": ["a"],
            ],
            "k": 1,
        ]
        #expect(try document(payload) == expected)
    }

    @Test func whatIsNotSaidIsTheMessagesOwn() throws {
        let payload = try ApplePushOptions().push(
            Content(title: "t", body: "b", badge: 2),
            custom: [:],
            collapseID: "c"
        )
        #expect(payload.type == .alert && payload.priority == 10 && payload.collapseID == "c")
        #expect(payload.expiresAt == nil)
        #expect(
            try document(payload)["aps"] == ["alert": ["title": "t", "body": "b"], "badge": 2, "sound": "default"]
        )
        // Without a text, the push has neither alert nor sound.
        let badge = try ApplePushOptions().push(Content(badge: 0), custom: [:], collapseID: nil)
        #expect(try document(badge)["aps"] == ["badge": 0])
        let silent = try ApplePushOptions().push(Content(isSilent: true), custom: [:], collapseID: nil)
        #expect(silent.type == .background && silent.priority == 5)
    }

    @Test func eachTypeHasItsOwnBody() throws {
        let widgets = try options { $0.type = .widgets }.push(Content(), custom: [:], collapseID: nil)
        #expect(try document(widgets) == ["aps": ["content-changed": true]])
        let voip = try options { $0.type = .voip }.push(Content(), custom: ["call": "1"], collapseID: nil)
        #expect(try document(voip) == ["aps": [:], "call": "1"])
    }

    // docs/contracts/apns.md#6 and #17: the rules of the typed payload decide, and those of the headers.
    @Test func combinationsThatAppleRefusesAreFaults() {
        let text = Content(body: "b")
        let cases: [(ApplePushOptions, Content, PushFault?)] = [
            (ApplePushOptions(), text, nil),
            (ApplePushOptions(), Content(), PushFault("aps.alert", .missing)),
            (options { $0.priority = 7 }, text, PushFault("apns-priority", .outOfRange("10, 5, 1"), .badPriority)),
            (
                options { $0.priority = 10 }, Content(isSilent: true),
                PushFault("apns-priority", .outOfRange("5, 1"), .badPriority)
            ),
            (
                options { $0.relevanceScore = 1.5 }, text,
                PushFault("aps.relevance-score", .outOfRange("0.0 through 1.0"))
            ),
            (
                options { $0.interruptionLevel = .active }, Content(isSilent: true),
                PushFault("aps.interruption-level", .notAllowed("in a background push"))
            ),
            (options { $0.type = .background }, text, PushFault("aps.content-available", .missing)),
            (options { $0.type = .widgets }, text, PushFault("aps.content-changed", .missing)),
            (options { $0.type = .mdm }, text, PushFault("mdm", .missing)),
            (options { $0.type = .liveActivity }, text, PushFault("aps.event", .missing)),
            (
                options { $0.isContentMutable = true }, Content(badge: 1),
                PushFault("aps.mutable-content", .notAllowed("without an alert"))
            ),
            (options { $0.title = .init(key: "") }, text, PushFault("aps.alert.title-loc-key", .missing)),
            (options { $0.criticalVolume = 2 }, text, PushFault("aps.sound.volume", .outOfRange("0.0 through 1.0"))),
            (
                options { $0.priority = 5 }, Content(raw: ["aps": ["alert": 1]]),
                PushFault("aps.alert", .malformed("a string or an object"))
            ),
            (
                options { $0.isContentAvailable = true }, Content(raw: ["aps": ["alert": "x"]]),
                PushFault("raw", .notAllowed("with members of aps; write them into it"))
            ),
            (options { $0.type = .mdm }, Content(raw: ["mdm": "magic"]), nil),
        ]
        for (options, content, expected) in cases { #expect(fault(options, content) == expected, "\(options.json)") }
        let long = options { $0.collapseID = String(repeating: "x", count: 65) }
        #expect(fault(long, text)?.reason == .badCollapseID)
        let large = Content(body: String(repeating: "x", count: 4_096))
        #expect(fault(ApplePushOptions(), large)?.isTooLarge == true)
    }

    // MARK: Other vendors

    @Test func aVendorsAlertGetsHeadersAndMembersAndKeepsItsOwn() throws {
        let bytes = JSONWriter.bytes(["aps": ["alert": "Hi", "sound": "bell"], "vendor": ["n": 1]])
        let payload = try full.amend(PushPayload(bytes: bytes, reduced: ["body"]))
        #expect(payload.priority == 5 && payload.collapseID == "order" && payload.reduced == ["body"])
        #expect(payload.expiresAt == full.expiresAt)
        let expected: JSON = [
            "aps": [
                "alert": "Hi", "sound": ["critical": 1, "name": "bell", "volume": .number("0.25")],
                "interruption-level": "time-sensitive", "relevance-score": .number("0.5"),
                "target-content-id": "window", "filter-criteria": "work", "mutable-content": 1, "content-available": 1,
            ],
            "vendor": ["n": 1],
        ]
        #expect(try document(payload) == expected)
    }

    // A vendor's background push stays one that Apple takes.
    @Test func aVendorsBackgroundPushKeepsItsDictionaryAndPriority() throws {
        let bytes = JSONWriter.bytes(["aps": ["content-available": 1], "m": "1"])
        let own = PushPayload(bytes: bytes, type: .background, priority: 5)
        let payload = try options {
            $0.priority = 10
            $0.interruptionLevel = .active
        }.amend(own)
        #expect(payload == own)
        #expect(try options { $0.priority = 1 }.amend(own).priority == 1)
    }

    @Test func aVendorsPayloadThatNoLongerFitsIsRefused() {
        let text = String(repeating: "x", count: 4_060)
        let bytes = JSONWriter.bytes(["aps": ["alert": .string(text)]])
        #expect(bytes.count <= 4_096)
        let fault = #expect(throws: PushFault.self) { try full.amend(PushPayload(bytes: bytes)) }
        #expect(fault?.isTooLarge == true)
    }
}
