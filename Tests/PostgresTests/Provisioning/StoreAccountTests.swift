import DatabaseSupport
import Foundation
import Model
import Testing

@testable import AccountStore
@testable import PostgresClient
@testable import Store

/// Accounts of the web console: invitations, roles, sessions and failures.
@Suite struct StoreAccountTests {
    private struct Stage {
        let stores: DatabaseStores
        let accounts: PostgresAccountStore
        let acme: TenantID
        let other: TenantID
        /// Accounts have no tenant, so the names of this test are its own.
        let suffix: String

        init() async throws {
            stores = try await DatabaseStores.shared()
            accounts = PostgresAccountStore(engine: stores.engine)
            let tenants = try await stores.provision("acme", "other")
            (acme, other) = (tenants[0], tenants[1])
            suffix = stores.node.rawValue
        }

        func name(_ name: String) -> String { "\(name)-\(suffix)" }
        func hash(_ text: String) -> [UInt8] { Array("\(text)-\(suffix)".utf8) }

        /// Creates an account by an invitation.
        @discardableResult
        func account(_ name: String, _ role: AccountRole, in tenant: TenantID) async throws -> AccountID {
            let link = hash("link \(name)")
            let invitation = AccountInvitation(name: self.name(name), tenant: tenant, role: role)
            try #require(try await accounts.invite(invitation, hash: link, by: .command(user: 0)))
            guard case .accepted(let id) = try await accounts.accept(link, password: "hash") else {
                throw StoreError(.failed, "not accepted")
            }
            return id
        }

        /// An account as it was read before its session is opened.
        func stored(_ id: AccountID, _ name: String = "x") -> StoredAccount {
            StoredAccount(id: id, name: self.name(name), password: "hash", codeSalt: nil, isDisabled: false)
        }

        func open(_ text: String, for account: AccountID, awaitsCode: Bool = false) async throws {
            try await accounts.open(
                hash(text),
                for: stored(account),
                awaitsCode: awaitsCode,
                from: .init(address: "192.0.2.1", browser: "Firefox")
            )
        }

        /// Changes rows as time would.
        func run(_ sql: String, _ values: [PostgresValue]) async throws {
            _ = try await stores.engine.run(Statement(sql, values), tenant: nil)
        }

        func audit(_ tenant: TenantID) async throws -> [String] {
            try await stores.audit.entries(in: tenant, after: 0, limit: 1000)
                .map { "\($0.actor) \($0.action) \($0.subject)" }
        }
    }

    // MARK: Invitations

    @Test func aLinkCreatesAnAccountOnce() async throws {
        let stage = try await Stage()
        let id = try await stage.account("kim", .owner, in: stage.acme)
        #expect(try await stage.accounts.accept(stage.hash("link kim"), password: "again") == .unknown)
        let stored = try #require(try await stage.accounts.account(named: stage.name("kim")))
        #expect(stored.id == id && stored.password == "hash" && stored.codeSalt == nil && !stored.isDisabled)
        #expect(try await stage.accounts.account(id) == stored)
        let listed = try await stage.accounts.list(in: stage.acme)
        #expect(listed.map(\.name) == [stage.name("kim")] && listed[0].roles == [GrantedRole(.owner, in: stage.acme)])
        #expect(try await stage.accounts.list(in: stage.other).isEmpty)
        let name = stage.name("kim")
        let entries = try await stage.audit(stage.acme)
        #expect(entries.contains("cli:0 invite account \(name)"), "\(entries)")
        #expect(entries.contains("account:\(name) create account \(name)"), "\(entries)")
    }

    @Test func aLinkEndsAndIsReplacedByANewerOne() async throws {
        let stage = try await Stage()
        let invitation = AccountInvitation(name: stage.name("lee"), tenant: stage.acme, role: .author)
        let (first, second) = (stage.hash("first"), stage.hash("second"))
        #expect(try await stage.accounts.invite(invitation, hash: first, by: .command(user: 0)))
        #expect(try await stage.accounts.invitation(first)?.role == .author)
        #expect(try await stage.accounts.invite(invitation, hash: second, by: .command(user: 0)))
        #expect(try await stage.accounts.invitation(first) == nil)
        try await stage.run(
            "UPDATE gateway.account_invitation SET ends_at = now() - interval '1 second' WHERE hash = $1",
            [.bytes(second)]
        )
        #expect(try await stage.accounts.invitation(second) == nil)
        #expect(try await stage.accounts.accept(second, password: "hash") == .unknown)
        let nowhere = AccountInvitation(name: stage.name("lee"), tenant: "nowhere", role: .author)
        #expect(try await !stage.accounts.invite(nowhere, hash: first, by: .command(user: 0)))
    }

    @Test func aTakenNameKeepsItsAccount() async throws {
        let stage = try await Stage()
        let invitation = AccountInvitation(name: stage.name("kim"), tenant: stage.other, role: .owner)
        #expect(try await stage.accounts.invite(invitation, hash: stage.hash("late"), by: .command(user: 0)))
        let id = try await stage.account("kim", .analyst, in: stage.acme)
        #expect(try await stage.accounts.accept(stage.hash("late"), password: "theirs") == .nameTaken)
        let stored = try #require(try await stage.accounts.account(id))
        #expect(stored.password == "hash")
        #expect(try await stage.accounts.list(in: stage.other).isEmpty)
    }

    @Test func aResetReplacesPasswordAndCodesAndEndsSessions() async throws {
        let stage = try await Stage()
        let id = try await stage.account("kim", .owner, in: stage.acme)
        try await stage.accounts.setCodes([1, 2], usedStep: 7, of: id, named: stage.name("kim"))
        try await stage.open("s", for: id)
        let reset = AccountInvitation(name: stage.name("kim"), tenant: "", role: nil)
        #expect(try await stage.accounts.invite(reset, hash: stage.hash("reset"), by: .command(user: 0)))
        #expect(try await stage.accounts.accept(stage.hash("reset"), password: "new") == .accepted(id))
        let stored = try #require(try await stage.accounts.account(id))
        #expect(stored.password == "new" && stored.codeSalt == nil)
        #expect(try await stage.accounts.session(stage.hash("s")) == nil)
        let entries = try await stage.audit(stage.acme)
        #expect(entries.filter { $0.contains(" invite account") }.count == 2, "\(entries)")
    }

    // MARK: Roles

    @Test func aTenantKeepsAnOwner() async throws {
        let stage = try await Stage()
        let id = try await stage.account("kim", .owner, in: stage.acme)
        let name = stage.name("kim")
        func set(_ role: AccountRole?, _ name: String, _ tenant: TenantID) async throws
            -> PostgresAccountStore.RoleWrite
        {
            try await stage.accounts.setRole(role, of: name, in: tenant, by: .command(user: 0))
        }
        #expect(try await set(.author, name, stage.acme) == .lastOwner)
        #expect(try await set(nil, name, stage.acme) == .lastOwner)
        #expect(try await set(.author, stage.name("nobody"), stage.acme) == .unknownAccount)
        #expect(try await set(.author, name, "nowhere") == .unknownTenant)
        try await stage.account("lee", .owner, in: stage.acme)
        try await stage.open("s", for: id)
        #expect(try await set(.author, name, stage.acme) == .done)
        #expect(try await stage.accounts.session(stage.hash("s")) == nil, "its cookie was issued to an owner")
        #expect(try await set(.analyst, name, stage.other) == .done)
        try await stage.open("t", for: id)
        let session = try #require(try await stage.accounts.session(stage.hash("t")))
        #expect(Set(session.roles) == [GrantedRole(.author, in: stage.acme), GrantedRole(.analyst, in: stage.other)])
        // A disabled owner does not count.
        #expect(try await set(.owner, name, stage.acme) == .done)
        #expect(try await stage.accounts.setDisabled(true, name, by: .command(user: 0)))
        #expect(try await set(nil, stage.name("lee"), stage.acme) == .lastOwner)
    }

    @Test func aDisabledAccountHasNoSessions() async throws {
        let stage = try await Stage()
        let id = try await stage.account("kim", .owner, in: stage.acme)
        try await stage.open("s", for: id)
        #expect(try await stage.accounts.setDisabled(true, stage.name("kim"), by: .command(user: 0)))
        #expect(try await stage.accounts.session(stage.hash("s")) == nil)
        try await stage.open("t", for: id)
        #expect(try await stage.accounts.session(stage.hash("t")) == nil, "also not a newer one")
        #expect(try await !stage.accounts.setDisabled(true, stage.name("kim"), by: .command(user: 0)))
        #expect(try await stage.accounts.setDisabled(false, stage.name("kim"), by: .command(user: 0)))
    }

    // MARK: Sessions

    @Test func aSessionEndsByAgeAndByRest() async throws {
        let stage = try await Stage()
        let id = try await stage.account("kim", .owner, in: stage.acme)
        try await stage.open("s", for: id)
        let hash = stage.hash("s")
        let session = try #require(try await stage.accounts.session(hash))
        #expect(session.account == id && session.isProven && !session.awaitsCode && !session.hasCodes)
        let change = "UPDATE gateway.console_session SET"
        try await stage.run("\(change) proven_at = now() - interval '11 minutes' WHERE hash = $1", [.bytes(hash)])
        #expect(try await stage.accounts.session(hash)?.isProven == false)
        try await stage.accounts.prove(hash)
        #expect(try await stage.accounts.session(hash)?.isProven == true)
        // Watching is not a use; opening a page is.
        try await stage.run("\(change) seen_at = now() - interval '110 minutes' WHERE hash = $1", [.bytes(hash)])
        #expect(try await stage.accounts.session(hash, isWatching: true) != nil)
        let seen = try await stage.accounts.sessions(of: id)
        #expect(seen.count == 1 && seen[0].browser == "Firefox")
        _ = try await stage.accounts.session(hash)
        #expect(try await stage.accounts.sessions(of: id)[0].seenAt > seen[0].seenAt)
        try await stage.run("\(change) seen_at = now() - interval '121 minutes' WHERE hash = $1", [.bytes(hash)])
        #expect(try await stage.accounts.session(hash) == nil)
        try await stage.open("t", for: id)
        try await stage.run("\(change) ends_at = now() WHERE hash = $1", [.bytes(stage.hash("t"))])
        #expect(try await stage.accounts.session(stage.hash("t")) == nil)
        try await stage.accounts.sweep()
    }

    @Test func aSessionThatAwaitsACodeIsNotListedAndCannotBeProven() async throws {
        let stage = try await Stage()
        let id = try await stage.account("kim", .owner, in: stage.acme)
        try await stage.open("s", for: id, awaitsCode: true)
        try await stage.accounts.prove(stage.hash("s"))
        let session = try #require(try await stage.accounts.session(stage.hash("s")))
        #expect(session.awaitsCode && !session.isProven)
        #expect(try await stage.accounts.sessions(of: id).isEmpty)
        try await stage.accounts.open(
            stage.hash("t"),
            for: stage.stored(id, "kim"),
            awaitsCode: false,
            from: .init(address: "192.0.2.1", browser: ""),
            replacing: stage.hash("s")
        )
        #expect(try await stage.accounts.session(stage.hash("s")) == nil)
        #expect(try await stage.accounts.session(stage.hash("t")) != nil)
        let entries = try await stage.audit(stage.acme)
        #expect(entries.filter { $0.contains(" signin ") }.count == 1, "\(entries)")
    }

    // Passwords take time to check: meanwhile the account can get another one, or be disabled.
    @Test func aPasswordThatWasReplacedOpensNothing() async throws {
        let stage = try await Stage()
        let id = try await stage.account("kim", .owner, in: stage.acme)
        var former = stage.stored(id, "kim")
        former.password = "former"
        let origin = PostgresAccountStore.SessionOrigin(address: "192.0.2.1", browser: "")
        try await stage.accounts.open(stage.hash("s"), for: former, awaitsCode: false, from: origin)
        #expect(try await stage.accounts.session(stage.hash("s")) == nil)
        let present = stage.stored(id, "kim")
        #expect(try await stage.accounts.setDisabled(true, stage.name("kim"), by: .command(user: 0)))
        try await stage.accounts.open(stage.hash("t"), for: present, awaitsCode: false, from: origin)
        #expect(try await stage.accounts.setDisabled(false, stage.name("kim"), by: .command(user: 0)))
        #expect(try await stage.accounts.session(stage.hash("t")) == nil)
        let entries = try await stage.audit(stage.acme)
        #expect(!entries.contains { $0.contains(" signin ") }, "\(entries)")
    }

    // A person who may not invite any longer does not come back by a link.
    @Test func theLinksOfAFormerOwnerEnd() async throws {
        let stage = try await Stage()
        try await stage.account("kim", .owner, in: stage.acme)
        try await stage.account("lee", .owner, in: stage.acme)
        let invitation = AccountInvitation(name: stage.name("eve"), tenant: stage.acme, role: .owner)
        let kim = AuditActor.account(stage.name("kim"))
        #expect(try await stage.accounts.invite(invitation, hash: stage.hash("eve"), by: kim))
        #expect(
            try await stage.accounts.setRole(.analyst, of: stage.name("kim"), in: stage.acme, by: .command(user: 0))
                == .done
        )
        #expect(try await stage.accounts.accept(stage.hash("eve"), password: "hash") == .unknown)
    }

    @Test func peopleEndTheirOwnSessionsOnly() async throws {
        let stage = try await Stage()
        let kim = try await stage.account("kim", .owner, in: stage.acme)
        let lee = try await stage.account("lee", .owner, in: stage.other)
        try await stage.open("k", for: kim)
        let id = try #require(try await stage.accounts.sessions(of: kim).first?.id)
        #expect(try await !stage.accounts.end(id, of: lee))
        #expect(try await stage.accounts.session(stage.hash("k")) != nil)
        #expect(try await stage.accounts.end(id, of: kim))
        #expect(try await stage.accounts.session(stage.hash("k")) == nil)
        for index in 0..<25 { try await stage.open("many \(index)", for: kim) }
        #expect(try await stage.accounts.sessions(of: kim).count == 20)
    }

    @Test func aCodeIsUsedOnce() async throws {
        let stage = try await Stage()
        let id = try await stage.account("kim", .owner, in: stage.acme)
        #expect(try await !stage.accounts.useCode(of: 100, by: id), "it has no codes")
        try await stage.accounts.setCodes([1], usedStep: 50, of: id, named: stage.name("kim"))
        #expect(try await !stage.accounts.useCode(of: 50, by: id))
        #expect(try await stage.accounts.useCode(of: 100, by: id))
        #expect(try await !stage.accounts.useCode(of: 100, by: id))
        #expect(try await !stage.accounts.useCode(of: 99, by: id))
        #expect(try await stage.accounts.useCode(of: 101, by: id))
    }

    // MARK: Failures

    @Test func failuresBlockTwiceAsLongEachTime() async throws {
        let stage = try await Stage()
        let subject = PostgresAccountStore.AttemptSubject(digest: stage.hash("account kim"), free: 3)
        func attempt() async throws -> Int? { try await stage.accounts.attempt(subject).wait }
        func wait() async throws {
            try await stage.run(
                "UPDATE gateway.account_attempt SET blocked_until = now() WHERE subject = $1",
                [.bytes(subject.digest)]
            )
        }
        for _ in 0..<3 { #expect(try await attempt() == nil) }
        for expected in [30, 60, 120, 240, 480, 960, 1920, 3600, 3600] {
            #expect(try await attempt() == nil, "the attempt itself is read")
            let blocked = try #require(try await attempt())
            #expect((expected - 20...expected).contains(blocked), "\(blocked) of \(expected)")
            try await wait()
        }
        // A right attempt is taken back; it does not clear those of an address.
        let before = try await failures(stage, subject)
        #expect(try await attempt() == nil)
        try await stage.accounts.succeeded(subject, all: false)
        #expect(try await failures(stage, subject) == before)
        #expect(try await attempt() == nil, "and it blocks nobody")
        try await stage.accounts.succeeded(subject, all: true)
        #expect(try await failures(stage, subject) == 0)
    }

    private func failures(_ stage: Stage, _ subject: PostgresAccountStore.AttemptSubject) async throws -> Int {
        let sql = "SELECT coalesce(max(failures), 0) AS n FROM gateway.account_attempt WHERE subject = $1"
        return try await stage.stores.engine.run(Statement(sql, [.bytes(subject.digest)]), tenant: nil).only().int("n")
    }

    @Test func attemptsAtTheSameTimeAreCounted() async throws {
        let stage = try await Stage()
        let subject = PostgresAccountStore.AttemptSubject(digest: stage.hash("address x"), free: 3)
        let accounts = stage.accounts
        let passed = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 { group.addTask { try await accounts.attempt(subject).wait == nil } }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        // The fourth failure blocks; it is read itself.
        #expect(passed == 4)
    }

    @Test func anAdministratorUnlocksAnAccount() async throws {
        let stage = try await Stage()
        try await stage.account("kim", .owner, in: stage.acme)
        let subjects = ["account kim", "again kim"].map {
            PostgresAccountStore.AttemptSubject(digest: stage.hash($0), free: 0)
        }
        let name = stage.name("kim")
        for subject in subjects {
            for failures in 1...2 { #expect(try await stage.accounts.attempt(subject) == .counted(failures)) }
            #expect(try await stage.accounts.attempt(subject).wait != nil)
            #expect(try await stage.accounts.unlock(subjects, name, by: .command(user: 0)))
            #expect(try await !stage.accounts.unlock(subjects, name, by: .command(user: 0)))
            #expect(try await stage.accounts.attempt(subject) == .counted(1))
        }
        #expect(try await stage.audit(stage.acme).contains("cli:0 unlock account \(name)"))
    }

    @Test func failuresAreInTheAuditOfTheTenantsOfTheAccount() async throws {
        let stage = try await Stage()
        try await stage.account("kim", .owner, in: stage.acme)
        let name = stage.name("kim")
        #expect(try await stage.accounts.refused(name, failures: 6, of: "password"))
        #expect(try await !stage.accounts.refused("nobody", failures: 6, of: "password"))
        let audit = try await stage.audit(stage.acme)
        #expect(audit.filter { $0.contains("refuse") } == ["gateway refuse account \(name)"])
    }

    @Test func failuresOfTheDaysBeforeYesterdayAreRemoved() async throws {
        let stage = try await Stage()
        let old = PostgresAccountStore.AttemptSubject(digest: stage.hash("old"), free: 3)
        let new = PostgresAccountStore.AttemptSubject(digest: stage.hash("new"), free: 3)
        for subject in [old, new] { _ = try await stage.accounts.attempt(subject) }
        // More than one step removes.
        try await stage.run(
            """
            INSERT INTO gateway.account_attempt (subject, failures, failed_at, blocked_until)
                SELECT sha256(convert_to('old ' || n, 'UTF8')), 1, now() - interval '3 days', now() FROM generate_series(1, 5001) AS n
            """,
            []
        )
        try await stage.run(
            "UPDATE gateway.account_attempt SET failed_at = now() - interval '3 days' WHERE subject = $1",
            [.bytes(old.digest)]
        )
        try await stage.accounts.sweep()
        #expect(try await failures(stage, old) == 0)
        #expect(try await failures(stage, new) == 1)
        let left = "SELECT count(*) AS n FROM gateway.account_attempt WHERE failed_at < now() - interval '2 days'"
        #expect(try await stage.stores.engine.run(Statement(left), tenant: nil).only().int("n") == 0)
    }

    // MARK: Rights

    @Test func callsOfDevicesCannotReadAccounts() async throws {
        let stage = try await Stage()
        for table in ["account", "account_role", "console_session", "account_invitation", "account_attempt"] {
            await #expect(throws: PostgresError.self, "\(table)") {
                try await stage.stores.call.run(Statement("SELECT count(*) FROM gateway.\(table)"), tenant: "acme")
            }
        }
    }
}

extension PostgresAccountStore.Attempt {
    /// The seconds to wait; nil: the attempt is counted.
    fileprivate var wait: Int? { if case .blocked(let seconds) = self { seconds } else { nil } }
}
