import Foundation
import HTTPTypes
import Model
import TestKit
import Testing

@testable import Braze

/// The recipients of triggers.
extension CampaignTests {
    // docs/contracts/braze.md#5.6: the documented trigger, which the contract quotes without shortening.
    @Test func recipientsAreFoundByAliasAndTheirAttributesAreSet() throws {
        let gateway = FakeGateway()
        let body = try Fixture.text("campaigns/trigger.request.json").replacing(
            "9a8b7c6d-0000-4000-8000-000000000001",
            with: "c-1"
        )
        let answer = Self.answer("/campaigns/trigger/send", body, gateway)
        #expect(answer.status == 201 && answer.json?["dispatch_id"] != nil, "\(answer.text)")
        let alias = UserName.alias(UserAlias(label: "crm", name: "a-7"))
        let patch = UserPatch(user: alias, changes: [AttributeChange("first_name", .set("Jo"))])
        #expect(gateway.users == [.track(UserBatch(patches: [patch])), .describe([alias])])
        let submission = try #require(gateway.submissions.first)
        #expect(submission.audience == .users(["u-1", "u-7"]) && gateway.submissions.count == 1)
        #expect(
            submission.variables == [
                UserVariables(user: "u-1", values: ["name": "Mina"]),
                UserVariables(user: "u-7", values: ["name": "Jo"]),
            ]
        )
    }

    @Test func anUnknownAliasIsSkippedAndOneOfTwoNamesIsUsed() throws {
        let gateway = FakeGateway()
        func recipient(_ name: String) -> String { #"{"user_alias":{"alias_name":"\#(name)","alias_label":"crm"}}"# }
        let body =
            #"{"campaign_id":"c-1","recipients":[\#(recipient("x")),{"external_user_id":"u-7"},\#(recipient("a-7"))]}"#
        #expect(Self.answer("/campaigns/trigger/send", body, gateway).status == 201)
        let stranger = UserName.alias(UserAlias(label: "crm", name: "x")).text
        #expect(gateway.submissions.first?.audience == .users([stranger, "u-7"]))
        #expect(gateway.submissions.first?.naming == .names)
    }

    @Test func nothingIsSentIfARecipientsAttributesAreRefused() throws {
        let gateway = FakeGateway()
        gateway.refusal = .invalid("attributes.n")
        let body =
            #"{"campaign_id":"c-1","recipients":[{"external_user_id":"u","attributes":{"n":{"inc":1}},"send_to_existing_only":false}]}"#
        let answer = Self.answer("/campaigns/trigger/send", body, gateway)
        #expect(answer.status == 400 && answer.message == "'recipients.attributes' is not valid")
        #expect(gateway.submissions.isEmpty && gateway.users.count == 1)
        gateway.refusal = nil
        #expect(Self.answer("/campaigns/trigger/send", body, gateway).status == 201)
    }

    // A change of the time does not write the recipients' attributes again.
    @Test func aScheduleSetsItsRecipientsAttributesOnce() throws {
        let alias = #"{"user_alias":{"alias_name":"a-7","alias_label":"crm"},"attributes":{"n":{"inc":1}}}"#
        let time = #""schedule":{"time":"2026-01-02T09:00:00Z"}"#
        let body = #"{"campaign_id":"c-1","recipients":[\#(alias)],\#(time)}"#
        let gateway = FakeGateway()
        #expect(Self.answer("/campaigns/trigger/schedule/create", body, gateway).status == 201)
        #expect(gateway.users.count == 2 && gateway.submissions.first?.audience == .users(["u-7"]))
        let other = FakeGateway(try Self.kept(.campaigns, body))
        let update = #"{"campaign_id":"c-1","schedule_id":"\#(Self.id)",\#(time)}"#
        #expect(Self.answer("/campaigns/trigger/schedule/update", update, other).status == 201)
        #expect(other.users.count == 1 && other.submissions.first?.audience == .users(["u-7"]))
        #expect(other.submissions.first?.schedule?.replaced != nil)
    }
}
