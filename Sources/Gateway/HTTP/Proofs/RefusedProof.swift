package import Model

/// The kind of proof that was refused. The raw value is stored in the audit and labels the metric.
package enum ProofKind: String, Sendable, Hashable, CaseIterable {
    /// An API key that does not exist, has expired or was removed.
    case key
    /// A right API key from a network that it is not limited to.
    case network
    /// A right API key without the needed scope.
    case scope
    /// A call that needs a sender, without any proof of one that counts.
    case sender
    /// A wrong key, signature or password of a vendor's dialect.
    case credential
    /// A wrong token of a user.
    case userToken
}

/// The properties by which refused proofs are counted. It names neither users nor secrets.
package struct RefusedProof: Sendable, Hashable {
    package var tenant: TenantID
    package var vendor: Vendor
    package var kind: ProofKind

    package init(tenant: TenantID, vendor: Vendor, kind: ProofKind) {
        self.tenant = tenant
        self.vendor = vendor
        self.kind = kind
    }
}

/// A row about refused proofs.
package struct RefusedProofRow: Sendable, Hashable {
    package var proof: RefusedProof
    /// `app shop`, `key crm`, or `tenant acme`: what the first call named.
    package var subject: String
    /// Refused calls: 1 for the first one of a minute; in a second row, those that followed it within the minute.
    package var calls: Int
    package var isFollowing: Bool
    /// The first call of a minute. Nil in the row about those that followed it.
    package var request: CallID?
}
