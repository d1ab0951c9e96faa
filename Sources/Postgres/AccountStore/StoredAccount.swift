package import FoundationEssentials
package import Model
import PostgresClient
import Store

/// A person who uses the web console.
package struct AccountID: UUIDIdentifier {
    package var rawValue: UUID
    package init(rawValue: UUID) { self.rawValue = rawValue }
}

/// The rights of an account in one tenant. The raw value is stored.
package enum AccountRole: String, Sendable, Hashable, CaseIterable {
    case owner
    case op = "operator"
    case author, analyst, auditor
    /// Nodes, queues and the names of all tenants; no contents. It belongs to no tenant.
    case platform
}

/// A role with its tenant.
package struct GrantedRole: Sendable, Hashable {
    /// '' for `platform`.
    package var tenant: TenantID
    package var role: AccountRole

    package init(_ role: AccountRole, in tenant: TenantID) {
        self.role = role
        self.tenant = tenant
    }
}

/// An account with what proves a person.
package struct StoredAccount: Sendable, Hashable {
    package var id: AccountID
    package var name: String
    /// As `PasswordHash` writes it.
    package var password: String
    /// Nil: the account has no one-time codes.
    package var codeSalt: [UInt8]?
    package var isDisabled: Bool
}

/// An account as lists show it.
package struct ListedAccount: Sendable, Hashable {
    package var id: AccountID
    package var name: String
    /// In order of the tenants.
    package var roles: [GrantedRole]
    package var hasCodes: Bool
    package var createdAt: Timestamp
    package var disabledAt: Timestamp?
    /// When it was used last, by its open sessions. Nil: it has none.
    package var seenAt: Timestamp?

    /// 500 accounts per list: a tenant has a few dozen.
    package static let limit = 500
}

/// A link that creates an account, or that gives an account another password.
package struct AccountInvitation: Sendable, Hashable {
    package var name: String
    package var tenant: TenantID
    /// Nil: the account exists and gets another password.
    package var role: AccountRole?
    package var endsAt: Timestamp

    package init(name: String, tenant: TenantID, role: AccountRole?, endsAt: Timestamp = Timestamp(milliseconds: 0)) {
        self.name = name
        self.tenant = tenant
        self.role = role
        self.endsAt = endsAt
    }

    /// 15 minutes: the link is passed on by hand, in a channel that may be read later.
    package static let lifetimeSeconds = 900
}

/// The outcome of using an invitation.
package enum AcceptedInvitation: Sendable, Hashable {
    case accepted(AccountID)
    /// It was used, has ended, or never existed.
    case unknown
    /// Another account has got the name meanwhile.
    case nameTaken
}

/// A session that may be used.
package struct ConsoleSession: Sendable, Hashable {
    package var id: UUID
    package var account: AccountID
    package var name: String
    /// In order of the tenants.
    package var roles: [GrantedRole]
    package var hasCodes: Bool
    /// Whether a one-time code is still to be given. Such a session opens nothing else.
    package var awaitsCode: Bool
    /// Whether the password was given within the last ten minutes.
    package var isProven: Bool
}

/// A session as the list of its account shows it.
package struct ListedSession: Sendable, Hashable {
    package var id: UUID
    package var createdAt: Timestamp
    package var seenAt: Timestamp
    package var address: String
    package var browser: String
}
