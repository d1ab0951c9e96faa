import FoundationEssentials
import HTTPTypes
import Model
import Testing

@testable import NotificationHubs

/// The comparison of the vendor's answers with the gateway's. The calls and answers are those of docs/contracts/notificationhubs.md.
struct ParityTests {
    private static func response(_ name: String) throws -> VendorResponse {
        let message = try Fixture.message(name)
        var fields = HTTPFields()
        for (name, value) in message.headers {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        let status = Int(message.line.split(separator: " ")[1]) ?? 0
        return VendorResponse(status: status, headers: fields, body: Array(message.body.utf8))
    }

    private static let registered = Reply.registration(
        .registered(
            Registered(
                identity: IdentityID(UUID()),
                device: DeviceID(UUID()),
                key: "r/123-234-1",
                platform: .ios,
                wasActive: false
            )
        )
    )

    private static func names(_ request: VendorRequest, _ replies: [Reply], _ theirs: VendorResponse) throws -> [String]
    {
        let own = try #require(
            Mount.adapter.comparable(replies, to: request, response: theirs, settings: Mount.settings)
        )
        let ours = Mount.adapter.encode(own, for: request, settings: Mount.settings)
        return Mount.adapter.differences(ours: ours, theirs: theirs, for: request)
    }

    @Test func aDocumentedRegistrationIsAnsweredAlike() throws {
        let request = try Fixture.request("registrations/put.request.txt")
        var theirs = try Self.response("registrations/put.response.txt")
        #expect(try Self.names(request, [Self.registered], theirs).isEmpty)
        let text = String(decoding: theirs.body, as: UTF8.self)
        theirs.body = Array(text.replacing("seoul,shop:vip", with: "seoul").utf8)
        #expect(try Self.names(request, [Self.registered], theirs) == ["Tags"])
        theirs.body = Array(text.utf8)
        theirs.headers[.eTag] = nil
        #expect(try Self.names(request, [Self.registered], theirs) == ["ETag"])
    }

    // The answer depends on whether the registration was stored before the observation.
    @Test func aDeletionOfARegistrationIsNotCompared() throws {
        var request = try Fixture.request("registrations/put.request.txt")
        request.method = .delete
        let answer = VendorResponse(status: 200)
        let replies = Mount.adapter.comparable(
            [.registration(.unregistered(1))],
            to: request,
            response: answer,
            settings: Mount.settings
        )
        #expect(replies == nil)
    }

    @Test func installationsHaveEmptyAnswers() throws {
        let request = try Fixture.request("installations/put.request.txt")
        let ours = VendorResponse(status: 200)
        #expect(Mount.adapter.differences(ours: ours, theirs: VendorResponse(status: 200), for: request).isEmpty)
        let refused = VendorResponse(status: 403)
        #expect(Mount.adapter.differences(ours: ours, theirs: refused, for: request) == ["status"])
    }
}
