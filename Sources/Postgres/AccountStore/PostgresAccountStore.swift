package import Model
package import PostgresClient
package import Store

/// Keeps the accounts of the web console, their roles and the links that create them.
package struct PostgresAccountStore: Sendable {
    let engine: PostgresPool

    /// - Parameter engine: the pool of `gateway_engine`.
    package init(engine: PostgresPool) { self.engine = engine }

    // MARK: Reading

    /// Returns an account by its name; nil when it does not exist.
    ///
    /// - Throws: `StoreError`.
    package func account(named name: String) async throws(StoreError) -> StoredAccount? {
        try await asStore { () throws(PostgresError) in
            try await engine.run(AccountSQL.byName(.string(name)), tenant: nil).rows(Self.stored).first
        }
    }

    /// Returns an account by its id; nil when it does not exist.
    ///
    /// - Throws: `StoreError`.
    package func account(_ id: AccountID) async throws(StoreError) -> StoredAccount? {
        try await asStore { () throws(PostgresError) in
            try await engine.run(AccountSQL.byID(.id(id)), tenant: nil).rows(Self.stored).first
        }
    }

    /// Returns the accounts with a role in a tenant, with that role only; nil: every account with all its roles. At most `ListedAccount.limit`.
    ///
    /// - Throws: `StoreError`.
    package func list(in tenant: TenantID?) async throws(StoreError) -> [ListedAccount] {
        try await asStore { () throws(PostgresError) in
            try await engine.run(AccountSQL.list(.id(tenant)), tenant: nil).rows { (row) throws(PostgresError) in
                ListedAccount(
                    id: try row.id("account_id"),
                    name: try row.text("name"),
                    roles: try Self.roles(row),
                    hasCodes: try row.bool("has_codes"),
                    createdAt: try row.time("created_at"),
                    disabledAt: try row.optionalTime("disabled_at"),
                    seenAt: try row.optionalTime("seen_at")
                )
            }
        }
    }

    static func roles(_ row: Row) throws(PostgresError) -> [GrantedRole] {
        let tenants = try row.texts("tenants")
        let roles = try row.texts("roles")
        // A role that this program does not know permits nothing.
        return zip(tenants, roles).compactMap { tenant, role in
            AccountRole(rawValue: role).map { GrantedRole($0, in: TenantID(tenant)) }
        }
    }

    private static func stored(_ row: Row) throws(PostgresError) -> StoredAccount {
        StoredAccount(
            id: try row.id("account_id"),
            name: try row.text("name"),
            password: try row.text("password"),
            codeSalt: try row.optionalBytes("code_salt"),
            isDisabled: try row.bool("is_disabled")
        )
    }

    // MARK: Invitations

    /// Stores a link that creates an account, or replaces the password of one. An earlier link for the same name and tenant ends.
    ///
    /// - Returns: false when the tenant does not exist.
    /// - Throws: `StoreError`.
    package func invite(
        _ invitation: AccountInvitation,
        hash: [UInt8],
        by actor: AuditActor
    ) async throws(StoreError) -> Bool {
        let put = AccountSQL.invite(
            .bytes(hash),
            .string(invitation.name),
            .id(invitation.tenant),
            .string(invitation.role?.rawValue),
            .string(actor.description),
            .double(Double(AccountInvitation.lifetimeSeconds))
        )
        let drop = AccountSQL.dropInvitations(.string(invitation.name), .id(invitation.tenant))
        let reads = [AccountSQL.lock(), AccountSQL.hasTenant(.id(invitation.tenant))]
        let transaction = Transaction(tenant: nil, reads, flushes: true) { (results) throws(PostgresError) in
            let hasTenant = try results.result(1).only().bool("found")
            guard hasTenant || invitation.tenant.rawValue.isEmpty else { return .commit }
            guard invitation.role != nil else {
                return Step([drop, put, AccountSQL.tenantsOfName(.string(invitation.name))]) {
                    (written) throws(PostgresError) in
                    try Self.audited(written, 2, AuditRecord(.invite, "account \(invitation.name)"), by: actor)
                }
            }
            var data: JSONObject = ["name": .string(invitation.name)]
            if let role = invitation.role { data["role"] = .string(role.rawValue) }
            let record = AuditRecord(.invite, "account \(invitation.name)", data: .object(data))
            let audit = hasTenant ? [[record].written(by: actor, in: invitation.tenant)] : []
            return Step([drop, put] + audit)
        }
        return try await asStore { () throws(PostgresError) in try await engine.run(transaction).count > reads.count }
    }

    /// Returns an invitation that can be used; nil otherwise.
    ///
    /// - Throws: `StoreError`.
    package func invitation(_ hash: [UInt8]) async throws(StoreError) -> AccountInvitation? {
        try await asStore { () throws(PostgresError) in
            try await engine.run(AccountSQL.invitation(.bytes(hash)), tenant: nil).rows(Self.invitation).first
        }
    }

    private static func invitation(_ row: Row) throws(PostgresError) -> AccountInvitation {
        AccountInvitation(
            name: try row.text("name"),
            tenant: try row.id("tenant"),
            role: try row.optionalText("role").flatMap { AccountRole(rawValue: $0) },
            endsAt: try row.time("ends_at")
        )
    }

    /// Uses an invitation: creates its account with its role, or gives the existing account the password, without codes and sessions.
    ///
    /// - Throws: `StoreError`.
    package func accept(_ hash: [UInt8], password: String) async throws(StoreError) -> AcceptedInvitation {
        let reads = [AccountSQL.lock(), AccountSQL.takeInvitation(.bytes(hash))]
        let transaction = Transaction(tenant: nil, reads, flushes: true) { (results) throws(PostgresError) in
            guard let invitation = try results.result(1).rows(Self.invitation).first else { return .commit }
            guard let role = invitation.role else {
                return Step([AccountSQL.byName(.string(invitation.name))]) { (found) throws(PostgresError) in
                    guard let account = try found.result(0).rows(Self.stored).first else { return .commit }
                    return Self.reset(account, password)
                }
            }
            return Step([AccountSQL.create(.string(invitation.name), .string(password))]) {
                (made) throws(PostgresError) in
                guard let row = try made.result(0).first else { throw PostgresError.abandoned("name taken") }
                let id: AccountID = try row.id("account_id")
                return Self.enrol(id, invitation.name, role, in: invitation.tenant)
            }
        }
        do throws(PostgresError) {
            let results = try await engine.run(transaction)
            guard results.count > reads.count, let row = try results.result(reads.count).first else { return .unknown }
            return .accepted(try row.id("account_id"))
        } catch {
            if error.code == .abandoned { return .nameTaken }
            throw StoreError(error)
        }
    }

    private static func reset(_ account: StoredAccount, _ password: String) -> Step {
        Step([
            AccountSQL.setPassword(.id(account.id), .string(password)),
            AccountSQL.setCode(.id(account.id), .bytes(nil), .int(0)),
            SessionSQL.endAll(.id(account.id), .bytes(nil)),
            AccountSQL.tenantsOf(.id(account.id)),
        ]) { (results) throws(PostgresError) in
            try audited(results, 3, AuditRecord(.rotate, "account \(account.name)"), by: .account(account.name))
        }
    }

    private static func enrol(_ id: AccountID, _ name: String, _ role: AccountRole, in tenant: TenantID) -> Step {
        let record = AuditRecord(.create, "account \(name)", data: ["role": .string(role.rawValue)])
        let audit = tenant.rawValue.isEmpty ? [] : [[record].written(by: .account(name), in: tenant)]
        return Step([AccountSQL.putRole(.id(id), .id(tenant), .string(role.rawValue))] + audit)
    }

    /// Writes a record into the audit of every tenant of the rows of a result.
    static func audited(
        _ results: [ResultSet],
        _ index: Int,
        _ record: AuditRecord,
        by actor: AuditActor
    ) throws(PostgresError) -> Step {
        let tenants = try results.result(index).rows { (row) throws(PostgresError) in
            TenantID(try row.text("tenant"))
        }
        return tenants.isEmpty ? .commit : Step(tenants.map { [record].written(by: actor, in: $0) })
    }

    // MARK: Changes

    /// Stores another password and ends the other sessions of the account.
    ///
    /// - Throws: `StoreError`.
    package func setPassword(
        _ password: String,
        of account: AccountID,
        named name: String,
        keeping session: [UInt8]?
    ) async throws(StoreError) {
        let statements = [
            AccountSQL.setPassword(.id(account), .string(password)),
            SessionSQL.endAll(.id(account), .bytes(session)), AccountSQL.tenantsOf(.id(account)),
        ]
        try await change(statements, AuditRecord(.rotate, "account \(name)"), by: .account(name))
    }

    /// Gives the account one-time codes, of which that of `step` was used, or takes them away (nil).
    ///
    /// - Throws: `StoreError`.
    package func setCodes(
        _ salt: [UInt8]?,
        usedStep step: Int64,
        of account: AccountID,
        named name: String
    ) async throws(StoreError) {
        let statements = [
            AccountSQL.setCode(.id(account), .bytes(salt), .int64(step)), AccountSQL.tenantsOf(.id(account)),
        ]
        let record = AuditRecord(.write, "account \(name)", data: ["oneTimeCodes": .bool(salt != nil)])
        try await change(statements, record, by: .account(name))
    }

    /// Runs statements, the last of which names tenants, and writes a record into the audit of each.
    private func change(
        _ statements: [Statement],
        _ record: AuditRecord,
        by actor: AuditActor
    ) async throws(StoreError) {
        let last = statements.count - 1
        let transaction = Transaction(tenant: nil, statements, flushes: true) { (results) throws(PostgresError) in
            try Self.audited(results, last, record, by: actor)
        }
        _ = try await asStore { () throws(PostgresError) in try await engine.run(transaction) }
    }

    /// Uses a one-time code. False: the code of this or of a later step was used already.
    ///
    /// - Throws: `StoreError`.
    package func useCode(of step: Int64, by account: AccountID) async throws(StoreError) -> Bool {
        try await asStore { () throws(PostgresError) in
            try await engine.run(AccountSQL.useCode(.id(account), .int64(step)), tenant: nil).affectedRows > 0
        }
    }

    /// The outcome of setting a role.
    package enum RoleWrite: Sendable, Hashable {
        case done
        case unknownAccount
        case unknownTenant
        /// A tenant keeps at least one owner who can sign in.
        case lastOwner
    }

    /// Gives an account a role in a tenant, or takes it away (nil). The account's sessions end, because their cookie was issued with another role.
    ///
    /// - Throws: `StoreError`.
    package func setRole(
        _ role: AccountRole?,
        of name: String,
        in tenant: TenantID,
        by actor: AuditActor
    ) async throws(StoreError) -> RoleWrite {
        let reads = [
            AccountSQL.lock(), AccountSQL.byName(.string(name)), AccountSQL.hasTenant(.id(tenant)),
        ]
        let transaction = Transaction(tenant: nil, reads, flushes: true) { (results) throws(PostgresError) in
            guard let account = try results.result(1).rows(Self.stored).first else {
                throw PostgresError.abandoned(RoleRefusal.account)
            }
            let hasTenant = try results.result(2).only().bool("found")
            guard hasTenant || tenant.rawValue.isEmpty else { throw PostgresError.abandoned(RoleRefusal.tenant) }
            return Step([AccountSQL.otherOwners(.id(tenant), .id(account.id))]) { (counted) throws(PostgresError) in
                let others = try counted.result(0).only().int("owners")
                let left = others > 0 || role == .owner || tenant.rawValue.isEmpty
                return Self.change(account, to: role, in: tenant, keepsOwner: left, hasTenant: hasTenant, by: actor)
            }
        }
        do throws(PostgresError) {
            _ = try await engine.run(transaction)
            return .done
        } catch {
            guard error.code == .abandoned else { throw StoreError(error) }
            switch error.reason {
            case RoleRefusal.account: return .unknownAccount
            case RoleRefusal.tenant: return .unknownTenant
            default: return .lastOwner
            }
        }
    }

    private enum RoleRefusal {
        static let account = "unknown account"
        static let tenant = "unknown tenant"
        static let owner = "last owner"
    }

    private static func change(
        _ account: StoredAccount,
        to role: AccountRole?,
        in tenant: TenantID,
        keepsOwner: Bool,
        hasTenant: Bool,
        by actor: AuditActor
    ) -> Step {
        let drop = AccountSQL.dropRole(.id(account.id), .id(tenant))
        return Step([drop]) { (results) throws(PostgresError) in
            let former = try results.result(0).first.map { (row) throws(PostgresError) in try row.text("role") }
            guard former != AccountRole.owner.rawValue || keepsOwner else {
                throw PostgresError.abandoned(RoleRefusal.owner)
            }
            var statements: [Statement] = []
            if former != role?.rawValue {
                // Whoever loses a role does not come back by a link that they made before.
                let links = AccountSQL.dropInvitationsBy(.string(AuditActor.account(account.name).description))
                statements = [SessionSQL.endAll(.id(account.id), .bytes(nil)), links]
            }
            if let role { statements.append(AccountSQL.putRole(.id(account.id), .id(tenant), .string(role.rawValue))) }
            guard hasTenant, former != role?.rawValue else { return Step(statements) }
            let data: JSON = ["from": .string(former ?? "none"), "to": .string(role?.rawValue ?? "none")]
            let record = AuditRecord(role == nil ? .remove : .write, "account \(account.name)", data: data)
            return Step(statements + [[record].written(by: actor, in: tenant)])
        }
    }

    /// Prevents an account from signing in and ends its sessions, or allows it again. False: it does not exist, or nothing changed.
    ///
    /// - Throws: `StoreError`.
    package func setDisabled(
        _ isDisabled: Bool,
        _ name: String,
        by actor: AuditActor
    ) async throws(StoreError) -> Bool {
        let first = isDisabled ? AccountSQL.disable(.string(name)) : AccountSQL.enable(.string(name))
        let record = AuditRecord(isDisabled ? .disable : .enable, "account \(name)")
        let transaction = Transaction(tenant: nil, [first], flushes: true) { (results) throws(PostgresError) in
            guard let row = try results.result(0).first else { return .commit }
            let id: AccountID = try row.id("account_id")
            let end = SessionSQL.endAll(.id(id), .bytes(nil))
            let links = AccountSQL.dropInvitationsBy(.string(AuditActor.account(name).description))
            return Step([end, links, AccountSQL.tenantsOf(.id(id))]) { (found) throws(PostgresError) in
                try Self.audited(found, 2, record, by: actor)
            }
        }
        return try await asStore { () throws(PostgresError) in try await engine.run(transaction).count > 1 }
    }
}
