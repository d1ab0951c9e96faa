import Adapters
import ArgumentParser
import CommandSupport
import EngineStore
import Foundation
import Gateway
import Model
import Secrets
import Store

/// API keys of the native API.
struct Key: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Create, list and revoke API keys; print the secret that signs a sender's callbacks.",
        subcommands: [Create.self, List.self, Revoke.self, Callback.self]
    )

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Create a key and print it once.")
        @Option(help: "The tenant.") var tenant: String
        @Option(help: "The name of the key.") var name: String
        @Option(help: "Scopes, comma-separated: send, devices, read, admin.") var scopes = "send,devices,read"
        @Option(help: "Days until it expires; by default it does not expire.") var days: Int?
        @Flag(help: "Print JSON.") var json = false
        @OptionGroup var common: CommonOptions

        func validate() throws {
            let unknown = scopeList.filter { !ProvisioningFile.scopes.contains($0) }
            guard unknown.isEmpty else { throw ValidationError("unknown scope '\(unknown.joined(separator: ", "))'") }
            if let days, !(1...3650).contains(days) { throw ValidationError("--days must be 1 to 3650") }
        }

        private var scopeList: [String] { scopes.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) } }

        func run() async throws {
            let secret = APIKeys.make(SystemIdentifiers())
            let id = try await common.withDatabase { _, database in
                let now = try await PostgresStatusStore(engine: database.engine).status().now
                return try await PostgresKeyStore(engine: database.engine).create(
                    ProvisionedKey(
                        name: name,
                        hash: APIKeys.hash(secret),
                        scopes: scopeList,
                        expiresAt: days.map { now + .seconds(Int64($0) * 86_400) }
                    ),
                    in: TenantID(tenant),
                    by: common.actor
                )
            }
            guard let id else {
                throw CommandFailure("key create: tenant '\(tenant)' does not exist, or it already has a key '\(name)'")
            }
            if json {
                Console.print(["id": .string(id.lowercased), "name": .string(name), "key": .string(secret)])
            } else {
                Console.print(secret)
                Console.error("The key is shown only once. Send it as: Authorization: Bearer \(secret.prefix(8))…")
            }
        }
    }

    struct Callback: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the secret that signs the calls to a sender's callback URL, as hex.",
            discussion: """
                X-Gateway-Signature is 'sha256=' and the HMAC-SHA256 of the body, keyed with these 32 bytes. The secret is derived from the master key and \
                the names given as options: the command needs no database, and another master key yields another secret.
                """
        )
        @Option(help: "The tenant.") var tenant: String
        @Option(help: "The app.") var app: String
        @Option(help: "The sender, as the vendor names it: the id that its registration returned.") var sender: String
        @Option(help: "The sender's vendor. Default: \(Self.vendors.first ?? "none").") var vendor: String?
        @OptionGroup var common: CommonOptions

        /// The vendors that call back ends.
        private static var vendors: [String] {
            VendorCatalog.product.names { VendorCatalog.product.callbacks[$0] != nil }
        }

        func run() async throws {
            guard let vendor = vendor ?? Self.vendors.first, Self.vendors.contains(vendor) else {
                throw CommandFailure(
                    "key callback: --vendor must be one of \(Self.vendors.joined(separator: ", "))",
                    isUsage: true
                )
            }
            let configuration = try await common.load([:])
            let key = try MasterKey.load(path: configuration.masterKeyFile, createIfMissing: false)
            let secret = key.senderSecret(TenantID(tenant), AppID(app), Vendor(vendor), SenderID(sender))
            Console.print(HexCoding.encode(secret))
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List keys, without their secrets.")
        @Option(help: "Only this tenant.") var tenant: String?
        @Flag(help: "Print JSON.") var json = false
        @OptionGroup var common: CommonOptions

        func run() async throws {
            let keys = try await common.withDatabase { _, database in
                try await PostgresKeyStore(engine: database.engine).list(tenant.map { TenantID($0) })
            }
            if json {
                Console.print(.array(keys.map(Self.shape)))
            } else {
                let rows = keys.map {
                    [
                        $0.tenant.rawValue, $0.name, $0.scopes.joined(separator: ","), Self.day($0.createdAt),
                        Self.day($0.expiresAt), Self.day($0.lastUsedAt), $0.isProvisioned ? "file" : "command",
                    ]
                }
                Console.print(
                    Console.table(["tenant", "name", "scopes", "created", "expires", "last used", "from"], rows)
                )
            }
        }

        private static func day(_ time: Timestamp?) -> String {
            guard let time else { return "never" }
            return Date(timeIntervalSince1970: Double(time.milliseconds) / 1000).formatted(.iso8601)
        }

        private static func shape(_ key: StoredKey) -> JSON {
            [
                "id": .string(key.id.lowercased), "tenant": .string(key.tenant.rawValue), "name": .string(key.name),
                "scopes": .array(key.scopes.map { .string($0) }), "createdAt": .int(key.createdAt.milliseconds),
                "expiresAt": key.expiresAt.map { .int($0.milliseconds) } ?? .null,
                "lastUsedAt": key.lastUsedAt.map { .int($0.milliseconds) } ?? .null,
            ]
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Revoke a key: its next call gets 401.")
        @Option(help: "The tenant.") var tenant: String
        @Argument(help: "The key's name or id.") var key: String
        @OptionGroup var common: CommonOptions

        func run() async throws {
            let didRevoke = try await common.withDatabase { _, database in
                try await PostgresKeyStore(engine: database.engine).revoke(
                    key,
                    in: TenantID(tenant),
                    by: common.actor
                )
            }
            guard didRevoke else { throw CommandFailure("key revoke: tenant '\(tenant)' has no key '\(key)'") }
            Console.print("revoked")
        }
    }
}
