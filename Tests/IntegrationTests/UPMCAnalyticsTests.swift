import CommandSupport
import Foundation
import Model
import Testing

extension UPMCGatewayTests {
    // A message of the native API to a device of UPMC is counted with that device's dialect from its outcome on; so are its receipts.
    @Test func aNativeMessageIsCountedForTheDialectOfItsDevice() async throws {
        try await with { world, caller in
            let phone = Phone(user: "lee")
            try await caller.register(phone)
            let app = caller.app()
            let sent = try await world.native(
                "POST",
                "/v1/messages",
                ["app": .string(app), "to": ["users": ["lee"]], "body": "Hi", "campaign": "spring", "variant": "b"]
            )
            let id = try #require(sent.json?["id"]?.string, "\(sent.text)")
            func counted(_ filter: String) async throws -> JSON? {
                let answer = try await world.native("GET", "/v1/analytics/funnel?app=\(app)&vendor=native&\(filter)")
                return try #require(answer.json?["total"], "\(answer.text)")
            }
            try await eventually("the delivery has its outcome") {
                try await counted("deviceVendor=upmc")?["accepted"]?.int == 1
            }
            let total = try #require(try await counted("deviceVendor=upmc"))
            #expect(total["targets"]?.int == 1 && total["pending"]?.int == 0, "\(JSONWriter.text(total))")
            #expect(try await counted("deviceVendor=unknown")?["targets"]?.int == 0)
            let payload = try await world.payload(of: phone.token)
            let number = try #require(payload["mps"]?["seqno"]?.string, "\(JSONWriter.text(payload))")
            #expect(try await caller.read(phone, number, badge: nil).code == "0000")
            #expect(try await counted("deviceVendor=upmc")?["read"]?.int == 1)
            let deliveries = try await world.native("GET", "/v1/messages/\(id)/deliveries").json?["deliveries"]?.array
            let delivery = try #require(deliveries?.first)
            #expect(delivery["deviceVendor"] == "upmc", "\(JSONWriter.text(delivery))")
            #expect((delivery["transportMilliseconds"]?.int).map { $0 >= 0 } == true)
            let message = try await world.native("GET", "/v1/messages/\(id)").json
            #expect(message?["campaign"] == "spring" && message?["variant"] == "b")
            let alone = try await world.native(
                "POST",
                "/v1/messages",
                ["app": .string(app), "to": ["users": ["lee"]], "body": "Hi", "variant": "b"]
            )
            #expect(alone.status == 422 && alone.text.contains("variant"), "\(alone.text)")
        }
    }
}
