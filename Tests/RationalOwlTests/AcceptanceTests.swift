import Foundation
import Model
import RationalOwl
import Testing

/// docs/contracts/rationalowl.md#16.1: decoders like those of the vendor's clients read every `/pushApp` answer.
struct AcceptanceTests {
    /// The result codes of the bridge class, as the closed set of G1 iOS (docs/contracts/rationalowl.md#4.2).
    enum Code: Int, Decodable {
        case ok = 1
        case unknown = -1
        case a = -101, b = -102, c = -201, d = -202, e = -203, f = -231, g = -232, h = -241, i = -251, j = -301
    }
    enum TextType: Int, Decodable { case none = 0, sms = 12, lms = 13, mms = 14 }
    enum State: Int, Decodable { case none = 0, requested, delivered, failed }

    struct InstallApp: Decodable { var cId: Int, aId: String, rc: Code, cmt: String, usRid: String }
    struct Plain: Decodable { var cId: Int, aId: String, rc: Code, cmt: String }
    struct VerifyDemo: Decodable { var cId: Int, aId: String, rc: Code, c: String }
    struct ImageData: Decodable { var cId: Int, aId: String, rc: Code, cmt: String, imgD: String }
    struct InfoG1: Decodable {
        var cId: Int, aId: String, rc: Code, cmt: String, mId: String, ast: Int64, `as`: State, mst: Int64,
            mt: TextType,
            ms: State
    }
    struct InfoG3: Decodable {
        var cId: Int, aId: String, rc: Code, cmt: String, mId: String, ast: Int64, ase: State, mst: Int64, mt: TextType,
            ms: State
    }

    static let refusals = MutationTests.refusals.filter {
        if case .rateLimited = $0 { false } else { true }
    }

    private static func decode<T: Decodable>(_ type: T.Type, _ response: VendorResponse) throws {
        _ = try JSONDecoder().decode(type, from: Data(response.body))
    }

    /// (a) Swift Codable with every field required and closed enums, on successes and on every refusal. docs/contracts/rationalowl.md#16.3,
    /// docs/contracts/rationalowl.md#16.4.
    @Test func strictSwiftDecodersReadEveryAnswer() throws {
        let refused = Self.refusals.map { Reply.refused($0) }
        for reply in [DocumentedReplyTests.registered(again: true), DocumentedReplyTests.registered(again: false)]
            + refused
        {
            let answer = try Self.answer("installApp/vendor-document.request.json", reply)
            try Self.decode(InstallApp.self, answer)
        }
        for reply in [Reply.registration(.unregistered(1))] + refused {
            try Self.decode(Plain.self, try Self.answer("unregUser/device.request.json", reply))
        }
        for reply in [Reply.registration(.verificationSent)] + refused {
            try Self.decode(Plain.self, try Self.answer("reqAuthNumber/phone.request.json", reply))
        }
        for reply in [
            Reply.registration(.verified(true, platform: nil)), .registration(.verified(false, platform: nil)),
        ] + refused {
            let answer = try Self.answer("verifyAuthNumber/code.request.json", reply)
            try Self.decode(Plain.self, answer)
            try Self.decode(VerifyDemo.self, answer)
        }
        for reply in [Reply.media(.bytes([1], contentType: "image/png"))] + refused {
            try Self.decode(ImageData.self, try Self.answer("imgData/image.request.json", reply))
        }
        for reply in [DocumentedReplyTests.info(DocumentedReplyTests.alimtalkThenText, .ios)] + refused {
            let answer = try Self.answer("msgInfo/current.request.json", reply)
            try Self.decode(InfoG1.self, answer)
            try Self.decode(InfoG3.self, answer)
        }
    }

    /// (b) A decoder that accepts only the ten keys of `msgInfo`, once with `as` and once with `ase`.
    @Test(arguments: [("msgInfo/vendor-document.request.json", "as"), ("msgInfo/current.request.json", "ase")])
    func strictAndroidDecodersKnowEveryKey(fixture: String, key: String) throws {
        let known: Set<String> = ["cId", "aId", "rc", "cmt", "mId", "ast", key, "mst", "mt", "ms"]
        let replies =
            [DocumentedReplyTests.info(DocumentedReplyTests.alimtalkThenText, .android)]
            + Self.refusals.map { .refused($0) }
        for reply in replies {
            let request = try Mount.documented(fixture, headers: ["User-Agent": "okhttp/4.9.1"])
            let body = try #require(try Mount.body(Mount.answer(request, reply)).object)
            #expect(Set(body.keys) == known)
        }
    }

    /// (c) The lenient case: `rc` can be read after any spelling error.
    @Test(arguments: ["{}", "[]", "", #"{"aId":5}"#, #"{"aId":"A","dRId":{}}"#])
    func aLenientDecoderAlwaysFindsTheResultCode(body: String) throws {
        for call in ["installApp", "unregUser", "reqAuthNumber", "verifyAuthNumber", "msgInfo", "imgData"] {
            let request = Mount.request("/pushApp/\(call)", body: Array(body.utf8))
            let answer = Mount.answer(request, .refused(.unknownBinding))
            #expect(try Mount.body(answer)["rc"]?.int != nil)
            #expect(Shape(endpoint: call).fault(answer) == nil)
        }
    }

    private static func answer(_ fixture: String, _ reply: Reply) throws -> VendorResponse {
        Mount.answer(try Mount.documented(fixture), reply)
    }
}
