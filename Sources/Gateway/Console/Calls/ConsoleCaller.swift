import AccountStore
import GatewayHTTP
import Model
import PageParts
import Store

/// A signed-in person in a tenant.
struct ConsoleCaller: Sendable {
    var session: ConsoleSession
    /// The value of the session's cookie.
    var secret: String
    var tenant: TenantID
    var account: ConsoleAccount
    /// Whether the account has a role in the tenant itself; otherwise it sees nodes and queues only.
    var isMember: Bool
    /// The console's own address, for links that leave it: `https://console.example`.
    var origin: String
    /// Measures the calls of the request.
    var timing: PageTiming

    var actor: AuditActor { .account(session.name, in: CallID.current) }

    /// Whether the account may open or send something. `isOwn`: also if the role permits the act for an author's own messages only; the call then checks the
    /// message.
    func may(_ permission: Permission, isOwn: Bool = false) -> Bool {
        guard isMember else { return permission == .platform && account.isPlatform }
        return account.may(permission) || isOwn && permission == .operate && account.role == .author
    }

    /// Whether the account sees the answers of a path masked: on pages, in their exports, and so which formats of an export it may have.
    ///
    /// - Parameter path: the segments of the call's path.
    /// - Returns: whether they are masked.
    func isMasked(_ path: [String]) -> Bool { !may(.personal) && !PersonalData.isImpersonal(path) }

    /// The rights of a call of the native API.
    func grant(for permission: Permission) -> APIKeyGrant {
        APIKeyGrant(tenant: tenant, name: session.name, scopes: CallRights.scopes(for: permission))
    }
}

extension AccountRole {
    /// The role of a page's account; nil for `platform`, which does not belong to a tenant.
    var pageRole: Role? {
        switch self {
        case .owner: .owner
        case .op: .op
        case .author: .author
        case .analyst: .analyst
        case .auditor: .auditor
        case .platform: nil
        }
    }
}
