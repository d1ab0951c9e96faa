import Coverage
import FoundationEssentials
import Model
import Testing

@testable import UPMC

/// The answers of the calls without an example in the contract, key for key from its text. The commands of their
/// requests are tested as well.
struct CallReplyTests {
    private let form =
        "APP_ID=com.example.app&PNSID=APNS&DEVICE_ID=6F0A&PSID=\(Fixture.token)&CUID=hong&GROUPSEQ=12&GROUPNAME=VIP"
    private let vip = TitledGroup(name: "12", title: "VIP")

    /// The whole body of a success, after a check of its header.
    private func body(_ name: String, _ reply: Reply, _ form: String? = nil) throws -> JSON? {
        let response = Mount.answer(Mount.call(name, form ?? self.form)) { _ in reply }
        #expect(response.status == 200)
        let answer = try Mount.body(response)
        let header: JSON = ["RESULT_CODE": "0000", "RESULT_BODY": "OK", "SERVICE": .string(name)]
        #expect(answer["HEADER"] == header, "\(name)")
        #expect(Set(answer.object?.keys ?? []) == ["HEADER", "BODY"])
        return answer["BODY"]
    }

    /// The code of a refusal.
    private func code(_ name: String, _ reply: Reply, _ form: String? = nil) throws -> String? {
        let response = Mount.answer(Mount.call(name, form ?? self.form)) { _ in reply }
        return try Mount.body(response)["HEADER"]?["RESULT_CODE"]?.string
    }

    @Test(.covers("upmc", "rcv_register_user", "rcv_delete_user")) func usersOfADevice() throws {
        for reply in [
            RegistrationReply.assigned(AssignedUser(user: "hong")),
            .enlisted(Mount.registered, AssignedUser(user: "hong")),
        ] {
            let shown = try #require(try body("rcv_register_user", .registration(reply))?.array?.first?.object)
            #expect(Set(shown.keys) == ["APPID", "PSID", "CUID", "AUTHKEY"])
            #expect(shown["APPID"] == "com.example.app" && shown["PSID"] == .string(Fixture.token))
            #expect(shown["CUID"] == "hong" && shown["AUTHKEY"]?.string?.utf8.count == 64)
        }
        let nobody = Reply.registration(.assigned(AssignedUser(user: nil)))
        #expect(try body("rcv_register_user", nobody)?.array?.first?["CUID"] == "GUEST")
        #expect(try body("rcv_delete_user", nobody) == [[:]])
        #expect(try code("rcv_register_user", .refused(.unknownDevice)) == "4400")
    }

    @Test(.covers("upmc", "rcv_add_service", "rcv_delete_service")) func servicesOfADevice() throws {
        let enlisted = Reply.registration(.enlisted(Mount.registered, AssignedUser(user: "hong")))
        let added = try #require(try body("rcv_add_service", enlisted)?.array?.first?.object)
        #expect(Set(added.keys) == ["DEVICEID_CHANGE_YN", "APPID", "AUTHKEY", "PSID"])
        #expect(added["DEVICEID_CHANGE_YN"] == "N" && added["PSID"] == .string(Fixture.token))
        #expect(try body("rcv_delete_service", .registration(.unregistered(1))) == [[:]])
        #expect(try body("rcv_delete_service", .registration(.unregistered(0))) == [[:]], "leaving twice")
    }

    @Test(
        .covers(
            "upmc",
            "rcv_register_usergroup_user",
            "rcv_delete_usergroup_user",
            "rcv_get_usergroup_user",
            "rcv_register_usergroup",
            "rcv_get_usergroup",
            "rcv_delete_usergroup"
        )
    )
    func groupsOfAnApp() throws {
        let changed = Reply.group(.membersChanged(added: 1, removed: 0))
        for name in ["rcv_register_usergroup_user", "rcv_delete_usergroup_user"] {
            #expect(try body(name, changed) == [["GROUPSEQ": "12", "CUID": "hong"]])
            #expect(try code(name, .refused(.unknownGroup("12"))) == "40000")
        }
        let group: JSON = ["GROUPSEQ": "12", "GROUPNAME": "VIP"]
        #expect(try body("rcv_register_usergroup", .group(.created(vip))) == [group])
        #expect(try body("rcv_get_usergroup", .group(.listed([vip]))) == [group])
        #expect(try body("rcv_get_usergroup", .group(.listed([]))) == [])
        #expect(try body("rcv_delete_usergroup", .group(.deleted)) == [[:]])
        let members = [
            GroupMember(group: vip, user: "hong", name: "Hong"), GroupMember(group: vip, user: "kim", name: nil),
        ]
        #expect(
            try body("rcv_get_usergroup_user", .group(.members(members))) == [
                ["GROUPSEQ": "12", "GROUPNAME": "VIP", "CUID": "hong", "CNAME": "Hong"],
                ["GROUPSEQ": "12", "GROUPNAME": "VIP", "CUID": "kim", "CNAME": ""],
            ]
        )
    }

    /// The answer is the same as for any send; a send to everyone or to a group has no missing users.
    @Test(.covers("upmc", "rcv_register_groupmessage")) func sendsToGroupsReportTheirCounts() throws {
        let accepted = NumberedAcceptance(message: MessageID(.init()), number: "1151", targetCount: 7, keys: nil)
        let send = "APP_ID=com.example.app&TYPE=G&GROUPSEQ=12&MESSAGE=m"
        let expected: JSON = [
            "SENDMSG_SEQNO": "1151", "REG_SUCCESS_CNT": "7", "REG_FAIL_CNT": "0", "APNS": "7", "FCM": "0", "GCM": "0",
            "UPNS": "0", "WPNS": "0", "HOST_URL": "",
        ]
        #expect(try body("rcv_register_groupmessage", .submission(.numbered(accepted)), send) == expected)
        let later = send + "&RESERVEDATE=20160415%20000000"
        #expect(
            try body("rcv_register_groupmessage", .submission(.numbered(accepted)), later)
                == ["RESERVE_SEQNO": "1151"]
        )
    }

    @Test(.covers("upmc", "mobile/last-session")) func theLastSessionIsAnswered() throws {
        let request = Mount.request("/mobile/last-session", #"{"appId":"a","cuid":"hong"}"#)
        let answer = try Mount.body(Mount.answer(request) { _ in .campaign(.visited(true)) })
        #expect(answer == ["code": "0000", "message": "SUCCESS"])
        let missing = Mount.request("/mobile/last-session", #"{"appId":"a"}"#)
        #expect(try Mount.body(Mount.answer(missing) { _ in .campaign(.visited(true)) })["code"] == "40000")
    }
}
