import APNs
import Crypto
import Foundation
import Model
import Testing

/// The token's only encoding, checked with another library. Source: RFC 7515, RFC 7518 §3.4;
/// docs/contracts/apns.md#3.
struct ProviderTokenTests {
    private let time = Timestamp(milliseconds: 1_790_000_123_456)

    @Test func signatureIsValidForAnIndependentLibrary() throws {
        let key = TestKey()
        let parts = try key.signer().sign(issuedAt: time).text.split(separator: ".", omittingEmptySubsequences: false)
        try #require(parts.count == 3)
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: decode(parts[2]))
        let statement = Data("\(parts[0]).\(parts[1])".utf8)
        #expect(key.publicKey.isValidSignature(signature, for: statement))
        // The control: another statement and another key do not verify.
        #expect(!key.publicKey.isValidSignature(signature, for: statement + [0]))
        #expect(!TestKey().publicKey.isValidSignature(signature, for: statement))
    }

    @Test func headerAndClaimsAreTheCanonicalFormAndNothingElse() throws {
        let parts = try TestKey().signer().sign(issuedAt: time).text.split(separator: ".")
        #expect(try decode(parts[0]) == Data(#"{"alg":"ES256","kid":"KEY1234567"}"#.utf8))
        #expect(try decode(parts[1]) == Data(#"{"iss":"ABCDE12345","iat":1790000123}"#.utf8))
        // The signature is raw R‖S, never DER, also for numbers with leading zeros.
        for _ in 0..<200 {
            let token = try TestKey().signer().sign(issuedAt: time)
            #expect(try decode(token.text.split(separator: ".")[2]).count == 64)
        }
    }

    @Test func textIsBase64URLWithoutPadding() throws {
        let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.")
        for _ in 0..<50 {
            let text = try TestKey().signer().sign(issuedAt: time).text
            #expect(text.allSatisfy { allowed.contains($0) })
        }
    }

    // I7: a token gives access for an hour.
    @Test func printedTokensAndCredentialsShowNoSecret() throws {
        let key = TestKey()
        let token = try key.signer().sign(issuedAt: time)
        let credential = APNsCredential(teamID: key.teamID, keyID: key.keyID, privateKeyPEM: key.privatePEM)
        let secret = String(decoding: key.privatePEM, as: UTF8.self).split(separator: "\n")[1]
        var dumped = ""
        dump(token, to: &dumped)
        dump(credential, to: &dumped)
        for text in ["\(token)", String(reflecting: token), "\(credential)", String(reflecting: credential), dumped] {
            #expect(!text.contains(token.text))
            #expect(!text.contains(secret))
            #expect(!text.contains("PRIVATE KEY"))
            #expect(!text.contains("45, 45, 45"))
        }
    }

    @Test(arguments: ["", "not a key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
    func brokenKeyIsRefusedWithItsReason(pem: String) {
        let error = #expect(throws: APNsError.self) {
            try ProviderTokenSigner(teamID: "ABCDE12345", keyID: "KEY1234567", privateKeyPEM: Array(pem.utf8))
        }
        #expect(error?.code == .badKey)
    }

    @Test(arguments: ["", "A\"B", "A\\B", "a b", "a\nb", String(repeating: "A", count: 65), "é"])
    func idThatIsInvalidInAClaimIsRefused(id: String) {
        let error = #expect(throws: APNsError.self) {
            try ProviderTokenSigner(teamID: "ABCDE12345", keyID: id, privateKeyPEM: TestKey().privatePEM)
        }
        #expect(error?.code == .badIdentifier)
    }

    private func decode(_ text: Substring) throws -> Data {
        #expect(!text.contains("="))
        var base64 = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        while !base64.utf8.count.isMultiple(of: 4) { base64 += "=" }
        return try #require(Data(base64Encoded: base64))
    }
}
