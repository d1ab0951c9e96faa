import DeliveryEngine
import Model
import Testing

@testable import EngineStore
@testable import Store

/// The rules of campaigns, schedules and labels.
@Suite struct CampaignRuleTests {
    @Test func aCampaignIsStoredUnchangedForItsAppAndDialectOnly() async throws {
        let world = try await RuleWorld.make()
        let body: JSONObject = ["b": 1, "a": ["x\u{1}\"é", .number("1.50")]]
        func put(_ id: String, _ body: JSONObject, limit: Int = 3) async throws -> Bool? {
            try await world.run(
                PutCampaign(world.scope, id: id, name: "n", body: body, limit: limit, by: "me")
            )
        }
        #expect(try await put("b", body) == true, "the first")
        #expect(try await put("b", ["c": 2]) == false, "written again")
        #expect(try await put("b", body) == false, "and again")
        let found = try await world.run(FindCampaign(world.scope, id: "b"))
        #expect(found?.body == body, "body")
        #expect(found?.body.keys == body.keys, "in its order")
        #expect(found?.name == "n", "name")
        #expect(try await put("a", [:]) == true, "the second")
        #expect(try await put("Z", [:]) == true, "the third")
        #expect(try await put("d", [:]) == nil, "one too many")
        #expect(try await world.campaigns(after: nil, limit: 9).map(\.id) == ["Z", "a", "b"], "all")
        #expect(try await world.campaigns(after: "Z", limit: 1).map(\.id) == ["a"], "a page")
        let other = AppScope(app: world.app, vendor: .upmc)
        #expect(try await world.run(FindCampaign(other, id: "b")) == nil, "another dialect's")
        let stranger = try await world.run(FindCampaign(world.scope, id: "b"), in: world.otherTenant)
        #expect(stranger == nil, "another tenant's")
        #expect(try await world.run(RemoveCampaign(other, id: "b", by: nil)) == 0, "not there")
        #expect(try await world.run(RemoveCampaign(world.scope, id: "b", by: "me")) == 1, "removed")
        #expect(try await world.run(FindCampaign(world.scope, id: "b")) == nil, "gone")
    }

    @Test func replacingAScheduleNeedsItsCurrentVersionAndCancelsItsMessage() async throws {
        let world = try await RuleWorld.make()
        let first = try await world.scheduled(dueIn: .seconds(600))
        let read = try await world.run(FindSchedule(world.scope, first))
        #expect(read?.version == ScheduleVersion(id: first, message: first), "as created")
        #expect(read?.state == .scheduled, "to come")
        #expect(read?.request == ["n": 1], "the stored request")
        let version = ScheduleVersion(id: first, message: first)
        let second = try await world.scheduled(dueIn: .seconds(300), replacing: version)
        let changed = try await world.run(FindSchedule(world.scope, first))
        #expect(changed?.version == ScheduleVersion(id: first, message: second), "another message")
        #expect(try await world.state(of: first) == .canceled, "the first message")
        #expect(try await world.state(of: second) == .scheduled, "the second")
        // A replacement based on an outdated read is refused, and none of its writes remain.
        do throws(StoreError) {
            _ = try await world.replace(version)
            Issue.record("a conflicting change was refused")
        } catch {
            #expect(error.code == .outdated, "overtaken")
        }
        #expect(try await world.run(ListSchedules(world.scope, until: nil, limit: 9)).map(\.message) == [second], "all")
        let soon = world.now() + .seconds(60)
        #expect(try await world.run(ListSchedules(world.scope, until: soon, limit: 9)) == [], "none so soon")
        let drop = DropSchedule(world.scope, first)
        #expect(try await world.run(drop, in: world.otherTenant) == 0, "another tenant's")
        #expect(try await world.run(drop) == 1, "withdrawn")
        #expect(try await world.state(of: second) == .canceled, "its message")
        #expect(try await world.run(drop) == 0, "the schedule is deleted")
        #expect(try await world.run(FindSchedule(world.scope, first)) == nil, "the schedule is not found")
    }

    @Test func aDueScheduleIsNeitherReplacedNorWithdrawn() async throws {
        let world = try await RuleWorld.make()
        let id = try await world.scheduled(dueIn: .zero)
        #expect(try await world.run(FindSchedule(world.scope, id))?.state != .scheduled, "it is due")
        let drop = DropSchedule(world.scope, id)
        #expect(try await world.run(drop) == 0, "not withdrawn")
        do throws(StoreError) {
            _ = try await world.replace(ScheduleVersion(id: id, message: id))
            Issue.record("the schedule was replaced")
        } catch {
            #expect(error.code == .outdated, "not replaced")
        }
    }

    @Test func aSeriesCountsTheMessagesOfALabelByDay() async throws {
        let world = try await RuleWorld.make()
        let day = world.now().day
        for count in 1...2 {
            var message = world.message(to: [])
            message.targets.slices = []
            for _ in 0..<count {
                let target = TargetID(rawValue: world.identifiers.uuid(at: world.now()))
                message.targets.suppressed.append(
                    SuppressedTarget(target: target, identity: nil, device: nil, address: nil, reason: .noDevice)
                )
            }
            _ = try await world.accept(message)
            _ = try await world.run(LabelMessage(world.scope, message.id, ["l", "own \(count)"]))
        }
        func series(_ label: String, _ days: ClosedRange<Int32>, in tenant: TenantID? = nil) async throws
            -> [SeriesDay]
        {
            try await world.run(CountSeries(world.scope, label: label, days: days), in: tenant)
        }
        // The message is sent to two devices of one user, one of which reads it; a third delivery fails.
        var keys: [VendorDeviceKey] = []
        var identities: [IdentityID] = []
        for user in ["u", "u", nil] as [UserID?] {
            keys.append(world.newKey())
            let made = try await world.register(keys[keys.count - 1], token: world.newToken(), user: user)
            identities += [made?.identity].compactMap(\.self)
        }
        let pushed = world.message(to: identities)
        _ = try await world.accept(pushed)
        _ = try await world.run(LabelMessage(world.scope, pushed.id, ["pushed"]))
        for lease in try await world.claim(pushed.id, by: "n1") {
            var progress = world.progress(lease, .sent, .finished)
            for place in progress.results.indices {
                progress.results[place].user = place < 2 ? "u" : nil
                if place == 2 { progress.results[place].state = .failed }
            }
            _ = try await world.deliveries.record(progress, by: "n1")
        }
        let reporter = Reporter(key: keys[0])
        _ = try await world.run(RecordReceipt(world.scope, pushed.id, reporter, .read, at: world.now()))
        let sent = SeriesDay(day: day, sent: 2, read: 1, failed: 1, users: 1)
        #expect(try await series("pushed", day...day) == [sent], "what was sent")
        let quiet = SeriesDay(day: day, sent: 0, read: 0, failed: 0, users: 0)
        #expect(try await series("l", day - 1...day + 1) == [quiet], "no deliveries")
        #expect(try await series("own 2", day...day) == [quiet], "its own label")
        #expect(try await series("l", day + 1...day + 2) == [], "another day")
        #expect(try await series("m", day...day) == [], "another label")
        #expect(try await series("l", day...day, in: world.otherTenant) == [], "another tenant's")
    }
}

extension RuleWorld {
    fileprivate func campaigns(after: String?, limit: Int) async throws -> [Campaign] {
        try await run(ListCampaigns(scope, after: after, limit: limit))
    }

    fileprivate func state(of message: MessageID) async throws -> MessageState? {
        try await run(FindReport(scope, message))?.state
    }

    /// Accepts a message under a schedule and returns its id.
    fileprivate func scheduled(dueIn delay: Duration, replacing version: ScheduleVersion? = nil) async throws
        -> MessageID
    {
        let message = message(to: [IdentityID(rawValue: identifiers.uuid(at: now()))], dueIn: delay)
        let draft = ScheduleDraft(replaced: version, request: ["n": 1])
        _ = try await commands.run(request(draft, message), in: tenant)
        return message.id
    }

    fileprivate func replace(_ version: ScheduleVersion) async throws(StoreError) -> Acceptance {
        let message = message(to: [IdentityID(rawValue: identifiers.uuid(at: now()))], dueIn: .seconds(900))
        let draft = ScheduleDraft(replaced: version, request: [:])
        return try await commands.run(request(draft, message), in: tenant)
    }

    /// The operations of a submission in one request.
    private func request(_ draft: ScheduleDraft, _ message: NewMessage) -> StoreRequest<Acceptance> {
        StoreRequest(AcceptMessage(message)).preceded(by: draft.replaced.map { [WithdrawSchedule(scope, $0)] } ?? [])
            .adding(KeepSchedule(scope, draft, message.id))
    }
}
