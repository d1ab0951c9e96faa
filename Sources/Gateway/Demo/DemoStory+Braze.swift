import ApplePayload
import Foundation
import Model

/// The sequence of an app with the SDK of Braze and its back end: start, user, permission, token, campaign, opened push.
extension DemoStory {
    private static let sdkKey = "11111111-2222-4333-8444-555555555555"
    private static let restKey = SystemIdentifiers().randomHex(byteCount: 16)
    private static let campaign = "9a8b7c6d-0000-4000-8000-000000000001"
    private static let phone = "5D9C7B3E-7C41-4C39-9C51-6B1D2A9F0E77"

    /// What the demo's app needs to be reached by this vendor's name: lines among its bindings.
    static let brazeBinding = """
                  braze:
                    sdkKey: \(sdkKey)
                    restKeys:
                      - { name: crm, valueEnv: DEMO_BRAZE_KEY, permissions: [users.track, campaigns.trigger.send, users.export.ids] }
                    settings: { sdkEnabled: true }
        """

    static let brazeSecrets = ["DEMO_BRAZE_KEY": restKey]

    /// - Throws: `DemoFailure` at the first step that does not hold.
    func playBraze() async throws {
        Console.print("\nThe same gateway, a fourth vendor: Braze.\n")
        let token = SystemIdentifiers().randomHex(byteCount: 32)
        try await startSDK(token)
        try await trackUser()
        let (number, payload) = try await trigger(token)
        try await open(number, payload)
    }

    private func startSDK(_ token: String) async throws {
        say("The app starts its SDK, says who its user is, that pushes are allowed, and its token: POST /api/v3/data")
        let start: JSON = [
            "device": [
                "os_version": "17.5", "model": "iPhone15,2", "locale": "ko_KR", "time_zone": "Asia/Seoul",
                "remote_notification_enabled": 1, "ios_push_auth": "authorized",
            ],
            "attributes": [["user_id": "mina", "push_token": .string(token)]],
            "events": [
                ["name": "ss", "time": .int(Self.seconds), "data": [:], "session_id": "s-1", "user_id": "mina"]
            ],
            "respond_with": ["user_id": "mina", "triggers": true, "config": ["config_time": 0]],
        ]
        let answer = try await sdk(start)
        try expect(
            answer["config"] != nil && answer["triggers"] == [],
            "the SDK gets its configuration and no triggers"
        )
    }

    private func trackUser() async throws {
        say("The back end tells what it knows of the user: POST /users/track")
        let answer = try await braze(
            "/users/track",
            [
                "attributes": [["external_id": "mina", "first_name": "Mina", "plan": "gold"]],
                "events": [["external_id": "mina", "name": "add_to_cart", "time": .string(Self.now)]],
            ]
        )
        try expect(
            answer["message"] == "success" && answer["attributes_processed"] == 1 && answer["events_processed"] == 1,
            "one attribute object and one event are processed"
        )
        let user = try await braze("/users/export/ids", ["external_ids": ["mina"]])["users"]?.array?.first
        try expect(user?["custom_attributes"]?["plan"] == "gold", "users/export/ids gives them back")
        try expect(user?["push_tokens"]?.array?.count == 1, "with the device that the SDK told of")
    }

    private func trigger(_ token: String) async throws -> (number: String, payload: JSON) {
        say("A campaign with a template is stored, and triggered for the user")
        let push: JSON = [
            "alert": "Hi {{${first_name}}}, {{api_trigger_properties.${city}}} waits for you",
            "custom_uri": "shop://cart",
            "extra": ["screen": "cart"],
        ]
        _ = try await native(
            "PUT",
            "/v1/apps/shop/campaigns/\(Self.campaign)?vendor=braze",
            ["name": "Winter", "variations": [["message_variation_id": "a", "apple_push": push]]]
        )
        let answer = try await braze(
            "/campaigns/trigger/send",
            [
                "campaign_id": .string(Self.campaign), "trigger_properties": ["city": "Seoul"],
                "recipients": [["external_user_id": "mina"]],
            ]
        )
        let number = Self.dashed(try text(answer, "dispatch_id"))
        let message = try await settled(number)
        try expect(message["funnel"]?["sent"]?.int == 1, "one push was accepted")
        let seen = try await stage.control.call("GET", "/_simulator/requests?token=\(token)")
        let payload = seen.json?["requests"]?.array?.last?["payload"] ?? .null
        Console.print("    \(JSONWriter.text(payload))")
        try expect(
            payload[AppleKey.aps]?["alert"] == "Hi Mina, Seoul waits for you",
            "the template is filled for the user"
        )
        try expect(payload["ab_uri"] == "shop://cart" && payload["screen"] == "cart", "link and extras travel along")
        return (number, payload)
    }

    private func open(_ number: String, _ payload: JSON) async throws {
        say("The user taps the push, and the SDK tells it; twice, for it was not sure that it was heard")
        let reference = payload["ab"]?["c"]?.string ?? ""
        let tap: JSON = [
            "events": [
                [
                    "name": "pc", "time": .int(Self.seconds), "data": ["ref": .string(reference)], "session_id": "s-1",
                    "user_id": "mina",
                ]
            ],
            "respond_with": [:],
        ]
        for _ in 0..<2 { _ = try await sdk(tap) }
        let funnel = try await native("GET", "/v1/messages/\(number)")["funnel"]
        try expect(funnel?["read"]?.int == 1, "the native funnel counts one reader, by ab.c of the payload")
    }

    // MARK: Helpers

    private static var seconds: Int64 { Int64(Date().timeIntervalSince1970) }
    private static var now: String { Date().formatted(.iso8601) }

    /// The vendor writes ids as 32 digits, the native API as a UUID.
    private static func dashed(_ id: String) -> String {
        var rest = id[...]
        return [8, 4, 4, 4, 12].map { count in
            defer { rest = rest.dropFirst(count) }
            return String(rest.prefix(count))
        }.joined(separator: "-")
    }

    private func sdk(_ body: JSON) async throws -> JSON {
        var whole: JSONObject = ["api_key": .string(Self.sdkKey), "device_id": .string(Self.phone)]
        whole["time"] = .int(Self.seconds)
        whole["sdk_version"] = "4.4.1"
        for (name, value) in body.object?.pairs ?? [] { whole[name] = value }
        return try await created("/api/v3/data", .object(whole), headers: ["X-Braze-Api-Key": Self.sdkKey])
    }

    private func braze(_ path: String, _ body: JSON) async throws -> JSON {
        try await created(path, body, headers: ["Authorization": "Bearer \(Self.restKey)"])
    }

    private func created(_ path: String, _ body: JSON, headers: [String: String]) async throws -> JSON {
        var answer = try await stage.gateway.call("POST", path, body, headers: headers)
        // A running gateway follows what was applied within a second.
        for _ in 0..<100 where answer.status == 401 {
            try await Task.sleep(for: .milliseconds(50))
            answer = try await stage.gateway.call("POST", path, body, headers: headers)
        }
        show("POST \(path) \(JSONWriter.text(body))", answer)
        guard answer.status == 201, let json = answer.json else {
            throw DemoFailure("\(path) answered \(answer.status) \(answer.text)")
        }
        return json
    }
}
