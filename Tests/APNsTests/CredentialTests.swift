import APNs
import Model
import Testing

/// Endpoints, and the check of credentials without a request to Apple.
struct CredentialTests {
    @Test func endpointsAreApplesHostsPerEnvironment() {
        #expect(APNsEndpoint(.production).authority == "api.push.apple.com")
        #expect(APNsEndpoint(.sandbox).authority == "api.sandbox.push.apple.com")
    }

    @Test(
        arguments: [
            ("https://127.0.0.1:2197", "127.0.0.1", 2197, "127.0.0.1:2197"),
            ("https://api.push.apple.com", "api.push.apple.com", 443, "api.push.apple.com"),
            ("https://api.push.apple.com:2197/", "api.push.apple.com", 2197, "api.push.apple.com:2197"),
            ("https://[::1]:2197", "::1", 2197, "[::1]:2197"), ("https://[::1]", "::1", 443, "[::1]"),
        ] as [(String, String, Int, String)]
    )
    func endpointIsReadFromAURL(url: String, host: String, port: Int, authority: String) throws {
        let endpoint = try APNsEndpoint(url: url)
        #expect(endpoint.host == host)
        #expect(endpoint.port == port)
        #expect(endpoint.authority == authority)
    }

    @Test(arguments: [
        "", "http://a", "https://", "https://:443", "https://a:0", "https://a:65536", "https://a:", "https://a:x",
        "https://a:+1", "https://a/b", "https://u@a", "https://a?b", "https://a b", "https://a\r\nb", "https://[::1",
        "https://[::1]x", "ftp://a", "https://a:99999999999999999999",
    ])
    func otherURLsAreRefusedAsEndpoints(url: String) {
        let error = #expect(throws: APNsError.self) { try APNsEndpoint(url: url) }
        #expect(error?.code == .badEndpoint)
    }

    @Test func validCredentialHasNoFindings() {
        let key = TestKey()
        let credential = APNsCredential(teamID: key.teamID, keyID: key.keyID, privateKeyPEM: key.privatePEM)
        #expect(credential.credentialCheck() == [])
    }

    @Test func unusualIDsAreWarningsOnly() {
        let credential = APNsCredential(teamID: "team", keyID: "key-1", privateKeyPEM: TestKey().privatePEM)
        let findings = credential.credentialCheck()
        #expect(findings.map(\.kind) == [.unusualTeamID, .unusualKeyID])
        #expect(findings.allSatisfy { !$0.isFatal })
    }

    @Test func brokenPartsAreFatal() {
        let credential = APNsCredential(
            teamID: "ABCDE12345",
            keyID: "KEY1234567",
            privateKeyPEM: Array("x".utf8),
            trustRootsPEM: Array("y".utf8)
        )
        let findings = credential.credentialCheck()
        #expect(findings.map(\.kind) == [.unusableKey, .unusableTrustRoots])
        #expect(findings.allSatisfy { $0.isFatal })
    }

    @Test func backoffDoublesUpToItsCeilingWithFullJitter() {
        let backoff = ReconnectBackoff()
        #expect(backoff.delay(failureCount: 0, random: 0.9) == .zero)
        #expect(backoff.delay(failureCount: 1, random: 0.5) == .milliseconds(500))
        #expect(backoff.delay(failureCount: 4, random: 0.5) == .seconds(4))
        #expect(backoff.delay(failureCount: 7, random: 0.5) == .seconds(30))
        #expect(backoff.delay(failureCount: .max, random: 0.5) == .seconds(30))
        #expect(backoff.delay(failureCount: 3, random: 0) == .zero)
    }
}
