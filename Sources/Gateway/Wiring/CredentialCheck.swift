import APNs
import Model
import Postgres

/// Whether an APNs credential can be used, before anything depends on it.
enum CredentialCheck {
    /// - Throws: `ProvisioningProblem` that names the credential and what is wrong with its files.
    static func require(_ credential: ProvisioningFile.Credential) throws(ProvisioningProblem) {
        let path = "credential '\(credential.id)'"
        let opened: APNsCredential
        do {
            opened = try credential.secret.credential(
                teamID: credential.teamID,
                keyID: credential.keyID,
                endpoint: credential.endpoint,
                channelEndpoint: credential.channelEndpoint,
                trustRoots: credential.trustRoots
            )
        } catch {
            throw ProvisioningProblem(path: path, problem: "\(error)")
        }
        if let fault = opened.credentialCheck().first(where: \.isFatal) {
            throw ProvisioningProblem(path: path, problem: fault.description)
        }
    }

    /// The stored credential as the transport opens it.
    ///
    /// - Throws: `MasterKeyError`, or what its files are at fault for.
    static func open(_ stored: StoredCredential, with masterKey: MasterKey) throws -> APNsCredential {
        let bytes = try masterKey.open(stored.sealed, context: SealContext.credential(stored.key))
        guard let secret = CredentialSecret(sealedForm: bytes) else { throw MasterKeyError.notOurs }
        return try secret.credential(
            teamID: stored.teamID,
            keyID: stored.keyID,
            endpoint: stored.endpoint,
            channelEndpoint: stored.channelEndpoint,
            trustRoots: stored.trustRoots.map { Array($0.utf8) }
        )
    }
}
