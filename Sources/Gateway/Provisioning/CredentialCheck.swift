import APNs
import EngineStore
import Model
import Secrets

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
}
