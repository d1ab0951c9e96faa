import AccountStore
import GatewayHTTP
import Model
import PageParts

/// The accounts of a tenant, which pages read and change and the native API does not have. Paths below `console/`; the answers have the form of the native API's.
struct AccountResources: Sendable {
    let store: PostgresAccountStore
    let identifiers: any IdentifierSource

    func answer(_ call: APICall, _ path: [String], for caller: ConsoleCaller) async -> APIAnswer {
        guard caller.may(.administer) else {
            return ConsoleCalls.problem(Problem(.forbidden, "needs the role owner"))
        }
        do throws(Problem) {
            switch (call.method, path.first ?? "", path.count) {
            case (.get, "accounts", 1): return try await list(caller)
            case (.post, "invitations", 1): return try await invite(call, caller)
            case (.put, "accounts", 3) where path[2] == "role":
                return try await setRole(try Self.role(call), of: path[1], caller)
            case (.delete, "accounts", 3) where path[2] == "role":
                return try await setRole(nil, of: path[1], caller)
            default: throw .notFound("no such path")
            }
        } catch {
            return ConsoleCalls.problem(error)
        }
    }

    private func list(_ caller: ConsoleCaller) async throws(Problem) -> APIAnswer {
        let accounts = try await stored { () async throws(StoreError) in try await store.list(in: caller.tenant) }
        return Self.success([
            "accounts": .array(
                accounts.map { account in
                    [
                        "name": .string(account.name),
                        "role": .string(account.roles.first?.role.rawValue ?? ""),
                        "hasCodes": .bool(account.hasCodes), "createdAt": .string(account.createdAt.rfc3339),
                        "disabledAt": account.disabledAt.map { .string($0.rfc3339) } ?? .null,
                        "seenAt": account.seenAt.map { .string($0.rfc3339) } ?? .null,
                        "isSelf": .bool(account.id == caller.session.account),
                    ]
                }
            )
        ])
    }

    /// Makes a link that creates an account. A member of the tenant gets the role itself. An account of other tenants gets none here: it is not known to be the
    /// person's whom the owner means, so that the operator of the installation decides.
    private func invite(_ call: APICall, _ caller: ConsoleCaller) async throws(Problem) -> APIAnswer {
        guard let text = call.body?["name"]?.string, let name = AccountNames.normalized(text) else {
            throw .invalid("name", "1 to 64 letters, digits, '.', '-', '_' and '@'")
        }
        let role = try Self.role(call)
        if try await stored({ () async throws(StoreError) in try await store.account(named: name) }) != nil {
            guard try await isMember(name, caller) else {
                throw .invalid("name", "is taken; 'push-gateway account role' gives an existing account a role")
            }
            return try await change(role, of: name, caller)
        }
        let secret = InvitationLink.secret(identifiers)
        let invitation = AccountInvitation(name: name, tenant: caller.tenant, role: role)
        let isStored = try await stored { () async throws(StoreError) in
            try await store.invite(invitation, hash: InvitationLink.hash(secret), by: caller.actor)
        }
        guard isStored else { throw .notFound("the tenant does not exist") }
        return Self.success(
            [
                "name": .string(name), "role": .string(role.rawValue),
                "link": .string(caller.origin + InvitationLink.path(secret)),
                "seconds": .int(AccountInvitation.lifetimeSeconds),
            ],
            status: 201
        )
    }

    private func isMember(_ name: String, _ caller: ConsoleCaller) async throws(Problem) -> Bool {
        try await stored { () async throws(StoreError) in try await store.list(in: caller.tenant) }
            .contains { $0.name == name }
    }

    private func setRole(_ role: AccountRole?, of name: String, _ caller: ConsoleCaller) async throws(Problem)
        -> APIAnswer
    {
        guard try await isMember(name, caller) else { throw .notFound("the account does not exist") }
        return try await change(role, of: name, caller)
    }

    /// Gives a member another role; nil takes it away.
    private func change(_ role: AccountRole?, of name: String, _ caller: ConsoleCaller) async throws(Problem)
        -> APIAnswer
    {
        let outcome = try await stored { () async throws(StoreError) in
            try await store.setRole(role, of: name, in: caller.tenant, by: caller.actor)
        }
        switch outcome {
        case .done:
            return Self.success(["name": .string(name), "role": role.map { .string($0.rawValue) } ?? .null])
        case .unknownAccount, .unknownTenant: throw .notFound("the account does not exist")
        case .lastOwner: throw .invalid("role", "the tenant keeps at least one owner who can sign in")
        }
    }

    private static func role(_ call: APICall) throws(Problem) -> AccountRole {
        guard let text = call.body?["role"]?.string, let role = AccountRole(rawValue: text), role != .platform else {
            throw .invalid("role", "must be owner, operator, author, analyst or auditor")
        }
        return role
    }

    private func stored<Value: Sendable>(_ body: () async throws(StoreError) -> Value) async throws(Problem) -> Value {
        do { return try await body() } catch { throw .unavailable(5) }
    }

    private static func success(_ body: JSON, status: Int = 200) -> APIAnswer {
        APIAnswer(status: status, body: body, requestID: CallID.current?.description ?? "")
    }
}
