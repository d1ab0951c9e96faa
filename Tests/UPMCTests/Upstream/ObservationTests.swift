import HTTPTypes
import Model
import Testing

@testable import UPMC

/// The facts that the vendor's answers to proxied calls establish. The answers are those of docs/contracts/upmc.md.
struct ObservationTests {
    private static func observed(
        _ request: VendorRequest,
        _ answer: String,
        status: Int = 200,
        _ settings: BindingSettings = Mount.settings()
    ) -> [Command] {
        let response = VendorResponse(status: status, body: Array(answer.utf8))
        return Mount.adapter.observedCommands(request, response: response, settings: settings)
    }

    private static func documented(_ name: String) throws -> VendorRequest {
        let call = try Fixture.request(name)
        return Mount.request(call.path, call.form)
    }

    private static let success = #"{"HEADER":{"RESULT_CODE":"0000","RESULT_BODY":"OK"},"BODY":[{}]}"#

    private static func message(_ commands: [Command]) throws -> ObservedMessage {
        guard case .submission(.observe(let message))? = commands.first, commands.count == 1 else {
            Issue.record("\(commands)")
            throw AdapterError(.invalid)
        }
        return message
    }

    @Test func aSendHasTheVendorsNumberAndTheUsersThatItDoesNotKnow() throws {
        let request = try Self.documented("rcv_register_message/users.request.txt")
        let answer = try Fixture.text("rcv_register_message/accepted.response.json")
        let message = try Self.message(Self.observed(request, answer))
        #expect(message.references == ["1151"])
        #expect(message.number == 1151)
        #expect(message.unknown == [.user("nobody")])
        guard case .users = message.submission.audience else {
            Issue.record("\(message.submission.audience)")
            return
        }
        #expect(message.submission.numbering?.tokens == nil)
    }

    // Both are numbers that count from 1, and a device reports the message by the one that it gets later.
    @Test func aReservationIsNotNamedAsAMessage() throws {
        let request = try Self.documented("rcv_register_message/users.request.txt")
        let answer = try Fixture.text("rcv_register_message/reserved.response.json")
        let message = try Self.message(Self.observed(request, answer))
        #expect(message.references == ["RESERVE_SEQNO:20"])
        #expect(message.number == nil)
    }

    // The vendor sends a text message, and charges it, unless the device reports the push in time.
    @Test func aSendWithTextMessagesIsMarked() throws {
        let form = "TYPE=E&CUID=%5B%22hong%22%5D&MESSAGE=x&APP_ID=com.example.app&SERVICECODE=ALL&SENDERCODE=admin"
        let answer = try Fixture.text("rcv_register_message/accepted.response.json")
        for (more, isPaid) in [("", false), ("&PUSH_FAIL_SMS_SEND=Y", true), ("&SMS_READ_WAIT_MINUTE=3", true)] {
            let message = try Self.message(Self.observed(Mount.call("rcv_register_message", form + more), answer))
            #expect(message.hasPaidFallback == isPaid, "\(more)")
        }
    }

    @Test func refusedCallsEstablishNothing() throws {
        let request = try Self.documented("rcv_register_message/users.request.txt")
        let nobody = try Fixture.text("rcv_register_message/nobody.response.json")
        for answer in [nobody, "", "<html>", "{}", "[]", #"{"HEADER":{"RESULT_CODE":"500"}}"#] {
            #expect(Self.observed(request, answer).isEmpty, "\(answer)")
        }
        let accepted = try Fixture.text("rcv_register_message/accepted.response.json")
        #expect(Self.observed(request, accepted, status: 500).isEmpty)
        #expect(Self.observed(Mount.call("rcv_register_message", "%%%"), accepted).isEmpty)
        #expect(Self.observed(Mount.call("nothing", ""), accepted).isEmpty)
    }

    @Test func aRegistrationIsTheCommandOfTheCall() throws {
        let request = try Self.documented("rcv_register_service/guest.request.txt")
        let answer = try Fixture.text("rcv_register_service/registered.response.json")
        let expected = try Mount.adapter.decode(request, settings: Mount.settings())
        #expect(Self.observed(request, answer) == expected)
        guard case .registration(.enlist(let registration, _))? = expected.first else {
            Issue.record("\(expected)")
            return
        }
        #expect(registration.key == "APNS:6F0A…-UUID")
    }

    // The vendor has checked its own `AUTHKEY`, which the gateway has not issued.
    @Test func noKeyOfTheGatewayIsNeeded() throws {
        let settings = Mount.settings("4.0EE", ["security.using": true], secrets: ["authKey": Mount.secret])
        let request = try Self.documented("rcv_register_service/guest.request.txt")
        #expect(throws: AdapterError.self) { _ = try Mount.adapter.decode(request, settings: settings) }
        #expect(Self.observed(request, Self.success, settings).count == 1)
    }

    @Test func groupsHaveTheVendorsNumbers() throws {
        let created = #"{"HEADER":{"RESULT_CODE":"0000"},"BODY":[{"GROUPSEQ":"31","GROUPNAME":"vip"}]}"#
        let create = Mount.call("rcv_register_usergroup", "APP_ID=com.example.app&GROUPNAME=vip")
        #expect(Self.observed(create, created) == [.group(.adopt(TitledGroup(name: "31", title: "vip")))])
        // The vendor has accepted the call, whatever the gateway knows about the device.
        let form = "APP_ID=com.example.app&GROUPSEQ=31&CUID=hong&DEVICE_ID=6F0A"
        let join = Mount.call("rcv_register_usergroup_user", form)
        #expect(
            Self.observed(join, Self.success) == [
                .group(.adopt(TitledGroup(name: "31", title: ""))),
                .group(.changeMembers("31", GroupChange(add: ["hong"]))),
            ]
        )
    }

    @Test func receiptsNameTheirMessage() throws {
        let request = try Self.documented("rcv_register_sent_ack/ack.request.txt")
        let number = Mount.adapter.reference(in: request, settings: Mount.settings())
        guard case .receipt(.acknowledge(.received, let reference, _, _))? = Self.observed(request, Self.success).first
        else {
            Issue.record("not a receipt")
            return
        }
        #expect(number == reference)
        let send = try Self.documented("rcv_register_message/users.request.txt")
        #expect(Mount.adapter.reference(in: send, settings: Mount.settings()) == nil)
        #expect(Mount.adapter.reference(in: Mount.call("rcv_register_sent_ack", "%"), settings: .unbound) == nil)
    }
}
