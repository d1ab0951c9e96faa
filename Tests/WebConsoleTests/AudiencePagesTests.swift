import Model
import Testing

@testable import ConsoleAudience
@testable import PageParts
@testable import WebConsole

/// The pages that find devices, users and groups, and their forms.
struct AudiencePagesTests {
    private static let device = "0198a1f0-0000-7000-8000-00000000000d"

    private func found(token: String = "active", identity: String = "active") throws -> JSON {
        try ReadPages.json(
            """
            {"matches": [{"kind": "phone", "messages": [], "users": [], "more": false, "devices": [{"id": "\(Self.device)", "app": "shop", "platform": "ios",
            "token": "8d7c2b…504f", "tokenState": "\(token)", "seenAt": null, "identities": [{"id": "i", "vendor": "upmc", "key": "phone-1", "state": "\(identity)",
            "user": "u-1"}]}]}]}
            """
        )
    }

    private func search(_ text: String, _ body: JSON) throws -> PageContent {
        var request = ReadPages.request()
        request.typed = ReadPages.fields(["value": text])
        return try ReadPages.content(FindPage(), request, ["find": body])
    }

    // MARK: Find

    @Test func aPhoneNumberLeadsToTheReasonInOneStep() throws {
        let content = try search("010-1234-5678", try found(token: "invalid"))
        #expect(content.sentence.mark == .bad && content.sentence.text.contains("found by Phone number"))
        #expect(content.sentence.link?.path == "devices/\(Self.device)/diagnosis")
        let links = ReadPages.links(try #require(ReadPages.tables(content).first))
        #expect(links.map(\.path) == ["devices/\(Self.device)", "devices/\(Self.device)/diagnosis"])
        #expect(try search("010-1234-5678", try found()).sentence.mark == .ok)
        #expect(try search("010-1234-5678", try found(identity: "removed")).sentence.mark == .bad)
    }

    @Test func theTextIsInTheBodyOfTheCall() throws {
        var request = ReadPages.request([:], ["app": "shop"])
        request.typed = ReadPages.fields(["value": "<b>u-1"])
        let calls = FindPage().calls(request, Answers())
        #expect(calls.map(\.path) == ["find"] && calls.first?.query.isEmpty == true)
        #expect(calls.first?.body == ["value": "<b>u-1", "app": "shop"])
    }

    @Test func severalKindsOfOneDeviceAreOneDevice() throws {
        let one = try found()["matches"]?.array ?? []
        let content = try search("phone-1", ["matches": .array(one + one)])
        #expect(content.sentence.text.contains("One device was found"))
        let nothing = try search("x", ["matches": []])
        #expect(nothing.sentence.mark == .warn && nothing.sentence.text.contains("has this name"))
    }

    @Test func anEmptySearchIsAnErrorAtItsField() {
        let form = FindForm()
        #expect(form.submit(ReadPages.request(), ReadPages.fields(["value": " "]), Answers()).errors?["value"] != nil)
        guard case .show = form.submit(ReadPages.request(), ReadPages.fields(["value": "1"]), Answers()) else {
            Issue.record("the search is not shown")
            return
        }
    }

    @Test func withoutASearchTheDevicesAreListed() throws {
        let empty = try ReadPages.content(FindPage(), ReadPages.request(), ["devices": ["devices": [], "next": .null]])
        #expect(ReadPages.words(empty).contains("Point the SDK of the app to this gateway"))
        let filtered = try ReadPages.content(
            FindPage(),
            ReadPages.request([:], ["vendor": "upmc"]),
            ["devices": ["devices": [], "next": "n"]]
        )
        #expect(ReadPages.words(filtered).contains("Remove filter: Vendor “upmc”"))
        #expect(ReadPages.words(filtered).contains("Next page"), "a page without rows may be followed by others")
    }

    // MARK: Device

    private func deviceBody(
        zone: String = "Asia/Seoul",
        to: String = "2100",
        tags: String = #"["seoul", "vip"]"#
    ) throws -> JSON {
        try ReadPages.json(
            """
            {"id": "\(Self.device)", "app": "shop", "platform": "ios", "environment": "sandbox", "token": "8d7c2b…504f", "tokenState": "active", "unread": 3,
            "timeZone": "\(zone)", "receivingWindow": {"from": "0900", "to": "\(to)"}, "createdAt": "2026-11-01T00:00:00.000Z",
            "identities": [{"id": "i-1", "vendor": "upmc", "key": "phone-1", "state": "active", "user": "u-1", "acceptsPush": false, "tags": \(tags),
            "assurance": "claimed", "registeredAt": "2026-11-02T00:12:00.000Z", "client": null}]}
            """
        )
    }

    @Test func aDeviceShowsItsParts() throws {
        let bodies = [
            "device": try deviceBody(), "diagnosis": ["reachable": true, "conditions": [], "deliveries": []],
            "inbox": try ReadPages.json(
                #"{"messages": [{"message": "m-1", "title": "Sale", "sentAt": "2026-11-22T05:02:07.000Z", "state": "read"}], "next": null}"#
            ),
            "activities": try ReadPages.json(#"{"tokens": [{"activity": "match-7", "token": "80f1…4d5e"}]}"#),
        ]
        let request = ReadPages.request(["device": Self.device])
        let content = try ReadPages.content(DevicePage(), request, bodies)
        let words = ReadPages.words(content)
        for text in ["09:00–21:00", "match-7", "Sale", "Confirm user", "sandbox", "Erase device", "seoul, vip"] {
            #expect(words.contains(text), "\(text)")
        }
        let analyst = try ReadPages.content(
            DevicePage(),
            ReadPages.request(["device": Self.device], role: .analyst),
            bodies
        )
        #expect(!ReadPages.words(analyst).contains("Confirm user"))
        #expect(ReadPages.actions(analyst) == ["Why was it not notified?"])
    }

    @Test func onlyChangedPreferencesAreWritten() throws {
        var answers = Answers()
        answers["device"] = ReadPages.answer(try deviceBody())
        let request = ReadPages.request(["device": Self.device])
        func step(_ fields: KeyValuePairs<String, String>) -> FormStep {
            PreferencesForm().submit(request, ReadPages.fields(fields), answers)
        }
        let same: KeyValuePairs<String, String> = [
            "acceptsPush": "", "timeZone": "Asia/Seoul", "from": "0900", "to": "2100", "tags": "seoul, vip",
            "shownTags": "seoul, vip",
        ]
        #expect(step(same).errors?[""] != nil)
        let call = step([
            "acceptsPush": "false", "from": "10:00", "to": "2100", "tags": "seoul,, new ",
            "shownTags": "seoul, vip",
        ]).call
        #expect(call?.method == .patch && call?.once == "once")
        #expect(
            call?.body
                == [
                    "acceptsPush": false, "receivingWindow": ["from": "10:00", "to": "2100"], "tags": ["seoul", "new"],
                ]
        )
        #expect(step(["from": "25:00", "to": "2100"]).errors != nil)
    }

    /// Two people open the form, and the other one saves first.
    @Test(arguments: [
        ("timeZone", "Asia/Singapore", "timeZone", "Asia/Tokyo", ["timeZone": "Asia/Singapore"] as JSON),
        // The ends are one value of the device.
        ("from", "10:00", "to", "2200", ["receivingWindow": ["from": "10:00", "to": "2100"]] as JSON),
        ("tags", "vip", "tags", "busan", ["tags": ["vip"]] as JSON),
    ])
    func aChangeOfAnotherPersonIsNotReverted(
        _ name: String,
        _ value: String,
        _ contested: String,
        _ theirs: String,
        _ mine: JSON
    ) throws {
        let form = PreferencesForm()
        let path = "devices/\(Self.device)/preferences"
        let changed = try deviceBody(zone: "Asia/Tokyo", to: "2200", tags: #"["busan"]"#)
        let now = Answers(["device": ReadPages.answer(changed)])
        let request = ReadPages.request(["device": Self.device])
        let page = try ReadPages.content(DevicePage(), request, ["device": try deviceBody()])
        let opened = try #require(page.form(path)).sent
        func replacing(_ fields: [(String, String)], _ changes: [(String, String)]) -> [(String, String)] {
            fields.filter { field in !changes.contains { $0.0 == field.0 } } + changes
        }
        // Another field than theirs: theirs stay.
        let other = SendingWorld.fields(replacing(opened, [("acceptsPush", "true")]))
        #expect(form.submit(request, other, now).call?.body == ["acceptsPush": true])
        // The same field: nothing is written, both values are shown, and what was typed stays.
        let typed = replacing(opened, [(name, value)])
        let errors = try #require(form.submit(request, SendingWorld.fields(typed), now).errors)
        #expect(Array(errors.keys) == [contested] && errors[contested]?.contains(theirs) == true, "\(errors)")
        var again = request
        again.typed = SendingWorld.fields(typed)
        again.errors = FieldErrors(errors)
        let shown = try #require(try ReadPages.content(DevicePage(), again, ["device": changed]).form(path))
        // Saving again replaces what was shown, and nothing else.
        let hidden = shown.fields.filter(\.kind.isHidden).map { ($0.name, $0.value) }
        #expect(!hidden.isEmpty)
        let second = form.submit(request, SendingWorld.fields(replacing(typed, hidden)), now)
        #expect(second.call?.body == mine)
    }

    @Test func aDeviceThatCannotBeReadIsNotChanged() {
        let answers = Answers(["device": ReadPages.problem(503, "PG-2001", "nothing was changed; try again")])
        let step = PreferencesForm().submit(ReadPages.request(), ReadPages.fields(["timeZone": "UTC"]), answers)
        #expect(step.errors?[""] != nil)
    }

    @Test func erasingIsAskedAgainAndNeedsThePassword() {
        let request = ReadPages.request(["device": "a b", "user": "u/1"])
        #expect(EraseDeviceForm().asksPassword && EraseUserForm().asksPassword)
        #expect(EraseDeviceForm().submit(request, FormFields([]), Answers()).call == nil)
        let confirmed = ReadPages.fields(["confirmed": "yes"])
        #expect(EraseDeviceForm().submit(request, confirmed, Answers()).call?.path == "devices/a%20b")
        #expect(EraseUserForm().submit(request, FormFields([]), Answers()).call == nil)
        #expect(EraseUserForm().submit(request, confirmed, Answers()).call?.path == "users/u%2F1")
    }

    // MARK: Users

    private let apps: JSON = ["apps": [["app": "shop"], ["app": "web"]], "next": .null]

    @Test func usersAreThoseOfTheFirstAppUnlessOneIsNamed() throws {
        let body: JSON = ["users": [["user": "u-1", "devices": 0], ["user": "u-2", "devices": 2]], "next": .null]
        for (query, path) in [
            ([:] as KeyValuePairs<String, String>, "apps/shop/users"), (["app": "a/b"], "apps/a%2Fb/users"),
        ] {
            let calls = try ReadPages.answers(UsersPage(), ReadPages.request([:], query)) { call in
                ReadPages.answer(call.name == "apps" ? apps : body)
            }.calls
            #expect(calls.last?.path == path)
        }
        // An app of the address is known at once.
        for page in [UsersPage(), GroupsPage()] as [any ConsolePage] {
            func first(_ query: KeyValuePairs<String, String>) -> [String] {
                page.calls(ReadPages.request([:], query), Answers()).map(\.name)
            }
            #expect(first(["app": "shop"]) == ["apps", "vendors", page.path])
            #expect(first([:]) == ["apps", "vendors"])
        }
        let content = try ReadPages.content(UsersPage(), ReadPages.request(), ["apps": apps, "users": body])
        #expect(content.sentence.text == "2 users shown, of which 1 has no device and cannot be notified.")
        let none = try ReadPages.content(UsersPage(), ReadPages.request(), ["apps": ["apps": []]])
        #expect(none.sentence.text.contains("no app yet"))
    }

    @Test(arguments: [
        ("[]", Mark.bad, "has no device"),
        (#"[{"key": "k", "acceptsPush": false, "hasToken": true}]"#, .bad, "switched off"),
        (#"[{"key": "k", "acceptsPush": true, "hasToken": false}]"#, .bad, "has a token"),
        (#"[{"key": "k", "acceptsPush": true, "hasToken": true}]"#, .ok, "1 device of this user"),
    ])
    func aUserIsReachableOrNot(_ devices: String, _ mark: Mark, _ text: String) throws {
        let body = try ReadPages.json(
            #"{"user": "u-1", "attributes": {"plan": "gold"}, "consents": {"news": "unsubscribed"}, "devices": \#(devices)}"#
        )
        let content = try ReadPages.content(
            UserPage(),
            ReadPages.request(["user": "u-1"], ["app": "shop"]),
            ["user": body]
        )
        #expect(content.sentence.mark == mark && content.sentence.text.contains(text), "\(content.sentence.text)")
        #expect(ReadPages.words(content).contains("Unsubscribed"))
    }

    @Test func formsOfAUserNameAppAndVendor() {
        let request = ReadPages.request(["user": "u-1"])
        let accepts = ReadPages.fields(["app": "shop", "vendor": "upmc", "acceptsPush": "false"])
        let call = UserPreferencesForm().submit(request, accepts, Answers()).call
        #expect(call?.path == "apps/shop/users/u-1" && call?.body == ["acceptsPush": false])
        #expect(call?.query == [PageRequest.Parameter("vendor", "upmc")])
        let consent = ReadPages.fields(["app": "shop", "subject": "news", "state": "unsubscribed"])
        let recorded = ConsentForm().submit(request, consent, Answers()).call
        #expect(recorded?.body == ["subject": "news", "state": "unsubscribed", "users": ["u-1"]])
        let errors = ConsentForm().submit(request, ReadPages.fields(["app": "shop"]), Answers()).errors
        #expect(errors?["subject"] != nil)
    }

    // MARK: Groups

    @Test func aGroupIsCreatedChangedAndDeleted() {
        let request = ReadPages.request(["group": "early birds"])
        let create = ReadPages.fields(["app": "shop", "vendor": "native", "group": "a/b"])
        let created = CreateGroupForm().submit(request, create, Answers()).call
        #expect(created?.method == .put && created?.path == "apps/shop/groups/a%2Fb")
        let members = ReadPages.fields(["app": "shop", "add": "u-1\r\n u-2 \n\n", "remove": "u-3"])
        let changed = MembersForm().submit(request, members, Answers()).call
        #expect(changed?.path == "apps/shop/groups/early%20birds/members")
        #expect(changed?.body == ["add": ["u-1", "u-2"], "remove": ["u-3"]])
        let many = ReadPages.fields([
            "app": "shop", "add": (0...1000).map { "u-\($0)" }.joined(separator: "\n"),
        ])
        #expect(MembersForm().submit(request, many, Answers()).errors?["add"] != nil)
        #expect(MembersForm().submit(request, ReadPages.fields(["app": "shop"]), Answers()).errors?["add"] != nil)
        #expect(DeleteGroupForm().submit(request, ReadPages.fields(["app": "shop"]), Answers()).call == nil)
        let sure = ReadPages.fields(["app": "shop", "confirmed": "yes"])
        #expect(DeleteGroupForm().submit(request, sure, Answers()).call?.method == .delete)
    }

    @Test func onlyThoseWhoSendChangeGroups() throws {
        let bodies: [String: JSON] = [
            "apps": apps, "group": ["group": "vip", "members": 1],
            "members": ["members": [["user": "u-1"]], "next": .null],
        ]
        func words(_ role: Role) throws -> String {
            ReadPages.words(
                try ReadPages.content(GroupPage(), ReadPages.request(["group": "vip"], role: role), bodies)
            )
        }
        #expect(try words(.author).contains("Change members"))
        #expect(try !words(.auditor).contains("Change members"))
    }
}
