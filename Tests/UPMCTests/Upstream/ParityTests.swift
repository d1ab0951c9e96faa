import Model
import Testing

@testable import UPMC

/// The comparison of the vendor's answers with the gateway's. The calls and answers are those of docs/contracts/upmc.md.
struct ParityTests {
    private static func response(_ text: String) -> VendorResponse {
        VendorResponse(status: 200, body: Array(text.utf8))
    }

    /// The fields in which the gateway's answer differs.
    private static func names(_ request: VendorRequest, _ replies: [Reply], _ theirs: String) throws -> [String] {
        let answer = response(theirs)
        let own = try #require(
            Mount.adapter.comparable(replies, to: request, response: answer, settings: Mount.settings())
        )
        let ours = Mount.adapter.encode(own, for: request, settings: Mount.settings())
        return Mount.adapter.differences(ours: ours, theirs: answer, for: request)
    }

    @Test func aDocumentedRegistrationIsAnsweredAlike() throws {
        let call = try Fixture.request("rcv_register_service/guest.request.txt")
        let request = Mount.request(call.path, call.form)
        let text = try Fixture.text("rcv_register_service/registered.response.json").replacing(
            "9f2c…",
            with: Fixture.token
        )
        let reply = Reply.registration(.enlisted(Mount.registered, AssignedUser(user: nil, hasMoved: true)))
        #expect(try Self.names(request, [reply], text).isEmpty)
        let wrong = text.replacing(#""APPID":"com.example.app""#, with: #""APPID":"other""#)
        #expect(try Self.names(request, [reply], wrong) == ["BODY[].APPID"])
        let refused = text.replacing(#""0000""#, with: #""4400""#)
        #expect(try Self.names(request, [reply], refused) == ["HEADER.RESULT_CODE"])
    }

    // The group is stored under the vendor's number first, which is not part of the answer.
    @Test func groupsAreAnsweredAlike() throws {
        let form = "APP_ID=com.example.app&CUID=hong&GROUPSEQ=12&PSID=\(Fixture.token)&DEVICE_ID=6F0A&PNSID=APNS"
        func text(_ name: String, _ body: String) -> String {
            #"{"HEADER":{"RESULT_CODE":"0000","RESULT_BODY":"OK","SERVICE":"\#(name)"},"BODY":[\#(body)]}"#
        }
        let joined: [Reply] = [.group(.put(isNew: true)), .group(.membersChanged(added: 1, removed: 0))]
        let join = Mount.call("rcv_register_usergroup_user", form)
        let answer = text("rcv_register_usergroup_user", #"{"GROUPSEQ":"12","CUID":"hong"}"#)
        #expect(try Self.names(join, joined, answer).isEmpty)
        let create = Mount.call("rcv_register_usergroup", "APP_ID=com.example.app&GROUPNAME=VIP")
        let created = text("rcv_register_usergroup", #"{"GROUPSEQ":"31","GROUPNAME":"VIP"}"#)
        #expect(try Self.names(create, [.group(.put(isNew: true))], created).isEmpty)
    }

    @Test func aSendStatesItsTargets() throws {
        let answer = try Fixture.json("rcv_register_message/accepted.response.json")
        let expected = try #require(answer["BODY"]?["REG_SUCCESS_CNT"]?.lenientInt)
        let response = Self.response(JSONWriter.text(answer))
        #expect(Mount.adapter.audienceCount(in: response) == Int(expected))
        #expect(Mount.adapter.audienceCount(in: Self.response("no")) == nil)
    }

    // The numbers of many answers are added up.
    @Test(
        arguments: [
            ("1000000000", 1_000_000_000), ("1000000001", nil), ("9223372036854775807", nil), ("-1", nil),
        ] as [(String, Int?)]
    )
    func aNumberThatCannotBeOneOfDevicesIsNotCounted(_ text: String, _ count: Int?) {
        let answer = #"{"HEADER":{"RESULT_CODE":"0000"},"BODY":{"REG_SUCCESS_CNT":\#(text)}}"#
        #expect(Mount.adapter.audienceCount(in: Self.response(answer)) == count)
    }
}
