import ApplePayload
import FoundationEssentials
package import Model

extension HubsAdapter: StoryVendor {
    package func story(_ identifiers: any IdentifierSource) -> any VendorStory { HubsStory(identifiers) }
}

/// The self-test of the tutorials' app; the gateway is its back end: register, text push, silent push, image.
struct HubsStory: VendorStory {
    let title = "Azure Notification Hubs, with the app of its tutorials"
    /// A PNG of one transparent pixel, 70 bytes.
    private static let image = [UInt8](
        Data(
            base64Encoded:
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
        ) ?? Data()
    )
    private let hubKey: String
    private let password: String
    private let token: String
    private let imageHash: String

    init(_ identifiers: any IdentifierSource) {
        hubKey = identifiers.randomHex(byteCount: 16)
        password = identifiers.randomHex(byteCount: 8)
        token = identifiers.randomHex(byteCount: 32)
        imageHash = identifiers.sha256(Self.image)
    }

    var binding: JSON? {
        [
            "hub": "shop-hub",
            "keys": [["name": "Full", "valueEnv": "DEMO_HUB_KEY", "rights": ["listen", "send", "manage"]]],
            "appBackend": [
                "users": [["name": "mina", "passwordEnv": "DEMO_HUB_USER"]], "image": .string(imageHash),
            ],
        ]
    }

    var secrets: [String: String] { ["DEMO_HUB_KEY": hubKey, "DEMO_HUB_USER": password] }

    func play(_ stage: any StoryStage) async throws {
        try await registerAtBackend(stage)
        try await pushText(stage)
        try await pushImage(stage)
    }

    private func registerAtBackend(_ stage: any StoryStage) async throws {
        stage.say("The app requests an id and registers with it: POST and PUT /api/register")
        let drawn = try await site(stage, "POST", "/register?handle=\(token)").text
        // The answer includes quotes, which the tutorial's client removes.
        let id = String(drawn.dropFirst().dropLast())
        try stage.expect(drawn.hasPrefix("\"") && !id.isEmpty, "the id is a text in quotes")
        _ = try await site(
            stage,
            "PUT",
            "/register/\(id)",
            ["Platform": "apns", "Handle": .string(token), "Tags": ["seoul"]]
        )
        let again = try await site(stage, "POST", "/register?handle=\(token)").text
        try stage.expect(again == drawn, "the same handle gets the same id again")
    }

    private func pushText(_ stage: any StoryStage) async throws {
        stage.say("The user sends a text to all of their devices: POST /api/notifications?pns=apns&to_tag=mina")
        _ = try await site(stage, "POST", "/notifications?pns=apns&to_tag=mina", "Hello")
        let push = try await stage.payload(to: token)
        try stage.expect(push[AppleKey.aps] == ["alert": "From mina: Hello"], "From mina: Hello")
    }

    private func pushImage(_ stage: any StoryStage) async throws {
        stage.say("An image is uploaded through the native API, and a silent push announces it")
        let stored = try await stage.upload("/v1/apps/shop/media/\(imageHash)", Self.image)
        try stage.expect(stored == 201, "PUT /v1/apps/{app}/media/{hash} answers 201")
        _ = try await site(stage, "POST", "/notifications")
        let push = try await stage.payload(to: token, count: 2)
        stage.show(push)
        try stage.expect(
            push[AppleKey.aps]?["content-available"] == 1 && push["richType"] == "img",
            "the push is silent"
        )
        let id = try stage.text(push, "richId")
        stage.say("The app fetches the image: GET /api/notifications/\(id)")
        let shown = try await site(stage, "GET", "/notifications/\(id)")
        try stage.expect(shown.body == Self.image, "the image is the one that was uploaded")
    }

    // MARK: Helpers

    private func site(_ stage: any StoryStage, _ method: String, _ path: String, _ body: JSON? = nil) async throws
        -> StoryAnswer
    {
        let credentials = Data("mina:\(password)".utf8).base64EncodedString()
        let call = StoryCall(
            method,
            "/api\(path)",
            body.map { .json($0) } ?? .none,
            headers: ["Authorization": "Basic \(credentials)"]
        )
        let answer = try await stage.call(call) { $0.status == 404 }
        guard answer.status == 200 else {
            throw stage.failure("/api\(path) answered \(answer.status) \(answer.text)")
        }
        return answer
    }
}
