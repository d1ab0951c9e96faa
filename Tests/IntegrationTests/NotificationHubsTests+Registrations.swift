import Coverage
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

    /// The registrations with the token of a device.
    private func registrations(of number: Int) async throws -> (count: Int, text: String) {
        let answer = try await call(.GET, "/registrations/?$filter=deviceToken+eq+'\(Self.token(number))'")
        #expect(answer.status == 200)
        return (answer.text.components(separatedBy: "<entry").count - 1, answer.text)
    }

    /// Requests an id and registers a device under it. Returns the path.
    private func register(
        _ number: Int,
        tags: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let drawn = try await call(.POST, "/registrationids/")
        #expect(drawn.status == 201, sourceLocation: sourceLocation)
        let path = "/registrations/\(try #require(drawn.id, sourceLocation: sourceLocation))"
        let made = try await call(.PUT, path, description(number, tags: tags))
        #expect(
            made.status == 200 && made.header("etag") == "W/\"1\"",
            "\(made.text)",
            sourceLocation: sourceLocation
        )
        return path
    }

    private func registerTemplate(
        _ number: Int,
        tags: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let template = #"{"aps":{"alert":"$(title)"}}"#
        let made = try await call(.POST, "/registrations", description(number, tags: tags, template: template))
        #expect(made.status == 200, "\(made.text)", sourceLocation: sourceLocation)
    }

    // docs/contracts/notificationhubs.md#5.7: the sequence of the vendor's older SDK for iOS.
    @Test(
        .covers(
            "notificationhubs",
            "POST /{hub}/registrationids",
            "POST /{hub}/registrations",
            "PUT /{hub}/registrations/{id}",
            "GET /{hub}/registrations"
        )
    )
    func theOlderSDKRegistersAndFindsItsRegistrationsByTheToken() async throws {
        #expect(try await registrations(of: 81).count == 0)
        _ = try await register(81, tags: "old")
        try await registerTemplate(81, tags: "old,old-news")
        let own = try await registrations(of: 81)
        #expect(own.count == 2, "\(own.text)")
        #expect(own.text.contains(Self.token(81)), "in capitals")
    }

    @Test func aSendReachesTheRegistrationOfItsKind() async throws {
        _ = try await register(82, tags: "kind")
        try await registerTemplate(82, tags: "kind,kind-news")
        _ = try await send(#"{"aps":{"alert":"native"}}"#, tags: "kind")
        #expect(try await push(82)["payload"]?["aps"]?["alert"] == "native")
        let nobody = try await send(#"{"aps":{"alert":"no"}}"#, tags: "kind-news")
        try await telemetry(of: nobody, has: "<State>NoTargetFound</State>")
        let headers = ["ServiceBusNotification-Format": "template", "ServiceBusNotification-Tags": "kind-news"]
        #expect(try await call(.POST, "/messages", #"{"title":"Hi"}"#, headers: headers).status == 201)
        let filled = try await push(82, count: 2)
        #expect(filled["payload"]?["aps"]?["alert"] == "Hi" && filled["headers"]?["apns-priority"] == "5")
    }

    @Test func aDirectSendReachesADeviceOnceWhateverIsRegisteredForIt() async throws {
        _ = try await register(83, tags: "")
        try await registerTemplate(83, tags: "")
        let headers = [
            "ServiceBusNotification-Format": "apple", "ServiceBusNotification-DeviceHandle": Self.token(83),
        ]
        let answer = try await call(.POST, "/messages/?direct", #"{"aps":{"alert":"direct"}}"#, headers: headers)
        #expect(answer.status == 201)
        try await telemetry(of: answer, has: "<Name>Success</Name><Count>1</Count>")
        _ = try await push(83)
    }

    @Test(.covers("notificationhubs", "GET /{hub}/tags/{tag}/registrations"))
    func anInstallationIsListedWithTheRegistrationsOfItsToken() async throws {
        _ = try await register(84, tags: "listed")
        try await registerTemplate(84, tags: "listed,listed-news")
        try await install("listed-1", 84, user: "rita", tags: ["listed"])
        let all = try await registrations(of: 84)
        #expect(all.count == 3, "\(all.text)")
        #expect(all.text.contains("$InstallationId:{listed-1}"))
        let tagged = try await call(.GET, "/tags/listed-news/registrations")
        #expect(tagged.text.components(separatedBy: "<entry").count == 2, "\(tagged.text)")
        #expect(try await call(.GET, "/installations/listed-1").status == 200)
    }

    @Test(.covers("notificationhubs", "GET /{hub}/registrations"))
    func allRegistrationsArePagedWithoutRepeats() async throws {
        for number in 85...87 {
            _ = try await register(number, tags: "")
            try await registerTemplate(number, tags: "")
        }
        func ids(_ page: Answer) -> [String] {
            page.text.components(separatedBy: "<RegistrationId>").dropFirst()
                .compactMap { $0.components(separatedBy: "<").first }
        }
        let whole = ids(try await call(.GET, "/registrations"))
        #expect(whole.count > 5)
        var seen: [String] = []
        var token: String?
        repeat {
            let next = token.map { "&continuationtoken=\($0)" } ?? ""
            let page = try await call(.GET, "/registrations?$top=2\(next)")
            #expect(page.status == 200)
            seen += ids(page)
            token = page.header("x-ms-continuationtoken")
        } while token != nil && seen.count <= whole.count
        #expect(token == nil && Set(seen).count == seen.count && seen.count == whole.count)
    }

    @Test(.covers("notificationhubs", "PUT /{hub}/registrations/{id}"))
    func aRegistrationIsReplacedOnlyUnderItsCurrentETag() async throws {
        let path = try await register(91, tags: "tagged")
        try await install("tagged-1", 91, user: "rita", tags: [])
        let late = try await call(.PUT, path, description(91, tags: ""), headers: ["If-Match": "\"7\""])
        #expect(late.status == 412)
        let update = try await call(.PUT, path, description(92, tags: "tagged"), headers: ["If-Match": "*"])
        #expect(update.header("etag") == "W/\"2\"", "\(update.text)")
        #expect(try await call(.GET, "/installations/tagged-1").text.contains(Self.token(91)), "keeps its token")
        _ = try await send(#"{"aps":{"alert":"moved"}}"#, tags: "tagged")
        _ = try await push(92)
    }

    @Test(.covers("notificationhubs", "DELETE /{hub}/registrations/{id}"))
    func aDeletedRegistrationGetsNoPushAndItsIDIsNotUsedAgain() async throws {
        let path = try await register(93, tags: "ended")
        let gone = try await call(.DELETE, path, headers: ["If-Match": "*"])
        #expect(gone.status == 200 && gone.text.isEmpty)
        #expect(try await call(.GET, path).status == 404)
        #expect(try await call(.PUT, path, description(93, tags: "")).status == 410)
        let answer = try await send(#"{"aps":{"alert":"nobody"}}"#, tags: "ended")
        try await telemetry(of: answer, has: "<State>NoTargetFound</State>")
        #expect(try await pushes(93).isEmpty)
    }
}
