import AsyncHTTPClient
import CommandSupport
import Coverage
import Foundation
import Model
import NIOHTTP1
import Testing

extension BrazeTests {
    /// Braze's campaigns and schedules over real HTTP, PostgreSQL and the simulator (docs/contracts/braze.md#5.6 to 5.8).
    struct Campaigns {}
}

extension BrazeTests.Campaigns {
    private static let text =
        "{{api_trigger_properties.${name} | default: 'you'}} in {{api_trigger_properties.${city}}}: {{campaign.${name}}}"

    // MARK: With the native API

    @Test func aCampaignIsKeptInTheVendorsShapeUntilItIsRemoved() async throws {
        let braze = try BrazeCaller.current
        let audited = try await braze.world.value(
            "SELECT coalesce(max(position), 0)::text AS value FROM gateway.audit"
        )
        func body(_ alert: String) -> String {
            #"{"name":"Winter","variations":[{"message_variation_id":"v-1","apple_push":{"alert":"\#(alert)"}}]}"#
        }
        #expect(try await braze.native(.PUT, "/campaigns/kept", body("first")).status == 201)
        #expect(try await braze.native(.PUT, "/campaigns/kept", body(Self.text)).status == 200)
        let found = try await braze.native(.GET, "/campaigns/kept")
        #expect(found.json?["name"] == "Winter")
        #expect(found.json?["variations"]?.array?.first?["apple_push"]?["alert"] == .string(Self.text))
        let other = try await braze.native(.POST, "/campaigns", body("other"))
        #expect(other.status == 201, "\(other.text)")
        let id = try #require(other.json?["id"]?.string)
        let ids = try await braze.native(.GET, "/campaigns").json?["campaigns"]?.array?.compactMap { $0["id"]?.string }
        #expect(Set(ids ?? []).isSuperset(of: ["kept", id]))
        #expect(try await braze.native(.DELETE, "/campaigns/\(id)").status == 204)
        #expect(try await braze.native(.DELETE, "/campaigns/\(id)").status == 404)
        #expect(try await braze.native(.GET, "/campaigns/\(id)").status == 404)
        let actions = try await braze.world.value(
            """
            SELECT string_agg(action, ' ' ORDER BY position) AS value FROM gateway.audit
            WHERE subject LIKE 'campaign %' AND position > \(audited)
            """
        )
        #expect(actions == "put put put remove")
    }

    @Test func aCampaignThatCouldNotBeSentIsNotKept() async throws {
        let braze = try BrazeCaller.current
        let body = #"{"name":"W","variations":[{"message_variation_id":"v-1","apple_push":{"alert":"{{x}}"}}]}"#
        let answer = try await braze.native(.PUT, "/campaigns/unclear", body)
        #expect(answer.status == 422 && answer.text.contains("{{x}}"), "\(answer.text)")
        #expect(try await braze.native(.GET, "/campaigns/unclear").status == 404)
    }

    @Test func aVendorWithoutCampaignsIs422() async throws {
        #expect(try await BrazeCaller.current.native(.GET, "/campaigns?vendor=ipns").status == 422)
    }

    // MARK: Triggers (docs/contracts/braze.md#5.6)

    @Test(.covers("braze", "POST /campaigns/trigger/send"))
    func aRecipientsOwnPropertiesWinOverTheCommonOnes() async throws {
        let braze = try BrazeCaller.current
        try await braze.importDevices([(201, "own-1"), (202, "own-2")])
        try await braze.keepCampaign("own", alert: Self.text)
        let alias = #"{"alias_name":"own","alias_label":"crm"}"#
        let names = #"{"user_aliases":[{"external_id":"own-2","alias_name":"own","alias_label":"crm"}]}"#
        #expect(try await braze.call("/users/alias/new", names).status == 201)
        let body = #"""
            {"campaign_id":"own","trigger_properties":{"city":"Seoul"},"recipients":[\#
            {"external_user_id":"own-1","trigger_properties":{"name":"Mina"}},\#
            {"user_alias":\#(alias),"trigger_properties":{"city":"Busan"},"attributes":{"vip":true}},{"external_user_id":"nobody"}]}
            """#
        let answer = try await braze.call("/campaigns/trigger/send", body)
        #expect(answer.status == 201, "\(answer.text)")
        #expect(answer.json?["dispatch_id"]?.string?.count == 32)
        for (number, alert) in [(201, "Mina in Seoul: Winter"), (202, "you in Busan: Winter")] {
            #expect(try await braze.push(number)["payload"]?["aps"]?["alert"] == .string(alert))
        }
        #expect(
            try await braze.user("own-2")?["custom_attributes"] == ["vip": true],
            "a recipient's attributes are kept"
        )
    }

    @Test func anUnknownOrRemovedCampaignIsRefused() async throws {
        let braze = try BrazeCaller.current
        try await braze.keepCampaign("removed", alert: "Hi")
        #expect(try await braze.native(.DELETE, "/campaigns/removed").status == 204)
        for id in ["unknown", "removed"] {
            let answer = try await braze.call("/campaigns/trigger/send", #"{"campaign_id":"\#(id)","broadcast":true}"#)
            #expect(answer.status == 400)
            #expect(answer.json == ["message": "Invalid Campaign ID"])
        }
    }

    @Test func aBroadcastTriggerReachesEveryDeviceWithTheCommonProperties() async throws {
        let braze = try BrazeCaller.current
        try await braze.importDevices([(203, "common-1"), (204, "common-2")])
        try await braze.keepCampaign("common", alert: Self.text)
        let body = #"{"campaign_id":"common","broadcast":true,"trigger_properties":{"city":"Ulsan"}}"#
        #expect(try await braze.call("/campaigns/trigger/send", body).status == 201)
        for number in [203, 204] {
            #expect(try await braze.push(number)["payload"]?["aps"]?["alert"] == "you in Ulsan: Winter")
        }
    }

    // docs/contracts/braze.md#5.8: the figures are counted from the deliveries.
    @Test(.covers("braze", "POST /sends/id/create"), .covers("braze", "GET /sends/data_series"))
    func aSendIDCountsItsDeliveriesByDay() async throws {
        let braze = try BrazeCaller.current
        try await braze.importDevices([(205, "count-1"), (206, "count-2")])
        try await braze.keepCampaign("count", alert: "Hi")
        let named = try await braze.call("/sends/id/create", #"{"campaign_id":"count"}"#)
        #expect(named.status == 201)
        #expect(named.json?["send_id"]?.string?.hasPrefix("send-") == true, "\(named.text)")
        let body = #"""
            {"campaign_id":"count","send_id":"one","recipients":[{"external_user_id":"count-1"},{"external_user_id":"count-2"}]}
            """#
        #expect(try await braze.call("/campaigns/trigger/send", body).status == 201)
        func days(_ send: String, _ length: Int) async throws -> [JSON] {
            let query = "campaign_id=count&send_id=\(send)&length=\(length)"
            return try await braze.call("/sends/data_series?\(query)", method: .GET).json?["data"]?.array ?? []
        }
        try await eventually("the figures") {
            let days = try await days("one", 2)
            let sent = days.compactMap { $0["messages"]?["ios_push"]?.array?.first?["sent"]?.int }.reduce(0, +)
            let recipients = days.compactMap { $0["unique_recipients"]?.int }.reduce(0, +)
            return days.count == 2 && sent == 2 && recipients == 2
        }
        #expect(try await days("nobody", 1).first?["unique_recipients"] == 0)
    }

    // MARK: Schedules (docs/contracts/braze.md#5.7)

    private func schedule(
        _ audience: String,
        in seconds: Int,
        _ alert: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> JSON {
        let braze = try BrazeCaller.current
        let body = """
            {\(audience),"schedule":{"time":"\(try await braze.time(in: seconds))"},"messages":{"apple_push":{"alert":"\(alert)"}}}
            """
        let answer = try await braze.call("/messages/schedule/create", body)
        #expect(answer.status == 201, "\(answer.text)", sourceLocation: sourceLocation)
        return try #require(answer.json, sourceLocation: sourceLocation)
    }

    @Test(.covers("braze", "GET /messages/scheduled_broadcasts"), .covers("braze", "POST /messages/schedule/delete"))
    func aScheduledBroadcastIsListedUntilItIsDeleted() async throws {
        let braze = try BrazeCaller.current
        try await braze.importDevices([(207, "listed-1")])
        let made = try await schedule(#""broadcast":true"#, in: 7200, "all")
        let single = try await schedule(#""external_user_ids":["listed-1"]"#, in: 3600, "single")
        func listed(until seconds: Int) async throws -> [JSON] {
            let path = "/messages/scheduled_broadcasts?end_time=\(try await braze.time(in: seconds))"
            let answer = try await braze.call(path, method: .GET)
            #expect(answer.status == 200, "\(answer.text)")
            return answer.json?["scheduled_broadcasts"]?.array?.compactMap { $0["id"] } ?? []
        }
        let id = try #require(made["schedule_id"])
        let all = try await listed(until: 9000)
        #expect(all.contains(id) && !all.contains(single["schedule_id"] ?? .null))
        #expect(try await !listed(until: 6000).contains(id), "the schedule is after the end of the list")
        for made in [made, single] {
            let delete = #"{"schedule_id":"\#(made["schedule_id"]?.string ?? "")"}"#
            #expect(try await braze.call("/messages/schedule/delete", delete).json == ["message": "success"])
            #expect(try await braze.call("/messages/schedule/delete", delete).status == 400)
            #expect(try await braze.state(made["dispatch_id"]) == "canceled")
        }
        #expect(try await !listed(until: 9000).contains(id))
    }

    @Test(.covers("braze", "POST /messages/schedule/create"), .covers("braze", "POST /messages/schedule/update"))
    func anUpdatedScheduleIsSentOnceAsTheUpdateSays() async throws {
        let braze = try BrazeCaller.current
        try await braze.importDevices([(208, "soon-1")])
        let made = try await schedule(#""external_user_ids":["soon-1"]"#, in: 3600, "late")
        let id = try #require(made["schedule_id"]?.string)
        let update = """
            {"schedule_id":"\(id)","schedule":{"time":"\(try await braze.time(in: 2))"},"messages":{"apple_push":{"alert":"soon"}}}
            """
        let updated = try await braze.call("/messages/schedule/update", update)
        #expect(updated.status == 201, "\(updated.text)")
        #expect(updated.json == ["message": "success"])
        #expect(try await braze.state(made["dispatch_id"]) == "canceled", "the first message")
        #expect(try await braze.push(208)["payload"]?["aps"]?["alert"] == "soon")
        // A sent schedule can be neither updated nor deleted.
        #expect(try await braze.call("/messages/schedule/update", update).status == 400)
        #expect(try await braze.call("/messages/schedule/delete", #"{"schedule_id":"\#(id)"}"#).status == 400)
    }

    @Test(
        .covers("braze", "POST /campaigns/trigger/schedule/create"),
        .covers("braze", "POST /campaigns/trigger/schedule/update"),
        .covers("braze", "POST /campaigns/trigger/schedule/delete")
    )
    func aScheduledTriggerIsSentWhenItsUpdateSaysAndNeverOnceDeleted() async throws {
        let braze = try BrazeCaller.current
        try await braze.importDevices([(209, "trigger-1")])
        try await braze.keepCampaign("trigger", alert: Self.text)
        func create() async throws -> String {
            let body = """
                {"campaign_id":"trigger","schedule":{"time":"\(try await braze.time(in: 3600))"},"send_id":"two",
                "recipients":[{"external_user_id":"trigger-1","trigger_properties":{"name":"Jo","city":"Jeju"}}]}
                """
            let answer = try await braze.call("/campaigns/trigger/schedule/create", body)
            #expect(answer.status == 201, "\(answer.text)")
            return try #require(answer.json?["schedule_id"]?.string)
        }
        let (kept, deleted) = (try await create(), try await create())
        let delete = #"{"campaign_id":"trigger","schedule_id":"\#(deleted)"}"#
        #expect(try await braze.call("/campaigns/trigger/schedule/delete", delete).status == 201)
        func update(_ id: String) async throws -> Int {
            let body = """
                {"campaign_id":"trigger","schedule_id":"\(id)","schedule":{"time":"\(try await braze.time(in: 2))"}}
                """
            return try await braze.call("/campaigns/trigger/schedule/update", body).status
        }
        #expect(try await update(deleted) == 400)
        #expect(try await update(kept) == 201)
        #expect(try await braze.push(209)["payload"]?["aps"]?["alert"] == "Jo in Jeju: Winter")
    }

    // MARK: Filters (docs/contracts/braze.md#5.10)

    @Test func aFilterReachesOnlyTheUsersItMatches() async throws {
        let braze = try BrazeCaller.current
        try await braze.importDevices([(210, "gold-1"), (211, "tin-1")])
        try await braze.keepCampaign("filtered", alert: Self.text)
        let users =
            #"{"attributes":[{"external_id":"gold-1","plan":"gold","visits":7},{"external_id":"tin-1","plan":"tin"}]}"#
        #expect(try await braze.call("/users/track", users).status == 201)
        func leaf(_ name: String, _ comparison: String, _ value: String) -> String {
            #"{"custom_attribute":{"custom_attribute_name":"\#(name)","comparison":"\#(comparison)","value":\#(value)}}"#
        }
        let filter = #"{"AND":[\#(leaf("plan", "matches_regex", #""^g""#)),\#(leaf("visits", "greater_than", "6"))]}"#
        let body =
            #"{"campaign_id":"filtered","audience":\#(filter),"trigger_properties":{"name":"gold","city":"Ulsan"}}"#
        let answer = try await braze.call("/campaigns/trigger/send", body)
        #expect(answer.status == 201, "\(answer.text)")
        try await eventually("both outcomes") {
            try await braze.deliveries(of: answer, to: "gold-1", "tin-1") == "sent,suppressed withheld"
        }
        #expect(try await braze.alerts(210) == ["gold in Ulsan: Winter"])
        #expect(try await braze.alerts(211).isEmpty)
    }

    @Test func aScheduledFilterIsAppliedWhenItIsDue() async throws {
        let braze = try BrazeCaller.current
        try await braze.importDevices([(212, "due-1"), (213, "due-2")])
        let filter = """
            "audience":{"AND":[{"push_subscription_status":{"comparison":"is","value":"opted_in"}},
            {"last_used_app":{"comparison":"after","value":"2025-06-01"}}]}
            """
        let made = try await schedule(filter, in: 4, "used")
        // The users match after the schedule was accepted.
        let users =
            #"{"attributes":[{"external_id":"due-2","push_subscribe":"opted_in","date_of_last_session":"2025-06-02T00:00:00Z"},"#
            + #"{"external_id":"due-1","date_of_last_session":"2025-06-02T00:00:00Z"}]}"#
        #expect(try await braze.call("/users/track", users).status == 201)
        try await eventually("the schedule is done") { try await braze.state(made["dispatch_id"]) == "done" }
        #expect(try await braze.alerts(212).isEmpty)
        #expect(try await braze.alerts(213) == ["used"])
    }
}
