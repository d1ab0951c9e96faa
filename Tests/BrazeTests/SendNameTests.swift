import Coverage
import Foundation
import HTTPTypes
import Model
import Testing

@testable import Braze

/// Names of sends, their statistics, and schedules that are counted for a campaign (docs/contracts/braze.md#5.7,
/// docs/contracts/braze.md#5.8).
struct SendNameTests {
    @Test(.covers("braze", "POST /sends/id/create")) func aSendHasItsNameOrGetsOne() {
        let named = CampaignTests.answer(
            "/sends/id/create",
            #"{"campaign_id":"c-1","send_id":"winter-2026"}"#,
            CampaignTests.FakeGateway()
        )
        #expect(named.status == 201)
        #expect(named.json == ["message": "success", "send_id": "winter-2026"])
        let made = CampaignTests.answer("/sends/id/create", #"{"campaign_id":"c-1"}"#, CampaignTests.FakeGateway())
        #expect(made.json == ["message": "success", "send_id": "send-made-up"])
    }

    @Test(.covers("braze", "GET /sends/data_series")) func aSeriesHasEveryDay() throws {
        func series(
            _ query: String,
            _ gateway: CampaignTests.FakeGateway = CampaignTests.FakeGateway()
        ) -> VendorResponse {
            Mount.answer(Mount.request("/sends/data_series", "", method: .get, query: query), gateway.reply)
        }
        let gateway = CampaignTests.FakeGateway()
        let answer = series("campaign_id=c-1&send_id=winter-2026&length=2&ending_at=2026-01-01T00:00:00Z", gateway)
        #expect(answer.status == 200)
        let days = try #require(answer.json?["data"]?.array)
        #expect(days.count == 2)
        #expect(gateway.commands == [.series(label: "send\u{1F}c-1\u{1F}winter-2026", days: 20_453...20_454)])
        #expect(
            days.last == [
                "time": "2026-01-01",
                "messages": [
                    "ios_push": [
                        [
                            "variation_name": "Variant 1", "sent": 10, "direct_opens": 2, "total_opens": 2,
                            "bounces": 1,
                            "body_clicks": 2,
                        ]
                    ]
                ], "conversions": 0, "unique_recipients": 9, "revenue": 0,
            ]
        )
        #expect(days.first?["time"] == "2025-12-31")
        #expect(days.first?["unique_recipients"] == 0)
        #expect(series("campaign_id=c-1&send_id=s").json?["data"]?.array?.count == 14)
        for (query, text) in [
            ("send_id=s", "Invalid Campaign ID"), ("campaign_id=c", "'send_id' is not valid"),
            ("campaign_id=c&send_id=s&length=0", "'length' is not valid"),
            ("campaign_id=c&send_id=s&length=101", "'length' is not valid"),
            ("campaign_id=c&send_id=s&ending_at=x", "'ending_at' is not valid"),
        ] {
            #expect(series(query).message == text)
            #expect(series(query).status == 400)
        }
    }

    // The campaign is read together with the schedule, and checked as for a send.
    @Test func aScheduleMayBeCountedForACampaign() throws {
        func body(_ variation: String) -> String {
            #"{"external_user_ids":["u-1"],"campaign_id":"c-1","send_id":"s","schedule":{"time":"2026-01-02T09:00:00Z"},"messages":{"apple_push":{"alert":"Hi","message_variation_id":"\#(variation)"}}}"#
        }
        let gateway = CampaignTests.FakeGateway()
        #expect(CampaignTests.answer("/messages/schedule/create", body("v-1"), gateway).status == 201)
        #expect(gateway.submissions.first?.labels == ["campaign\u{1F}c-1", "send\u{1F}c-1\u{1F}s"])
        #expect(gateway.submissions.first?.schedule != nil)
        let other = CampaignTests.answer("/messages/schedule/create", body("v-2"), gateway)
        #expect(other.message == "Invalid Message Variant")
        gateway.schedule = try CampaignTests.kept(.messages, body("v-1"))
        let update = #"{"schedule_id":"\#(CampaignTests.id)","schedule":{"time":"2026-01-02T10:00:00Z"}}"#
        #expect(CampaignTests.answer("/messages/schedule/update", update, gateway).json == ["message": "success"])
        let changed = try #require(gateway.submissions.last)
        #expect(changed.labels == ["campaign\u{1F}c-1", "send\u{1F}c-1\u{1F}s"])
        #expect(changed.timing.dueAt == Timestamp(seconds: 1_767_225_600 + 34 * 3600))
        #expect(changed.schedule?.replaced == ScheduleVersion(id: CampaignTests.id, message: CampaignTests.id))
        #expect(gateway.submissions.count == 2)
    }

    // After a conflict the call reads again and retries. After three conflicts in a row it answers "retry later".
    @Test(arguments: [(1, 2, 201), (9, 3, 503)])
    func aConflictIsRetried(_ times: Int, _ tries: Int, _ status: Int) throws {
        let gateway = CampaignTests.FakeGateway(try CampaignTests.kept(.messages, CampaignTests.schedule))
        gateway.overtaken = times
        let update = #"{"schedule_id":"\#(CampaignTests.id)","schedule":{"time":"2026-01-02T09:30:00Z"}}"#
        let answer = CampaignTests.answer("/messages/schedule/update", update, gateway)
        #expect(answer.status == status)
        #expect(gateway.submissions.count == tries)
    }

    @Test func aRecipientNamedTwiceIsSentOneMessage() {
        let gateway = CampaignTests.FakeGateway()
        let body =
            #"{"campaign_id":"c-1","recipients":[{"external_user_id":"u-1"},{"external_user_id":"u-2","trigger_properties":{"n":1}},{"external_user_id":"u-2","trigger_properties":{"n":2}}]}"#
        #expect(CampaignTests.answer("/campaigns/trigger/send", body, gateway).status == 201)
        #expect(gateway.submissions.first?.audience == .users(["u-1", "u-2"]))
        #expect(gateway.submissions.first?.variables == [UserVariables(user: "u-2", values: ["n": 1])])
    }
}
