import HTTPTypes
import Model
import Testing

@testable import NotificationHubs

/// The facts that the vendor's answers to proxied calls establish. The calls and answers are those of docs/contracts/notificationhubs.md.
struct ObservationTests {
    private static func observed(
        _ request: VendorRequest,
        _ response: VendorResponse,
        _ settings: BindingSettings = Mount.settings
    ) -> [Command] { Mount.adapter.observedCommands(request, response: response, settings: settings) }

    private static func response(_ name: String) throws -> VendorResponse {
        let message = try Fixture.message(name)
        var fields = HTTPFields()
        for (name, value) in message.headers {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        let status = Int(message.line.split(separator: " ")[1]) ?? 0
        return VendorResponse(status: status, headers: fields, body: Array(message.body.utf8))
    }

    @Test func aSendHasTheIDOfItsLocation() throws {
        let commands = Self.observed(
            try Fixture.request("messages/send.request.txt"),
            try Self.response("messages/send.response.txt")
        )
        guard case .submission(.observe(let message))? = commands.first, commands.count == 1 else {
            Issue.record("\(commands)")
            return
        }
        #expect(message.references == ["73622a22797441e4b434e8c2c14112ce-20260101000000-1-1"])
        guard case .tags = message.submission.audience else {
            Issue.record("\(message.submission.audience)")
            return
        }
    }

    @Test func anInstallationIsTheCommandOfTheCall() throws {
        let request = try Fixture.request("installations/put.request.txt")
        let expected = try Mount.adapter.decode(request, settings: Mount.settings)
        #expect(!expected.isEmpty)
        #expect(Self.observed(request, try Self.response("installations/put.response.txt")) == expected)
    }

    @Test func aRegistrationHasTheVendorsVersion() throws {
        var request = try Fixture.request("registrations/put.request.txt")
        var response = try Self.response("registrations/put.response.txt")
        let text = String(decoding: response.body, as: UTF8.self).replacing("<ETag>1<", with: "<ETag>7<")
        response.body = Array(text.utf8)
        func registration() throws -> DeviceRegistration {
            guard case .registration(.register(let registration))? = Self.observed(request, response).first else {
                throw AdapterError(.invalid)
            }
            return registration
        }
        let put = try registration()
        #expect(put.key == "r/123-234-1")
        #expect(put.attributes["etag"] == 7)
        #expect(put.expected == nil)
        // The vendor draws the ID of a new registration.
        request.method = .post
        request.path = "/hub1/registrations"
        #expect(try registration().key == "r/123-234-1")
        request.method = .delete
        request.path = "/hub1/registrations/123-234-1"
        #expect(Self.observed(request, response) == [.registration(.unregister(.key("r/123-234-1")))])
    }

    // Every app contains a key with the right listen. The vendor lets it set tags, and the gateway does not unless its settings permit it.
    @Test func aKeyThatMayNotSetTagsStoresNone() throws {
        var request = try Fixture.request("registrations/put.request.txt")
        let response = try Self.response("registrations/put.response.txt")
        let listener = Signer(name: "DefaultListenSharedAccessSignature", key: Mount.listenKey)
        request.headers[.authorization] = listener.header
        #expect(Self.observed(request, response).isEmpty)
        var open = Mount.settings
        open.values["listenMayTag"] = true
        #expect(Self.observed(request, response, open).count == 1)
        let tags = "<Tags>seoul,shop:vip</Tags>"
        request.body = Array(String(decoding: request.body, as: UTF8.self).replacing(tags, with: "").utf8)
        #expect(Self.observed(request, response).count == 1)
        // A signature that the binding's keys do not make.
        request.headers[.authorization] = Signer(name: "unknown", key: Mount.listenKey).header
        #expect(Self.observed(request, response).isEmpty)
    }

    @Test func refusedAndUnreadableCallsEstablishNothing() throws {
        let send = try Fixture.request("messages/send.request.txt")
        #expect(Self.observed(send, VendorResponse(status: 401)).isEmpty)
        #expect(Self.observed(send, VendorResponse(status: 500)).isEmpty)
        var post = try Fixture.request("registrations/put.request.txt")
        post.method = .post
        post.path = "/hub1/registrations"
        for body in ["", "<", "<a/>", "<a><RegistrationId></RegistrationId></a>"] {
            #expect(Self.observed(post, VendorResponse(status: 201, body: Array(body.utf8))).isEmpty, "\(body)")
        }
    }

    @Test func aNotificationIsNamedByItsPath() {
        let request = Mount.request(.delete, "/hub1/schedulednotifications/\(Mount.scheduleText)")
        #expect(Mount.adapter.reference(in: request, settings: Mount.settings) == Mount.message.description)
        let foreign = Mount.request(.get, "/hub1/messages/73622a22797441e4b434e8c2c14112ce-20260101000000-1-1")
        #expect(
            Mount.adapter.reference(in: foreign, settings: Mount.settings)
                == "73622a22797441e4b434e8c2c14112ce-20260101000000-1-1"
        )
    }
}
