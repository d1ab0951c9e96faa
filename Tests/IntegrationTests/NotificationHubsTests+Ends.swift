import Foundation
import Model
import NIOHTTP1
import Testing

/// The ends of sends and of installations (docs/contracts/notificationhubs.md#4.1,
/// docs/contracts/notificationhubs.md#7.1).
extension NotificationHubsTests {
    @Test(
        arguments: [
            (["apns-expiration": "0"], "0", 61), (["apns-expiration": "1"], "0", 62),
            (["ServiceBusNotification-Apns-Expiry": "2099-01-01T00:00:00Z"], "4070908800", 63),
        ]
    )
    func theExpiryOfASendIsTheExpirationOfItsPush(headers: [String: String], wanted: String, number: Int) async throws {
        try await install("ends-\(number)", number, user: "ends", tags: ["ends-\(number)"])
        _ = try await send(#"{"aps":{"alert":"now"}}"#, tags: "ends-\(number)", headers)
        #expect(try await push(number)["headers"]?["apns-expiration"]?.string == wanted)
    }

    private func install(
        _ id: String,
        _ number: Int,
        until end: Date,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let body: JSON = [
            "platform": "apns", "pushChannel": .string(Self.token(number)), "tags": ["ending"],
            "expirationTime": .string(end.formatted(.iso8601)),
        ]
        let answer = try await call(.PUT, "/installations/\(id)", JSONWriter.text(body))
        #expect(answer.status == 200, "\(answer.text)", sourceLocation: sourceLocation)
    }

    @Test func anInstallationGetsNoPushAfterItsEndUntilItIsPutAgain() async throws {
        try await install("over", 64, until: Date() - 3600)
        try await install("lasting", 65, until: Date() + 3600)
        #expect(try await call(.GET, "/installations/over").status == 404)
        #expect(try await call(.GET, "/installations/lasting").status == 200)
        let answer = try await send(#"{"aps":{"alert":"still there?"}}"#, tags: "ending")
        try await telemetry(
            of: answer,
            has: "<Name>Success</Name><Count>1</Count>",
            "<Name>ExpiredChannel</Name><Count>1</Count>"
        )
        #expect(try await pushes(64).isEmpty)
        _ = try await push(65)
        try await install("over", 64, until: Date() + 3600)
        _ = try await send(#"{"aps":{"alert":"again"}}"#, tags: "$InstallationId:{over}")
        _ = try await push(64)
    }
}
