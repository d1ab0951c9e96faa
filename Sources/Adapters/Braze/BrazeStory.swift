import ApplePayload
import FoundationEssentials
package import Model

extension BrazeAdapter: StoryVendor {
    package func story(_ identifiers: any IdentifierSource) -> any VendorStory { BrazeStory(identifiers) }
}

/// The self-test of an app with Braze's SDK and its back end: start, user, permission, token, campaign, opened push.
struct BrazeStory: VendorStory {
    let title = "Braze"
    private static let sdkKey = "11111111-2222-4333-8444-555555555555"
    private static let campaign = "9a8b7c6d-0000-4000-8000-000000000001"
    private static let phone = "5D9C7B3E-7C41-4C39-9C51-6B1D2A9F0E77"
    private let restKey: String
    private let token: String

    init(_ identifiers: any IdentifierSource) {
        restKey = identifiers.randomHex(byteCount: 16)
        token = identifiers.randomHex(byteCount: 32)
    }

    var binding: JSON? {
        let key: JSON = [
            "name": "crm", "valueEnv": "DEMO_BRAZE_KEY",
            "permissions": ["users.track", "campaigns.trigger.send", "users.export.ids"],
        ]
        return ["sdkKey": .string(Self.sdkKey), "restKeys": [key], "settings": ["sdkEnabled": true]]
    }

    var secrets: [String: String] { ["DEMO_BRAZE_KEY": restKey] }

    func play(_ stage: any StoryStage) async throws {
        try await startSDK(stage)
        try await trackUser(stage)
        let (number, payload) = try await trigger(stage)
        try await open(stage, number, payload)
    }

    private func startSDK(_ stage: any StoryStage) async throws {
        stage.say(
            "The app starts its SDK and reports its user, the push permission and its token: POST /api/v3/data"
        )
        let start: JSON = [
            "device": [
                "os_version": "17.5", "model": "iPhone15,2", "locale": "ko_KR", "time_zone": "Asia/Seoul",
                "remote_notification_enabled": 1, "ios_push_auth": "authorized",
            ],
            "attributes": [["user_id": "mina", "push_token": .string(token)]],
            "events": [
                ["name": "ss", "time": .int(Self.seconds(stage)), "data": [:], "session_id": "s-1", "user_id": "mina"]
            ],
            "respond_with": ["user_id": "mina", "triggers": true, "config": ["config_time": 0]],
        ]
        let answer = try await sdk(stage, start)
        try stage.expect(
            answer["config"] != nil && answer["triggers"] == [],
            "the SDK gets its configuration and no triggers"
        )
    }

    private func trackUser(_ stage: any StoryStage) async throws {
        stage.say("The back end reports what it knows of the user: POST /users/track")
        let answer = try await braze(
            stage,
            "/users/track",
            [
                "attributes": [["external_id": "mina", "first_name": "Mina", "plan": "gold"]],
                "events": [["external_id": "mina", "name": "add_to_cart", "time": .string(Self.time(stage))]],
            ]
        )
        try stage.expect(
            answer["message"] == "success" && answer["attributes_processed"] == 1 && answer["events_processed"] == 1,
            "one attribute object and one event are processed"
        )
        let user = try await braze(stage, "/users/export/ids", ["external_ids": ["mina"]])["users"]?.array?.first
        try stage.expect(user?["custom_attributes"]?["plan"] == "gold", "users/export/ids returns them")
        try stage.expect(user?["push_tokens"]?.array?.count == 1, "with the device that the SDK reported")
    }

    private func trigger(_ stage: any StoryStage) async throws -> (number: String, payload: JSON) {
        stage.say("A campaign with a template is stored, and triggered for the user")
        let push: JSON = [
            "alert": "Hi {{${first_name}}}, {{api_trigger_properties.${city}}} waits for you",
            "custom_uri": "shop://cart",
            "extra": ["screen": "cart"],
        ]
        _ = try await stage.native(
            "PUT",
            "/v1/apps/shop/campaigns/\(Self.campaign)?vendor=braze",
            ["name": "Winter", "variations": [["message_variation_id": "a", "apple_push": push]]]
        )
        let answer = try await braze(
            stage,
            "/campaigns/trigger/send",
            [
                "campaign_id": .string(Self.campaign), "trigger_properties": ["city": "Seoul"],
                "recipients": [["external_user_id": "mina"]],
            ]
        )
        let number = Self.dashed(try stage.text(answer, "dispatch_id"))
        let message = try await stage.settled(number)
        try stage.expect(message["funnel"]?["sent"]?.int == 1, "one push was accepted")
        let payload = try await stage.payload(to: token)
        stage.show(payload)
        try stage.expect(
            payload[AppleKey.aps]?["alert"] == "Hi Mina, Seoul waits for you",
            "the template is rendered for the user"
        )
        try stage.expect(
            payload["ab_uri"] == "shop://cart" && payload["screen"] == "cart",
            "link and extras are included"
        )
        return (number, payload)
    }

    private func open(_ stage: any StoryStage, _ number: String, _ payload: JSON) async throws {
        stage.say("The user taps the push, and the SDK reports it twice, as after a lost answer")
        let reference = payload["ab"]?["c"]?.string ?? ""
        let tap: JSON = [
            "events": [
                [
                    "name": "pc", "time": .int(Self.seconds(stage)), "data": ["ref": .string(reference)],
                    "session_id": "s-1",
                    "user_id": "mina",
                ]
            ],
            "respond_with": [:],
        ]
        for _ in 0..<2 { _ = try await sdk(stage, tap) }
        let funnel = try await stage.native("GET", "/v1/messages/\(number)")["funnel"]
        try stage.expect(funnel?["read"]?.int == 1, "the native funnel counts one reader, by ab.c of the payload")
    }

    // MARK: Helpers

    private static func seconds(_ stage: any StoryStage) -> Int64 { stage.now.milliseconds / 1000 }

    private static func time(_ stage: any StoryStage) -> String {
        Date(timeIntervalSince1970: Double(seconds(stage))).formatted(.iso8601)
    }

    /// The vendor writes ids as 32 digits, the native API as a UUID.
    private static func dashed(_ id: String) -> String {
        var rest = id[...]
        return [8, 4, 4, 4, 12].map { count in
            defer { rest = rest.dropFirst(count) }
            return String(rest.prefix(count))
        }.joined(separator: "-")
    }

    private func sdk(_ stage: any StoryStage, _ body: JSON) async throws -> JSON {
        var whole: JSONObject = ["api_key": .string(Self.sdkKey), "device_id": .string(Self.phone)]
        whole["time"] = .int(Self.seconds(stage))
        whole["sdk_version"] = "4.4.1"
        for (name, value) in body.object?.pairs ?? [] { whole[name] = value }
        return try await created(stage, "/api/v3/data", .object(whole), ["X-Braze-Api-Key": Self.sdkKey])
    }

    private func braze(_ stage: any StoryStage, _ path: String, _ body: JSON) async throws -> JSON {
        try await created(stage, path, body, ["Authorization": "Bearer \(restKey)"])
    }

    private func created(_ stage: any StoryStage, _ path: String, _ body: JSON, _ headers: [String: String])
        async throws
        -> JSON
    {
        let answer = try await stage.call(StoryCall("POST", path, .json(body), headers: headers)) { $0.status == 401 }
        guard answer.status == 201, let json = answer.json else {
            throw stage.failure("\(path) answered \(answer.status) \(answer.text)")
        }
        return json
    }
}
