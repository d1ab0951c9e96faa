import APNs
import EngineStore
import Model
import Secrets

/// Checks that an APNs credential can be used, before it is stored.
enum CredentialCheck {
    /// - Throws: `ProvisioningProblem` that names the credential and the error in its files.
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
            throw ProvisioningProblem(path: path, problem: CredentialSecret.sentence(about: error))
        }
        if let fault = opened.credentialCheck().first(where: \.isFatal) {
            throw ProvisioningProblem(path: path, problem: fault.description)
        }
    }
}
