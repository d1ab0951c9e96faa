import APNsSimulator
import Testing

/// Tokens that the real service accepts (docs/contracts/apns.md#3) and tokens that it refuses.
@Suite struct ProviderTokenTests {
    private let key = TestKey()

    @Test(arguments: [TestKey.SignatureForm.raw, .der], [false, true])
    func rawAndDERSignaturesInEitherBase64AreOneToken(form: TestKey.SignatureForm, isPadded: Bool) throws {
        let text = try key.bearer(form: form, isPadded: isPadded).dropFirst("bearer ".count)
        let token = try #require(ReceivedProviderToken(text))
        #expect(token.keyID == key.keyID)
        #expect(token.teamID == key.teamID)
        #expect(token.issuedAt == TestKey.now)
        #expect(try token.isSigned(by: key.registered()))
    }

    @Test(arguments: [#""1800000000""#, "1800000000", "1800000000.0"])
    func issueTimeMayBeANumberOrItsText(iat: String) throws {
        let text = try key.sign(
            header: #"{"typ":"JWT","alg":"ES256","kid":"KEY1234567"}"#,
            claims: #"{"iss":"ABCDE12345","kid":"KEY1234567","iat":\#(iat)}"#
        )
        #expect(ReceivedProviderToken(text)?.issuedAt == 1_800_000_000)
    }

    @Test func aSignatureOfAnotherKeyDoesNotFit() throws {
        let text = try key.bearer(form: .wrong).dropFirst("bearer ".count)
        #expect(try ReceivedProviderToken(text)?.isSigned(by: key.registered()) == false)
        let other = TestKey()
        let signed = try key.bearer().dropFirst("bearer ".count)
        #expect(try ReceivedProviderToken(signed)?.isSigned(by: other.registered()) == false)
    }

    @Test(arguments: [
        "", ".", "..", "a.b", "a.b.c", "a.b.c.d", "%%%.%%%.%%%", "eyJhbGciOiJFUzI1NiJ9.e30.AAAA",
        "e30.e30.", String(repeating: "A", count: 5000),
    ])
    func otherTextsAreNotTokens(text: String) {
        #expect(ReceivedProviderToken(text) == nil)
    }

    @Test func everyTruncationOfATokenIsRefusedWithoutATrap() throws {
        let text = String(try key.bearer().dropFirst("bearer ".count))
        let registered = try key.registered()
        for length in 0..<text.count {
            let isSigned = ReceivedProviderToken(text.prefix(length))?.isSigned(by: registered) ?? false
            #expect(!isSigned)
        }
    }

    @Test func aTimeThatFitsNoIntegerIsRefused() throws {
        let text = try key.sign(header: #"{"alg":"ES256","kid":"K"}"#, claims: #"{"iss":"T","iat":1e300}"#)
        #expect(ReceivedProviderToken(text) == nil)
    }
}
