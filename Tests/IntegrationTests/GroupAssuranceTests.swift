import CommandSupport
import Foundation
import Model
import Testing

/// A message to a group whose audience is expanded page by page: the highest level of each user, and the least level of the message.
@Suite(.serialized, .timeLimit(.minutes(10)), .sharedWorld())
struct GroupAssuranceTests {
    private var world: World { get throws { try SharedWorld.current } }

    private func apply(_ assurance: String) async throws -> UPMCCaller {
        let world = try world
        let app = """

                  - id: grouped
                    \(assurance)
                    platforms: { ios: { topic: \(StageMaterial.topic), production: apple } }
                    bindings:
                      upmc: { applicationId: com.grouped, settings: { senderNetworks: [127.0.0.1] } }
            """
        try await world.apply("grouped.yaml", keys: "", apps: app)
        var caller = UPMCCaller(base: world.http.base)
        caller.application = "com.grouped"
        try await eventually("the binding is served") {
            try await caller.call("rcv_get_service", UPMCCaller.Phone(user: "nobody").fields).code == "0000"
        }
        return caller
    }

    /// The pushes that the simulator received for each phone.
    private func pushes(_ phones: UPMCCaller.Phone...) async throws -> [Int] {
        var counts: [Int] = []
        for phone in phones {
            let answer = try await world.control.call("GET", "/_simulator/requests?token=\(phone.token)&limit=50")
            counts.append(answer.json?["requests"]?.array?.count ?? 0)
        }
        return counts
    }

    /// Sends to the group and returns the states of the deliveries with their reasons, when the message is done.
    private func send(_ caller: UPMCCaller, _ group: String) async throws -> Set<String> {
        let world = try world
        let fields = ["GROUPSEQ": group, "TYPE": "G", "MESSAGE": "m", "SENDERCODE": "admin"]
        let answer = try await caller.call("rcv_register_groupmessage", fields)
        try #require(answer.code == "0000", "\(JSONWriter.text(answer.json))")
        let newest = """
            SELECT message_id::text AS value FROM gateway.message WHERE app_id = 'grouped' ORDER BY accepted_at DESC LIMIT 1
            """
        let message = try await world.value(newest)
        try await eventually("the message is done") {
            try await world.native("GET", "/v1/messages/\(message)").json?["state"] == "done"
        }
        let deliveries = try await world.value(
            """
            SELECT coalesce(string_agg(i.user_id || ' ' || d.state || coalesce(' ' || d.reason, ''), ','), '') AS value
            FROM gateway.delivery d JOIN gateway.identity i ON i.tenant_id = d.tenant_id AND i.identity_id = d.target_id
            WHERE d.message_id = '\(message)'
            """
        )
        return Set(deliveries.split(separator: ",").map(String.init))
    }

    /// Makes a group of these phones' users, and returns its number.
    private func group(_ name: String, _ phones: UPMCCaller.Phone..., by caller: UPMCCaller) async throws -> String {
        let made = try await caller.call("rcv_register_usergroup", ["GROUPNAME": name])
        let group = try #require(made.first?["GROUPSEQ"]?.string, "\(JSONWriter.text(made.json))")
        for phone in phones {
            let joined = try await caller.call(
                "rcv_register_usergroup_user",
                phone.fields.merging(["GROUPSEQ": group]) { $1 }
            )
            try #require(joined.code == "0000", "\(JSONWriter.text(joined.json))")
        }
        return group
    }

    @Test func aGroupReachesTheHighestLevelAndAtLeastThatOfTheMessage() async throws {
        let world = try world
        let caller = try await apply("minAssurance: claimed")
        let (owner, stranger, other) = (
            UPMCCaller.Phone(user: "kim"), UPMCCaller.Phone(user: "kim"), UPMCCaller.Phone(user: "lee")
        )
        let claimant = UPMCCaller.Phone(user: "pat")
        for phone in [owner, stranger, other, claimant] { try await caller.register(phone) }
        let group = try await self.group("g", owner, other, by: caller)
        let probe = try await self.group("probe", claimant, by: caller)
        #expect(try await send(caller, group) == ["kim sent", "lee sent"])
        #expect(try await pushes(owner, stranger, other) == [1, 1, 1], "all are claims")

        let identity = try await world.value(
            """
            SELECT i.identity_id::text AS value FROM gateway.identity i
            JOIN gateway.device d ON d.tenant_id = i.tenant_id AND d.device_id = i.device_id
            WHERE i.app_id = 'grouped' AND d.token = '\(owner.token)'
            """
        )
        let vouched = try await world.native("POST", "/v1/identities/\(identity)/vouch", ["user": "kim"])
        try #require(vouched.json?["assurance"] == "vouched", "\(vouched.text)")
        #expect(try await send(caller, group) == ["kim sent", "lee sent"])
        #expect(try await pushes(owner, stranger, other) == [2, 1, 2], "the claim of a confirmed user is left out")

        _ = try await apply("minAssurance: vouched")
        try await eventually("the level is in force") { try await send(caller, probe) == ["pat suppressed assurance"] }
        #expect(try await send(caller, group) == ["kim sent", "lee suppressed assurance"])
        #expect(try await pushes(owner, stranger, other) == [3, 1, 2])
    }
}
