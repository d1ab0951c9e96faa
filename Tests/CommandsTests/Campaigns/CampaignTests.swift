import Commands
import DatabaseSupport
import Model
import PostgresClient
import TestKit
import Testing

/// Campaigns, schedules, and other data that is stored with a message.
@Suite struct CampaignTests {
    private func campaign(_ world: CommandWorld, _ command: CampaignCommand) async -> Reply? {
        await world.perform(.campaign(command)).replies.first
    }

    private func register(_ world: CommandWorld) async {
        let token = DeviceToken(stored: String(repeating: "a", count: 64))
        var registration = DeviceRegistration(key: "k1", platform: .ios, token: token)
        registration.user = "u-1"
        _ = await world.registration(.register(registration))
    }

    private func scheduled(_ draft: ScheduleDraft, _ world: CommandWorld, in delay: Duration = .seconds(600))
        -> Submission
    {
        var submission = Submission(
            content: Content(body: "b"),
            audience: .users(["u-1"]),
            timing: SubmissionTiming(dueAt: world.clock.now() + delay)
        )
        submission.schedule = draft
        return submission
    }

    @Test func aScheduleKeepsItsNameOverItsMessages() async throws {
        let world = try await CommandWorld.make()
        await register(world)
        let first = try #require(
            try await world.message(world.submit(scheduled(ScheduleDraft(request: ["n": 1]), world)))
        )
        guard case .campaign(.schedule(let read?))? = await campaign(world, .schedule(first.id)) else {
            Issue.record("no schedule")
            return
        }
        #expect(read.version == ScheduleVersion(id: first.id, message: first.id))
        #expect(read.request == ["n": 1])
        let draft = ScheduleDraft(replaced: read.version, request: ["n": 2])
        let second = try #require(try await world.message(world.submit(scheduled(draft, world))))
        #expect(try await world.state(of: first.id) == .canceled)
        #expect(try await world.state(of: second.id) == .scheduled)
        // A submission that is based on the first version is refused, and leaves no message behind.
        #expect(await world.submit(scheduled(draft, world)).replies == [.refused(.outdated)])
        let all = await campaign(world, .schedules(until: nil, limit: 9))
        guard case .campaign(.schedules(let found))? = all else {
            Issue.record("no schedules")
            return
        }
        #expect(found.map(\.message) == [second.id] && found.map(\.id) == [first.id])
        #expect(await campaign(world, .cancelSchedule(first.id)) == .campaign(.removed(true)))
        #expect(await campaign(world, .cancelSchedule(first.id)) == .campaign(.removed(false)))
        #expect(try await world.state(of: second.id) == .canceled)
    }

    // A repeat would store the additional data again.
    @Test func dataStoredWithAMessageHasNoRepeatKeyAndHasLimits() async throws {
        let world = try await CommandWorld.make()
        await register(world)
        var plain = Submission(content: Content(body: "b"), audience: .users(["u-1"]))
        let long = String(repeating: "x", count: CommandLimits.labelBytes)
        plain.labels = [long, "b"]
        plain.variables = [UserVariables(user: "u-1", values: ["a": 1])]
        let accepted = try #require(try await world.message(world.submit(plain)))
        let stored = try await world.stores.call.run(
            Statement(
                "SELECT user_id, variables::text AS variables FROM gateway.message_variable WHERE tenant_id = $1 AND message_id = $2",
                [.text(world.tenant.rawValue), .uuid(accepted.id.rawValue)]
            ),
            tenant: world.tenant.rawValue
        )
        #expect(try stored.only().text("user_id") == "u-1" && stored.only().text("variables") == #"{"a":1}"#)
        func refusal(_ change: (inout Submission) -> Void) async -> Reply? {
            var submission = plain
            change(&submission)
            return await world.submit(submission).replies.first
        }
        #expect(await refusal { $0.idempotencyKey = "k" } == .refused(.invalid("idempotencyKey")))
        #expect(await refusal { $0.labels = [long + "x"] } == .refused(.invalid("labels")))
        #expect(await refusal { $0.labels = [""] } == .refused(.invalid("labels")))
        #expect(await refusal { $0.labels = ["a", "b", "c"] } == .refused(.invalid("labels")))
        let large = JSONObject([("a", JSON.string(String(repeating: "x", count: CommandLimits.attributeBytes)))])
        #expect(
            await refusal { $0.variables = [UserVariables(user: "u-1", values: large)] }
                == .refused(.invalid("variables"))
        )
        let wordy = JSONObject([("a", JSON.string(String(repeating: "x", count: CommandLimits.scheduleBytes)))])
        #expect(
            await refusal { $0.schedule = ScheduleDraft(request: wordy) } == .refused(.invalid("schedule"))
        )
        let many = (0...Audience.listedLimit).map { UserVariables(user: UserID("u-\($0)"), values: [:]) }
        #expect(
            await refusal { $0.variables = many } == .refused(.tooMany("variables", limit: Audience.listedLimit))
        )
    }

    @Test func aCampaignHasItsLimits() async throws {
        let world = try await CommandWorld.make()
        func put(_ id: String, _ body: JSONObject = [:]) async -> Reply? {
            await campaign(world, .put(id: id, name: "n", body: body))
        }
        #expect(await put("c") == .campaign(.put(isNew: true)))
        #expect(await put("c") == .campaign(.put(isNew: false)))
        #expect(await put("") == .refused(.invalid("id")))
        #expect(await put(String(repeating: "x", count: 129)) == .refused(.invalid("id")))
        let large = JSONObject([("a", JSON.string(String(repeating: "x", count: CommandLimits.contentBytes)))])
        #expect(await put("d", large) == .refused(.invalid("body")))
        #expect(await put("d", ["a": "\u{0}"]) == .refused(.invalid("body")))
        let others = 1..<CampaignCommand.countLimit
        await world.performAll(
            others.map { .campaign(.put(id: "c\($0)", name: "n", body: JSONObject())) }
        )
        #expect(await put("d") == .refused(.tooMany("campaigns", limit: CampaignCommand.countLimit)))
        #expect(await put("c1") == .campaign(.put(isNew: false)))
        #expect(await campaign(world, .find("")) == .campaign(.found(nil)))
        let days = 0...Int32(CampaignCommand.dayLimit)
        #expect(await campaign(world, .series(label: "l", days: days)) == .refused(.invalid("series")))
    }
}
