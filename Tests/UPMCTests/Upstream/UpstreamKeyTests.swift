import HTTPTypes
import Model
import Testing

@testable import UPMC

/// The vendor's `AUTHKEY` of forwarded calls (docs/contracts/upmc.md#1.4).
struct UpstreamKeyTests {
    private static func answer(_ code: String, _ body: String = "[{}]") -> VendorResponse {
        let text = "{\"HEADER\":{\"RESULT_CODE\":\"\(code)\",\"RESULT_BODY\":\"x\"},\"BODY\":\(body)}"
        return VendorResponse(status: 200, body: Array(text.utf8))
    }

    private static func verdict(_ code: String) -> ForwardVerdict { Mount.adapter.verdict(of: answer(code)) }

    private static let fields = "APP_ID=com.example.app&CUID=ann%20b&PSID=aa01&PNSID=APNS&DEVICE_ID=d1"

    private static func text(_ bytes: [UInt8]?) -> String { String(decoding: bytes ?? [], as: UTF8.self) }

    @Test func aKeyIsAskedForAsTheAppWould() throws {
        let receipt = Mount.request("/receiver/rcv_register_sent_ack.ctl", Self.fields + "&SEQNO=7")
        let ask = try #require(Mount.adapter.keyCall(for: receipt, refusedBy: Self.verdict("40100")))
        #expect(ask.method == .post && ask.path == "/receiver/asking_authorization.ctl" && ask.query == nil)
        #expect(ask.route == "asking_authorization")
        #expect(ask.headers[.contentType] == "application/x-www-form-urlencoded")
        #expect(Self.text(ask.body) == "APP_ID=com.example.app&PSID=aa01&PNSID=APNS&DEVICE_ID=d1&CUID=ann%20b")
        let first = Mount.request("/rcv_register_service.ctl", "APP_ID=com.example.app&PSID=aa01")
        let guest = try #require(Mount.adapter.keyCall(for: first, refusedBy: Self.verdict("40100")))
        #expect(guest.path == "/asking_authorization.ctl")
        #expect(Self.text(guest.body) == "APP_ID=com.example.app&PSID=aa01&CUID=TMP0GUEST")
    }

    @Test(arguments: ["0000", "500", "40000", "40300"])
    func otherAnswersAskForNoKey(code: String) {
        let receipt = Mount.request("/upmc/rcv_register_sent_ack.ctl", Self.fields)
        #expect(Mount.adapter.keyCall(for: receipt, refusedBy: Self.verdict(code)) == nil)
    }

    @Test func callsWithoutAKeyAskForNone() {
        for path in ["/upmc/rcv_register_message.ctl", "/upmc/asking_authorization.ctl", "/mobile/last-session", "/x"] {
            let call = Mount.request(path, Self.fields)
            #expect(Mount.adapter.keyCall(for: call, refusedBy: Self.verdict("40100")) == nil, "\(path)")
        }
    }

    @Test func theKeyJoinsTheFieldsOfTheCall() {
        let key = Self.answer("0000", #"[{"AUTHKEY":"a+b/c="}]"#)
        let field = "&AUTHKEY=" + PercentCoding.encode("a+b/c=")
        let form = Mount.request("/upmc/rcv_register_sent_ack.ctl", Self.fields + "&AUTHKEY=ours")
        let keyed = Mount.adapter.keyed(form, by: key)
        #expect(Self.text(keyed?.body) == Self.fields + field && keyed?.query == nil)
        var get = Mount.request("/upmc/rcv_appAlive.ctl", "", method: .get, contentType: nil)
        get.query = Self.fields
        #expect(Mount.adapter.keyed(get, by: key)?.query == Self.fields + field)
        #expect(Mount.adapter.keyed(get, by: key)?.body.isEmpty == true)
    }

    @Test func onlyKeysOfTheGatewayAreItsOwn() {
        let settings = Mount.settings(secrets: [UPMCSettings.secretName: Mount.secret])
        let key = AuthKey(applicationID: "com.example.app", secret: Mount.secret)
            .issue(user: "ann b", token: "aa01", now: Mount.now)
        func isOwn(_ call: String, _ key: String, _ settings: BindingSettings) -> Bool {
            let request = Mount.request("/upmc/\(call).ctl", Self.fields + "&AUTHKEY=" + PercentCoding.encode(key))
            return Mount.adapter.showsOwnKey(request, settings: settings)
        }
        #expect(isOwn("rcv_register_sent_ack", key, settings))
        #expect(!isOwn("rcv_register_sent_ack", key, Mount.settings()), "without its secret")
        #expect(!isOwn("rcv_register_sent_ack", "theirs", settings))
        #expect(!isOwn("rcv_register_message", key, settings), "a call of a back end")
    }

    @Test func anAnswerWithoutAKeyIsNone() {
        let form = Mount.request("/upmc/rcv_register_sent_ack.ctl", Self.fields)
        let answers = [
            Self.answer("0000"), Self.answer("0000", #"[{"AUTHKEY":""}]"#), Self.answer("0000", "[]"),
            Self.answer("40100", #"[{"AUTHKEY":"k"}]"#), VendorResponse(status: 200, body: Array("no".utf8)),
            VendorResponse(status: 503),
            Self.answer("0000", "[{\"AUTHKEY\":\"\(String(repeating: "k", count: UPMCLimits.tokenBytes + 1))\"}]"),
        ]
        for answer in answers { #expect(Mount.adapter.keyed(form, by: answer) == nil, "\(answer)") }
    }
}
