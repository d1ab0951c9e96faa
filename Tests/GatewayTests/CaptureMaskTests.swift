import Foundation
import HTTPTypes
import Model
import Testing

@testable import Gateway

/// The visible parts of a captured call. docs/capture.md contains the rules.
struct CaptureMaskTests {
    private let mask = CaptureMask(keepsTexts: false)
    private let open = CaptureMask(keepsTexts: true)

    private func body(_ text: String, _ type: String? = nil, texts: Bool = false) -> String {
        (texts ? open : mask).body(Array(text.utf8), contentType: type, limit: 16 << 10)
    }

    private static let token = "740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad"

    @Test(arguments: [
        (#"{"PUSH_TOKEN":"\#(token)"}"#, #"{"PUSH_TOKEN":"<hex 64>"}"#),
        (#"{"x":"\#(token)"}"#, #"{"x":"<hex 64>"}"#),
        (#"{"x":"fVQ3x0aBTR6-kk7:APA91bH"}"#, #"{"x":"<text 23>"}"#),
        (#"{"x":"fVQ3x0aBTR6-kk7_APA91bH"}"#, #"{"x":"<base64 23>"}"#),
        (#"{"AUTHKEY":"Y"}"#, #"{"AUTHKEY":"<secret 1>"}"#),
        (#"{"password":"1234","passwd":12}"#, #"{"password":"<secret 4>","passwd":"<number 2>"}"#),
        (#"{"auth":{"scheme":"Y","n":[1]}}"#, #"{"auth":{"scheme":"<secret 1>","n":["<number 1>"]}}"#),
        (
            #"{"otpCode":"1234","userName":"AB","seq":"12"}"#,
            #"{"otpCode":"<secret 4>","userName":"<text 2>","seq":"12"}"#
        ),
        (#"{"a":"2026-11-22 010-1234-5678"}"#, #"{"a":"<text 24>"}"#),
        (#"{"pn":"01022221111"}"#, #"{"pn":"<phone 11 …11>"}"#),
        (#"{"x":"+82 10-2222-1134"}"#, #"{"x":"<phone 12 …34>"}"#),
        (#"{"x":"a.b@example.com"}"#, #"{"x":"<email 15>"}"#),
        (#"{"x":"6F0A1B2C-1111-4222-8333-444455556666"}"#, #"{"x":"<uuid>"}"#),
        (#"{"CUID":"KIM"}"#, #"{"CUID":"<text 3>"}"#), (#"{"x":"123456"}"#, #"{"x":"<digits 6>"}"#),
        (#"{"x":123456}"#, #"{"x":"<number 6>"}"#), (#"{"MESSAGE":"Hello"}"#, #"{"MESSAGE":"<text 5>"}"#),
    ])
    func personalValuesBecomeKindAndLength(_ text: String, _ masked: String) { #expect(body(text) == masked) }

    @Test(arguments: [
        #"{"PUSH_YN":"Y","TYPE":"E","RT":"0000","cId":303,"b":true,"n0":null}"#,
        #"{"PNSID":"APNS","APNS_MODE":"REAL","OS_VER":"17.4","ver":"4.0EE"}"#,
        #"{"SENDDATE":"20261122221500","at":"2026-11-22T22:15:00Z","list":[]}"#,
    ])
    func flagsCodesVersionsAndTimesAreKept(_ text: String) { #expect(body(text) == text) }

    @Test func aTextStaysOnlyWhenTheCaptureKeepsTexts() {
        let text = #"{"TITLE":"Approval","MESSAGE":"call 010-2222-1111 or \#(Self.token)","AUTHKEY":"abc"}"#
        #expect(body(text) == #"{"TITLE":"<text 8>","MESSAGE":"<text 86>","AUTHKEY":"<secret 3>"}"#)
        let kept = body(text, texts: true)
        #expect(kept == #"{"TITLE":"Approval","MESSAGE":"call <digits 11>or <masked 64>","AUTHKEY":"<secret 3>"}"#)
    }

    @Test func jsonInATextIsMasked() {
        #expect(body(#"{"x":"{\"tk\":\"abc\",\"y\":\"Y\"}"}"#) == #"{"x":"{\"tk\":\"<secret 3>\",\"y\":\"Y\"}"}"#)
        let form = "data=%7B%22tk%22%3A%22abc%22%7D&TYPE=E&PSID=\(Self.token)&CNAME=Hong+Gil"
        let type = "application/x-www-form-urlencoded"
        #expect(body(form, type) == #"data={"tk":"<secret 3>"}&TYPE=E&PSID=<hex 64>&CNAME=<text 8>"#)
        #expect(body("data=%257B%2522tk%2522%253A%2522abc%2522%257D", type) == #"data={"tk":"<secret 3>"}"#)
        #expect(mask.query("APP_KEY=abcdefgh&v=1") == "APP_KEY=<secret 8>&v=1")
    }

    @Test func aPartOfAFormIsMaskedByItsName() {
        let text =
            "--XyZ\r\nContent-Disposition: form-data; name=\"PSID\"\r\n\r\nabc\r\n"
            + "--XyZ\r\nContent-Disposition: form-data; name=\"f\"; filename=\"kim.csv\"\r\nContent-Type: text/csv\r\n\r\nkim,lee\r\n--XyZ--\r\n"
        let masked = body(text, "multipart/form-data; boundary=XyZ")
        #expect(masked.contains("part PSID: <secret 3>"))
        #expect(masked.contains("part f file <text 7> text/csv: <text 7>"))
        #expect(!masked.contains("kim"))
    }

    @Test func xmlKeepsItsTags() {
        let text = #"<?xml version="1.0"?><a k="Y"><password>Y</password><TYPE>E</TYPE><!-- kim --><u name='kim'/></a>"#
        let masked = body(text, "text/xml")
        #expect(
            masked
                == #"<?text 19><a k="Y"><password><secret 1></password><TYPE>E</TYPE><!text 10><u name="<text 3>"/></a>"#
        )
        #expect(!body("<a><b", nil).contains("b"))
    }

    @Test func unreadableBodiesBecomeTheirLength() {
        #expect(mask.body([0, 1, 2, 255], contentType: nil, limit: 100) == "<bytes 4>")
        #expect(body(#"{"a":"#) == "<unreadable json 5>")
        let large = [UInt8](repeating: 0x61, count: CaptureMask.bodyLimitBytes + 1)
        #expect(mask.body(large, contentType: nil, limit: 100) == "<bytes \(large.count)>")
    }

    @Test func aBodyIsCutAfterMasking() {
        let list = "[" + Array(repeating: #""한글""#, count: 1000).joined(separator: ",") + "]"
        let cut = mask.body(Array(list.utf8), contentType: nil, limit: 200)
        #expect(cut.utf8.count <= 200)
        #expect(cut.hasSuffix("<cut from 11001>"))
    }

    @Test func pathsAndHeadersKeepTheirNames() {
        #expect(mask.path("/ipns/getMsgs") == "/ipns/getMsgs")
        #expect(
            mask.path("/upmc/new_rcv_register_service_and_user.ctl") == "/upmc/new_rcv_register_service_and_user.ctl"
        )
        #expect(mask.path("/v2/devices/\(Self.token)/kim%40example.com") == "/v2/devices/<hex 64>/<email 15>")
        var fields = HTTPFields()
        fields[.contentType] = "application/json"
        fields[.userAgent] = "Shop/1.2 (\(Self.token))"
        fields[.authorization] = "Bearer pgw_abcdef"
        fields[.cookie] = "a=b"
        #expect(
            mask.headers(fields) == [
                ["name": "Content-Type", "value": "application/json"],
                ["name": "User-Agent", "value": "Shop/1.2 (<masked 64>)"],
                ["name": "Authorization", "value": "Bearer <secret 10>"], ["name": "Cookie", "value": .null],
            ]
        )
    }
}
