import Foundation
import Model
import Testing

/// What ends: sends, and installations (contract §4.1, §7.1).
extension NotificationHubsTests {
    func ends(_ world: World) async throws {
        try await install(world, "ends", Self.token(61), user: "ends", tags: ["ends"])
        // What the caller says, and what Apple is told.
        let cases: [([String: String], String)] = [
            (["apns-expiration": "0"], "0"), (["apns-expiration": "1"], "0"),
            (["ServiceBusNotification-Apns-Expiry": "2099-01-01T00:00:00Z"], "4070908800"),
        ]
        for (index, (headers, wanted)) in cases.enumerated() {
            #expect(try await send(world, #"{"aps":{"alert":"now"}}"#, tags: "ends", headers).status == 201)
            let push = try await push(world, 61, count: index + 1)
            #expect(push?["headers"]?["apns-expiration"]?.string == wanted, "\(headers)")
        }
    }
}
