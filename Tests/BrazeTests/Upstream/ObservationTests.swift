import HTTPTypes
import Model
import Testing

@testable import Braze

/// The facts that the vendor's answers to proxied calls establish. The calls are those of docs/contracts/braze.md.
struct ObservationTests {
    private static func observed(_ request: VendorRequest, _ answer: String, status: Int = 201) -> [Command] {
        let response = VendorResponse(status: status, body: Array(answer.utf8))
        // Not one of the binding's permissions: the vendor has checked its own.
        return Mount.adapter.observedCommands(request, response: response, settings: .unbound)
    }

    private static func message(_ commands: [Command]) throws -> ObservedMessage {
        guard case .submission(.observe(let message))? = commands.first, commands.count == 1 else {
            Issue.record("\(commands)")
            throw AdapterError(.invalid)
        }
        return message
    }

    @Test func aSendHasTheVendorsID() throws {
        let request = Mount.request("/messages/send", try Fixture.text("messages/send.request.json"))
        let message = try Self.message(Self.observed(request, #"{"dispatch_id":"d-1","message":"success"}"#))
        #expect(message.references == ["d-1"])
        #expect(message.submission.audience == .users(["u-1", "u-2"]))
        // Accepted during maintenance.
        #expect(try Self.message(Self.observed(request, #"{"dispatch_id":"d-1"}"#, status: 202)).references == ["d-1"])
    }

    // The text is stored at the vendor.
    @Test func aTriggerIsKnownByItsUsersAndItsCampaign() throws {
        let request = Mount.request("/campaigns/trigger/send", try Fixture.text("campaigns/trigger.request.json"))
        let message = try Self.message(Self.observed(request, #"{"dispatch_id":"d-2","message":"success"}"#))
        #expect(message.references == ["d-2"])
        #expect(message.submission.content.campaign == "9a8b7c6d-0000-4000-8000-000000000001")
        #expect(message.submission.naming == .names)
        guard case .users(let users) = message.submission.audience else {
            Issue.record("\(message.submission.audience)")
            return
        }
        #expect(users == ["u-1", UserName.alias(UserAlias(label: "crm", name: "a-7")).text])
    }

    @Test func aScheduleHasBothIDs() throws {
        let body = #"""
            {"external_user_ids":["u-1"],"schedule":{"time":"2026-01-02T00:00:00Z"},
             "messages":{"apple_push":{"alert":"x"}}}
            """#
        let request = Mount.request("/messages/schedule/create", body)
        let message = try Self.message(Self.observed(request, #"{"dispatch_id":"d-3","schedule_id":"s-3"}"#))
        #expect(message.references == ["d-3", "s-3"])
        #expect(message.submission.timing.dueAt != nil)
        let change = Mount.request("/messages/schedule/delete", #"{"schedule_id":"s-3"}"#)
        #expect(Mount.adapter.reference(in: change, settings: .unbound) == "s-3")
        #expect(Self.observed(change, #"{"message":"success"}"#).isEmpty)
    }

    @Test func elementsThatTheVendorRefusedAreLeftOut() throws {
        let body = #"{"attributes":[{"external_id":"u-1","a":1},{"external_id":"u-2","a":2}]}"#
        let request = Mount.request("/users/track", body)
        let answer = #"{"message":"success","errors":[{"type":"x","input_array":"attributes","index":0}]}"#
        guard case .user(.track(let batch))? = Self.observed(request, answer).first else {
            Issue.record("not a batch")
            return
        }
        #expect(batch.patches.map(\.user) == [.id("u-2")])
        let strange = #"{"errors":[{"input_array":"attributes","index":-1},{"input_array":"x","index":1},7]}"#
        guard case .user(.track(let whole))? = Self.observed(request, strange).first else {
            Issue.record("not a batch")
            return
        }
        #expect(whole.patches.count == 2)
    }

    // A user that is deleted here cannot be restored.
    @Test func aUserIsDeletedOnlyIfTheVendorSaysSo() {
        let request = Mount.request("/users/delete", #"{"external_ids":["u-1"]}"#)
        #expect(Self.observed(request, #"{"deleted":1}"#).isEmpty)
        #expect(Self.observed(request, #"{"deleted":1,"message":"success"}"#).count == 1)
    }

    // Answers of the SDK have no message. In the mode Optional, a wrong token does not refuse the call.
    @Test func dataOfTheSDKIsKnownUnlessTheAnswerHasAnError() throws {
        let request = SDKTests.request("/api/v3/data", #"{"device_id":"d"}"#)
        func observed(_ answer: String) -> [Command] {
            let response = VendorResponse(status: 201, body: Array(answer.utf8))
            return Mount.adapter.observedCommands(request, response: response, settings: SDKTests.settings)
        }
        let expected = try Mount.adapter.decode(request, settings: SDKTests.settings)
        #expect(!expected.isEmpty)
        #expect(observed(#"{"triggers":[]}"#) == expected)
        #expect(observed(#"{"auth_error":{"error_code":22}}"#) == expected)
        for answer in ["", "[]", #"{"error":"invalid_request"}"#] {
            #expect(observed(answer).isEmpty, "\(answer)")
        }
    }

    @Test func refusedCallsEstablishNothing() throws {
        let request = Mount.request("/messages/send", try Fixture.text("messages/send.request.json"))
        for status in [400, 401, 429, 500, 301] {
            #expect(Self.observed(request, #"{"dispatch_id":"d-1"}"#, status: status).isEmpty, "\(status)")
        }
        let answers = [
            "", "ok", "[]", #""success""#, #"{"message":"No Recipients"}"#, #"{"message":7}"#,
            #"{"error":"x","message":"success"}"#,
        ]
        for answer in answers { #expect(Self.observed(request, answer).isEmpty, "\(answer)") }
        #expect(Self.observed(Mount.request("/messages/send", "{"), "{}").isEmpty)
        #expect(Self.observed(Mount.request("/users/export/ids", #"{"external_ids":["u-1"]}"#), "{}").isEmpty)
    }
}
