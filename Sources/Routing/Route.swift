package import Model

/// Which way one delivery leaves. Vendors' real services and percentages come with their issue; the default is to deliver ourselves.
package enum Route: Sendable, Hashable {
    /// By the platform's own push service, through this credential.
    case direct(CredentialID)
    /// There is no way: no credential for that platform and environment.
    case none
}
