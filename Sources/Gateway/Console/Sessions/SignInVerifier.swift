package import AccountStore
import Crypto
import Foundation
package import Logging
package import Model
import Observability

/// Proves who a person is: passwords, one-time codes, and how often they may be wrong. Safe to call from any task.
package struct SignInVerifier: Sendable {
    /// 5 wrong passwords of an account, and 20 of an address, behind which there may be an office.
    static let accountFree = 5
    static let addressFree = 20
    /// 120 passwords of an account in an hour, and 1,200 of an address, however many are right: each takes a tenth of a second of a core, so an account costs
    /// at most 12 s and an address 2 minutes of an hour.
    static let accountHourly = 120
    static let addressHourly = 1200

    let store: PostgresAccountStore
    let work: PasswordWork
    let identifiers: any IdentifierSource
    let clock: any WallClock
    private let logger: Logger
    /// The key from which the secrets of one-time codes follow.
    private let codesKey: [UInt8]

    package init(
        store: PostgresAccountStore,
        work: PasswordWork,
        identifiers: any IdentifierSource,
        clock: any WallClock,
        logger: Logger,
        codesKey: [UInt8]
    ) {
        self.store = store
        self.work = work
        self.identifiers = identifiers
        self.clock = clock
        self.logger = logger
        self.codesKey = codesKey
    }

    /// The outcome of a proof.
    enum Proof: Sendable {
        case right(StoredAccount)
        case wrong
        /// Too many were wrong: seconds to wait.
        case blocked(Int)
        /// Too many people sign in.
        case busy
    }

    /// A proof without its account, for the metrics.
    static func outcome(_ proof: Proof) -> ConsoleCounts.SignIn {
        switch proof {
        case .right: .right
        case .wrong: .wrong
        case .blocked: .blocked
        case .busy: .busy
        }
    }

    /// A kind of proof that a person gives.
    private enum Asked: String {
        case password
        case code
        /// The password of an account that is signed in.
        case again = "password again"
    }

    /// Everything whose failures can block an account.
    package static func subjects(of account: String) -> [PostgresAccountStore.AttemptSubject] {
        [subject(.password, account), subject(.again, account)]
    }

    /// The failures of an account, whether it exists or not. Those of people who are signed in count apart: strangers at other addresses cannot lock them out of what they do.
    private static func subject(_ asked: Asked, _ name: String) -> PostgresAccountStore.AttemptSubject {
        let kind = asked == .again ? "again" : "account"
        return .init(digest: Array(SHA256.hash(data: Array("\(kind) \(name)".utf8))), free: accountFree)
    }

    /// The failures of an IPv4 address, or of the /64 of an IPv6 address, which is what one customer has.
    private static func subject(address: String) -> PostgresAccountStore.AttemptSubject {
        let ip = IPAddress(address)?.unmapped
        let network = ip.map { HexCoding.encode($0.bytes.prefix($0.isV4 ? 4 : 8)) } ?? address
        return .init(digest: Array(SHA256.hash(data: Array("address \(network)".utf8))), free: addressFree)
    }

    /// The checks of a subject in this hour. Each hour has subjects of its own, so that its count starts at zero, however often people sign in.
    private static func hourly(
        _ subject: PostgresAccountStore.AttemptSubject,
        free: Int,
        _ now: Timestamp
    ) -> PostgresAccountStore.AttemptSubject {
        let hour = Array("hour \(now.seconds / 3600) ".utf8)
        return .init(digest: Array(SHA256.hash(data: hour + subject.digest)), free: free)
    }

    /// Checks a name and a password. An unknown name takes as long as a wrong password.
    ///
    /// - Throws: `StoreError`, or the hash's error.
    func check(_ name: String, _ password: String, from address: String?) async throws -> Proof {
        // A name that no account can have is counted and compared like another.
        let name = AccountNames.normalized(name) ?? "?" + String(name.prefix(64))
        return try await counted(.password, name, from: address, forgets: { $0.codeSalt == nil }) {
            try await matching(name, password)
        }
    }

    /// Checks the password of an account that is signed in.
    ///
    /// - Throws: `StoreError`, or the hash's error.
    func check(_ password: String, of session: ConsoleSession, from address: String?) async throws -> Proof {
        try await counted(.again, session.name, from: address, forgets: { _ in true }) {
            try await matching(session.name, password)
        }
    }

    private func matching(_ name: String, _ password: String) async throws -> StoredAccount? {
        let account = try await store.account(named: name)
        let stored = account.flatMap { $0.isDisabled ? nil : $0.password }
        let isRight = try await work.matches(String(password.prefix(PasswordRules.limitBytes)), stored)
        return isRight ? account : nil
    }

    /// Checks a one-time code, and uses it.
    func checkCode(_ code: String, of session: ConsoleSession, from address: String?) async throws -> Proof {
        try await counted(.code, session.name, from: address, forgets: { _ in true }) {
            guard let account = try await store.account(session.account), let salt = account.codeSalt,
                let step = oneTimeCode(account.id, salt).step(of: code, at: clock.now()),
                try await store.useCode(of: step, by: account.id)
            else { return nil }
            return account
        }
    }

    /// Counts an attempt before it is checked, and takes it back if it was right. Earlier failures of the account are forgotten when nothing more has to be
    /// proven: the right password does not make wrong codes count for nothing.
    private func counted(
        _ asked: Asked,
        _ name: String,
        from address: String?,
        forgets: (StoredAccount) -> Bool,
        _ check: () async throws -> StoredAccount?
    ) async throws -> Proof {
        let account = Self.subject(asked, name)
        let place = Self.subject(address: address ?? "unknown")
        if case .blocked(let wait) = try await store.attempt(place) { return .blocked(wait) }
        let failures: Int
        switch try await store.attempt(account) {
        case .counted(let number): failures = number
        case .blocked(let wait):
            try await store.succeeded(place, all: false)
            return .blocked(wait)
        }
        let now = clock.now()
        let hourly = [
            Self.hourly(place, free: Self.addressHourly, now), Self.hourly(account, free: Self.accountHourly, now),
        ]
        if asked != .code, let wait = try await hourlyWait(hourly, now) {
            try await store.succeeded(account, all: false)
            try await store.succeeded(place, all: false)
            return .blocked(wait)
        }
        do {
            guard let found = try await check() else {
                note(failures, asked, name, from: address)
                return .wrong
            }
            try await store.succeeded(account, all: forgets(found))
            try await store.succeeded(place, all: false)
            return .right(found)
        } catch is PasswordWork.Busy {
            for subject in [account, place] + hourly { try await store.succeeded(subject, all: false) }
            return .busy
        }
    }

    /// Counts a check that costs a hash. The count stays, also of a right password: a person with an account could otherwise keep the cores busy.
    ///
    /// - Parameters:
    ///   - subjects: those of the hour: the address first, so that an address which has too many does not count for accounts.
    ///   - now: in the hour.
    /// - Throws: the error of the store.
    /// - Returns: the seconds to wait, if there were too many in this hour.
    private func hourlyWait(_ subjects: [PostgresAccountStore.AttemptSubject], _ now: Timestamp) async throws -> Int? {
        for subject in subjects {
            guard case .blocked(let wait) = try await store.attempt(subject) else { continue }
            return min(wait, 3600 - Int(now.seconds % 3600))
        }
        return nil
    }

    /// Records failures of an account that make it wait, which limits the rows. Not before the answer: its time would tell whether the account exists.
    private func note(_ failures: Int, _ asked: Asked, _ name: String, from address: String?) {
        guard failures > Self.accountFree else { return }
        Task { [store, logger] in
            do {
                guard try await store.refused(name, failures: failures, of: asked.rawValue) else { return }
                logger.notice(
                    "wrong proofs of an account of the console",
                    metadata: [
                        LogKey.account: "\(name)", LogKey.reason: "\(asked.rawValue)", LogKey.count: "\(failures)",
                        LogKey.peer: "\(address ?? "?")",
                    ]
                )
            } catch {
                logger.warning("wrong proofs of an account were not recorded", metadata: [LogKey.error: "\(error)"])
            }
        }
    }

    // MARK: Codes

    func oneTimeCode(_ account: AccountID, _ salt: [UInt8]) -> OneTimeCode {
        OneTimeCode(key: codesKey, account: account.description, salt: salt)
    }

    /// A random value for new codes.
    func newSalt() -> [UInt8] { HexCoding.decode(identifiers.randomHex(byteCount: 16)) ?? [] }

    // MARK: Sessions

    /// Opens a session and returns the value of its cookie. It replaces `former`: no value that was known before a proof is worth more after it.
    ///
    /// - Throws: `StoreError`.
    func open(
        for account: StoredAccount,
        awaitsCode: Bool,
        from origin: PostgresAccountStore.SessionOrigin,
        replacing former: [UInt8]?
    ) async throws -> String {
        let secret = identifiers.randomHex(byteCount: 32)
        try await store.open(
            Array(SHA256.hash(data: Array(secret.utf8))),
            for: account,
            awaitsCode: awaitsCode,
            from: origin,
            replacing: former
        )
        return secret
    }
}
