import APNs
import FoundationEssentials
import Model

/// The two operations with provider tokens: reuse, for every connection and every look-up, and signing, once in 50 minutes.
struct TokenPieces {
    private let signer: ProviderTokenSigner

    /// Creates a signer with the P-256 key of a .p8 file.
    init(keyFile: String) throws {
        let pem = try Data(contentsOf: URL(filePath: keyFile))
        signer = try ProviderTokenSigner(teamID: "TEAM123456", keyID: "ABCDE12345", privateKeyPEM: Array(pem))
    }

    func sign(_ count: Int) throws {
        for index in 0..<count {
            let token = try signer.sign(issuedAt: Timestamp(seconds: 1_763_770_000 + Int64(index)))
            guard token.text.utf8.count > 150 else { throw PieceFailure(sentence: "short token") }
        }
    }

    func reuse(_ count: Int) throws {
        let now = ContinuousClock.now
        var machine = ProviderTokenMachine()
        _ = machine.requested(at: now)
        machine.obtained(
            AgedProviderToken(try signer.sign(issuedAt: Timestamp(seconds: 1_763_770_000)), age: .zero),
            at: now
        )
        for index in 0..<count {
            guard case .use = machine.requested(at: now + .milliseconds(index % 1_000)) else {
                throw PieceFailure(sentence: "no token")
            }
        }
    }
}
