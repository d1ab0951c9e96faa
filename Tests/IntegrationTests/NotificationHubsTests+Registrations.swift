import Foundation
import Model
import NIOHTTP1
import Testing

// Registrations over real HTTP, PostgreSQL and simulator (docs/contracts/notificationhubs.md#5).
extension NotificationHubsTests {
    private func description(_ number: Int, tags: String, template: String? = nil) -> String {
        let kind = template == nil ? "Apple" : "AppleTemplate"
        let filled = template.map {
            "<BodyTemplate><![CDATA[\($0)]]></BodyTemplate><TemplateName>greeting</TemplateName><Priority>5</Priority>"
        }
        return """
            <?xml version="1.0" encoding="utf-8"?><entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">
            <\(kind)RegistrationDescription xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">
            <Tags>\(tags)</Tags><DeviceToken>\(Self.token(number))</DeviceToken>\(filled ?? "")
            </\(kind)RegistrationDescription></content></entry>
            """
    }

    /// The sequence of the vendor's older SDK for iOS (docs/contracts/notificationhubs.md#5.7): find the own
    /// registrations, request an id, register, unregister.
    func registrations(_ world: World) async throws {
        let filter = "/registrations/?$filter=deviceToken+eq+'\(Self.token(81))'"
        let before = try await call(world, .GET, filter)
        #expect(before.status == 200 && !before.text.contains("<entry"), "\(before.text)")
        let drawn = try await call(world, .POST, "/registrationids/")
        #expect(drawn.status == 201)
        let id = try #require(drawn.header("location")?.split(separator: "/").last?.split(separator: "?").first)
        let path = "/registrations/\(id)"
        let made = try await call(world, .PUT, path, description(81, tags: "rseoul"))
        #expect(made.status == 200 && made.header("etag") == "W/\"1\"", "\(made.text)")
        let template = #"{"aps":{"alert":"$(title)"}}"#
        let second = try await call(
            world,
            .POST,
            "/registrations",
            description(81, tags: "rseoul,rnews", template: template)
        )
        #expect(second.status == 200, "\(second.text)")
        let own = try await call(world, .GET, filter)
        #expect(own.text.components(separatedBy: "<entry").count == 3, "both have the token: \(own.text)")
        #expect(own.text.contains(Self.token(81)), "in capitals")

        // A native send is for the one, a send by template for the other.
        #expect(try await send(world, #"{"aps":{"alert":"native"}}"#, tags: "rseoul").status == 201)
        let native = try await push(world, 81, count: 1)
        #expect(native?["payload"]?["aps"]?["alert"] == "native")
        #expect(try await send(world, #"{"aps":{"alert":"no"}}"#, tags: "rnews").status == 201)
        let headers = ["ServiceBusNotification-Format": "template", "ServiceBusNotification-Tags": "rnews"]
        #expect(try await call(world, .POST, "/messages", #"{"title":"Hi"}"#, headers: headers).status == 201)
        let filled = try await push(world, 81, count: 2)
        #expect(filled?["payload"]?["aps"]?["alert"] == "Hi" && filled?["headers"]?["apns-priority"] == "5")
        // A direct send rings the device once, whatever is registered for it.
        let direct = [
            "ServiceBusNotification-Format": "apple", "ServiceBusNotification-DeviceHandle": Self.token(81),
        ]
        let body = #"{"aps":{"alert":"direct"}}"#
        #expect(try await call(world, .POST, "/messages/?direct", body, headers: direct).status == 201)
        _ = try await push(world, 81, count: 3)

        // An installation on the same token is an additional registration, and is listed with the others.
        try await install(world, "r-1", Self.token(81), user: "rita", tags: ["rseoul"])
        let three = try await call(world, .GET, filter)
        #expect(three.text.components(separatedBy: "<entry").count == 4, "\(three.text)")
        #expect(three.text.contains("$InstallationId:{r-1}"))
        let tagged = try await call(world, .GET, "/tags/rnews/registrations")
        #expect(tagged.text.components(separatedBy: "<entry").count == 2, "\(tagged.text)")
        #expect(try await call(world, .GET, "/installations/r-1").status == 200)
        try await pages(world)

        let late = try await call(world, .PUT, path, description(81, tags: ""), headers: ["If-Match": "\"7\""])
        #expect(late.status == 412)
        let update = try await call(world, .PUT, path, description(82, tags: "rbusan"), headers: ["If-Match": "*"])
        #expect(update.header("etag") == "W/\"2\"", "\(update.text)")
        #expect(try await call(world, .GET, "/installations/r-1").text.contains(Self.token(81)), "keeps its token")
        let gone = try await call(world, .DELETE, path, headers: ["If-Match": "*"])
        #expect(gone.status == 200 && gone.text.isEmpty)
        #expect(try await call(world, .GET, path).status == 404)
        #expect(try await call(world, .PUT, path, description(81, tags: "")).status == 410)
        #expect(try await send(world, #"{"aps":{"alert":"nobody"}}"#, tags: "rbusan").status == 201)
        #expect(try await pushes(world, 82).isEmpty)
    }

    /// All registrations of the hub, two per page.
    private func pages(_ world: World) async throws {
        var seen: [String] = []
        var token: String?
        for _ in 0..<50 {
            let next = token.map { "&continuationtoken=\($0)" } ?? ""
            let page = try await call(world, .GET, "/registrations?$top=2\(next)")
            #expect(page.status == 200)
            let ids = page.text.components(separatedBy: "<RegistrationId>").dropFirst()
            seen += ids.compactMap { $0.components(separatedBy: "<").first }
            token = page.header("x-ms-continuationtoken")
            if token == nil { break }
        }
        let whole =
            try await call(world, .GET, "/registrations").text.components(separatedBy: "<RegistrationId>").count - 1
        #expect(token == nil && Set(seen).count == seen.count && seen.count == whole, "\(seen.count) of \(whole)")
        #expect(whole > 5)
    }
}
