import Coverage
import Foundation
import HTTPTypes
import Model
import TestKit
import Testing

@testable import Braze

/// Campaigns, schedules and sends (docs/contracts/braze.md#5.6 to 5.8).
struct CampaignTests {
    static let schedule = #"""
        {"external_user_ids":["u-1"],"schedule":{"time":"2026-01-02T09:00:00Z","in_local_time":false,"at_optimal_time":false},\#
        "messages":{"apple_push":{"alert":"Hi {{${user_id}}}","expiry":"2026-01-02T10:00:00Z"}}}
        """#

    static let trigger = #"""
        {"campaign_id":"c-1","send_id":"winter-2026","trigger_properties":{"city":"Seoul","name":"you"},"recipients":[\#
        {"external_user_id":"u-1","trigger_properties":{"name":"Mina"},"send_to_existing_only":true},{"external_user_id":"u-2"}]}
        """#

    static let campaign = Campaign(
        id: "c-1",
        name: "Winter",
        body: [
            "variations": [
                [
                    "message_variation_id": "v-1",
                    "apple_push": [
                        "alert":
                            "{{api_trigger_properties.${name}}} in {{api_trigger_properties.${city}}}, {{campaign.${name}}}"
                    ],
                ]
            ]
        ],
        createdAt: Mount.now,
        updatedAt: Mount.now
    )

    static let id = Mount.message

    /// A request of each call, as in the contract.
    static let documented: [VendorRequest] = [
        Mount.request("/messages/schedule/create", schedule),
        Mount.request(
            "/messages/schedule/update",
            #"{"schedule_id":"\#(id)","schedule":{"time":"2026-01-03T09:00:00Z"}}"#
        ),
        Mount.request("/messages/schedule/delete", #"{"schedule_id":"\#(id)"}"#),
        Mount.request(
            "/messages/scheduled_broadcasts",
            "",
            method: .get,
            query: "end_time=2026-01-03T00:00:00Z"
        ),
        Mount.request("/campaigns/trigger/send", trigger),
        Mount.request("/campaigns/trigger/schedule/create", triggerSchedule),
        Mount.request(
            "/campaigns/trigger/schedule/update",
            #"{"campaign_id":"c-1","schedule_id":"\#(id)","schedule":{"time":"2026-01-03T09:00:00Z"}}"#
        ),
        Mount.request("/campaigns/trigger/schedule/delete", #"{"campaign_id":"c-1","schedule_id":"\#(id)"}"#),
        Mount.request("/sends/id/create", #"{"campaign_id":"c-1","send_id":"winter-2026"}"#),
        Mount.request(
            "/sends/data_series",
            "",
            method: .get,
            query: "campaign_id=c-1&send_id=winter-2026&length=7&ending_at="
        ),
    ]

    private static let triggerSchedule = trigger.replacingOccurrences(
        of: #""send_id""#,
        with: #""schedule":{"time":"2026-01-02T09:00:00Z"},"send_id""#
    )

    /// The stored schedule of a call.
    static func kept(_ kind: ScheduleCall.Kind, _ body: String, state: MessageState = .scheduled) throws
        -> Schedule
    {
        Schedule(
            id: id,
            message: id,
            state: state,
            dueAt: Mount.now + .seconds(118_800),
            isLocal: false,
            request: ScheduleCall(kind, try #require(try JSONParser.parse(body).object)).request
        )
    }

    /// Answers like a gateway with the campaign and `schedule`, and keeps the submissions.
    final class FakeGateway {
        var submissions: [Submission] = []
        var commands: [CampaignCommand] = []
        var users: [UserCommand] = []
        /// The reason for refusing all changes of users; nil: they are accepted.
        var refusal: Refusal?
        var schedule: Schedule?
        /// The number of submissions that are refused as outdated.
        var overtaken = 0

        init(_ schedule: Schedule? = nil) { self.schedule = schedule }

        func reply(_ command: Command) -> Reply {
            switch command {
            case .submission(.submit(let submission)):
                submissions.append(submission)
                overtaken -= 1
                if overtaken >= 0 { return .refused(.outdated) }
                return Mount.accepted
            case .campaign(let command):
                commands.append(command)
                switch command {
                case .find(let id): return .campaign(.found(id == "c-1" ? CampaignTests.campaign : nil))
                case .schedule(let id): return .campaign(.schedule(id == schedule?.id ? schedule : nil))
                case .schedules: return .campaign(.schedules(schedule.map { [$0] } ?? []))
                case .cancelSchedule: return .campaign(.removed(true))
                case .series:
                    let day = SeriesDay(day: 20_454, sent: 10, read: 2, failed: 1, users: 9)
                    return .campaign(.series([day]))
                case .put, .list, .remove, .makeName, .visit: return Mount.reply(.campaign(command))
                }
            case .user(let command):
                users.append(command)
                switch command {
                case .track(let batch):
                    return .user(.tracked(patches: batch.patches.map { _ in refusal }, acts: []))
                // Only the alias `a-7` belongs to a known user.
                case .describe(let names, _):
                    return .user(
                        .described(
                            names.map { name in
                                guard name == .alias(UserAlias(label: "crm", name: "a-7")) else { return nil }
                                return DescribedUser(app: "shop", user: "u-7", isAnonymous: false, attributes: [:])
                            }
                        )
                    )
                default: return .refused(.unsupported("test"))
                }
            default: return .refused(.unsupported("test"))
            }
        }
    }

    static func answer(_ path: String, _ body: String, _ gateway: FakeGateway) -> VendorResponse {
        Mount.answer(Mount.request(path, body), gateway.reply)
    }

    // MARK: Schedules

    @Test(.covers("braze", "POST /messages/schedule/create")) func aScheduleIsASendThatIsDueLater() throws {
        let gateway = FakeGateway()
        let answer = Self.answer("/messages/schedule/create", Self.schedule, gateway)
        #expect(answer.status == 201)
        #expect(
            answer.json == [
                "dispatch_id": "4f9c2b7e1d2a4c6f8b0e3a5d7c9f1b2d", "schedule_id": .string(Self.id.description),
                "message": "success",
            ]
        )
        let submission = try #require(gateway.submissions.first)
        #expect(submission.timing.dueAt == Timestamp(seconds: 1_767_225_600 + 33 * 3600))
        #expect(submission.timing.timeToLive == .seconds(3600), "from when it is due")
        #expect(submission.audience == .users(["u-1"]))
        #expect(submission.content.isTemplate)
        let draft = try #require(submission.schedule)
        #expect(draft.replaced == nil)
        #expect(ScheduleCall(draft.request)?.kind == .messages)
    }

    // A key in the body authorizes the call and is not stored.
    @Test func aKeyIsNotStored() throws {
        let gateway = FakeGateway()
        let body = Self.schedule.replacingOccurrences(
            of: #"{"external_user_ids""#,
            with: #"{"api_key":"\#(Mount.key)","external_user_ids""#
        )
        #expect(Mount.answer(Mount.request("/messages/schedule/create", body, key: nil), gateway.reply).status == 201)
        let request = try #require(gateway.submissions.first?.schedule?.request)
        #expect(!JSONWriter.text(.object(request)).contains(Mount.key))
    }

    // docs/contracts/braze.md#5.7: the schedule is in each device's own time zone, and the zone of the given time is
    // ignored.
    @Test func aScheduleMayBeLocal() throws {
        let gateway = FakeGateway()
        let body =
            #"{"broadcast":true,"schedule":{"time":"2026-01-02T09:00:00+09:00","in_local_time":true},"messages":{"apple_push":{"alert":"Hi","expiry":"2026-01-02T11:00:00Z"}}}"#
        #expect(Self.answer("/messages/schedule/create", body, gateway).status == 201)
        #expect(gateway.submissions.first?.timing.localDue == LocalTime("2026-01-02T09:00:00"))
        #expect(gateway.submissions.first?.timing.dueAt == nil)
        #expect(gateway.submissions.first?.timing.timeToLive == .seconds(7200), "by the same clock")
    }

    // The errors of docs/contracts/braze.md#5.7.
    @Test(arguments: [
        (#"{"time":"soon"}"#, "cannot parse send_at"), (#"{}"#, "cannot parse send_at"),
        ("null", "'schedule' is not valid"),
        (#"{"time":"2025-12-31T23:59:59Z"}"#, "'schedule.time' is in the past"),
        (#"{"time":"2025-12-31T11:59:59Z","in_local_time":true}"#, "'schedule.time' is in the past"),
        (#"{"time":"2026-01-02T09:00:00Z","in_local_time":"yes"}"#, "'schedule.in_local_time' is not valid"),
        (#"{"time":"2026-01-02T10:00:00Z"}"#, "'expiry' is not valid"),
    ])
    func anInvalidTimeIsRefused(_ schedule: String, _ text: String) {
        let body =
            #"{"external_user_ids":["u-1"],"schedule":\#(schedule),"messages":{"apple_push":{"alert":"Hi","expiry":"2026-01-02T10:00:00Z"}}}"#
        let answer = Self.answer("/messages/schedule/create", body, FakeGateway())
        #expect(answer.status == 400)
        #expect(answer.message == text)
    }

    // An update contains only the changed fields; the others stay.
    @Test(.covers("braze", "POST /messages/schedule/update")) func anUpdateReplacesWhatItNames() throws {
        let gateway = FakeGateway(try Self.kept(.messages, Self.schedule))
        let id = Self.id.description
        let later = #"{"schedule_id":"\#(id)","schedule":{"time":"2026-01-02T09:30:00Z"}}"#
        let answer = Self.answer("/messages/schedule/update", later, gateway)
        #expect(answer.status == 201)
        #expect(answer.json == ["message": "success"])
        let moved = try #require(gateway.submissions.first)
        #expect(moved.timing.dueAt == Timestamp(seconds: 1_767_225_600 + 33 * 3600 + 1800))
        #expect(moved.content.raw?["aps"]?["alert"] == "Hi {{${user_id}}}")
        #expect(moved.audience == .users(["u-1"]))
        #expect(moved.schedule?.replaced == ScheduleVersion(id: Self.id, message: Self.id))
        let other = #"{"schedule_id":"\#(id)","messages":{"apple_push":{"alert":"New"}}}"#
        #expect(Self.answer("/messages/schedule/update", other, gateway).status == 201)
        let rewritten = try #require(gateway.submissions.last)
        #expect(rewritten.content.raw?["aps"]?["alert"] == "New")
        #expect(rewritten.timing.dueAt == Timestamp(seconds: 1_767_225_600 + 33 * 3600))
        #expect(
            ScheduleCall(try #require(rewritten.schedule).request)?.body["messages"]?["apple_push"]?["alert"] == "New"
        )
    }

    @Test(.covers("braze", "POST /messages/schedule/delete")) func aScheduleIsWithdrawn() throws {
        let gateway = FakeGateway(try Self.kept(.messages, Self.schedule))
        let answer = Self.answer("/messages/schedule/delete", #"{"schedule_id":"\#(Self.id)"}"#, gateway)
        #expect(answer.status == 201)
        #expect(answer.json == ["message": "success"])
        #expect(gateway.commands.last == .cancelSchedule(Self.id))
    }

    // Schedules that are unknown, due, or of the other kind of call, and ids of another form.
    @Test(arguments: ["update", "delete"]) func onlyAFutureScheduleMayBeChanged(_ act: String) throws {
        let other = MessageID(rawValue: UUID())
        let faults: [(Schedule?, String)] = [
            (try Self.kept(.messages, Self.schedule), other.description), (nil, Self.id.description),
            (try Self.kept(.messages, Self.schedule, state: .sending), Self.id.description),
            (try Self.kept(.messages, Self.schedule, state: .canceled), Self.id.description),
            (try Self.kept(.campaigns, Self.trigger), Self.id.description), (nil, "7"),
        ]
        for (schedule, id) in faults {
            let gateway = FakeGateway(schedule)
            let answer = Self.answer("/messages/schedule/\(act)", #"{"schedule_id":"\#(id)"}"#, gateway)
            #expect(answer.status == 400)
            #expect(answer.message == "'schedule_id' is not valid")
            #expect(gateway.submissions.isEmpty && !gateway.commands.contains(.cancelSchedule(Self.id)))
        }
    }

    @Test(.covers("braze", "GET /messages/scheduled_broadcasts")) func broadcastsToComeAreListed() throws {
        let body =
            #"{"broadcast":true,"schedule":{"time":"2026-01-02T09:00:00Z"},"messages":{"apple_push":{"alert":"Hi"}}}"#
        func list(_ gateway: FakeGateway, _ query: String?) -> VendorResponse {
            Mount.answer(
                Mount.request("/messages/scheduled_broadcasts", "", method: .get, query: query),
                gateway.reply
            )
        }
        let gateway = FakeGateway(try Self.kept(.messages, body))
        let answer = list(gateway, "end_time=2026-01-03T00:00:00Z")
        #expect(answer.status == 200)
        #expect(
            answer.json == [
                "message": "success",
                "scheduled_broadcasts": [
                    [
                        "id": .string(Self.id.description), "name": "", "type": "Message", "tags": [],
                        "schedule_type": "scheduled", "next_send_time": "2026-01-02T09:00:00Z",
                    ]
                ],
            ]
        )
        #expect(gateway.commands == [.schedules(until: Timestamp(seconds: 1_767_225_600 + 172_800), limit: 100)])
        let toUsers = list(FakeGateway(try Self.kept(.messages, Self.schedule)), nil)
        #expect(toUsers.json?["scheduled_broadcasts"] == [])
        #expect(list(gateway, "end_time=soon").status == 400)
    }

    // MARK: Campaigns

    @Test(.covers("braze", "POST /campaigns/trigger/send")) func aTriggerSendsTheCampaign() throws {
        let gateway = FakeGateway()
        let answer = Self.answer("/campaigns/trigger/send", Self.trigger, gateway)
        #expect(answer.status == 201)
        #expect(answer.json == ["dispatch_id": "4f9c2b7e1d2a4c6f8b0e3a5d7c9f1b2d", "message": "success"])
        let submission = try #require(gateway.submissions.first)
        #expect(submission.audience == .users(["u-1", "u-2"]))
        #expect(submission.variables == [UserVariables(user: "u-1", values: ["name": "Mina"])])
        #expect(submission.labels == ["campaign\u{1F}c-1", "send\u{1F}c-1\u{1F}winter-2026"])
        // A recipient's own properties override the properties for all recipients.
        for (variables, text) in [
            (["name": "Mina"] as JSONObject, "Mina in Seoul, Winter"), ([:], "you in Seoul, Winter"),
        ] {
            var facts = Mount.facts
            facts.variables = variables
            let notification = Notification(
                message: Mount.message,
                origin: .braze,
                content: submission.content,
                sentAt: Mount.now
            )
            let push = try Mount.adapter.payload(for: notification, to: facts, settings: Mount.settings)
            #expect(try JSONParser.parse(push.bytes)["aps"]?["alert"] == .string(text))
        }
    }

    // docs/contracts/braze.md#5.11
    @Test func anUnknownCampaignIsRefused() throws {
        let body = #"{"campaign_id":"does-not-exist","recipients":[{"external_user_id":"u-1"}]}"#
        let answer = Self.answer("/campaigns/trigger/send", body, FakeGateway())
        #expect(try answer.fault(against: "messages/campaign.response.txt") == nil)
        for path in ["/sends/id/create", "/campaigns/trigger/send", "/campaigns/trigger/schedule/create"] {
            for body in [
                #"{"campaign_id":"nobody's","broadcast":true,"schedule":{"time":"2026-01-02T09:00:00Z"}}"#, "{}",
            ] {
                #expect(Self.answer(path, body, FakeGateway()).json == ["message": "Invalid Campaign ID"], "\(path)")
            }
        }
    }

    @Test(arguments: [
        ("", "No Recipients"), (#","recipients":[]"#, "No Recipients"),
        (
            #","broadcast":true,"recipients":[{"external_user_id":"u-1"}]"#,
            "'broadcast' and 'audience' may not be combined with recipients"
        ),
        (#","recipients":[{"external_user_id":""}]"#, "'external_user_id' is not valid"),
        (
            #","recipients":[{"user_alias":{"alias_name":"a"}}]"#,
            "'user_alias' is not valid"
        ),
        (
            #","recipients":[{"external_user_id":"u","user_alias":{"alias_name":"a","alias_label":"b"}}]"#,
            "'user_alias' is not valid"
        ),
        (#","recipients":[{"external_user_id":"u","attributes":{"gender":"X"}}]"#, "'gender' is not valid"),
        (#","recipients":[{"external_user_id":"u","attributes":7}]"#, "'attributes' is not valid"),
        (
            #","recipients":[{"external_user_id":"u","attributes":{"a":1},"send_to_existing_only":7}]"#,
            "'send_to_existing_only' is not valid"
        ), (#","recipients":[{"email":"a@example.com"}]"#, "'recipients.email' is not available on this gateway"),
        (#","broadcast":true,"trigger_properties":7"#, "'trigger_properties' is not valid"),
        (#","broadcast":true,"send_id":7"#, "'send_id' is not valid"),
        (#","audience":{"AND":[]}"#, "'audience.AND' is not valid"),
    ])
    func anInvalidTriggerIsRefused(_ fields: String, _ text: String) {
        let gateway = FakeGateway()
        let answer = Self.answer("/campaigns/trigger/send", #"{"campaign_id":"c-1"\#(fields)}"#, gateway)
        #expect(answer.status == 400)
        #expect(answer.message == text)
        #expect(gateway.submissions.isEmpty && gateway.users.isEmpty)
    }

    @Test func aTriggerHasFiftyRecipientsAtMost() {
        func trigger(_ count: Int) -> VendorResponse {
            let list = (0..<count).map { #"{"external_user_id":"u-\#($0)"}"# }.joined(separator: ",")
            let body = #"{"campaign_id":"c-1","recipients":[\#(list)]}"#
            return Self.answer("/campaigns/trigger/send", body, FakeGateway())
        }
        #expect(trigger(50).status == 201)
        #expect(trigger(51).message == "The max number of external_ids and aliases per request was exceeded")
    }

    @Test(
        .covers("braze", "POST /campaigns/trigger/schedule/create"),
        .covers("braze", "POST /campaigns/trigger/schedule/update"),
        .covers("braze", "POST /campaigns/trigger/schedule/delete")
    )
    func aTriggerMayBeScheduled() throws {
        let body = Self.triggerSchedule
        let gateway = FakeGateway()
        #expect(Self.answer("/campaigns/trigger/schedule/create", body, gateway).json?["schedule_id"] != nil)
        let made = try #require(gateway.submissions.first)
        #expect(made.timing.dueAt == Timestamp(seconds: 1_767_225_600 + 33 * 3600))
        #expect(made.variables.count == 1)
        gateway.schedule = try Self.kept(.campaigns, body)
        let update =
            #"{"campaign_id":"c-1","schedule_id":"\#(Self.id)","broadcast":true,"schedule":{"time":"2026-01-03T09:00:00Z"}}"#
        #expect(Self.answer("/campaigns/trigger/schedule/update", update, gateway).json == ["message": "success"])
        let changed = try #require(gateway.submissions.last)
        #expect(changed.audience == .everyone, "the audience is replaced completely")
        #expect(changed.timing.dueAt == Timestamp(seconds: 1_767_225_600 + 57 * 3600))
        #expect(changed.content.data["properties"]?["city"] == "Seoul", "what was not named stays")
        #expect(changed.schedule?.replaced == ScheduleVersion(id: Self.id, message: Self.id))
        // An update with another campaign.
        let other = update.replacingOccurrences(of: "c-1", with: "c-2")
        #expect(Self.answer("/campaigns/trigger/schedule/update", other, gateway).message == "Invalid Campaign ID")
        let delete = #"{"campaign_id":"c-1","schedule_id":"\#(Self.id)"}"#
        #expect(Self.answer("/campaigns/trigger/schedule/delete", delete, gateway).json == ["message": "success"])
        #expect(gateway.commands.last == .cancelSchedule(Self.id))
        #expect(gateway.submissions.count == 2)
    }

    // docs/contracts/braze.md#5.5: a send may be counted for a campaign, and then names one of its variations.
    @Test(arguments: [
        (#""c-1""#, #","message_variation_id":"v-1""#, nil), (#""c-1""#, "", "Message Variant Unspecified"),
        (#""c-1""#, #","message_variation_id":"v-2""#, "Invalid Message Variant"),
        (#""c-2""#, #","message_variation_id":"v-1""#, "Invalid Campaign ID"), ("7", "", "Invalid Campaign ID"),
    ])
    func aSendMayNameACampaign(_ id: String, _ field: String, _ text: String?) {
        let gateway = FakeGateway()
        let body =
            #"{"external_user_ids":["u-1"],"campaign_id":\#(id),"messages":{"apple_push":{"alert":"Hi"\#(field)}}}"#
        let answer = Self.answer("/messages/send", body, gateway)
        #expect(answer.status == (text == nil ? 201 : 400))
        if let text { #expect(answer.message == text) }
        #expect(gateway.submissions.first?.labels == (text == nil ? ["campaign\u{1F}c-1"] : nil))
    }

    // The checks of the native API before it stores a campaign.
    @Test(arguments: [
        (#"{"variations":[{"message_variation_id":"v","apple_push":{"alert":"Hi {{${first_name}}}"}}]}"#, nil),
        (#"{}"#, "'variations' must be 1 to 20 objects"),
        (#"{"variations":[]}"#, "'variations' must be 1 to 20 objects"),
        (#"{"messages":{}}"#, "'messages' is not known"),
        (
            #"{"variations":[{"apple_push":{"alert":"Hi"}}]}"#,
            "each of 'variations' must have 'message_variation_id' of its own and 'apple_push'"
        ),
        (
            #"{"variations":[{"message_variation_id":"v","apple_push":{"alert":"{{x}}"}}]}"#,
            "v: The Liquid expression '{{x}}' is not available on this gateway"
        ),
        (
            #"{"variations":[{"message_variation_id":"v","apple_push":{"alert":"Hi","expiry":"2030-01-01T00:00:00Z"}}]}"#,
            "v: 'expiry' is not valid"
        ),
    ])
    func anInvalidCampaignIsRefused(_ body: String, _ problem: String?) throws {
        let object = try #require(try JSONParser.parse(body).object)
        #expect(Mount.adapter.campaignProblem(in: object) == problem)
    }

    // The stored data that a call reads exists, so that the broken bodies reach both halves of each call.
    @Test func mutatedCallsGetTheVendorsShape() throws {
        let seed = Fuzz.seed
        var mutator = Mutator(seed: seed, known: ["c-1", Self.id.description])
        var submitted = 0
        for request in Self.documented + AudienceTests.documented where request.method == .post {
            let document = try JSONParser.parse(request.body)
            let kind: ScheduleCall.Kind = request.path.hasPrefix("/campaigns") ? .campaigns : .messages
            let kept = try Self.kept(kind, kind == .campaigns ? Self.triggerSchedule : Self.schedule)
            for index in 0..<Fuzz.count / 8 {
                var broken = request
                broken.body = mutator.body(index, from: document)
                let gateway = FakeGateway(kept)
                let answer = Mount.answer(broken, gateway.reply)
                #expect(
                    ConformanceTests.fault(answer, broken) == nil,
                    "seed \(seed): \(String(decoding: broken.body, as: UTF8.self))"
                )
                submitted += gateway.submissions.count
            }
        }
        #expect(submitted * 10 >= Fuzz.count, "some must be sent")
    }

    // Each call needs its own permission.
    @Test(arguments: BrazeCall.allCases.filter { $0 != .track })
    func aKeyThatMayOnlyTrackIsRefused(_ call: BrazeCall) {
        let request = Mount.request(call.rawValue, "{}", method: call.method, key: Mount.trackKey)
        #expect(Mount.answer(request).status == 401)
    }
}
