import FoundationEssentials
import Model
import Testing

@testable import UPMC

/// Payloads by version, docs/contracts/upmc.md#1.7, docs/contracts/upmc.md#1.10 and the two examples of the vendor's document.
struct PayloadTests {
    private func target(_ key: VendorDeviceKey = "APNS:6F0A", badge: Int? = nil, variables: JSONObject = [:])
        -> TargetFacts
    {
        var facts = TargetFacts(
            target: TargetID(.init()),
            identity: IdentityID(.init()),
            device: nil,
            app: "shop",
            vendor: .upmc,
            key: key,
            person: TargetPerson(user: "hong", name: "Hong"),
            destination: PushDestination(
                platform: .ios,
                environment: .production,
                token: DeviceToken(stored: Fixture.token),
                tokenState: .active
            )
        )
        facts.badge = badge
        facts.variables = variables
        return facts
    }

    private func notification(_ content: Content, number: String? = "104") -> Model.Notification {
        Model.Notification(
            message: MessageID(.init()),
            origin: .upmc,
            content: content,
            sentAt: Mount.now,
            numbers: number.map { [.upmc: $0] } ?? [:]
        )
    }

    private func payload(_ content: Content, _ target: TargetFacts, _ settings: BindingSettings) throws -> JSON {
        let payload = try Mount.adapter.payload(for: notification(content), to: target, settings: settings)
        return try JSONParser.parse(payload.bytes)
    }

    private let hello = Content(
        body: "Hello",
        badge: 1,
        sound: "alert.aif",
        data: ["sender": "admin", "ext": "", "dbIn": "N"]
    )

    /// The keys of each documented version, as in the contract's block.
    private func documented(_ version: String) throws -> JSON {
        let text = try Fixture.text("payload/versions.txt")
        let blocks = text.split(separator: "// ").map { $0.split(separator: "\n", maxSplits: 1) }
        let block = blocks.first {
            $0[0].split(separator: ", ").contains {
                version.hasPrefix($0.prefix { $0 != "x" }) && ($0.hasSuffix("x") || $0 == version)
            }
        }
        let found = try #require(block)
        let aps = #"{"alert":"Hello","badge":1,"sound":"alert.aif"}"#
        return try JSONParser.parse(String(found[1].replacing("{…}", with: aps)))
    }

    private func keys(_ json: JSON?) -> [String] { (json?.object?.keys ?? []).sorted() }

    // docs/contracts/upmc.md#1.14, 6. `mutable-content` is sent only with its setting (#1.10.1).
    @Test(arguments: UPMCVersion.allCases)
    func everyVersionHasItsKeys(_ version: UPMCVersion) throws {
        let settings = Mount.settings(version.rawValue, version >= .v4EE ? ["mutableContent": "on"] : [:])
        let seen = try payload(hello, target(), settings)
        let wanted = try documented(version.rawValue)
        #expect(keys(seen["aps"]) == keys(wanted["aps"]))
        #expect(keys(seen["mps"]) == keys(wanted["mps"]))
        #expect(keys(seen) == ["aps", "mps"])
        #expect(seen["aps"] == wanted["aps"])
        for key in ["seqno", "sender", "ext", "senddate", "db_in"] where wanted["mps"]?[key] != nil {
            if key == "senddate" { continue }
            #expect(seen["mps"]?[key] == wanted["mps"]?[key])
        }
        for key in ["messageuniquekey", "pushkey"] where seen["mps"]?[key] != nil {
            #expect(seen["mps"]?[key]?.string?.utf8.count == 40)
        }
    }

    // Section 8 of the vendor's guide: the same keys and types, and the same values except for digests.
    @Test func theVendorsTwoExamplesMatchKeyForKey() throws {
        let settings = Mount.settings("4.0EE", ["applicationId": "com.uracle.push.test"])
        for (fixture, number) in [("payload/vendor-simple.json", "104"), ("payload/vendor-rich.json", "387")] {
            let wanted = try Fixture.json(fixture)
            var content = hello
            // The empty alert is the document's placeholder; a message with an empty alert cannot be sent.
            content.body = "x"
            content.badge = nil
            content.badgeStep = 1
            content.data["ext"] = wanted["mps"]?["ext"]
            let bytes = try Mount.adapter.payload(
                for: notification(content, number: number),
                to: target(badge: 1),
                settings: settings
            ).bytes
            let seen = try JSONParser.parse(bytes)
            #expect(keys(seen["aps"]) == keys(wanted["aps"]))
            #expect(keys(seen["mps"]) == keys(wanted["mps"]))
            #expect(seen["aps"]?["badge"] == wanted["aps"]?["badge"])
            #expect(seen["aps"]?["sound"] == wanted["aps"]?["sound"])
            for key in ["appid", "seqno", "sender", "senddate", "db_in", "ext"] {
                #expect(seen["mps"]?[key] == wanted["mps"]?[key], "\(key)")
            }
        }
    }

    @Test func theBadgeIsThatOfTheCounterOrOfTheCaller() throws {
        var counted = hello
        counted.badge = nil
        #expect(try payload(counted, target(), Mount.settings())["aps"]?["badge"] == nil)
        counted.badgeStep = 2
        #expect(try payload(counted, target(badge: 7), Mount.settings())["aps"]?["badge"] == 7)
        #expect(try payload(counted, target(), Mount.settings())["aps"]?["badge"] == nil)
    }

    @Test func titlesBecomeAlertsByVersionAndSetting() throws {
        var content = hello
        content.title = "Notice"
        content.data["message"] = #"{"title":"Notice","body":"Hello"}"#
        func alert(_ version: String, _ values: JSONObject = [:]) throws -> JSON? {
            try payload(content, target(), Mount.settings(version, values))["aps"]?["alert"]
        }
        #expect(try alert("4.0EE") == "Notice\nHello")
        #expect(try alert("5.0") == ["title": "Notice", "body": "Hello"])
        #expect(try alert("5.1", ["alertStyle": "string"]) == "Notice\nHello")
        #expect(try alert("3.0", ["alertStyle": "dictionary"]) == ["title": "Notice", "body": "Hello"])
        #expect(try alert("5.1", ["alertStyle": "raw"]) == #"{"title":"Notice","body":"Hello"}"#)
    }

    @Test func theDefaultSoundIsUsedIfNoneIsSet() throws {
        var content = hello
        content.sound = nil
        #expect(try payload(content, target(), Mount.settings())["aps"]?["sound"] == "default")
    }

    @Test func templatesAreRenderedForEachTarget() throws {
        var content = hello
        content.body = "%CNAME% (%CUID%): %VAR1%, %VAR10%, %VAR11%, 100%, %X%"
        content.data["ext"] = "%VAR1%"
        #expect(try payload(content, target(), Mount.settings())["aps"]?["alert"]?.string == content.body)
        content.isTemplate = true
        let filled = try payload(content, target(variables: ["VAR1": "%CUID%"]), Mount.settings())
        // Inserted values are not expanded again.
        #expect(filled["aps"]?["alert"] == "Hong (hong): %CUID%, , %VAR11%, 100%, %X%")
        #expect(filled["mps"]?["ext"] == "%CUID%")
        let listed = try payload(content, target(variables: ["CNAME": "Kim"]), Mount.settings())
        #expect(listed["aps"]?["alert"]?.string?.hasPrefix("Kim (hong)") == true)
    }

    @Test func pagesAreLinkedWithTheGatewaysURL() throws {
        var content = hello
        content.page = PageReference(id: "00ff", name: "0414172200_msp.html")
        let settings = Mount.settings("4.0EE", ["publicUrl": "https://push.example.com/"])
        let seen = try payload(content, target(), settings)
        #expect(seen["mps"]?["ext"] == "https://push.example.com/r/00ff/0414172200_msp.html")
    }

    @Test func batchesOf51Yield() throws {
        let form = "APP_ID=a&TYPE=E&CUID=hong&MESSAGE=m&PRIORITY=1"
        for (version, priority) in [("5.1", 5), ("5.0", 10)] {
            let found = try Mount.command(Mount.call("rcv_register_message", form), Mount.settings(version))
            guard case .submission(.submit(let submission))? = found else {
                Issue.record("no submission")
                return
            }
            let payload = try Mount.adapter.payload(
                for: notification(submission.content),
                to: target(),
                settings: Mount.settings(version)
            )
            #expect(payload.priority == priority)
            #expect(payload.type == .alert)
            #expect(payload.collapseID == nil)
        }
    }

    // docs/contracts/upmc.md#1.10.2: one key `message`, JSON as text.
    @Test func androidGetsTextInAMessage() throws {
        var content = hello
        content.title = "Notice"
        let seen = try payload(content, target("FCM:c2be"), Mount.settings())
        let wanted = try Fixture.json("payload/fcm.json")["message"]?["data"]
        #expect(keys(seen) == keys(wanted))
        let inner = try JSONParser.parse(try #require(seen["message"]?.string))
        let documented = try JSONParser.parse(try #require(wanted?["message"]?.string))
        #expect(keys(inner["aps"]) == keys(documented["aps"]))
        #expect(keys(inner["mps"]) == keys(documented["mps"]))
        #expect(inner["aps"] == documented["aps"])
    }

    @Test func oversizedPayloadsAreRefused() throws {
        var content = hello
        content.body = String(repeating: "x", count: 5000)
        #expect(throws: AdapterError(.tooLarge)) {
            _ = try Mount.adapter.payload(for: notification(content), to: target(), settings: Mount.settings())
        }
        content.body = ""
        #expect(throws: AdapterError(.invalid, field: "MESSAGE")) {
            _ = try Mount.adapter.payload(for: notification(content), to: target(), settings: Mount.settings())
        }
    }
}
