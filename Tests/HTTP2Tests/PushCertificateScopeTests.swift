import TestKit
import Testing

@testable import HTTP2

/// Apple's certificate extensions, parsed from bytes (docs/contracts/apns.md#4).
struct PushCertificateScopeTests {
    private func text(_ text: String, tag: UInt8 = 0x0C) -> [UInt8] {
        [tag, UInt8(text.utf8.count)] + Array(text.utf8)
    }
    private func sequence(_ content: [UInt8]) -> [UInt8] { [0x30, UInt8(content.count)] + content }

    @Test func listOfTopicsAndTheirKindsGivesTheTopics() {
        let value = sequence(
            text("com.example") + sequence(text("app")) + text("com.example.voip") + sequence(text("voip"))
                + text("com.example")
        )
        #expect(PushCertificateScope.topics(der: value) == ["com.example", "com.example.voip"])
    }

    @Test func singleStringIsOneTopicAndOtherTypesAreIgnored() {
        #expect(PushCertificateScope.topics(der: text("com.example")) == ["com.example"])
        #expect(PushCertificateScope.topics(der: text("com.example", tag: 0x16)) == ["com.example"])
        for other in [[], [0x05, 0x00], [0x02, 0x01, 0x07], [0x30], [0x30, 0x84, 1, 2, 3, 4], [0x0C, 0x05, 0x61]]
            as [[UInt8]]
        {
            #expect(PushCertificateScope.topics(der: other).isEmpty)
        }
    }

    @Test func topicThatIsInvalidInAFieldIsLeftOut() {
        let value = sequence(text("a b") + text("a\r\nb") + text("") + text("ä") + text("good"))
        #expect(PushCertificateScope.topics(der: value) == ["good"])
    }

    @Test func countsAreBounded() {
        let many = (0..<1_000).flatMap { text("t\($0)") }
        let value = [0x30, 0x82, UInt8(many.count >> 8), UInt8(many.count & 255)] + many
        #expect(PushCertificateScope.topics(der: value).count == TLSIdentityLimits.maxTopics)
        let long = [UInt8](repeating: 0x30, count: TLSIdentityLimits.maxExtensionBytes + 1)
        #expect(PushCertificateScope.topics(der: long).isEmpty)
    }

    @Test func presenceDecidesAboutEnvironments() {
        let scope = PushCertificateScope { $0.hasSuffix(".2") || $0.hasSuffix(".4") ? [0x05, 0x00] : nil }
        #expect(scope.environments == [.production])
        #expect(scope.isForVoIP)
        #expect(PushCertificateScope { _ in nil }.environments.isEmpty)
    }

    @Test(arguments: [UInt64(4_711)])
    func randomAndTruncatedBytesAreRead(seed: UInt64) {
        var random = SplitMix(state: seed)
        let good = sequence(text("com.example") + sequence(text("app")) + text("com.example.voip"))
        for length in 0..<good.count { _ = PushCertificateScope.topics(der: Array(good.prefix(length))) }
        for _ in 0..<20_000 {
            var bytes = good
            for _ in 0..<3 {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            for topic in PushCertificateScope.topics(der: bytes) {
                #expect(!topic.isEmpty && topic.utf8.allSatisfy { $0 > 32 })
            }
            let noise = (0..<Int.random(in: 0..<40, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            _ = PushCertificateScope.topics(der: noise)
            _ = PassphraseCost.highestCount(noise[...], depth: 0)
        }
    }
}
