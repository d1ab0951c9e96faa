package import Model

/// The route of one delivery: the transport and the credential.
package enum Route: Sendable, Hashable {
    /// Through the platform's own push service, with this credential.
    case direct(CredentialID)
    /// The delivery has no route, because the app has no credential for that platform and environment.
    case none
}
