import HTTPTypes
import Model
import Testing

@testable import NotificationHubs

/// docs/contracts/notificationhubs.md#3: authentication and authorization.
struct SignatureTests {
    /// docs/contracts/notificationhubs.md#3.3, computed with another program (Python's hmac): resource and signature; one from a .NET client, one
    /// with upper-case escapes, one that signs its whole URL.
    static let vectors = [
        ("http%3a%2f%2fgw.example.com%2fhub1%2f", "bMKJG0qDde58BMe3p91iUzUHXtycx56kbgnPKOMqDD0="),
        ("https%3A%2F%2Fgw.example.com%2Fhub1", "fAIPdsMCAX7xokRODM2riaHDDFYmlznIbHXuyV2h9y8="),
        (
            "https%3a%2f%2fgw.example.com%2fhub1%2finstallations%2fabc%3fapi-version%3d2020-06",
            "Z6CN6J3N+WbUJeeyoSQyoXkxCejyBqCSTW/wRrfXQGY="
        ),
    ]

    static func header(_ resource: String, _ signature: String, _ rest: String = "&se=1893456000") -> String {
        let name = "DefaultFullSharedAccessSignature"
        return "SharedAccessSignature sr=\(resource)&sig=\(signature)\(rest)&skn=\(name)"
    }

    private func answer(_ authorization: String?, _ path: String = "/hub1/installations/abc", at: Timestamp = Mount.now)
        -> VendorResponse
    {
        Mount.answer(
            Mount.request(.get, path, query: "api-version=2020-06", authorization: authorization, at: at)
        ) { _ in .registration(.standing(nil)) }
    }

    /// Whether the caller was authorized: 404 is then the call's own answer.
    private func isLetIn(_ response: VendorResponse) -> Bool { response.status == 404 }

    @Test(arguments: vectors)
    func theVectorsAreAuthorized(_ resource: String, _ signature: String) {
        let escaped = signature.replacing("+", with: "%2B").replacing("/", with: "%2F").replacing("=", with: "%3D")
        #expect(isLetIn(answer(Self.header(resource, escaped))))
        // docs/contracts/notificationhubs.md#3.1: a published client leaves `/` and the padding unescaped.
        #expect(isLetIn(answer(Self.header(resource, signature))))
        #expect(
            isLetIn(
                answer(
                    "sharedaccesssignature skn=DefaultFullSharedAccessSignature&se=1893456000&sig=\(escaped)&sr=\(resource)"
                )
            )
        )
    }

    // A device shows an expired signature until it has a new one: that is not a guess, and must not make others at its address wait.
    @Test func aSignatureIsAProofUntilItExpires() {
        let text = Signer().header
        let proof = Mount.adapter.proof(of: Mount.request(.get, "/hub1/installations/abc"))
        #expect(proof == CallProof(text, keyName: "DefaultFullSharedAccessSignature", isGuessable: false))
        let expired = Mount.request(.get, "/hub1/installations/abc", at: Timestamp(seconds: 1_893_456_000 + 3600))
        #expect(Mount.adapter.proof(of: expired) == nil)
        for text in [nil, "", "nonsense", "SharedAccessSignature sr=x"] {
            let request = Mount.request(.get, "/hub1/installations/abc", authorization: text)
            #expect(Mount.adapter.proof(of: request) == nil)
        }
    }

    /// Every byte of every part, changed in two ways, and every prefix.
    @Test(arguments: vectors)
    func everyTamperedTokenIsRefused(_ resource: String, _ signature: String) {
        let good = Array(Self.header(resource, signature).utf8)
        for index in good.indices {
            for flip: UInt8 in [1, 2] {
                var bytes = good
                bytes[index] ^= flip
                let text = String(decoding: bytes, as: UTF8.self)
                #expect(answer(text).status == 401, "\(text)")
            }
            #expect(answer(String(decoding: good[..<index], as: UTF8.self)).status == 401)
        }
    }

    @Test func theRefusalHasTheDocumentedShape() throws {
        let refused = answer(Self.header("https%3A%2F%2Fgw.example.com%2Fhub1", "AAAA"))
        #expect(try refused.fault(against: "access/signature.response.txt") == nil)
        let tracking = try #require(refused.header("TrackingId"))
        #expect(refused.text.hasSuffix("TrackingId:\(tracking),TimeStamp:1/1/2026 12:00:00 AM</Detail></Error>"))
        #expect(tracking.hasSuffix("_G1"))
        #expect(tracking.count == 36 + 3)
    }

    /// docs/contracts/notificationhubs.md#3.2: five minutes of leeway.
    @Test(arguments: [(0, true), (299, true), (300, true), (301, false), (86_400, false)])
    func aTokenIsValidFiveMinutesBeyondItsEnd(_ late: Int64, _ isGood: Bool) {
        let now = Timestamp(seconds: 1_893_456_000 + late)
        let response = answer(Signer().header, at: now)
        #expect(isLetIn(response) == isGood)
        if !isGood {
            #expect(response.status == 401)
            #expect(response.detail == "ExpiredToken: ")
        }
    }

    /// docs/contracts/notificationhubs.md#3.2, 4: the resource is the request's path or a prefix of it that ends at a
    /// segment.
    @Test(arguments: [
        ("https%3a%2f%2fgw.example.com%2f", true), ("https%3a%2f%2fgw.example.com%2fhub1%2fInstallations", true),
        ("sb%3a%2f%2fGW.example.com%3a443%2fHUB1", true), ("https%3a%2f%2fgw.example.com%2fhub", false),
        ("https%3a%2f%2fgw.example.com%2fhub2", false), ("https%3a%2f%2fgw.example.com%2fhub1%2finst", false),
        ("https%3a%2f%2fgw.example.com%2fhub1%2finstallations%2fabcd", false),
        ("https%3a%2f%2fgw.example.org%2fhub1", false), ("https%3a%2f%2fexample.com%2fhub1", false), ("hub1", false),
    ])
    func aTokenIsValidBelowItsResourceOnly(_ resource: String, _ isGood: Bool) {
        let response = answer(Signer(resource: resource).header)
        #expect(isLetIn(response) == isGood)
        if !isGood {
            #expect(
                response.detail == "InvalidAudience: The authorization header contains a token with a wrong audience."
            )
        }
    }

    @Test func theSecondaryKeyOfARuleIsValidToo() {
        let next = Signer(name: "DefaultListenSharedAccessSignature", key: "the key that comes next")
        #expect(isLetIn(answer(next.header)))
        let other = Signer(name: "Sender", key: "the key that comes next")
        #expect(answer(other.header).detail == "InvalidSignature: The token has an invalid signature.")
        let nobody = Signer(name: "Nobody", key: "")
        #expect(answer(nobody.header).detail == "InvalidSignature: The token has an invalid signature.")
    }

    /// A rule whose key could not be unsealed authorizes no caller, not even one without a key.
    @Test func aRuleWithoutKeysAuthorizesNoCaller() {
        var settings = Mount.settings
        settings.secrets = [:]
        let request = Mount.request(.get, "/hub1/installations/abc", authorization: Signer(key: "").header)
        #expect(throws: AdapterError(.unauthorized, field: "signature")) {
            try Mount.adapter.decode(request, settings: settings)
        }
    }

    @Test(arguments: [
        "", "Bearer x", "SharedAccessSignature", "SharedAccessSignature ",
        "SharedAccessSignature sr=a&sig=b&se=c&skn=d",
        "SharedAccessSignature sr=a&sig=b&se=1&skn=d&x=1", "SharedAccessSignature sr=a&sr=a&sig=b&se=1&skn=d",
        "SharedAccessSignature sr=a&sig=%zz&se=1&skn=d", "SharedAccessSignature sr=a&sig=b&se=-1&skn=d",
        "SharedAccessSignature sr=a&sig=b&se=99999999999999999999&skn=d", String(repeating: "x", count: 9000),
    ])
    func unreadableTokensAreRefused(_ header: String) {
        let response = answer(header.isEmpty ? nil : header)
        #expect(response.status == 401)
        #expect(response.detail?.hasPrefix(header.isEmpty ? "MissingToken" : "MalformedToken") == true)
    }

    /// docs/contracts/notificationhubs.md#7.7: a key with only the listen right cannot send; the answer has no body.
    @Test func aMissingRightIs403WithoutABody() throws {
        var request = try Fixture.request("messages/send.request.txt")
        let listener = Signer(name: "DefaultListenSharedAccessSignature", key: Mount.listenKey)
        request.headers[.authorization] = listener.header
        let response = Mount.answer(request)
        #expect(try response.fault(against: "access/listen.response.txt") == nil)
        #expect(response.header("TrackingId")?.count == 36)
        #expect(response.header("x-ms-correlation-request-id")?.count == 36)

        let sender = Signer(name: "Sender", key: "only for sending, ever")
        #expect(answer(sender.header).status == 403)
        request.headers[.authorization] = sender.header
        #expect(throws: Never.self) { try Mount.command(request) }
    }

    @Test func anUnknownHubHasTheDocumentedShape() throws {
        let response = Mount.answer(Mount.request(.get, "/hub1/installations/abc"))
        #expect(try response.fault(against: "access/hub.response.txt") == nil)
    }

    /// docs/contracts/notificationhubs.md#3.5.
    @Test(arguments: [
        ("api-version=2015-01", nil, true), ("API-Version=2020-06", "1999-01", true), (nil, "2017-04", true),
        (nil, nil, true), ("api-version=2099-01", "2017-04", false), (nil, "2099-01", false),
    ])
    func knownVersionsAreAccepted(_ query: String?, _ header: String?, _ isKnown: Bool) {
        let headers = header.map { ["x-ms-version": $0] } ?? [:]
        let response = Mount.answer(Mount.request(.get, "/hub1/installations/abc", query: query, headers: headers)) {
            _ in .registration(.standing(nil))
        }
        #expect(response.status == (isKnown ? 404 : 400))
        #expect((response.detail == "The api-version '2099-01' is not supported") == !isKnown)
    }

    @Test func theBindingIsFoundByHubAndHost() throws {
        let request = Mount.request(.get, "/HUB1/Installations/abc/", host: "GW.example.com:8443")
        let (key, caller) = try Mount.adapter.locate(request)
        #expect(
            key == BindingKey(vendor: .notificationHubs, kind: "hub", value: "hub1", host: "gw.example.com")
        )
        #expect(caller == .credential)
    }

    /// docs/contracts/notificationhubs.md#9: unsupported and unknown paths are 404 in the vendor's format; another method is 405.
    @Test(arguments: [
        (HTTPRequest.Method.post, "/hub1/registrationids", 404), (.get, "/hub1/registrations/1", 404),
        (.get, "/hub1/schedulednotifications", 405), (.post, "/hub1/tags/a/registrations", 405),
        (.post, "/hub1/tags/a", 404),
        (.post, "/hub1/messages/1/2", 404), (.get, "/hub1/messages/$batch", 405), (.get, "/hub1/jobs", 404),
        (.get, "/hub1/feedbackcontainer", 404), (.get, "/hub1/nothing", 404), (.get, "/hub1/installations", 404),
        (.post, "/hub1/installations/abc", 405), (.get, "/hub1/messages", 405), (.options, "/hub1/jobs", 405),
    ])
    func unsupportedCallsAreReported(_ method: HTTPRequest.Method, _ path: String, _ status: Int) {
        let response = Mount.answer(Mount.request(method, path))
        #expect(response.status == status)
        #expect(response.text.hasPrefix("<Error><Code>\(status)</Code><Detail>"))
    }
}
