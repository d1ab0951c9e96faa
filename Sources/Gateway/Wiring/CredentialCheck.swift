import HTTP2

/// Whether an APNs key can be used, before anything depends on it.
enum CredentialCheck {
    /// - Throws: `ProvisioningProblem` that names the credential.
    static func require(_ credential: ProvisioningFile.Credential) throws(ProvisioningProblem) {
        do {
            try require(pem: credential.privateKey)
        } catch {
            throw ProvisioningProblem(
                path: "credential '\(credential.id)'",
                problem: "privateKeyFile must be Apple's .p8 file (PEM, P-256): \(error)"
            )
        }
    }

    /// - Throws: `HTTP2Error` unless it is a P-256 private key in PEM.
    static func require(pem: [UInt8]) throws(HTTP2Error) { _ = try ECPrivateKey(pem: pem) }
}
