import HTTPTypes
import Model
import Testing

@testable import RationalOwl

/// The facts that the vendor's answers to proxied calls establish. The calls and answers are those of docs/contracts/rationalowl.md.
struct ObservationTests {
    private static func observed(_ request: VendorRequest, _ body: [UInt8], status: Int = 200) -> [Command] {
        let response = VendorResponse(status: status, body: body)
        return Mount.adapter.observedCommands(request, response: response, settings: BindingSettings())
    }

    private static func observed(_ request: String, _ response: String) throws -> [Command] {
        observed(try Mount.documented(request), try Fixture.bytes(response))
    }

    @Test func aSendHasTheVendorsID() throws {
        let commands = try Self.observed("sendByDeviceID/devices.request.json", "sendByDeviceID/accepted.response.json")
        guard case .submission(.observe(let message))? = commands.first, commands.count == 1 else {
            Issue.record("\(commands)")
            return
        }
        let answer = try Fixture.json("sendByDeviceID/accepted.response.json")
        #expect(message.references == [answer["mId"]?.string].compactMap(\.self))
        #expect(!message.references.isEmpty)
        #expect(message.number == nil)
        #expect(!message.hasPaidFallback)
        guard case .listed(let targets) = message.submission.audience else {
            Issue.record("\(message.submission.audience)")
            return
        }
        #expect(targets.first?.address == .deviceKey(VendorDeviceKey(Sample.device)))
    }

    @Test(arguments: ["first-time", "already"])
    func aRegistrationIsTheCommandOfTheCall(_ answer: String) throws {
        let request = try Mount.documented("installApp/vendor-document.request.json")
        let expected = try Mount.adapter.decode(request, settings: BindingSettings())
        let body = try Fixture.bytes("installApp/\(answer).response.json")
        #expect(Self.observed(request, body) == expected)
    }

    @Test func aReceiptIsAnsweredWithAText() throws {
        let request = try Mount.documented("notiRead/current.request.json")
        let expected = try Mount.adapter.decode(request, settings: BindingSettings())
        #expect(Self.observed(request, Array("ok".utf8)) == expected)
        #expect(Self.observed(request, Array("error".utf8)).isEmpty)
        let reference = Mount.adapter.reference(in: request, settings: BindingSettings())
        guard case .receipt(.report(.read, let message, _, _))? = expected.first else {
            Issue.record("\(expected)")
            return
        }
        #expect(reference == message)
    }

    @Test func backEndsHaveTheVendorsIDs() throws {
        let registered = try Self.observed(
            "serverRegister/server.request.json",
            "serverRegister/registered.response.json"
        )
        let request = try Fixture.json("serverRegister/server.request.json")
        let name = try #require(request["registerName"]?.string)
        #expect(registered == [.sender(.adopt(AdoptedSender(id: SenderID(Sample.server), name: name)))])
        let enrolled = try Self.observed("clientRegister/client.request.json", "clientRegister/new.response.json")
        guard case .sender(.adopt(let sender))? = enrolled.first, enrolled.count == 1 else {
            Issue.record("\(enrolled)")
            return
        }
        let answer = try Fixture.json("clientRegister/new.response.json")
        #expect(sender.id == SenderID(Sample.server))
        #expect(sender.enrolmentKey == answer["srId"]?.string)
    }

    // The vendor may be another gateway, which draws the device's ID.
    @Test func aDeviceHasTheIDThatTheVendorHasDrawn() throws {
        let body: JSON = ["sId": .string(Sample.service), "name": "phone", "dt": 2]
        let request = Mount.request("/ro/v1/device/register", body: JSONWriter.bytes(body))
        let commands = Self.observed(request, Array(#"{"rc":-122,"dRId":"drawn"}"#.utf8))
        guard case .registration(.register(let registration))? = commands.first else {
            Issue.record("\(commands)")
            return
        }
        #expect(registration.key == "drawn")
    }

    // A proxy or a page of errors answers with objects too.
    @Test func anAnswerWithoutItsResultIsNoSuccess() throws {
        for (name, answer) in [
            ("sendByDeviceID/devices.request.json", #"{"status":"ok"}"#),
            ("sendByDeviceID/devices.request.json", #"{"mId":""}"#),
            ("sendByDeviceID/devices.request.json", #"{"rc":-102,"mId":"m"}"#),
            ("serverRegister/server.request.json", #"{"channelServer":"x"}"#),
            ("clientRegister/client.request.json", #"{"cmt":"x"}"#),
            ("installApp/vendor-document.request.json", "{}"), ("notiRead/current.request.json", "{}"),
            ("notiRead/current.request.json", #"{"rc":-301}"#),
        ] {
            let commands = Self.observed(try Mount.documented(name), Array(answer.utf8))
            #expect(commands.isEmpty, "\(name) \(answer)")
        }
    }

    @Test func refusedCallsEstablishNothing() throws {
        let send = try Mount.documented("sendByDeviceID/devices.request.json")
        for body in [
            "", "[]", "ok", #"{"rc":-101,"cmt":"x"}"#, #"{"rc":"x"}"#, #"{"error":"x"}"#,
            #"{"mId":"m","error":"x"}"#,
        ] {
            #expect(Self.observed(send, Array(body.utf8)).isEmpty, "\(body)")
        }
        let accepted = try Fixture.bytes("sendByDeviceID/accepted.response.json")
        #expect(Self.observed(send, accepted, status: 500).isEmpty)
        let refused = try Self.observed(
            "installApp/vendor-document.request.json",
            "installApp/unknown-account.response.json"
        )
        #expect(refused.isEmpty)
    }
}
