import AccountStore
import ArgumentParser
import CommandSupport
import ConsoleHTTP
import EngineStore
import Foundation
import Gateway
import Model
import Store

/// Accounts of the web console.
struct AccountCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account",
        abstract: "Invite people to the web console; list, disable and unlock accounts; change their roles.",
        subcommands: [
            Invite.self, List.self, Role.self, Disable.self, Enable.self, Unlock.self, Reset.self,
        ]
    )

    private static var roles: String { AccountRole.allCases.map(\.rawValue).joined(separator: ", ") }

    /// A name as accounts have it.
    ///
    /// - Throws: `ValidationError`.
    private static func checked(_ name: String) throws -> String {
        guard let name = AccountNames.normalized(name) else {
            throw ValidationError("the name must be 1 to 64 letters, digits, '.', '-', '_' and '@'")
        }
        return name
    }

    private static func checkedRole(_ text: String) throws -> AccountRole {
        guard let role = AccountRole(rawValue: text) else { throw ValidationError("--role must be one of \(roles)") }
        return role
    }

    /// The tenant of a role: `platform` has none, every other needs one.
    private static func checkedTenant(_ tenant: String?, _ role: AccountRole?) throws -> TenantID {
        if role == .platform {
            guard tenant == nil else { throw ValidationError("the role platform has no tenant: omit --tenant") }
            return TenantID("")
        }
        guard let tenant, !tenant.isEmpty else { throw ValidationError("--tenant names the tenant of the role") }
        return TenantID(tenant)
    }

    /// Prints the link of an invitation. The address of the console is known to the person, not to this command.
    private static func show(_ secret: String, _ url: String?, _ name: String, json: Bool) {
        var base = url ?? ""
        while base.hasSuffix("/") { base.removeLast() }
        let link = base + InvitationLink.path(secret)
        if json {
            Console.print([
                "name": .string(name), "link": .string(link), "seconds": .int(AccountInvitation.lifetimeSeconds),
            ])
        } else {
            Console.print(link)
            Console.error(
                "The link works once, for \(AccountInvitation.lifetimeSeconds / 60) minutes. "
                    + (url == nil ? "Open it below the address of the console (--url)." : "Open it in a browser.")
            )
        }
    }

    struct Invite: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a link by which a person creates an account. The first owner of a tenant begins here."
        )
        @Argument(help: "The name of the account.") var name: String
        @Option(help: "The tenant.") var tenant: String?
        @Option(help: "The role: owner, operator, author, analyst, auditor, or platform without a tenant.")
        var role = AccountRole.owner.rawValue
        @Option(help: "The address of the console, with which the link begins: https://console.example.") var url:
            String?
        @Flag(help: "Print JSON.") var json = false
        @OptionGroup var common: CommonOptions

        func validate() throws {
            _ = try AccountCommand.checked(name)
            _ = try AccountCommand.checkedTenant(tenant, try AccountCommand.checkedRole(role))
        }

        func run() async throws {
            let (name, role) = (try AccountCommand.checked(name), try AccountCommand.checkedRole(role))
            let tenant = try AccountCommand.checkedTenant(tenant, role)
            let secret = InvitationLink.secret(SystemIdentifiers())
            let outcome = try await common.withDatabase(isAudited: true) { (_, database) -> Outcome in
                let store = PostgresAccountStore(engine: database.engine)
                if try await store.account(named: name) != nil { return .exists }
                let invitation = AccountInvitation(name: name, tenant: tenant, role: role)
                let isStored = try await store.invite(
                    invitation,
                    hash: InvitationLink.hash(secret),
                    by: common.actor
                )
                return isStored ? .stored : .unknownTenant
            }
            switch outcome {
            case .stored: AccountCommand.show(secret, url, name, json: json)
            case .exists:
                throw CommandFailure("account invite: '\(name)' exists; give it a role with 'account role'")
            case .unknownTenant: throw CommandFailure("account invite: tenant '\(tenant)' does not exist")
            }
        }

        private enum Outcome: Sendable { case stored, exists, unknownTenant }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List accounts with their roles.")
        @Option(help: "Only accounts with a role in this tenant.") var tenant: String?
        @Flag(help: "Print JSON.") var json = false
        @OptionGroup var common: CommonOptions

        func run() async throws {
            let accounts = try await common.withDatabase { _, database in
                try await PostgresAccountStore(engine: database.engine).list(in: tenant.map { TenantID($0) })
            }
            if json {
                Console.print(.array(accounts.map(Self.shape)))
            } else {
                let rows = accounts.map { account in
                    [
                        account.name, account.roles.map(Self.text).joined(separator: ", "),
                        account.hasCodes ? "yes" : "no", account.createdAt.rfc3339,
                        account.seenAt?.rfc3339 ?? "never", account.disabledAt == nil ? "no" : "yes",
                    ]
                }
                let heads = ["name", "roles", "one-time codes", "created", "seen", "disabled"]
                Console.print(Console.table(heads, rows))
            }
        }

        private static func text(_ granted: GrantedRole) -> String {
            granted.tenant.rawValue.isEmpty ? granted.role.rawValue : "\(granted.tenant):\(granted.role.rawValue)"
        }

        private static func shape(_ account: ListedAccount) -> JSON {
            [
                "name": .string(account.name),
                "roles": .array(
                    account.roles.map { granted in
                        [
                            "tenant": granted.tenant.rawValue.isEmpty ? .null : .string(granted.tenant.rawValue),
                            "role": .string(granted.role.rawValue),
                        ]
                    }
                ),
                "hasCodes": .bool(account.hasCodes), "createdAt": .string(account.createdAt.rfc3339),
                "seenAt": account.seenAt.map { .string($0.rfc3339) } ?? .null,
                "disabledAt": account.disabledAt.map { .string($0.rfc3339) } ?? .null,
            ]
        }
    }

    struct Role: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give an account a role in a tenant, or take the role away (none). Its sessions end."
        )
        @Argument(help: "The name of the account.") var name: String
        @Argument(help: "The role: owner, operator, author, analyst, auditor, none; platform without a tenant.")
        var role: String
        @Option(help: "The tenant. Omit it to give or take away the role platform.") var tenant: String?
        @OptionGroup var common: CommonOptions

        func validate() throws {
            _ = try AccountCommand.checked(name)
            _ = try place()
        }

        private func place() throws -> (TenantID, AccountRole?) {
            if role == "none" { return (TenantID(tenant ?? ""), nil) }
            let role = try AccountCommand.checkedRole(role)
            return (try AccountCommand.checkedTenant(tenant, role), role)
        }

        func run() async throws {
            let name = try AccountCommand.checked(name)
            let (tenant, role) = try place()
            let outcome = try await common.withDatabase(isAudited: true) { _, database in
                try await PostgresAccountStore(engine: database.engine)
                    .setRole(role, of: name, in: tenant, by: common.actor)
            }
            switch outcome {
            case .done: Console.print("changed")
            case .unknownAccount: throw CommandFailure("account role: account '\(name)' does not exist")
            case .unknownTenant: throw CommandFailure("account role: tenant '\(tenant)' does not exist")
            case .lastOwner: throw CommandFailure("account role: '\(name)' is the last owner of '\(tenant)'")
            }
        }
    }

    struct Disable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End the sessions of an account, and refuse its sign-ins. Its name stays in the audit."
        )
        @Argument(help: "The name of the account.") var name: String
        @OptionGroup var common: CommonOptions

        func run() async throws { try await AccountCommand.set(true, name, common) }
    }

    struct Enable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Let a disabled account sign in again.")
        @Argument(help: "The name of the account.") var name: String
        @OptionGroup var common: CommonOptions

        func run() async throws { try await AccountCommand.set(false, name, common) }
    }

    private static func set(_ isDisabled: Bool, _ name: String, _ common: CommonOptions) async throws {
        let name = try checked(name)
        let didChange = try await common.withDatabase(isAudited: true) { _, database in
            try await PostgresAccountStore(engine: database.engine).setDisabled(isDisabled, name, by: common.actor)
        }
        let verb = isDisabled ? "disable" : "enable"
        guard didChange else {
            throw CommandFailure("account \(verb): '\(name)' does not exist, or is \(verb)d already")
        }
        Console.print("\(verb)d")
    }

    struct Unlock: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Forget the wrong passwords of an account, so that it can sign in at once."
        )
        @Argument(help: "The name of the account.") var name: String
        @OptionGroup var common: CommonOptions

        func run() async throws {
            let name = try AccountCommand.checked(name)
            let didUnlock = try await common.withDatabase(isAudited: true) { _, database in
                try await PostgresAccountStore(engine: database.engine)
                    .unlock(SignInVerifier.subjects(of: name), name, by: common.actor)
            }
            Console.print(didUnlock ? "unlocked" : "it was not locked")
        }
    }

    struct Reset: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a link by which a person chooses another password. One-time codes and sessions then end."
        )
        @Argument(help: "The name of the account.") var name: String
        @Option(help: "The address of the console, with which the link begins: https://console.example.") var url:
            String?
        @Flag(help: "Print JSON.") var json = false
        @OptionGroup var common: CommonOptions

        func run() async throws {
            let name = try AccountCommand.checked(name)
            let secret = InvitationLink.secret(SystemIdentifiers())
            let exists = try await common.withDatabase(isAudited: true) { (_, database) -> Bool in
                let store = PostgresAccountStore(engine: database.engine)
                guard try await store.account(named: name) != nil else { return false }
                let invitation = AccountInvitation(name: name, tenant: TenantID(""), role: nil)
                return try await store.invite(invitation, hash: InvitationLink.hash(secret), by: common.actor)
            }
            guard exists else { throw CommandFailure("account reset: account '\(name)' does not exist") }
            AccountCommand.show(secret, url, name, json: json)
        }
    }
}
