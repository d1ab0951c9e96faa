import Coverage
import FoundationEssentials
import HTTPTypes
import Model
import Testing

@testable import UPMC

/// Every documented answer, key for key and type for type.
struct DocumentedReplyTests {
    private func answer(_ name: String, _ form: String, _ reply: Reply) throws -> JSON {
        let response = Mount.answer(Mount.call(name, form)) { _ in reply }
        #expect(response.status == 200)
        #expect(response.headers[.contentType] == "application/json;charset=UTF-8")
        let isOfABackEnd = UPMCCall(rawValue: name)?.caller == .sender
        #expect(response.headers[.accessControlAllowOrigin] == (isOfABackEnd ? nil : "*"))
        return try Mount.body(response)
    }

    /// The documented text with full values for its abbreviations, and with the key that changes each time.
    private func wanted(_ fixture: String, like seen: JSON) throws -> JSON {
        var text = try Fixture.text(fixture).replacing("9f2c…", with: Fixture.token)
        if case .array(let list)? = seen["BODY"], let key = list.first?["AUTHKEY"]?.string {
            #expect(key.utf8.count == 64)
            text = text.replacing("mF0t…", with: key).replacing("k3Wd…", with: key)
        }
        return try JSONParser.parse(text)
    }

    private let device = "APP_ID=com.example.app&PNSID=APNS&DEVICE_ID=6F0A&PSID=\(Fixture.token)&CUID=hong"

    @Test(.covers("upmc", "asking_authorization", "rcv_register_service", "new_rcv_register_service_and_user"))
    func registrationFamilyAnswersWithALists() throws {
        let enlisted = Reply.registration(.enlisted(Mount.registered, AssignedUser(user: "hong")))
        let issued = try answer("asking_authorization", device, .registration(.tokenUpdated))
        #expect(try issued == wanted("asking_authorization/issued.response.json", like: issued))
        let service = try answer("rcv_register_service", device, enlisted)
        #expect(try service == wanted("rcv_register_service/registered.response.json", like: service))
        let combined = try answer("new_rcv_register_service_and_user", device, enlisted)
        #expect(
            try combined == wanted("new_rcv_register_service_and_user/registered.response.json", like: combined)
        )
        let moved = Reply.registration(.enlisted(Mount.registered, AssignedUser(user: "hong", hasMoved: true)))
        let again = try answer("new_rcv_register_service_and_user", device, moved)
        #expect(again["BODY"]?.array?.first?["DEVICEID_CHANGE_YN"] == "Y")
    }

    @Test(.covers("upmc", "rcv_get_service")) func standingIsYesNoOrChanged() throws {
        let token = DeviceToken(stored: Fixture.token)
        func reply(_ standing: IdentityStanding?) -> Reply { .registration(.standing(standing)) }
        let known = IdentityStanding(state: .active, token: token, user: "hong")
        let yes = try answer("rcv_get_service", device, reply(known))
        #expect(try yes == wanted("rcv_get_service/registered.response.json", like: yes))
        func verdict(_ form: String, _ standing: IdentityStanding?) throws -> JSON? {
            try answer("rcv_get_service", form, reply(standing))["BODY"]?.array?.first?["ISREGISTERED"]
        }
        #expect(try verdict(device, nil) == "N")
        #expect(try verdict(device, IdentityStanding(state: .unregistered, token: nil, user: nil)) == "N")
        #expect(try verdict(device.replacing("9f2c", with: "aaaa"), known) == "N")
        #expect(try verdict(device.replacing("hong", with: "kim"), known) == "C")
        #expect(try verdict(device.replacing("hong", with: "GUEST"), known) == "Y")
    }

    @Test(.covers("upmc", "rcv_register_sent_ack", "rcv_register_send_result", "rcv_init_badgeNo"))
    func receiptsAndBadges() throws {
        let known = Reply.receipt(.acknowledged(isKnown: true, badge: 10))
        let form = device + "&SEQNO=104"
        #expect(
            try answer("rcv_register_sent_ack", form, known) == Fixture.json("rcv_register_sent_ack/ok.response.json")
        )
        #expect(
            try answer("rcv_register_send_result", form + "&BADGENO=10", known)
                == Fixture.json("rcv_register_send_result/read.response.json")
        )
        let orphan = Reply.receipt(.acknowledged(isKnown: false, badge: 0))
        #expect(try answer("rcv_register_sent_ack", form, orphan)["HEADER"]?["RESULT_CODE"] == "0000")
        let badge = try answer("rcv_init_badgeNo", device + "&BADGENO=3", .badge(.count(3)))
        #expect(badge["BODY"] == [["BADGENO": "3"]])
    }

    private func send(_ form: String, _ reply: Reply) throws -> JSON {
        try answer("rcv_register_message", "APP_ID=com.example.app&TYPE=E&MESSAGE=m&" + form, reply)
    }

    // docs/contracts/upmc.md#1.9.1
    @Test(.covers("upmc", "rcv_register_message")) func sendsReportTheirTargets() throws {
        let accepted = Reply.submission(
            .numbered(
                NumberedAcceptance(
                    message: MessageID(.init()),
                    number: "1151",
                    targetCount: 2,
                    keys: ["APNS:a", "APNS:b"],
                    missing: ["nobody"]
                )
            )
        )
        #expect(
            try send("CUID=[hong,kim,nobody]", accepted) == Fixture.json("rcv_register_message/accepted.response.json")
        )
        let reserved = Reply.submission(
            .numbered(NumberedAcceptance(message: MessageID(.init()), number: "20", targetCount: 1, keys: []))
        )
        #expect(
            try send("CUID=hong&RESERVEDATE=20160415%20000000", reserved)
                == Fixture.json("rcv_register_message/reserved.response.json")
        )
        #expect(
            try send("CUID=nobody", .refused(.noRecipients))
                == Fixture.json("rcv_register_message/nobody.response.json")
        )
        let late = try send("CUID=nobody&RESERVEDATE=20160415%20000000", .refused(.noRecipients))
        #expect(late["HEADER"]?["RESULT_CODE"] == "4401")
        let echoed = try send("CUID=hong&CUST_KEY=k&CUST_VAR1=v", accepted)
        #expect(echoed["BODY"]?["CUST_KEY"] == "k")
        #expect(echoed["BODY"]?["CUST_VAR1"] == "v")
        #expect(echoed["BODY"]?["CUST_VAR2"] == nil)
    }

    // docs/contracts/upmc.md#1.9.1 and docs/contracts/upmc.md#1.14, 10
    @Test(arguments: [
        ("20160414%20172159", "0000"), ("20160414 162201", "0000"), ("20160414%20162200", "0000"),
        ("20160414%20162159", "5500"), ("20160414%20162100", "5500"), ("20160415%20000000", "0000"),
        ("tomorrow", "40000"),
    ])
    func reservationsAreAtMostAnHourLate(_ date: String, _ code: String) throws {
        let accepted = NumberedAcceptance(message: MessageID(.init()), number: "1", targetCount: 1, keys: ["APNS:a"])
        let seen = try send("CUID=hong&RESERVEDATE=\(date)", .submission(.numbered(accepted)))
        #expect(seen["HEADER"]?["RESULT_CODE"]?.string == code)
    }

    // docs/contracts/upmc.md#1.13
    @Test(.covers("upmc", "mobile/purchase")) func marketingAnswers() throws {
        let lines = try Fixture.text("mobile/answers.response.txt").split(separator: "\n")
        let wanted = try lines.map { try JSONParser.parse(String($0.dropFirst("HTTP 200 ".count))) }
        func answer(_ body: String) throws -> (Int, JSON) {
            let response = Mount.answer(Mount.request("/mobile/purchase", body)) { _ in .campaign(.visited(true)) }
            return (response.status, try Mount.body(response))
        }
        let right = try answer(#"{"appId":"a","id":"730","cuid":"hong","extra":1}"#)
        #expect(right == (200, wanted[0]))
        let missing = try answer(#"{"id":"730","cuid":"hong"}"#)
        #expect(missing == (200, wanted[1]))
        #expect(try answer("{").0 == 400)
    }

    @Test(
        .covers("upmc", "rcv_appAlive"),
        .covers("upmc", "getEncriptKey", refused: "`RESULT_CODE` `40000`: the server has no key of its own"),
        .covers("upmc", "rcv_comm_configuration", refused: "`SERVICE_STOP` `Y`: the gateway has no UPNS broker"),
        .covers("upmc", "reAllocateUpns", refused: "`RESULT_CODE` `4404`: the gateway has no UPNS broker"),
        .covers("upmc", "putAppLog", refused: "`RESULT_CODE` `0000`, and the log is thrown away")
    )
    func smallCallsHaveTheirAnswers() throws {
        func body(_ name: String, _ reply: Reply = .inbox(.undelivered([]))) throws -> JSON? {
            try answer(name, device, reply)["BODY"]
        }
        #expect(try body("rcv_appAlive") == [[:]])
        #expect(try body("rcv_appAlive", .refused(.unknownDevice)) == [[:]])
        #expect(try body("putAppLog") == [[:]])
        #expect(try body("rcv_comm_configuration") == [["SERVICE_STOP": "Y"]])
        #expect(try answer("reAllocateUpns", device, .inbox(.undelivered([])))["HEADER"]?["RESULT_CODE"] == "4404")
        #expect(try answer("getEncriptKey", device, .inbox(.undelivered([])))["HEADER"]?["RESULT_CODE"] == "40000")
        #expect(try answer("nothing", device, .inbox(.undelivered([])))["HEADER"]?["RESULT_CODE"] == "40000")
    }

    @Test func aGatewayFailureIsCode500WithStatus200() throws {
        let refused = Reply.refused(.unavailable(retryAfter: nil))
        let trouble = try answer("rcv_register_service", device, refused)
        #expect(trouble["HEADER"]?["RESULT_CODE"] == "500")
        #expect(trouble["BODY"] == [[:]])
        #expect(try send("CUID=hong", refused)["BODY"] == [:])
    }

    // docs/contracts/upmc.md#1.3: browsers send a preflight request.
    @Test func browsersMayCallFromAnywhere() {
        let request = Mount.request("/upmc/rcv_register_sent_ack.ctl", "", method: .options)
        let response = Mount.answer(request) { _ in .refused(.unavailable(retryAfter: nil)) }
        #expect(response.status == 204)
        #expect(response.headers[.accessControlAllowOrigin] == "*")
        #expect(response.headers[.accessControlAllowMethods]?.contains("POST") == true)
    }
}
