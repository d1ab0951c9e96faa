import Testing

@testable import Secrets

struct SecretStrengthTests {
    @Test(arguments: [
        "", "secret", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "012345678901234567890123456789",
        "abcdefghijklmnopqrstuvwxyz", "zyxwvutsrqponmlkjihgfedcba", "abababababababababababababababab",
        "Passw0rd!Passw0rd",
        "correct horse", "qwertzuiopasdfgh", "bank-core-2026",
        // Long enough, but made of words that anyone tries.
        "the-bank-push-gateway-key", "MyBankProductionKey2026", "correct horse battery staple",
        "PushGatewayProduction2026!",
    ])
    func weakSecretsAreRefused(_ secret: String) {
        #expect(SecretStrength.fault(of: secret) != nil, "\(SecretStrength.estimatedBits(secret))")
    }

    // Printed by `openssl rand -hex 24`, `-hex 16`, `-base64 18` and `uuidgen`.
    @Test(arguments: [
        "9f2c4e01b7d85a3366cbe1907f4d2a58c03b9e7d15f86a42", "5c1f0ae69b7d3428f1d0c96e8a7b2354",
        "q7Zt0WmXv3LkR9bNcY2aHs5d",
        // A name before a random part does no harm.
        "bank-gateway-production-5c1f0ae69b7d3428f1d0c96e8a7b2354", "push-q7Zt0WmXv3LkR9bNcY2aHs5d",
        "3f2504e0-4f89-41d3-9a0c-0305e82c3301", "pgw_9f2c4e01b7d85a3366cbe1907f4d2a58c03b9e7d15f86a42",
    ])
    func randomSecretsAreAccepted(_ secret: String) {
        #expect(SecretStrength.fault(of: secret) == nil, "\(SecretStrength.estimatedBits(secret))")
    }
}
