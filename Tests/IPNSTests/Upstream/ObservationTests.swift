import HTTPTypes
import Model
import Testing

@testable import IPNS

/// The facts that the vendor's answers to proxied calls establish. The calls are those of docs/contracts/ipns.md.
struct ObservationTests {
    private static let abbreviations: KeyValuePairs = ["9f2c…64hex": Fixture.token, "5B1C…": "5B1C"]

    private static func call(_ name: String) throws -> (request: VendorRequest, response: VendorResponse) {
        let call = try #require(try Fixture.calls(name, abbreviations).first)
        return (
            Mount.request(call.path, call.request),
            VendorResponse(status: 200, body: JSONWriter.bytes(call.response))
        )
    }

    private static func observed(
        _ request: VendorRequest,
        _ response: VendorResponse,
        _ settings: BindingSettings = Mount.strict
    ) -> [Command] { Mount.adapter.observedCommands(request, response: response, settings: settings) }

    @Test func aRegistrationHasTheVendorsDeviceID() throws {
        let (request, response) = try Self.call("appRegist.txt")
        let commands = Self.observed(request, response)
        guard case .registration(.register(let registration))? = commands.first else {
            Issue.record("\(commands)")
            return
        }
        #expect(registration.key == "5B1C")
        #expect(registration.user == "E12345")
        #expect(registration.token?.text == Fixture.token)
        guard case .preference(.setPreferences(_, let change))? = commands.last else {
            Issue.record("\(commands)")
            return
        }
        #expect(change.acceptsPush == true)
        #expect(commands.count == 2)
    }

    // A call without an ID gets one, and a call without a switch keeps the vendor's: both sides must know the device by one key and in one state.
    @Test func theAnswerCompletesTheRegistration() throws {
        let body: JSON = ["APP_ID": "hr.mobile", "USER_CN": "E1", "PUSH_TOKEN": .string(Fixture.token)]
        let request = Mount.request("/ipns/appRegist", body)
        let answer: JSON = ["RT": "0000", "DEVICE_ID": "drawn", "PUSH_YN": "N"]
        let commands = Self.observed(request, VendorResponse(status: 200, body: JSONWriter.bytes(answer)))
        guard case .registration(.register(let registration))? = commands.first,
            case .preference(.setPreferences(let caller, let change))? = commands.last
        else {
            Issue.record("\(commands)")
            return
        }
        #expect(registration.key == "drawn")
        #expect(caller.key == "drawn")
        #expect(change.acceptsPush == false)
    }

    // The vendor may answer with another ID than that of the call: the switch is one of the device that it has registered.
    @Test func theSwitchOfARegistrationIsOfTheVendorsDevice() throws {
        let body: JSON = [
            "APP_ID": "hr.mobile", "USER_CN": "E1", "PUSH_TOKEN": .string(Fixture.token), "DEVICE_ID": "old",
            "PUSH_YN": "N",
        ]
        let answer: JSON = ["RT": "0000", "DEVICE_ID": "new"]
        let response = VendorResponse(status: 200, body: JSONWriter.bytes(answer))
        let commands = Self.observed(Mount.request("/ipns/appRegist", body), response)
        guard case .preference(.setPreferences(let caller, let change))? = commands.last else {
            Issue.record("\(commands)")
            return
        }
        #expect(caller.key == "new")
        #expect(change.acceptsPush == false)
    }

    // A DEVICE_ID is known to others, so that the vendor changes the device of the token.
    @Test func aChangeOfSettingsIsOfTheDeviceOfTheToken() throws {
        var body: JSONObject = ["APP_ID": "hr.mobile", "DEVICE_ID": "other", "PUSH_YN": "N"]
        let answer: JSON = ["RT": "0000"]
        let response = VendorResponse(status: 200, body: JSONWriter.bytes(answer))
        func caller() throws -> DeviceCaller {
            let commands = Self.observed(Mount.request("/ipns/updateConfig", .object(body)), response)
            guard case .preference(.setPreferences(let caller, _))? = commands.first, commands.count == 1 else {
                Issue.record("\(commands)")
                throw AdapterError(.invalid)
            }
            return caller
        }
        #expect(try caller() == DeviceCaller(key: "other"))
        body["PUSH_TOKEN"] = .string(Fixture.token)
        let named = try caller()
        #expect(named.key == nil)
        #expect(named.token?.text == Fixture.token)
    }

    @Test func aSendHasTheVendorsNumberAndTheUsersThatItDoesNotKnow() throws {
        let (request, response) = try Self.call("send.txt")
        guard case .submission(.observe(let message))? = Self.observed(request, response).first else {
            Issue.record("not a message")
            return
        }
        #expect(message.references == ["202001150900001234"])
        #expect(message.unknown == [.user("E77777")])
        #expect(message.submission.content.body == "You have a new approval")
        #expect(message.number == nil)
    }

    @Test func aPollMarksWhatItReturns() {
        let body: JSON = ["APP_ID": "hr.mobile", "DEVICE_ID": "5B1C", "COUNT": 10]
        let answer: JSON = ["RT": "0000", "REMAIN": 0, "LIST": [["REQ_ID": "7"], ["REQ_ID": "8"], [:]]]
        let response = VendorResponse(status: 200, body: JSONWriter.bytes(answer))
        let caller = DeviceCaller(key: "5B1C")
        #expect(
            Self.observed(Mount.request("/ipns/polling", body), response) == [
                .receipt(.reportNumber(.received, number: "7", caller: caller)),
                .receipt(.reportNumber(.received, number: "8", caller: caller)),
            ]
        )
    }

    @Test func refusedCallsEstablishNothing() throws {
        let (request, response) = try Self.call("send.txt")
        for body in ["", "{}", "[]", #"{"RT":"9999"}"#, #"{"RT":"2003"}"#] {
            #expect(Self.observed(request, VendorResponse(status: 200, body: Array(body.utf8))).isEmpty, "\(body)")
        }
        #expect(Self.observed(request, VendorResponse(status: 502, body: response.body)).isEmpty)
    }

    @Test func receiptsNameTheirMessage() throws {
        let body: JSON = ["APP_ID": "hr.mobile", "DEVICE_ID": "5B1C", "USER_CN": "E1", "REQ_ID": "7"]
        let receipt = Mount.request("/ipns/readReport", body)
        #expect(Mount.adapter.reference(in: receipt, settings: Mount.strict) == "7")
        let (send, _) = try Self.call("send.txt")
        #expect(Mount.adapter.reference(in: send, settings: Mount.strict) == nil)
    }
}
