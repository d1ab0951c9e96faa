import ApplePayload
import Crypto
import Foundation
import Model

/// The sequence of the tutorial's app and its back end, which the gateway is: register, text push, silent push, image.
extension DemoStory {
    private static let hubKey = SystemIdentifiers().randomHex(byteCount: 16)
    private static let password = SystemIdentifiers().randomHex(byteCount: 8)
    /// A PNG of one transparent pixel, 70 bytes.
    private static let image = [UInt8](Data(base64Encoded: dot) ?? Data())
    private static let imageHash = SHA256.hash(data: image).map { String(format: "%02x", $0) }.joined()

    /// What the demo's app needs to be reached by this vendor's name: lines among its bindings.
    static let hubsBinding = """
                  notificationhubs:
                    hub: shop-hub
                    keys: [{ name: Full, valueEnv: DEMO_HUB_KEY, rights: [listen, send, manage] }]
                    appBackend: { users: [{ name: mina, passwordEnv: DEMO_HUB_USER }], image: \(imageHash) }
        """

    static let hubsSecrets = ["DEMO_HUB_KEY": hubKey, "DEMO_HUB_USER": password]

    /// - Throws: `DemoFailure` at the first step that does not hold.
    func playHubs() async throws {
        Console.print("\nThe same gateway, a fifth vendor: Azure Notification Hubs, with the app of its tutorials.\n")
        let token = SystemIdentifiers().randomHex(byteCount: 32)
        try await registerAtBackend(token)
        try await pushText(token)
        try await pushImage(token)
    }

    private func registerAtBackend(_ token: String) async throws {
        say("The app asks for an id and registers under it: POST and PUT /api/register")
        let drawn = try await site("POST", "/register?handle=\(token)").text
        // With its quotes, which the tutorial's client cuts off.
        let id = String(drawn.dropFirst().dropLast())
        try expect(drawn.hasPrefix("\"") && !id.isEmpty, "the id is a text in quotes")
        _ = try await site("PUT", "/register/\(id)", ["Platform": "apns", "Handle": .string(token), "Tags": ["seoul"]])
        let again = try await site("POST", "/register?handle=\(token)").text
        try expect(again == drawn, "the same handle gets the same id again")
    }

    private func pushText(_ token: String) async throws {
        say("The user sends a text to all devices of hers: POST /api/notifications?pns=apns&to_tag=mina")
        _ = try await site("POST", "/notifications?pns=apns&to_tag=mina", "Hello")
        let push = try await arrived(token, 1)
        try expect(push[AppleKey.aps] == ["alert": "From mina: Hello"], "From mina: Hello")
    }

    private func pushImage(_ token: String) async throws {
        say("An image is uploaded by the native API, and a silent push says that there is something to show")
        let stored = try await stage.gateway.put(
            "/v1/apps/shop/media/\(Self.imageHash)",
            Self.image,
            bearer: stage.apiKey
        )
        try expect(stored.status == 201, "PUT /v1/apps/{app}/media/{hash} answers 201")
        _ = try await site("POST", "/notifications")
        let push = try await arrived(token, 2)
        Console.print("    \(JSONWriter.text(push))")
        try expect(push[AppleKey.aps]?["content-available"] == 1 && push["richType"] == "img", "the push is silent")
        let id = try text(push, "richId")
        say("The app fetches what it shows: GET /api/notifications/\(id)")
        let shown = try await site("GET", "/notifications/\(id)")
        try expect(shown.bytes == Self.image, "the image is the one that was uploaded")
    }

    // MARK: Helpers

    private func site(_ method: String, _ path: String, _ body: JSON? = nil) async throws -> HTTPCaller.Answer {
        let credentials = Data("mina:\(Self.password)".utf8).base64EncodedString()
        func call() async throws -> HTTPCaller.Answer {
            try await stage.gateway.call(
                method,
                "/api\(path)",
                body,
                headers: ["Authorization": "Basic \(credentials)"]
            )
        }
        var answer = try await call()
        // A running gateway follows what was applied within a second.
        for _ in 0..<100 where answer.status == 404 {
            try await Task.sleep(for: .milliseconds(50))
            answer = try await call()
        }
        show("\(method) /api\(path) \(body.map(JSONWriter.text) ?? "")", answer)
        guard answer.status == 200 else { throw DemoFailure("/api\(path) answered \(answer.status) \(answer.text)") }
        return answer
    }

    /// The payload of the last push to `token` once `count` of them came; at most 20 s.
    private func arrived(_ token: String, _ count: Int) async throws -> JSON {
        for _ in 0..<400 {
            let seen = try await stage.control.call("GET", "/_simulator/requests?token=\(token)")
            if let pushes = seen.json?["requests"]?.array, pushes.count >= count {
                return pushes.last?["payload"] ?? .null
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw DemoFailure("push \(count) did not come within 20 s")
    }
}
