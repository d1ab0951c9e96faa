import APNs
import EngineStore
import Model
import Secrets

/// Checks that an APNs credential can be used, before it is stored.
enum CredentialCheck {
    /// - Throws: `ProvisioningProblem` that names the credential and the error in its files.
    static func require(_ credential: ProvisioningFile.Credential) throws(ProvisioningProblem) {
        do throws(ProvisioningProblem) { try requireFields(of: credential) } catch {
            throw ProvisioningProblem(path: "credential '\(credential.id)'", problem: error.problem)
        }
    }

    /// The same with the name of the wrong field as the path.
    ///
    /// - Throws: `ProvisioningProblem`.
    static func requireFields(of credential: ProvisioningFile.Credential) throws(ProvisioningProblem) {
        _ = try opened(credential)
    }

    /// The credential, whose fields were checked; nil: an upstream.
    ///
    /// - Throws: `ProvisioningProblem` with the name of the wrong field as the path.
    static func opened(_ credential: ProvisioningFile.Credential) throws(ProvisioningProblem) -> APNsCredential? {
        // The reader has checked all that can be checked without a call.
        if case .upstream = credential.secret { return nil }
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
            throw ProvisioningProblem(
                path: field(of: credential.secret),
                problem: CredentialSecret.sentence(about: error)
            )
        }
        if let fault = opened.credentialCheck().first(where: \.isFatal) {
            throw ProvisioningProblem(path: field(of: fault, credential.secret), problem: fault.description)
        }
        return opened
    }

    private static func field(of secret: CredentialSecret) -> String {
        switch secret {
        case .signingKey: "privateKey"
        case .pem: "certificate"
        case .pkcs12: "pkcs12"
        case .upstream: "kind"
        }
    }

    private static func field(of finding: CredentialFinding, _ secret: CredentialSecret) -> String {
        switch finding.kind {
        case .unusableIdentifier, .unusualTeamID: "teamId"
        case .unusualKeyID: "keyId"
        case .unusableTrustRoots: "trustRoots"
        case .wrongEnvironment, .topicNotServed, .unnamedTopics: "topics"
        case .unusableKey, .unusableCertificate, .notYetValid, .expired, .expiresSoon: field(of: secret)
        }
    }
}
