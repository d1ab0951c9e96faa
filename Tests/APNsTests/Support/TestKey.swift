import APNs
import Crypto

/// A provider key made for one test with swift-crypto, which is not the library that signs.
struct TestKey {
    let teamID: String
    let keyID: String
    private let key = P256.Signing.PrivateKey()

    init(teamID: String = "ABCDE12345", keyID: String = "KEY1234567") {
        self.teamID = teamID
        self.keyID = keyID
    }

    /// The key in the .p8 form that Apple issues.
    var privatePEM: [UInt8] { Array(key.pemRepresentation.utf8) }
    var publicKey: P256.Signing.PublicKey { key.publicKey }
    var publicPEM: String { key.publicKey.pemRepresentation }

    func signer() throws -> ProviderTokenSigner {
        try ProviderTokenSigner(teamID: teamID, keyID: keyID, privateKeyPEM: privatePEM)
    }
}
