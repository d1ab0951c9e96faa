package import FoundationEssentials
package import Model
import PostgresClient
package import Store

/// Sessions and failures.
extension PostgresAccountStore {
    // MARK: Sessions

    /// Where a session was opened, as its account's list shows it.
    package struct SessionOrigin: Sendable, Hashable {
        package var address: String
        package var browser: String

        package init(address: String, browser: String) {
            self.address = String(address.prefix(64))
            self.browser = String(browser.prefix(200))
        }
    }

    /// 12 hours; 10 minutes for a session that still needs a one-time code.
    private static func lifetimeSeconds(_ awaitsCode: Bool) -> Double { awaitsCode ? 600 : 43_200 }
    /// 20 sessions per account: more are not a person's.
    private static var sessionLimit: Int { 20 }

    /// Opens a session, in place of the session `former`. One that needs no code any longer is written into the audit of the account's tenants. An account that
    /// was disabled, or got another password, since `account` was read gets none.
    ///
    /// - Throws: `StoreError`.
    package func open(
        _ hash: [UInt8],
        for account: StoredAccount,
        awaitsCode: Bool,
        from origin: SessionOrigin,
        replacing former: [UInt8]? = nil
    ) async throws(StoreError) {
        let open = SessionSQL.open(
            .bytes(hash),
            .id(account.id),
            .bool(awaitsCode),
            .double(Self.lifetimeSeconds(awaitsCode)),
            .string(origin.address),
            .string(origin.browser),
            .string(account.password)
        )
        let trim = SessionSQL.trim(.id(account.id), .int(Self.sessionLimit))
        let end = former.map { [SessionSQL.end(.bytes($0))] } ?? []
        let statements = [open] + end + [trim, AccountSQL.tenantsOf(.id(account.id))]
        let record = AuditRecord(.signIn, "account \(account.name)", data: ["address": .string(origin.address)])
        let transaction = Transaction(tenant: nil, statements, flushes: true) { (results) throws(PostgresError) in
            guard !awaitsCode, try results.result(0).first != nil else { return .commit }
            return try Self.audited(results, statements.count - 1, record, by: .account(account.name))
        }
        _ = try await asStore { () throws(PostgresError) in try await engine.run(transaction) }
    }

    /// Returns a session that may be used, and notes that it was used unless `isWatching`: an open page that updates itself is not a person's use.
    /// Nil when it has ended or its account is disabled.
    ///
    /// - Throws: `StoreError`.
    package func session(_ hash: [UInt8], isWatching: Bool = false) async throws(StoreError) -> ConsoleSession? {
        try await asStore { () throws(PostgresError) in
            guard let row = try await engine.run(SessionSQL.find(.bytes(hash)), tenant: nil).first else { return nil }
            // Once a minute: a page makes several requests.
            if !isWatching, try row.bool("is_stale") {
                _ = try await engine.run(SessionSQL.touch(.bytes(hash)), tenant: nil)
            }
            return ConsoleSession(
                id: try row.uuid("session_id"),
                account: try row.id("account_id"),
                name: try row.text("name"),
                roles: try Self.roles(row),
                hasCodes: try row.bool("has_codes"),
                awaitsCode: try row.bool("awaits_code"),
                isProven: try row.bool("is_proven")
            )
        }
    }

    /// Notes that the password was given again.
    ///
    /// - Throws: `StoreError`.
    package func prove(_ hash: [UInt8]) async throws(StoreError) {
        _ = try await asStore { () throws(PostgresError) in
            try await engine.run(SessionSQL.prove(.bytes(hash)), tenant: nil)
        }
    }

    /// Returns the open sessions of an account, newest first.
    ///
    /// - Throws: `StoreError`.
    package func sessions(of account: AccountID) async throws(StoreError) -> [ListedSession] {
        try await asStore { () throws(PostgresError) in
            try await engine.run(SessionSQL.list(.id(account)), tenant: nil).rows { (row) throws(PostgresError) in
                ListedSession(
                    id: try row.uuid("session_id"),
                    createdAt: try row.time("created_at"),
                    seenAt: try row.time("seen_at"),
                    address: try row.text("address"),
                    browser: try row.text("browser")
                )
            }
        }
    }

    /// Ends a session.
    ///
    /// - Throws: `StoreError`.
    package func end(_ hash: [UInt8]) async throws(StoreError) {
        _ = try await asStore { () throws(PostgresError) in
            try await engine.run(SessionSQL.end(.bytes(hash)), tenant: nil)
        }
    }

    /// Ends a session of an account by its id. False: it has none with this id.
    ///
    /// - Throws: `StoreError`.
    package func end(_ session: UUID, of account: AccountID) async throws(StoreError) -> Bool {
        try await asStore { () throws(PostgresError) in
            try await engine.run(SessionSQL.endOne(.id(account), .uuid(session)), tenant: nil).affectedRows > 0
        }
    }

    // MARK: Failures

    /// Something whose failures are counted, and the number of them that do not block it.
    package struct AttemptSubject: Sendable, Hashable {
        package var digest: [UInt8]
        package var free: Int

        /// - Parameters:
        ///   - digest: SHA-256 of the kind and the name, so that no row contains what somebody typed.
        ///   - free: the failures before the first wait.
        package init(digest: [UInt8], free: Int) {
            self.digest = digest
            self.free = free
        }
    }

    /// The result of counting an attempt.
    package enum Attempt: Sendable, Hashable {
        /// The failures, with this attempt.
        case counted(Int)
        /// Nothing is counted: the seconds to wait.
        case blocked(Int)
    }

    /// Counts an attempt as a failure before it is checked.
    ///
    /// - Throws: `StoreError`.
    package func attempt(_ subject: AttemptSubject) async throws(StoreError) -> Attempt {
        try await asStore { () throws(PostgresError) in
            let counted = try await engine.run(
                SessionSQL.attempt(.bytes(subject.digest), .int(subject.free)),
                tenant: nil
            )
            if let row = counted.first { return .counted(try row.int("failures")) }
            let wait = try await engine.run(SessionSQL.wait(.bytes(subject.digest)), tenant: nil)
            return .blocked(max(1, try wait.first?.int("seconds") ?? 1))
        }
    }

    /// Takes an attempt back that was right. `all`: its former failures are forgotten too.
    ///
    /// - Throws: `StoreError`.
    package func succeeded(_ subject: AttemptSubject, all: Bool) async throws(StoreError) {
        _ = try await asStore { () throws(PostgresError) in
            let statement = all ? SessionSQL.forgive : SessionSQL.withdraw
            return try await engine.run(statement(.bytes(subject.digest)), tenant: nil)
        }
    }

    /// Writes the failures of an account into the audit of its tenants.
    ///
    /// - Returns: whether the account exists.
    /// - Throws: `StoreError`.
    package func refused(_ name: String, failures: Int, of proof: String) async throws(StoreError) -> Bool {
        let data: JSON = ["failures": .int(failures), "proof": .string(proof)]
        let record = AuditRecord(.refuse, "account \(name)", data: data)
        let reads = [AccountSQL.byName(.string(name)), AccountSQL.tenantsOfName(.string(name))]
        let transaction = Transaction(tenant: nil, reads, flushes: true) { (results) throws(PostgresError) in
            try Self.audited(results, 1, record, by: .gateway)
        }
        return try await asStore { () throws(PostgresError) in
            try await !engine.run(transaction).result(0).isEmpty
        }
    }

    /// Forgets the failures of an account, by an administrator. False: it had none.
    ///
    /// - Throws: `StoreError`.
    package func unlock(
        _ subjects: [AttemptSubject],
        _ name: String,
        by actor: AuditActor
    ) async throws(StoreError) -> Bool {
        let record = AuditRecord(.unlock, "account \(name)")
        let forgive = subjects.map { SessionSQL.forgive(.bytes($0.digest)) }
        let statements = forgive + [AccountSQL.tenantsOfName(.string(name))]
        let transaction = Transaction(tenant: nil, statements, flushes: true) { (results) throws(PostgresError) in
            guard results.prefix(forgive.count).contains(where: { $0.affectedRows > 0 }) else { return .commit }
            return try Self.audited(results, forgive.count, record, by: actor)
        }
        return try await asStore { () throws(PostgresError) in
            try await engine.run(transaction).prefix(forgive.count).contains { $0.affectedRows > 0 }
        }
    }

    /// Removes sessions and links that have ended, and failures of the days before yesterday. Any node may call it at any time.
    ///
    /// - Throws: `StoreError`.
    package func sweep() async throws(StoreError) {
        for statement in SessionSQL.sweep {
            // Up to 100,000 rows of each, in steps that hold their locks shortly.
            for _ in 0..<20 {
                let removed = try await asStore { () throws(PostgresError) in
                    try await engine.run(statement(.int(SessionSQL.sweepStep)), tenant: nil).affectedRows
                }
                if removed < SessionSQL.sweepStep { break }
            }
        }
    }
}
