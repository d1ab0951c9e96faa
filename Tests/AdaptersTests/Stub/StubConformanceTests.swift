import HTTPTypes
import Model
import TestKit
import TestVendors
import Testing

/// The rules of every adapter, for Stub.
struct StubConformanceTests {
    static let token = String(repeating: "ab", count: 32)
    static let key = "0123456789abcdef"

    static func request(_ call: String, _ body: JSON, key: String? = key) -> VendorRequest {
        var headers = HTTPFields()
        if let key, let name = HTTPField.Name("X-Stub-Key") { headers[name] = key }
        return VendorRequest(route: call, path: "/stub/\(call)", headers: headers, body: JSONWriter.bytes(body))
    }

    static var subject: AdapterUnderTest {
        var settings = BindingSettings(tenant: "acme", app: "shop")
        settings.secrets = ["sendKey": Array(key.utf8)]
        return AdapterUnderTest(
            adapter: StubAdapter(),
            settings: settings,
            documented: [
                request("register", ["app": "pigeon", "device": "D1", "token": .string(token), "owner": "mina"]),
                request("send", ["app": "pigeon", "device": "D1", "text": "Hello"]),
                request(
                    "receipt",
                    ["app": "pigeon", "device": "D1", "message": "0196b0c0-0000-7000-8000-000000000001"]
                ),
            ],
            catchAll: ["stub.unknown"],
            fault: fault
        )
    }

    /// The allowed form of an answer: `ok`, and either the call's own fields or an error with its status.
    @Sendable static func fault(_ response: VendorResponse, _ request: VendorRequest) -> String? {
        guard response.headers[.contentType] == "application/json" else { return "content type" }
        guard let body = (try? JSONParser.parse(response.body))?.object else { return "not an object" }
        if body["ok"] == true {
            let own: Set<String> = ["register": ["device"], "send": ["message"]][request.route] ?? []
            let fields = Set(body.keys).subtracting(["ok"])
            // A reply of another call is encoded by its type; the gateway never returns such a reply.
            return response.status == 200 && (fields.isSubset(of: own) || fields.count < 2) ? nil : "\(body.keys)"
        }
        let statuses = ["unreadable": 400, "invalid": 400, "unauthorized": 401, "unknown": 404, "slower": 429]
        guard body["ok"] == false, body.count == 2, let error = body["error"]?.string else { return "\(body.keys)" }
        return response.status == statuses[error] ?? 503 ? nil : "status \(response.status) of \(error)"
    }

    @Test(arguments: AdapterContract.rules)
    func stubKeepsTheRulesOfAdapters(_ rule: AdapterRule) {
        #expect(rule.faults(Self.subject) == [])
    }

    @Test func mutatedRequestsGetTheVendorsFormat() {
        #expect(AdapterContract.mutationFaults(Self.subject, reaching: 10) == [])
    }

    @Test func onlyASendNeedsASender() throws {
        let adapter = StubAdapter()
        let kinds = try Self.subject.documented.map { try adapter.locate($0).1 }
        #expect(kinds == [.device, .sender, .device])
        let right = Self.request("send", ["app": "pigeon", "device": "D1", "text": "Hello"])
        #expect(try adapter.locate(right).0 == BindingKey(vendor: "stub", kind: "app", value: "pigeon"))
        #expect(adapter.senders == SenderForm(ownKey: .init(header: "X-Stub-Key", secret: "sendKey")))
    }
}
