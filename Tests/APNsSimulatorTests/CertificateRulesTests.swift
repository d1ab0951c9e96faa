import Foundation
import Testing

@testable import APNsSimulator

/// Certificate authentication (docs/contracts/apns.md#4): row 2, and the meaning of rows 15 to 17 for it.
@Suite struct CertificateRulesTests {
    private static let app = "com.example.shop"

    @Test func aCertificateNeedsNoProviderToken() throws {
        #expect(try judge(ClientCertificate(uid: Self.app, topics: [Self.app])).refusal == nil)
    }

    /// Source: Apple, "Sending notification requests to APNs": a provider token on a certificate connection is ignored.
    @Test func aProviderTokenIsIgnored() throws {
        let certificate = ClientCertificate(uid: Self.app, topics: [Self.app])
        #expect(try judge(certificate, ["authorization": "bearer nonsense"]).refusal == nil)
    }

    @Test func anUntrustedOrExpiredCertificateIsBad() throws {
        let stranger = ClientCertificate(uid: Self.app, topics: [Self.app], isBelieved: false)
        let old = ClientCertificate(uid: Self.app, topics: [Self.app], expiresAt: TestKey.now)
        for certificate in [stranger, old] {
            let verdict = try judge(certificate)
            #expect(verdict.refusal == RuleRefusal(.badCertificate))
            #expect(verdict.row == 2)
        }
    }

    @Test func aCertificateOfTheOtherEnvironmentIsRefused() throws {
        let sandbox = ClientCertificate(uid: Self.app, topics: [Self.app], environments: [.sandbox])
        #expect(try judge(sandbox).refusal == RuleRefusal(.badCertificateEnvironment))
        let both = ClientCertificate(uid: Self.app, topics: [Self.app], environments: [.sandbox, .production])
        #expect(try judge(both).refusal == nil)
    }

    @Test func aSingleTopicMayBeOmitted() throws {
        #expect(try judge(ClientCertificate(uid: Self.app, topics: [Self.app]), ["apns-topic": nil]).refusal == nil)
        let several = ClientCertificate(uid: Self.app, topics: [Self.app, Self.app + ".voip"])
        #expect(try judge(several, ["apns-topic": nil]).refusal == RuleRefusal(.missingTopic))
    }

    @Test func otherTopicsAreDisallowed() throws {
        let certificate = ClientCertificate(uid: Self.app, topics: [Self.app])
        #expect(try judge(certificate, ["apns-topic": "com.example.other"]).refusal == RuleRefusal(.topicDisallowed))
        let voip = ["apns-topic": Self.app + ".voip", "apns-push-type": "voip"]
        #expect(try judge(certificate, voip).refusal == RuleRefusal(.topicDisallowed))
        let several = ClientCertificate(uid: Self.app, topics: [Self.app, Self.app + ".voip"])
        #expect(try judge(several, voip).refusal == nil)
    }

    /// Source: Apple, "Sending notification requests to APNs": the location push type requires a provider token.
    @Test func locationIsForTokensOnly() throws {
        let topic = Self.app + ".location-query"
        let certificate = ClientCertificate(uid: Self.app, topics: [topic])
        let verdict = try judge(certificate, ["apns-topic": topic, "apns-push-type": "location"])
        #expect(verdict.refusal == RuleRefusal(.topicDisallowed))
        #expect(verdict.row == 17)
    }

    // MARK: Reading certificates

    @Test func certificatesOfTheAuthorityAreReadBack() throws {
        let authority = try CertificateAuthority()
        let believed = try ClientAuthorities(pem: authority.certificatePEM)
        let request = ClientCertificateRequest(topics: [Self.app, Self.app + ".voip"], environment: .sandbox)
        let der = try der(authority.makeClientIdentity(request).certificatePEM)
        let certificate = try #require(ClientCertificate(der: der, issuers: believed.certificates))
        #expect(certificate.uid == Self.app)
        #expect(certificate.topics == [Self.app, Self.app + ".voip"])
        #expect(certificate.environments == [.sandbox])
        #expect(certificate.isBelieved)
        let stranger = try ClientAuthorities(pem: CertificateAuthority().certificatePEM)
        #expect(ClientCertificate(der: der, issuers: stranger.certificates)?.isBelieved == false)
        #expect(ClientCertificate(der: der, issuers: nil)?.isBelieved == true)
    }

    @Test func everyTruncationOfACertificateIsReadOrRefusedWithoutATrap() throws {
        let pem = try CertificateAuthority().makeClientIdentity(.init(topics: [Self.app])).certificatePEM
        let der = try der(pem)
        for length in 0..<der.count { #expect(ClientCertificate(der: Array(der.prefix(length)), issuers: nil) == nil) }
        for index in der.indices {
            var spoiled = der
            spoiled[index] ^= 0xff
            _ = ClientCertificate(der: spoiled, issuers: nil)
        }
    }

    private func der(_ pem: String) throws -> [UInt8] {
        let base64 = pem.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
        return Array(try #require(Data(base64Encoded: base64)))
    }

    /// Checks the valid push of the rule bench without a provider token, over a connection with this certificate.
    private func judge(
        _ certificate: ClientCertificate,
        _ changes: [String: String?] = [:]
    ) throws -> RuleBook.Verdict {
        var bench = try RuleBench()
        bench.connection = ConnectionState(certificate: certificate)
        var headers: [String: String?] = ["authorization": nil]
        headers.merge(changes) { _, new in new }
        return bench.judge(headers)
    }
}
