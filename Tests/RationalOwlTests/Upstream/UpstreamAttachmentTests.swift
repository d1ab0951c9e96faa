import HTTPTypes
import Model
import RationalOwl
import TestKit
import Testing

/// The call that makes the vendor report to the gateway (docs/contracts/rationalowl.md#8.5).
struct UpstreamAttachmentTests {
    private static let upstream = UpstreamSettings(
        vendor: .rationalOwl,
        secrets: ["serverRegId": Sample.server],
        values: keyed(["ip": "203.0.113.10"])
    )
    private static let binding = BindingSettings(
        values: keyed(["accountId": .string(Sample.account), "serviceId": .string(Sample.service)])
    )

    private func attachment(
        to url: String?,
        _ upstream: UpstreamSettings = Self.upstream,
        _ binding: BindingSettings = Self.binding
    ) throws(AdapterError) -> VendorRequest {
        try Mount.adapter.attachment(to: url, through: upstream, settings: binding, at: Timestamp(seconds: 1))
    }

    @Test func theCallIsTheDocumentedOne() throws {
        let call = try attachment(to: "https://shop.example.com/ums/callback")
        let documented = try Fixture.bytes("setCallbackURL/set.request.json")
        #expect(try JSONParser.parse(call.body) == JSONParser.parse(documented))
        #expect(call.method == .post && call.path == "/msgClient/setCallbackUrl" && call.query == nil)
        #expect(call.headers[.contentType] == "application/json; charset=utf-8")
        #expect(call.route == Mount.route(for: call.path)?.name)
    }

    // A second gateway understands it.
    @Test(arguments: ["https://push.example.com/upstream/00ff", nil] as [String?])
    func theCallIsReadAsItWasMeant(_ url: String?) throws {
        let call = try attachment(to: url)
        let command = try Mount.adapter.decode(call, settings: Self.binding).first
        #expect(command == .sender(.setCallback(SenderID(Sample.server), url: url)))
    }

    @Test func whatIsMissingIsNamed() {
        #expect(throws: AdapterError(.missing, field: "serverRegId")) {
            try attachment(to: nil, UpstreamSettings(vendor: .rationalOwl))
        }
        #expect(throws: AdapterError(.missing, field: "serverRegId")) {
            try attachment(to: nil, UpstreamSettings(vendor: .rationalOwl, secrets: ["serverRegId": ""]))
        }
        #expect(throws: AdapterError(.missing, field: "accountId")) {
            try attachment(to: nil, Self.upstream, BindingSettings())
        }
    }

    // Without a service nothing is stated about it; the address of the calls has a default.
    @Test func optionalFieldsMayBeMissing() throws {
        let call = try attachment(
            to: "https://push.example.com",
            UpstreamSettings(vendor: .rationalOwl, secrets: ["serverRegId": "SVR-1"]),
            BindingSettings(values: keyed(["accountId": "a-1"]))
        )
        #expect(
            try JSONParser.parse(call.body) == [
                "rId": "SVR-1", "aId": "a-1", "ip": "0.0.0.0", "url": "https://push.example.com",
            ]
        )
    }

    // The code is in the body; -101: the back end is not registered with the account.
    @Test(
        arguments: [
            (#"{"rc":1}"#, .accepted), (#"{"rc":-101,"cmt":"x"}"#, .refused("rc -101")),
            (#"{"rc":-1,"cmt":"url"}"#, .refused("rc -1")), ("<html>", .failed("unreadable answer", after: nil)),
        ] as [(String, ForwardVerdict)]
    )
    func theAnswerIsRead(_ body: String, _ verdict: ForwardVerdict) {
        #expect(Mount.adapter.verdict(of: VendorResponse(status: 200, body: Array(body.utf8))) == verdict)
    }
}
