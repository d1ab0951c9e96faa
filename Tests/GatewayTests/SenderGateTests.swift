import GatewayHTTP
import HTTPTypes
import Model
import Testing

@testable import Gateway

/// The rule for calls of kind `.sender` (docs/security.md), the same for every vendor.
struct SenderGateTests {
    private static let form = SenderForm(ownKey: .init(header: "X-Own-Key", secret: "own"))

    private static let officeNetworks = [AddressRange("192.0.2.0/24")].compactMap(\.self)

    private static let keys: [String: APIKeyGrant] = [
        "sends": APIKeyGrant(tenant: "acme", name: "a", scopes: ["send"]),
        "administers": APIKeyGrant(tenant: "acme", name: "b", scopes: ["admin"]),
        "reads": APIKeyGrant(tenant: "acme", name: "c", scopes: ["read", "devices"]),
        "foreign": APIKeyGrant(tenant: "other", name: "d", scopes: ["send", "admin"]),
        "shop": APIKeyGrant(tenant: "acme", name: "e", scopes: ["send:app/shop"]),
        "news": APIKeyGrant(tenant: "acme", name: "f", scopes: ["send:app/news"]),
        "direct": APIKeyGrant(tenant: "acme", name: "g", scopes: ["send:direct"]),
        "office": APIKeyGrant(tenant: "acme", name: "h", scopes: ["send"], networks: officeNetworks),
    ]

    private func judge(
        _ settings: JSONObject = [:],
        own: String? = nil,
        form: SenderForm? = SenderGateTests.form,
        headers: [String: String] = [:],
        from address: String? = "10.1.2.3",
        isKnown: Bool = true,
        certificate: PeerCertificate? = nil,
        method: HTTPRequest.Method = .post
    ) async throws -> SenderGate.Verdict {
        var fields = HTTPFields()
        for (name, value) in headers { fields[try #require(HTTPField.Name(name))] = value }
        var call = VendorRequest(
            route: "send",
            method: method,
            path: "/send",
            headers: fields,
            remoteAddress: address,
            isAddressKnown: isKnown
        )
        call.certificate = certificate
        var binding = BindingSettings(tenant: "acme", app: "shop", values: settings)
        if let own { binding.secrets["own"] = Array(own.utf8) }
        let gate = SenderGate(call, form, BoundCall(tenant: "acme", app: "shop", settings: binding))
        return try await gate.judge(in: "acme") { (key) async throws(StoreError) in Self.keys[key] }
    }

    @Test func withoutAnySettingNobodyMaySendAndTheLogNamesTheSettings() async throws {
        guard case .refused(let reason) = try await judge() else {
            Issue.record("admitted")
            return
        }
        #expect(reason.contains("senderNetworks") && reason.contains("openSends"))
    }

    @Test(arguments: [
        ("Authorization", "Bearer sends", true), ("authorization", "bearer  sends", true),
        ("Authorization", "Bearer administers", true), ("X-API-Key", "sends", true), ("X-Own-Key", "sends", true),
        ("Authorization", "Bearer reads", false), ("Authorization", "Bearer foreign", false),
        ("Authorization", "Bearer ", false), ("Authorization", "Bearer", false),
        ("Authorization", "Basic sends", false),
        ("Authorization", "sends", false), ("X-API-Key", "unknown", false), ("X-Other-Key", "sends", false),
        ("X-API-Key", String(repeating: "k", count: 300), false),
    ])
    func anAPIKeyOfTheTenantWithTheScopeSendIsAProof(_ header: String, _ value: String, _ isProof: Bool) async throws {
        let verdict = try await judge(headers: [header: value])
        #expect(verdict.isProven == isProof)
    }

    // The audience of a vendor's call is unknown here, so a key for one kind of audience proves nothing.
    @Test(arguments: [("shop", true), ("news", false), ("direct", false)])
    func aKeyWithLimitsIsAProofForItsAppOnly(_ key: String, _ isProof: Bool) async throws {
        #expect(try await judge(headers: ["X-API-Key": key]).isProven == isProof)
    }

    @Test(arguments: [
        ("192.0.2.7", true, true), ("192.0.3.7", true, false), (nil, true, false), ("192.0.2.7", false, false),
    ])
    func aKeyWithNetworksIsAProofFromThemOnly(_ address: String?, _ isKnown: Bool, _ isProof: Bool) async throws {
        let verdict = try await judge(headers: ["X-API-Key": "office"], from: address, isKnown: isKnown)
        #expect(verdict.isProven == isProof)
    }

    @Test func oneOfSeveralKeysSuffices() async throws {
        #expect(try await judge(headers: ["Authorization": "Bearer reads", "X-API-Key": "sends"]).isProven)
    }

    @Test func theDialectsOwnKeyIsComparedOnlyWithTheBindingsSecret() async throws {
        #expect(try await judge(own: "secret", headers: ["X-Own-Key": "secret"]).isProven)
        #expect(!(try await judge(own: "secret", headers: ["X-Own-Key": "secre"]).isProven))
        #expect(!(try await judge(own: "secret", headers: ["X-API-Key": "secret"]).isProven))
        #expect(!(try await judge(own: nil, headers: ["X-Own-Key": "secret"]).isProven))
        #expect(!(try await judge(own: "secret", form: nil, headers: ["X-Own-Key": "secret"]).isProven))
    }

    // Only what was compared is remembered as a right credential (`CallLimiter`).
    @Test func theVerdictSaysWhatAdmittedTheCall() async throws {
        #expect(try await judge(own: "secret", headers: ["X-Own-Key": "secret"]) == .ownKey)
        #expect(try await judge(headers: ["X-API-Key": "sends"]).provingKey?.name == "a")
        let network: JSONObject = ["senderNetworks": ["10.0.0.0/8"]]
        for header in ["X-API-Key", "X-Own-Key"] {
            #expect(try await judge(network, own: "secret", headers: [header: "guess"]) == .place)
        }
    }

    @Test(
        arguments: [
            ("10.1.2.3", true), ("10.255.255.255", true), ("11.0.0.0", false), ("2001:db8::7", true),
            ("2001:db9::7", false), (nil, false), ("nonsense", false),
        ] as [(String?, Bool)]
    )
    func aSourceNetworkIsAProof(_ address: String?, _ isProof: Bool) async throws {
        let settings: JSONObject = ["senderNetworks": ["10.0.0.0/8", "2001:db8::/32"]]
        let verdict = try await judge(settings, from: address)
        #expect(verdict.isProven == isProof)
        // The address of a proxy proves nothing about its client.
        #expect(!(try await judge(settings, from: address, isKnown: false).isProven))
    }

    @Test(arguments: [
        ("bank-core.internal", true), ("BANK-CORE.internal", true), ("bank-core", false), ("internal", false),
        ("sha256:" + String(repeating: "ab", count: 32), true),
        ("SHA256:" + Array(repeating: "AB", count: 32).joined(separator: ":"), true),
        ("sha256:" + String(repeating: "cd", count: 32), false),
    ])
    func aListedClientCertificateIsAProof(_ pattern: String, _ isProof: Bool) async throws {
        let certificate = PeerCertificate(
            fingerprint: String(repeating: "ab", count: 32),
            names: ["Bank-Core.internal", "another name"]
        )
        let settings: JSONObject = ["senderCertificates": [.string(pattern)]]
        #expect(try await judge(settings, certificate: certificate).isProven == isProof)
        #expect(!(try await judge(settings).isProven))
        #expect(!(try await judge(["senderCertificates": []], certificate: certificate).isProven))
        // A browser shows the certificate of its user for any page.
        let page = ["Origin": "https://evil.example"]
        #expect(!(try await judge(settings, headers: page, certificate: certificate).isProven))
        #expect(!(try await judge(settings, certificate: certificate, method: .get).isProven))
    }

    @Test(arguments: ["", " ", "two words", "sha256:", "sha256:ab", "sha256:" + String(repeating: "zz", count: 32)])
    func whatIsNeitherANameNorAFingerprintIsNoPattern(_ text: String) {
        #expect(PeerCertificate.Pattern(text) == nil)
        #expect(PeerCertificate.Pattern(String(repeating: "a", count: 254)) == nil)
    }

    // C2: a page of any site can make the browser of somebody in the network send such calls.
    @Test func aNetworkIsNoProofForACallThatAPageCanMake() async throws {
        let settings: JSONObject = ["senderNetworks": ["10.0.0.0/8"]]
        #expect(!(try await judge(settings, headers: ["Origin": "https://evil.example"]).isProven))
        #expect(!(try await judge(settings, headers: ["Origin": "null"]).isProven))
        #expect(!(try await judge(settings, method: .get).isProven))
        #expect(try await judge(settings, headers: ["Origin": "null", "X-API-Key": "sends"], method: .get).isProven)
    }

    @Test func openSendsAdmitsAnyoneAndProvesNothing() async throws {
        #expect(try await judge(["openSends": true]) == .open)
        #expect(try await judge(["openSends": true], headers: ["X-API-Key": "foreign"]) == .open)
        #expect(try await judge(["openSends": true], headers: ["X-API-Key": "sends"]).isProven)
        for closed in [false, "true", 1, .null] as [JSON] {
            #expect(try await judge(["openSends": closed]) != .open, "\(closed)")
        }
        // With a key of the dialect, only it, an API key or a network sends.
        let own = try await judge(["openSends": true], own: "secret")
        #expect(own != .open && !own.isProven)
    }

    @Test func invalidNetworksOpenNothing() {
        for value in ["10.0.0.0/8", ["10.0.0.0/8", "x"], [1], [:], true] as [JSON] {
            #expect(SenderSettings(BindingSettings(values: ["senderNetworks": value])).networks.isEmpty, "\(value)")
            #expect(
                !VendorSettings(SenderSettings.declared).problems(in: ["senderNetworks": value]).isEmpty,
                "\(value)"
            )
        }
        let many = JSON.array(Array(repeating: "10.0.0.0/8", count: SenderSettings.networkLimit + 1))
        #expect(!VendorSettings(SenderSettings.declared).problems(in: ["senderNetworks": many]).isEmpty)
        #expect(
            VendorSettings(SenderSettings.declared).problems(in: ["senderNetworks": [], "openSends": false]).isEmpty
        )
    }
}
