import Foundation
import HTTPTypes
import Model
import Testing

@testable import UPMC

/// Keys of apps, docs/contracts/upmc.md#1.4 and docs/contracts/upmc.md#1.14, 2 and 3.
struct AuthKeyTests {
    private let secured = Mount.settings(
        "4.0EE",
        ["security": ["using": true]],
        secrets: [UPMCSettings.secretName: Mount.secret]
    )
    private let device = "APP_ID=com.example.app&PNSID=APNS&DEVICE_ID=6F0A&PSID=\(Fixture.token)"

    private func reply(_ command: Command) -> Reply {
        switch command {
        case .registration(.enlist): .registration(.enlisted(Mount.registered, AssignedUser(user: "hong")))
        case .receipt: .receipt(.acknowledged(isKnown: true, badge: 0))
        default: .inbox(.undelivered([]))
        }
    }

    private func call(_ name: String, _ form: String, at time: Timestamp = Mount.now, headers: [String: String] = [:])
        -> VendorResponse
    {
        Mount.answer(Mount.request("/upmc/\(name).ctl", form, headers: headers, at: time), secured, reply)
    }

    private func key(_ user: String) throws -> String {
        let response = call("asking_authorization", device + "&CUID=" + user)
        return try #require(try Mount.body(response)["BODY"]?.array?.first?["AUTHKEY"]?.string)
    }

    @Test func withoutAKeyAnAppMustRequestOne() throws {
        let bare = call("rcv_register_service", device + "&CUID=hong")
        #expect(bare.status == 200)
        #expect(try Mount.code(bare) == "40100")
        #expect(try Mount.body(bare)["BODY"] == [[:]])
        let keyed = try call("rcv_register_service", device + "&CUID=hong&AUTHKEY=" + key("TMP0hong"))
        #expect(try Mount.code(keyed) == "0000")
    }

    @Test func aGuestsKeyStaysValidForTheUser() throws {
        let guest = try key("TMP0GUEST")
        #expect(try Mount.code(call("rcv_appAlive", device + "&CUID=hong&AUTHKEY=" + guest)) == "0000")
        #expect(try Mount.code(call("rcv_appAlive", device + "&AUTHKEY=" + guest)) == "0000")
        let hong = try key("hong")
        #expect(try Mount.code(call("rcv_appAlive", device + "&CUID=kim&AUTHKEY=" + hong)) == "40100")
    }

    @Test func aKeyBelongsToOneTokenOneAppAndOneDay() throws {
        let hong = try key("hong")
        let form = device + "&CUID=hong&AUTHKEY=" + hong
        #expect(try Mount.code(call("rcv_appAlive", form, at: Mount.now + .seconds(86_399))) == "0000")
        #expect(try Mount.code(call("rcv_appAlive", form, at: Mount.now + .seconds(86_400))) == "40100")
        #expect(try Mount.code(call("rcv_appAlive", form.replacing("9f2c", with: "aaaa"))) == "40100")
        let other = AuthKey(applicationID: "com.example.other", secret: Mount.secret)
        #expect(!other.accepts(hong, user: "hong", token: Fixture.token, now: Mount.now))
        let another = AuthKey(applicationID: "com.example.app", secret: Array("another secret".utf8))
        #expect(!another.accepts(hong, user: "hong", token: Fixture.token, now: Mount.now))
        let none = AuthKey(applicationID: "com.example.app", secret: nil)
        #expect(!none.accepts(hong, user: "hong", token: Fixture.token, now: Mount.now))
    }

    @Test func everyChangedBitIsDetected() throws {
        let keys = AuthKey(applicationID: "com.example.app", secret: Mount.secret)
        let good = keys.issue(user: "hong", token: Fixture.token, now: Mount.now)
        #expect(keys.accepts(good, user: "TMP0hong", token: Fixture.token, now: Mount.now))
        for index in good.indices {
            let changed = good[index] == "A" ? "B" : "A"
            let bad = good.replacingCharacters(in: index...index, with: changed)
            #expect(!keys.accepts(bad, user: "hong", token: Fixture.token, now: Mount.now))
        }
        for bad in ["", "x", String(repeating: "=", count: 64), String(repeating: "A", count: 64)] {
            #expect(!keys.accepts(bad, user: "hong", token: Fixture.token, now: Mount.now))
        }
    }

    // Two different triples must not produce the same bytes.
    @Test func fieldsOfAKeyAreSeparated() {
        let keys = AuthKey(applicationID: "a", secret: Mount.secret)
        let key = keys.issue(user: "ab", token: "c", now: Mount.now)
        #expect(keys.accepts(key, user: "ab", token: "c", now: Mount.now))
        #expect(!keys.accepts(key, user: "a", token: "bc", now: Mount.now))
    }

    @Test func receiptsOfBrowsersNeedNoKey() throws {
        let web = "APP_ID=com.example.app&PNSID=WPNS&PSID=https://e/1&CUID=hong&SEQNO=104"
        #expect(try Mount.code(call("rcv_register_sent_ack", web)) == "0000")
        #expect(try Mount.code(call("rcv_register_sent_ack", device + "&CUID=hong&SEQNO=104")) == "40100")
    }

    // C2: the keys of apps do not matter for calls of back ends, whose senders the gateway checks.
    @Test func aKeyOfAnAppIsNoProofOfASender() throws {
        for name in ["rcv_register_message", "rcv_register_usergroup", "rcv_get_usergroup_user"] {
            let form = try "\(device)&CUID=hong&AUTHKEY=\(key("hong"))&TYPE=A&MESSAGE=m&GROUPSEQ=1&GROUPNAME=g"
            let request = Mount.request("/upmc/\(name).ctl", form)
            #expect(try Mount.adapter.locate(request).1 == .sender)
        }
        let join = Mount.request("/upmc/rcv_register_usergroup_user.ctl", device + "&CUID=hong&GROUPSEQ=1")
        #expect(try Mount.adapter.locate(join).1 == .device)
        #expect(Mount.adapter.senders == SenderForm(ownKey: .init(header: "X-Gateway-Key", secret: "sendKey")))
    }

    // C2: a page of any site can make a browser send a GET, and reads what is shared with any origin.
    @Test func aSendIsAPostWhoseAnswerPagesCannotRead() throws {
        let query = "APP_ID=com.example.app&TYPE=A&MESSAGE=m"
        for name in ["rcv_register_message", "RCV_REGISTER_CSVMESSAGE", "rcv_delete_usergroup"] {
            for method in [HTTPRequest.Method.get, .options, .head] {
                var request = Mount.request("/any/\(name).ctl", "", method: method)
                request.query = query
                let response = Mount.answer(request) { _ in .refused(.noRecipients) }
                #expect(try Mount.code(response) == "40000", "\(method) \(name)")
                #expect(response.headers[.accessControlAllowOrigin] == nil, "\(method) \(name)")
            }
            let post = Mount.answer(Mount.request("/any/\(name).ctl", query)) { _ in .refused(.noRecipients) }
            #expect(post.headers[.accessControlAllowOrigin] == nil, "\(name)")
        }
    }
}
