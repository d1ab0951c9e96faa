import Foundation
import Model
import NIOHTTP1
import Testing

/// The ends of sends and of installations (docs/contracts/notificationhubs.md#4.1,
/// docs/contracts/notificationhubs.md#7.1).
extension NotificationHubsTests {
    func ends(_ world: World) async throws {
        try await install(world, "ends", Self.token(64), user: "ends", tags: ["ends"])
        // The headers of the caller, and the expiration that Apple receives.
        let cases: [([String: String], String)] = [
            (["apns-expiration": "0"], "0"), (["apns-expiration": "1"], "0"),
            (["ServiceBusNotification-Apns-Expiry": "2099-01-01T00:00:00Z"], "4070908800"),
        ]
        for (index, (headers, wanted)) in cases.enumerated() {
            #expect(try await send(world, #"{"aps":{"alert":"now"}}"#, tags: "ends", headers).status == 201)
            let push = try await push(world, 64, count: index + 1)
            #expect(push?["headers"]?["apns-expiration"]?.string == wanted, "\(headers)")
        }
        try await installationsEnd(world)
    }

    /// After its end an installation receives no push, by tag or by handle, although it exists until the next upkeep.
    private func installationsEnd(_ world: World) async throws {
        func put(_ id: String, _ number: Int, until end: Date) async throws {
            let body: JSON = [
                "platform": "apns", "pushChannel": .string(Self.token(number)), "tags": ["ending"],
                "expirationTime": .string(end.formatted(.iso8601)),
            ]
            #expect(try await call(world, .PUT, "/installations/\(id)", JSONWriter.text(body)).status == 200)
        }
        try await put("over", 62, until: Date() - 3600)
        try await put("lasting", 63, until: Date() + 3600)
        #expect(try await call(world, .GET, "/installations/over").status == 404)
        #expect(try await call(world, .GET, "/installations/lasting").status == 200)
        let answer = try await send(world, #"{"aps":{"alert":"still there?"}}"#, tags: "ending")
        let id = answer.header("location")?.split(separator: "/").last?.split(separator: "?").first ?? ""
        try await eventually("both outcomes") {
            let text = try await call(world, .GET, "/messages/\(id)").text
            return text.contains("<Name>Success</Name><Count>1</Count>")
                && text.contains("<Name>ExpiredChannel</Name><Count>1</Count>")
        }
        #expect(try await pushes(world, 62).isEmpty)
        _ = try await push(world, 63, count: 1)
        // Back with another end.
        try await put("over", 62, until: Date() + 3600)
        #expect(try await send(world, #"{"aps":{"alert":"again"}}"#, tags: "$InstallationId:{over}").status == 201)
        _ = try await push(world, 62, count: 1)
    }
}
