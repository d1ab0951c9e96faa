import Coverage
import FoundationEssentials
import HTTPTypes
import Model
import Testing

@testable import UPMC

/// Forms, multipart, queries, paths, and texts in the encodings of callers.
struct DecodingTests {
    private func submission(_ request: VendorRequest, _ settings: BindingSettings = Mount.settings()) throws
        -> Submission
    {
        guard case .submission(.submit(let submission))? = try Mount.command(request, settings) else {
            throw AdapterError(.notFound)
        }
        return submission
    }

    private func send(_ form: String, _ settings: BindingSettings = Mount.settings()) throws -> Submission {
        try submission(Mount.call("rcv_register_message", "APP_ID=a&TYPE=E&" + form), settings)
    }

    // MARK: Paths, docs/contracts/upmc.md#1.2 and docs/contracts/upmc.md#1.14, 9

    @Test(arguments: [
        "/upmc/rcv_appAlive.ctl", "/upmc//rcv_appAlive.ctl", "/receiver/rcv_appAlive.ctl", "/rcv_appAlive.ctl",
        "//rcv_appAlive.ctl", "/upmc/rcv_appalive.CTL", "/some/where/RCV_APPALIVE.ctl/",
    ])
    func theLastPartOfAPathNamesTheCall(_ path: String) { #expect(UPMCCall(path: path) == .alive) }

    @Test(arguments: ["/", "", "/upmc", "/rcv_appAlive", "/purchase.ctl", "/last-session", "/x/.ctl"])
    func otherPathsAreNotCalls(_ path: String) { #expect(UPMCCall(path: path) == nil) }

    @Test func everyCallIsMountedThreeTimes() {
        let exact = Mount.adapter.routes.compactMap { if case .exact(let path) = $0.path { path } else { nil } }
        for endpoint in UPMCCall.allCases {
            for prefix in ["/upmc", "/receiver", ""] { #expect(exact.contains(prefix + endpoint.path)) }
        }
        #expect(Mount.adapter.routes.contains { $0.path == .suffix(".ctl") })
    }

    // MARK: Bodies, docs/contracts/upmc.md#1.3

    private func multipart(
        _ fields: [(String, String)],
        to call: String = "rcv_register_csvmessage",
        file: (String, String)? = nil
    ) -> VendorRequest {
        var body = ""
        for (name, value) in fields {
            body += "--XyZ\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n"
        }
        if let file {
            body += "--XyZ\r\nContent-Disposition: form-data; name=\"\(file.0)\"; filename=\"l.csv\"\r\n"
            body += "Content-Type: text/csv\r\n\r\n\(file.1)\r\n"
        }
        let type = "multipart/form-data; boundary=\"XyZ\""
        return Mount.request("/upmc/\(call).ctl", body + "--XyZ--\r\n", contentType: type)
    }

    // docs/contracts/upmc.md#1.8.4: the parts of the web library, in its order; empty parts, including an empty mode,
    // are ignored.
    @Test(.covers("upmc", "wpns_rcv_register_service_and_user")) func browsersRegisterByMultipart() throws {
        let endpoint = "https://updates.push.example.com/wpush/v2/gAAAAABf"
        let fields = [
            ("AUTHKEY", "mF0t"), ("APP_ID", "com.example.app"), ("CUID", "hong"), ("CNAME", "Hong"),
            ("DEVICE_ID", "8eDyX_uCN0XRhSbY5hs7Hg"), ("APP_VER", "120"), ("PNSID", "WPNS"), ("PSID", endpoint),
            ("PHONENUM", ""), ("CBSID", ""), ("APNS_MODE", ""), ("P256DH", "BLc4xRzKlKORKWlbdgFaBrrPK3ydWAHo"),
        ]
        let request = multipart(fields, to: "wpns_rcv_register_service_and_user")
        var registration = DeviceRegistration(
            key: "WPNS:8eDyX_uCN0XRhSbY5hs7Hg",
            platform: .android,
            token: DeviceToken(stored: endpoint),
            attributes: ["APP_VER": "120", "P256DH": "BLc4xRzKlKORKWlbdgFaBrrPK3ydWAHo"]
        )
        registration.client = ClientFacts([.appVersion: "120"])
        #expect(try Mount.command(request) == .registration(.enlist(registration, .set("hong", name: "Hong"))))
        let answer = try Mount.body(
            Mount.answer(request) { _ in .registration(.enlisted(Mount.registered, AssignedUser(user: "hong"))) }
        )
        #expect(
            answer["HEADER"]
                == ["RESULT_CODE": "0000", "RESULT_BODY": "OK", "SERVICE": "wpns_rcv_register_service_and_user"]
        )
        let body = try #require(answer["BODY"]?.array?.first)
        #expect(answer["BODY"]?.array?.count == 1)
        #expect(body["APPID"] == "com.example.app")
        #expect(body["PSID"]?.string == endpoint)
        #expect(body["DEVICEID_CHANGE_YN"] == "N")
        #expect(body["AUTHKEY"]?.string?.utf8.count == 64)
        let nowhere = multipart(fields.filter { $0.0 != "PSID" }, to: "wpns_rcv_register_service_and_user")
        #expect(throws: AdapterError(.missing, field: "PSID")) { _ = try Mount.command(nowhere) }
    }

    @Test func multipartIsReadLikeAForm() throws {
        let request = multipart([
            ("APP_ID", "a"), ("SEQNO", "104"), ("CUID", "홍"), ("PNSID", "WPNS"), ("PSID", "https://e/1"),
        ])
        var ack = request
        ack.path = "/upmc/rcv_register_sent_ack.ctl"
        let settings = Mount.settings("4.0EE", ["receiptsByUser": true])
        guard case .receipt(.acknowledge(.received, "104", let holder, nil))? = try Mount.command(ack, settings) else {
            Issue.record("no receipt")
            return
        }
        #expect(holder.user == "홍")
        #expect(holder.token?.text == "https://e/1")
    }

    @Test(arguments: [
        "", "--XyZ", "--XyZ\r\n", "--XyZ\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx",
        "--XyZ\r\n\r\n\r\n--XyZ--",
        "--XyZ\r\nContent-Disposition: form-data\r\n\r\nx\r\n--XyZ--", "x",
    ])
    func brokenMultipartIsUnreadable(_ body: String) {
        #expect(throws: AdapterError(.unreadable)) {
            _ = try MultipartBody.parse(Array(body.utf8), contentType: "multipart/form-data; boundary=XyZ")
        }
        #expect(throws: AdapterError(.unreadable)) {
            _ = try MultipartBody.parse(Array(body.utf8), contentType: "multipart/form-data")
        }
    }

    @Test func partsAreBounded() {
        let part = "--X\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\r\n"
        let many = Array((String(repeating: part, count: UPMCLimits.fieldCount + 1) + "--X--").utf8)
        #expect(throws: AdapterError(.unreadable)) {
            _ = try MultipartBody.parse(many, contentType: "multipart/form-data; boundary=X")
        }
    }

    @Test func queriesAndMissingContentTypesAreForms() throws {
        var request = Mount.request("/upmc/rcv_appAlive.ctl", "", method: .get, contentType: nil)
        request.query = "APP_ID=a&DEVICE_ID=6F0A&PNSID=APNS"
        #expect(try Mount.command(request) == .inbox(.appState(key: "APNS:6F0A", isActive: false)))
        let bare = Mount.request("/upmc/rcv_appAlive.ctl", "APP_ID=a&DEVICE_ID=6F0A", contentType: nil)
        #expect(try Mount.command(bare) == .inbox(.appState(key: "APNS:6F0A", isActive: false)))
    }

    @Test func theIOSEncoderAndPlusesAreBothRead() throws {
        #expect(try send("CUID=hong&MESSAGE=a%20b%2Bc").content.body == "a b+c")
        #expect(try send("CUID=hong&MESSAGE=a+b").content.body == "a b")
        #expect(throws: AdapterError(.unreadable)) { _ = try send("CUID=hong&MESSAGE=%4") }
        #expect(throws: AdapterError(.unreadable)) { _ = try send("CUID=hong&MESSAGE=%FF%FE") }
    }

    // MARK: Messages, docs/contracts/upmc.md#1.9.1

    @Test func messagesAreTextOrJSONWithOptionalRawLineEnds() throws {
        #expect(try send("CUID=a&MESSAGE=plain").content.body == "plain")
        let json = try send("CUID=a&MESSAGE={\"title\":\"T\",\"body\":\"one%0Atwo\"}")
        #expect(json.content.title == "T")
        #expect(json.content.body == "one\ntwo")
        let other = try send("CUID=a&MESSAGE={\"x\":1}")
        #expect(other.content.body == "{\"x\":1}")
        let broken = try send("CUID=a&MESSAGE={\"title\":")
        #expect(broken.content.body == "{\"title\":")
    }

    @Test func messagesThatWereEncodedTwiceAreDecodedTwice() throws {
        #expect(try send("CUID=a&MESSAGE=%25ED%2599%258D").content.body == "홍")
        let off = Mount.settings("4.0EE", ["doubleDecodeMessage": "off"])
        #expect(try send("CUID=a&MESSAGE=%25ED%2599%258D", off).content.body == "%ED%99%8D")
        // Spaces, or bytes that are not text, show that the text was not encoded twice.
        #expect(try send("CUID=a&MESSAGE=50%2525%20off").content.body == "50%25 off")
        #expect(try send("CUID=a&MESSAGE=%25FF").content.body == "%FF")
    }

    @Test(arguments: [
        "CUID=hong", "CUID=%5B%22hong%22%5D", "CUID=[hong]", "CUID=[hong,%20hong]", "CUID=hong&CUID=hong",
        "CLIENT_UID=hong",
    ])
    func usersAreNamedInManyWays(_ form: String) throws {
        #expect(try send(form + "&MESSAGE=m").audience == .users(["hong"]))
    }

    @Test func listsAreBounded() {
        let names = (0...UPMCLimits.recipientCount).map { "u\($0)" }.joined(separator: ",")
        #expect(throws: AdapterError(.tooLarge, field: "CUID")) { _ = try send("MESSAGE=m&CUID=[\(names)]") }
        #expect(throws: AdapterError(.missing, field: "CUID")) { _ = try send("MESSAGE=m") }
        #expect(throws: AdapterError(.missing, field: "MESSAGE")) { _ = try send("CUID=a&MESSAGE=") }
    }

    // docs/contracts/upmc.md#1.9.2
    @Test func everyoneAndGroups() throws {
        func group(_ form: String) throws -> Submission {
            try submission(Mount.call("rcv_register_groupmessage", "APP_ID=a&MESSAGE=m&" + form))
        }
        #expect(try group("TYPE=A&GROUPSEQ=").audience == .everyone)
        #expect(try group("TYPE=G&GROUPSEQ=12").audience == .groups(["12"]))
        #expect(try group("TYPE=A").lane == .bulk)
        let narrowed = try group("TYPE=G&GROUPSEQ=12&REQ_PSIDS=[\"\(Fixture.token)\"]")
        #expect(narrowed.audience == .groups(["12"]))
        #expect(narrowed.numbering?.tokens == [DeviceToken(stored: Fixture.token)])
        #expect(try group("TYPE=G&GROUPSEQ=12&REQ_PSIDS=").numbering?.tokens == nil)
        #expect(throws: AdapterError(.missing, field: "GROUPSEQ")) { _ = try group("TYPE=G") }
        #expect(throws: AdapterError(.invalid, field: "TYPE")) { _ = try group("TYPE=E") }
    }

    // docs/contracts/upmc.md#1.9.3
    @Test(.covers("upmc", "rcv_register_csvmessage")) func filesListUsersWithTheirVariables() throws {
        let fields = [("APP_ID", "a"), ("TYPE", "C"), ("MESSAGE", "%CNAME% %VAR1%"), ("TEMPLATE_YN", "Y")]
        let csv = "\u{FEFF}hong,Hong,a\r\nkim,\"Kim, J\",\"b\"\"c\"\nhong,again,x\n\n"
        let request = multipart(fields, file: ("upload_file", csv))
        let submission = try submission(request)
        #expect(submission.audience == .users(["hong", "kim"]))
        #expect(submission.content.isTemplate)
        #expect(
            submission.numbering?.variables == [
                UserVariables(user: "hong", values: ["CNAME": "Hong", "VAR1": "a"]),
                UserVariables(user: "kim", values: ["CNAME": "Kim, J", "VAR1": "b\"c"]),
            ]
        )
        #expect(throws: AdapterError(.missing, field: "upload_file")) { _ = try self.submission(multipart(fields)) }
        // The answer is the same as for any send (docs/contracts/upmc.md#1.9.1), and names unknown users.
        let accepted = NumberedAcceptance(
            message: MessageID(.init()),
            number: "1151",
            targetCount: 1,
            keys: ["APNS:a"],
            missing: ["kim"]
        )
        let answer = try Mount.body(Mount.answer(request) { _ in .submission(.numbered(accepted)) })
        #expect(answer["HEADER"]?["SERVICE"] == "rcv_register_csvmessage")
        #expect(answer["BODY"]?["SENDMSG_SEQNO"] == "1151")
        #expect(answer["BODY"]?["REG_SUCCESS_CNT"] == "1")
        #expect(answer["BODY"]?["REG_FAIL_CNT"] == "1")
        #expect(answer["BODY"]?["NOTEXISTCUIDS"] == ["kim"])
        let empty = multipart(fields, file: ("upload_file", "\n\n"))
        #expect(throws: AdapterError(.missing, field: "upload_file")) { _ = try self.submission(empty) }
    }

    @Test func throttlingTokensAndVersions() throws {
        let paced = try send("CUID=a&MESSAGE=m&SPLIT_MSG_CNT=100&DELAY_SECOND=5")
        #expect(paced.numbering?.pace == Pace(count: 100, delay: .seconds(5)))
        #expect(try send("CUID=a&MESSAGE=m&SPLIT_MSG_CNT=0&DELAY_SECOND=5").numbering?.pace == nil)
        let narrowed = try send("CUID=a&MESSAGE=m&REQ_PSIDS=[\"\(Fixture.token)\"]")
        #expect(narrowed.numbering?.tokens == [DeviceToken(stored: Fixture.token)])
        #expect(try send("CUID=a&MESSAGE=m&BADGENO=3", Mount.settings("4.0")).content.badge == 3)
        #expect(try send("CUID=a&MESSAGE=m&BADGENO=3", Mount.settings("4.0EE")).content.badgeStep == 3)
        #expect(try send("CUID=a&MESSAGE=m&BADGENO=0").content.badgeStep == nil)
        #expect(throws: AdapterError(.invalid, field: "BADGENO")) { _ = try send("CUID=a&MESSAGE=m&BADGENO=x") }
    }

    // docs/contracts/upmc.md#1.10.1: an EXT that does not fit becomes a page, if a public URL is configured.
    @Test func largeExtrasBecomePages() throws {
        let extra = String(repeating: "%3Cb%3E홍", count: 700)
        let open = Mount.settings("4.0EE", ["publicUrl": "https://push.example.com"])
        let page = try #require(try send("CUID=a&MESSAGE=m&EXT=" + extra, open).numbering?.page)
        #expect(page.name == "0414172200_msp.html")
        #expect(!page.body.contains("<"))
        #expect(PercentCoding.decode(page.body.utf8, plusIsSpace: true) == String(repeating: "<b>홍", count: 700))
        #expect(throws: AdapterError(.tooLarge, field: "EXT")) { _ = try send("CUID=a&MESSAGE=m&EXT=" + extra) }
        #expect(throws: AdapterError(.tooLarge, field: "MESSAGE")) {
            _ = try send("CUID=a&MESSAGE=" + String(repeating: "x", count: 5000), open)
        }
        #expect(try send("CUID=a&MESSAGE=m&EXT=short", open).numbering?.page == nil)
    }

    // docs/contracts/upmc.md#1.8: the check of tokens.
    @Test(arguments: [
        ("<" + Fixture.token.prefix(32) + " " + Fixture.token.dropFirst(32) + ">", true),
        ("{length = 32, bytes = 0xd3d997af 967d1f43 ... 7a1d }", false), ("9f2c", false), (Fixture.token + "0", false),
    ])
    func tokensAreHexOfSixtyFourDigitsOrMore(_ text: String, _ isToken: Bool) throws {
        let encoded = PercentCoding.encode(text)
        let form = "APP_ID=a&PNSID=APNS&DEVICE_ID=6F0A&PSID=\(encoded)"
        let found = Mount.answer(Mount.call("rcv_register_service", form)) { _ in
            .registration(.enlisted(Mount.registered, AssignedUser(user: nil)))
        }
        #expect(try Mount.code(found) == (isToken ? "0000" : "40000"))
    }

    @Test func settingsAreChecked() {
        func problems(_ values: JSONObject, _ hasSecret: Bool = false) -> [String] {
            UPMCSettings.problems(in: values, hasSecret: hasSecret)
        }
        #expect(problems(["version": "5.1", "publicUrl": "https://a", "mutableContent": "on"]) == [])
        #expect(problems(["version": "9"]) == ["version: not an accepted value"])
        #expect(problems(["versions": "5.1"]) == ["versions: unknown setting"])
        #expect(problems(["security": ["using": true]]).count == 1)
        #expect(problems(["security": ["using": true]], true) == [])
    }
}
