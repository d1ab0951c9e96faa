import Coverage
import Model
import Testing

@testable import Braze

/// `/users/export/ids`: every documented field whose value the gateway can know is shown, and no other field.
struct UserExportTests {
    private static let path = "/users/export/ids"

    /// The documented user, with all data from its SDK and its back end.
    private static let documentedUser = DescribedUser(
        app: "shop",
        user: "u-1",
        isAnonymous: false,
        attributes: [
            "push_subscribe": "opted_in", "loyalty": 5, "date_of_first_session": "2026-01-01T00:00:00Z",
            "date_of_last_session": "2026-01-02T00:00:00Z",
        ],
        tallies: [ActTally(kind: .signal, name: "ss", count: 3, firstAt: Mount.now, lastAt: Mount.now + .seconds(60))],
        devices: [
            UserDevice(
                key: "5D9C",
                platform: .ios,
                token: DeviceToken(apns: "0a1b2c"),
                acceptsPush: true,
                attributes: [
                    "model": "iPhone15,2", "os_version": "17.5", "carrier": "SKT", "ad_tracking_enabled": 0,
                    "app_version": "2.4.3", "locale": "ko_KR",
                ]
            )
        ]
    )

    private func answer(_ body: String, _ users: [DescribedUser?]) -> VendorResponse {
        Mount.answer(Mount.request(Self.path, body)) { _ in .user(.described(users)) }
    }

    /// The paths of all fields below a value, such as `devices[].model`.
    private static func fields(_ value: JSON?, in place: String = "") -> Set<String> {
        switch value {
        case .object(let object)?:
            object.pairs.reduce(into: []) { found, pair in
                let name = place.isEmpty ? pair.key : "\(place).\(pair.key)"
                found.formUnion([name])
                found.formUnion(fields(pair.value, in: name))
            }
        case .array(let list)?: list.reduce(into: []) { $0.formUnion(fields($1, in: "\(place)[]")) }
        default: []
        }
    }

    /// The documented answer. Its identifiers are shortened, its carrier is unknown, and its app has a name, where
    /// the gateway uses the app's id.
    private static func documented() throws -> JSON {
        var text = try Fixture.text("users/export.response.json").replacing("…", with: "")
        for (shown, own) in [("\"carrier\":null", "\"carrier\":\"SKT\""), ("Shop iOS", "shop")] {
            #expect(text.contains(shown))
            text = text.replacing(shown, with: own)
        }
        return try JSONParser.parse(text)
    }

    @Test(
        .covers(
            "braze",
            "POST /users/export/ids",
            partial:
                "left out, because the gateway has no data for them: `converted` of a campaign, `canvases_received`"
        )
    )
    func everyDocumentedFieldIsShown() throws {
        let documented = try Self.documented()
        let all = answer(#"{"external_ids":["u-1","nobody"]}"#, [Self.documentedUser, nil])
        #expect(all.status == 201)
        // `date_of_first_session` and `date_of_last_session` are standard attributes, too.
        var user = try #require(all.json?["users"]?.array?.first?.object)
        for name in ["date_of_first_session", "date_of_last_session"] { user[name] = nil }
        let users = try #require(documented["users"]?.array)
        #expect(.object(user) == users.first, "\(all.text)")
        #expect(all.json?["invalid_user_ids"] == ["nobody"] && all.json?["message"] == "success")

        // Fields that the contract names outside its example.
        var rich = Self.documentedUser
        rich.attributes = ["push_subscribe": "opted_in", "loyalty": 5]
        rich.tallies += [
            ActTally(kind: .event, name: "seen", count: 2, firstAt: Mount.now, lastAt: Mount.now + .seconds(60)),
            ActTally(kind: .purchase, name: "A1", count: 1, firstAt: Mount.now, lastAt: Mount.now),
        ]
        rich.aliases = [UserAlias(label: "crm", name: "a-7"), UserAlias(label: "sdk_device", name: "5D9C")]
        let campaign: JSONObject = ["campaign": ["api_id": "c-1", "name": "Winter"], "variation": "v-1"]
        rich.messages = [SentMessages(data: campaign, lastAt: Mount.now, isRead: true)]
        let shown = answer(#"{"external_ids":["u-1"]}"#, [rich]).json?["users"]?.array?.first
        let named: Set<String> = [
            "user_aliases", "user_aliases[].alias_name", "user_aliases[].alias_label",
            "custom_events", "custom_events[].name", "custom_events[].first", "custom_events[].last",
            "custom_events[].count", "purchases", "purchases[].name", "purchases[].first", "purchases[].last",
            "purchases[].count", "campaigns_received[].name", "campaigns_received[].last_received",
            "campaigns_received[].engaged", "campaigns_received[].engaged.opened_push",
            "campaigns_received[].api_campaign_id", "campaigns_received[].variation_api_id",
        ]
        let expected = Self.fields(users.first).union(named)
        #expect(Self.fields(shown) == expected, "\(Self.fields(shown).symmetricDifference(expected))")
        #expect(shown?["user_aliases"] == [["alias_name": "a-7", "alias_label": "crm"]])
        #expect(
            shown?["custom_events"]
                == [["name": "seen", "first": "2026-01-01T00:00:00Z", "last": "2026-01-01T00:01:00Z", "count": 2]]
        )
        #expect(shown?["apps"]?.array?.first?["first_used"] == "2026-01-01T00:00:00Z", "of the sessions themselves")
    }

    @Test func onlyRequestedFieldsAreShown() throws {
        let body = try UserTests.documented("export.request.json")
        let shown = answer(body, [Self.documentedUser, nil])
        let asked: Set<String> = [
            "external_id", "push_tokens", "devices", "custom_attributes", "push_subscribe",
        ]
        #expect(Set(shown.json?["users"]?.array?.first?.object?.keys ?? []) == asked, "\(shown.text)")
        // Messages are read only if campaigns are requested.
        func members(_ body: String) throws -> [Command] {
            try Mount.adapter.decode(Mount.request(Self.path, body), settings: Mount.settings)
        }
        #expect(try members(body) == [.user(.describe([.id("u-1"), .id("nobody")]))])
        let campaigns = #"{"external_ids":["u-1"],"fields_to_export":["campaigns_received"]}"#
        let asksForAll = Command.user(.describe([.id("u-1")], messages: ["campaign", "variation"]))
        #expect(try members(campaigns) == [asksForAll])
        #expect(try members(#"{"external_ids":["u-1"]}"#) == [asksForAll])
    }

    @Test func unknownValuesAreLeftOut() {
        let bare = DescribedUser(app: "shop", user: "u-2", isAnonymous: true, attributes: [:])
        let none = answer(#"{"external_ids":["u-2"]}"#, [bare]).json?["users"]
        #expect(none == [["campaigns_received": []]])
        var imported = bare
        imported.devices = [
            UserDevice(key: "k", platform: .android, token: DeviceToken(stored: "t"), acceptsPush: false),
            UserDevice(key: "old", platform: .ios, token: nil, acceptsPush: true),
        ]
        let shown = answer(#"{"external_ids":["u-2"]}"#, [imported]).json?["users"]?.array?.first
        #expect(shown?["devices"] == [["device_id": "k"], ["device_id": "old"]] && shown?["apps"] == nil)
        let token: JSON = [
            "app": "shop", "platform": "Android", "token": "t", "device_id": "k", "notifications_enabled": false,
        ]
        #expect(shown?["push_tokens"] == [token])
    }

    @Test func theHighestVersionOfTheAppIsShown() {
        var user = Self.documentedUser
        for (key, version) in [("a", "2.10"), ("b", "2.9.9"), ("c", "x")] {
            user.devices.append(
                UserDevice(
                    key: VendorDeviceKey(key),
                    platform: .ios,
                    token: nil,
                    acceptsPush: true,
                    attributes: ["app_version": .string(version), "ad_tracking_enabled": true]
                )
            )
        }
        let shown = answer(#"{"external_ids":["u-1"]}"#, [user]).json?["users"]?.array?.first
        #expect(shown?["apps"]?.array?.first?["version"] == "2.10")
        #expect(shown?["devices"]?.array?.map { $0["ad_tracking_enabled"] } == [false, true, true, true])
    }

    @Test func eachCampaignIsShownOnce() {
        var user = Self.documentedUser
        func sent(_ id: String, _ variation: String, _ seconds: Int, isRead: Bool) -> SentMessages {
            let data: JSONObject = ["campaign": ["api_id": .string(id), "name": "n"], "variation": .string(variation)]
            return SentMessages(data: data, lastAt: Mount.now + .seconds(seconds), isRead: isRead)
        }
        user.messages = [
            sent("c", "v-1", 0, isRead: true), sent("c", "v-2", 9, isRead: false), sent("d", "v-3", 10, isRead: false),
            SentMessages(data: ["variation": "v-4"], lastAt: Mount.now, isRead: true),
        ]
        let shown = answer(#"{"external_ids":["u-1"]}"#, [user]).json?["users"]?.array?.first?["campaigns_received"]
        func entry(_ id: JSON, _ variation: JSON, _ at: JSON, _ isOpened: JSON) -> JSON {
            [
                "name": "n", "last_received": at, "engaged": ["opened_push": isOpened], "api_campaign_id": id,
                "variation_api_id": variation,
            ]
        }
        let expected: JSON = [
            entry("d", "v-3", "2026-01-01T00:00:10Z", false), entry("c", "v-2", "2026-01-01T00:00:09Z", true),
        ]
        #expect(shown == expected)
    }

    @Test func anExportWithoutUsersIsAnswered() throws {
        func answer(_ body: String) -> VendorResponse { Mount.answer(Mount.request(Self.path, body), Mount.reply) }
        #expect(
            try answer(UserTests.documented("nobody.request.txt")).fault(against: "users/nobody.response.txt") == nil
        )
        let stranger = answer(#"{"external_ids":["x"],"fields_to_export":["email"]}"#)
        #expect(stranger.json == ["users": [], "invalid_user_ids": ["x"], "message": "success"])
        #expect(answer(#"{"external_ids":["x"],"fields_to_export":"email"}"#).status == 400)
        #expect(answer(#"{"email_address":"a@example.com"}"#).status == 400)
        let many = (0..<51).map { "\"\($0)\"" }.joined(separator: ",")
        #expect(answer(#"{"external_ids":[\#(many)]}"#).message == BrazeText.tooManyRecipients)
    }
}
