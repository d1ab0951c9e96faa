import CommandSupport
import Foundation
import Model
import Testing

/// Messages that wait for the approval of someone other than their sender (`approvalAbove`), over real processes. Each test has its own app.
@Suite(.serialized, .timeLimit(.minutes(10)), .sharedWorld { try await $0.applyApprovals() })
struct ApprovalTests {
    private var world: World { get throws { try SharedWorld.current } }

    /// Registers devices in an app. Returns their tokens.
    private func register(_ count: Int, in app: String) async throws -> [String] {
        var tokens: [String] = []
        for number in 0..<count {
            let token = String(format: "%064x", abs(app.hashValue % 1_000_000) * 100 + number)
            let device: JSON = [
                "app": .string(app), "platform": "ios", "key": .string("\(app)-\(number)"), "token": .string(token),
                "user": .string("\(app)-\(number)"),
            ]
            let answer = try await world.native("POST", "/v1/devices", device)
            try #require(answer.status == 201, "\(answer.text)")
            tokens.append(token)
        }
        return tokens
    }

    private func send(_ app: String, _ audience: JSON = "everyone", _ more: JSONObject = [:]) async throws -> String {
        var body: JSONObject = ["app": .string(app), "to": audience, "body": "b"]
        for (key, value) in more.pairs { body[key] = value }
        let answer = try await world.native("POST", "/v1/messages", .object(body))
        try #require(answer.status == 202, "\(answer.text)")
        return try #require(answer.json?["id"]?.string)
    }

    private func message(_ id: String) async throws -> JSON {
        try #require(try await world.native("GET", "/v1/messages/\(id)").json)
    }

    private func control(_ id: String, _ action: String, key: String? = nil) async throws -> HTTPCaller.Answer {
        try await world.http.call("POST", "/v1/messages/\(id)/\(action)", bearer: key ?? world.apiKey)
    }

    private func pushes(_ token: String) async throws -> Int {
        let answer = try await world.control.call("GET", "/_simulator/requests?token=\(token)")
        return answer.json?["requests"]?.array?.count ?? 0
    }

    /// Waits until another message of the app was sent, which would have been sent after everything that was due before it.
    private func passTime(in app: String, _ token: String) async throws {
        let before = try await pushes(token)
        _ = try await send(app, ["keys": [.string("\(app)-0")]])
        try await eventually("the next message is sent") { try await pushes(token) == before + 1 }
    }

    @Test func aLargeMessageWaitsForAnotherKey() async throws {
        let tokens = try await register(2, in: "native")
        let id = try await send("native")
        #expect(try await message(id)["state"] == "awaitingApproval")
        #expect(try await message(id)["submittedBy"] == "key:backend")
        try await passTime(in: "native", tokens[0])
        #expect(try await pushes(tokens[1]) == 0)
        let own = try await control(id, "approve")
        #expect(own.status == 403 && own.text.contains("may not approve"), "\(own.text)")
        #expect(try await control(id, "resume", key: ApprovalKeys.second).json?["changed"] == false)
        #expect(try await control(id, "approve", key: ApprovalKeys.groups).status == 403)
        #expect(try await control(id, "approve", key: ApprovalKeys.reader).status == 403)
        #expect(try await message(id)["state"] == "awaitingApproval")
        #expect(try await control(id, "approve", key: ApprovalKeys.second).json?["changed"] == true)
        try await eventually("both devices got it") { try await pushes(tokens[1]) == 1 }
        #expect(try await control(id, "approve", key: ApprovalKeys.second).json?["changed"] == false)
        let kinds = try await world.value(
            """
            SELECT string_agg(kind, ' ' ORDER BY position) AS value FROM gateway.event
            WHERE message_id = '\(id)' AND target_id IS NULL
            """
        )
        #expect(kinds == "accepted approval_needed message_approved")
        let audited = try await world.value(
            "SELECT count(*)::text AS value FROM gateway.audit WHERE action = 'approve' AND actor = 'key:second'"
        )
        #expect(audited == "1")
    }

    // One leaked key of an administrator makes as many keys as it likes.
    @Test func aKeyThatTheSenderMadeDoesNotApprove() async throws {
        let world = try world
        _ = try await register(2, in: "made")
        func make(_ name: String, by key: String) async throws -> String {
            let body: JSON = ["name": .string(name), "scopes": ["admin"]]
            let answer = try await world.http.call("POST", "/v1/keys", body, bearer: key)
            let secret = try #require(answer.json?["key"]?.string, "\(answer.text)")
            try await eventually("the key is known") {
                try await world.http.call("GET", "/v1/keys", bearer: secret).status == 200
            }
            return secret
        }
        let child = try await make("child", by: ApprovalKeys.admin)
        let grandchild = try await make("grandchild", by: child)
        let sibling = try await make("sibling", by: ApprovalKeys.admin)
        let family = [ApprovalKeys.admin, child, grandchild, sibling]
        for sender in [ApprovalKeys.admin, grandchild] {
            let body: JSON = ["app": "made", "to": "everyone", "body": "b"]
            let sent = try await world.http.call("POST", "/v1/messages", body, bearer: sender)
            let id = try #require(sent.json?["id"]?.string, "\(sent.text)")
            for key in family {
                let answer = try await control(id, "approve", key: key)
                #expect(answer.status == 403 && answer.text.contains("may not approve"), "\(answer.text)")
            }
            #expect(try await message(id)["state"] == "awaitingApproval")
            #expect(try await control(id, "approve", key: ApprovalKeys.second).json?["changed"] == true)
        }
    }

    @Test(
        arguments: [
            ("groups", ["groups": ["all"]]), ("tags", ["tags": "seoul"]), ("list", ["keys": ["list-0", "list-1"]]),
        ] as [(String, JSON)]
    )
    func everyKindOfAudienceIsCounted(_ app: String, _ audience: JSON) async throws {
        let tokens = try await register(2, in: app)
        if app == "groups" {
            let path = "/v1/apps/groups/groups/all"
            #expect(try await world.native("PUT", path).status == 201)
            let added = try await world.native("POST", path + "/members", ["add": ["groups-0"]])
            try #require(added.json?["added"] == 1, "\(added.text)")
        }
        let id = try await send(app, audience)
        #expect(try await message(id)["state"] == "awaitingApproval")
        #expect(try await control(id, "cancel").json?["changed"] == true)
        #expect(try await message(id)["state"] == "canceled")
        try await passTime(in: app, tokens[0])
        #expect(try await pushes(tokens[1]) == 0)
    }

    @Test func aMessageThatWasDueInTheMeantimeIsSentAtOnce() async throws {
        let tokens = try await register(2, in: "later")
        let soon = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000) + 1_500)
        let early = try await send("later", "everyone", ["sendAt": .string(soon.rfc3339)])
        let tomorrow = Timestamp(milliseconds: soon.milliseconds + 86_400_000)
        let late = try await send("later", "everyone", ["sendAt": .string(tomorrow.rfc3339)])
        try await eventually("the first message is due") {
            let time = "to_timestamp(\(soon.milliseconds) / 1000.0)"
            return try await world.value("SELECT (clock_timestamp() > \(time))::text AS value") == "true"
        }
        try await passTime(in: "later", tokens[0])
        #expect(try await pushes(tokens[1]) == 0)
        for id in [early, late] {
            #expect(try await control(id, "approve", key: ApprovalKeys.second).json?["changed"] == true)
        }
        try await eventually("the message that was due is sent") { try await pushes(tokens[1]) == 1 }
        #expect(try await message(late)["state"] == "scheduled")
    }

    // The vendor's back end gets the vendor's answer. A key that it showed cannot approve.
    @Test func aBroadcastInADialectWaitsToo() async throws {
        let world = try world
        for number in 0..<2 {
            let token = String(format: "%064x", 0xB0_0000 + number)
            let device: JSON = ["sId": "bank-service", "dt": 2, "tk": .string(token), "env": "dev"]
            #expect(try await world.http.call("POST", "/ro/v1/device/register", device).json?["rc"] == 1)
        }
        func call(_ headers: [String: String]) async throws -> HTTPCaller.Answer {
            let call: JSON = [
                "aId": "bank-account", "sId": "bank-service", "rId": "SVR-bank", "ip": "203.0.113.10",
                "msg": ["title": "t", "body": "b"], "dest": ["t": 1],
            ]
            _ = try await world.http.call(
                "POST",
                "/msgClient/register",
                ["cId": 1, "r": 1, "t": 12, "aId": "bank-account", "sId": "bank-service", "rId": "SVR-bank"],
                headers: headers
            )
            return try await world.http.call("POST", "/msgClient/sendMsg", call, headers: headers)
        }
        func broadcast(_ headers: [String: String]) async throws -> String {
            let answer = try await call(headers)
            return try #require(answer.json?["mId"]?.string, "\(answer.text)")
        }
        let open = try await broadcast([:])
        let proven = try await broadcast(["X-API-Key": world.apiKey])
        for id in [open, proven] { #expect(try await message(id)["state"] == "awaitingApproval", "\(id)") }
        #expect(try await control(proven, "approve").status == 403)
        // Its sender is not known and may have any key, so that a person approves it.
        for key in [ApprovalKeys.second, ApprovalKeys.admin] {
            let refused = try await control(open, "approve", key: key)
            #expect(refused.status == 403 && refused.text.contains("is not known"), "\(refused.text)")
        }
        for id in [open, proven] {
            let approved = try await world.command(["message", "approve", id, "--tenant", "acme", "--by", "mina"])
            #expect(approved.status == 0, "\(approved.log)")
        }
        for id in [open, proven] {
            try await eventually("it is sent") { try await message(id)["funnel"]?["sent"] == 2 }
        }
        // A key with a limit of two recipients per day sends to both devices once.
        let limited = ["X-API-Key": ApprovalKeys.limited]
        _ = try await broadcast(limited)
        let refused = try await call(limited)
        #expect(refused.status == 429 && refused.json?["mId"] == nil, "\(refused.text)")
        #expect(try await world.metric("quota_refusals_total", "quota=\"recipientsPerDay\"") == 1)
        // The app has as many identities as its quota permits.
        let third: JSON = [
            "sId": "bank-service", "dt": 2, "tk": .string(String(format: "%064x", 0xB0_0009)), "env": "dev",
        ]
        let full = try await world.http.call("POST", "/ro/v1/device/register", third)
        #expect(full.status == 429 && full.json?["rc"] != 1, "\(full.text)")
        #expect(try await world.metric("quota_refusals_total", "quota=\"identities\"") == 1)
        let listed = try await world.command(["key", "list", "--tenant", "acme", "--json"])
        #expect(listed.log.contains(#""recipientsPerDay":2,"recipientsToday":2"#), "\(listed.log)")
    }

    @Test func aSmallMessageNeedsNoApproval() async throws {
        let tokens = try await register(2, in: "small")
        try await passTime(in: "small", tokens[0])
        #expect(try await pushes(tokens[1]) == 0)
    }
}

private enum ApprovalKeys {
    static let second = "second-3f8b1d6c9e2a47508b4d6f0a2c7e9b13"
    static let groups = "groups-9c4e7a1d5f3b48206d8b0f2a7c9e1b35"
    static let admin = "admin-7d3f9b1c5e8a42604e6c0a2d9f7b1835"
    static let limited = "limited-4e8a2c6f0b1d4937a5c9e3f7d1b5a806"
    static let reader = "reader-1b7f3d9a5c8e42604f6a0c2e7d9b8135"
}

extension World {
    /// Replaces the demo's apps with apps whose messages to more than one recipient need an approval.
    fileprivate func applyApprovals() async throws {
        let keys = [
            ("second", ApprovalKeys.second), ("groups", ApprovalKeys.groups), ("reader", ApprovalKeys.reader),
            ("admin", ApprovalKeys.admin), ("limited", ApprovalKeys.limited),
        ]
        try writeKeys(keys)
        let apps = ["native", "groups", "tags", "list", "later", "small", "made"].map { name in
            """

                  - id: \(name)
                    approvalAbove: 1
                    platforms: { ios: { topic: \(StageMaterial.topic), production: apple } }
            """
        }
        let bank = """

                  - id: bank
                    approvalAbove: 1
                    quotas: { identities: 2 }
                    platforms: { ios: { topic: \(StageMaterial.topic), production: apple } }
                    bindings:
                      rationalowl: { accountId: bank-account, serviceId: bank-service, settings: { senderNetworks: [127.0.0.1] },
                        senders: [ { name: bank-core, id: SVR-bank } ] }
            """
        let scopes = """
                  - { name: second, secretFile: second.key, scopes: [send] }
                  - { name: groups, secretFile: groups.key, scopes: ["send:groups"] }
                  - { name: reader, secretFile: reader.key, scopes: [read, devices] }
                  - { name: admin, secretFile: admin.key, scopes: [admin] }
                  - { name: limited, secretFile: limited.key, scopes: [send], recipientsPerDay: 2 }

            """
        try await apply("approvals.yaml", keys: scopes, apps: apps.joined() + bank)
        try await eventually("the keys are known") {
            try await http.call("GET", "/v1/messages", bearer: ApprovalKeys.reader).status == 200
        }
    }
}
