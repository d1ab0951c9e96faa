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
        abstract: "Create, list, rotate and revoke API keys; print the secret that signs a sender's callbacks.",
        subcommands: [Create.self, List.self, Rotate.self, Revoke.self, Callback.self]
    )

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Create a key and print it once.")
        @Option(help: "The tenant.") var tenant: String
        @Option(help: "The name of the key.") var name: String
        @Option(help: "Scopes, comma-separated: \(KeyScope.forms).") var scopes = "send,devices,read"
        @Option(help: "Networks from which the key may be used, comma-separated: 10.0.0.0/8. Default: every network.")
        var networks: String?
        @Option(help: "Recipients to whom the key may send per UTC day, over all nodes. Default: any number.")
        var recipientsPerDay: Int32?
        @Option(help: "Days until it expires; by default it does not expire.") var days: Int?
        @Flag(help: "Print JSON.") var json = false
        @OptionGroup var common: CommonOptions

        func validate() throws {
            let unknown = scopeList.filter { KeyScope($0) == nil }
            guard unknown.isEmpty else {
                throw ValidationError(
                    "unknown scope '\(unknown.joined(separator: ", "))'; the scopes are \(KeyScope.forms)"
                )
            }
            if let network = networkList.first(where: { AddressRange($0) == nil }) {
                throw ValidationError("--networks: '\(network)' is not a network like 10.0.0.0/8")
            }
            guard networkList.count <= APIKeys.networkLimit else {
                throw ValidationError("--networks: at most \(APIKeys.networkLimit)")
            }
            if let recipientsPerDay, recipientsPerDay < 1 {
                throw ValidationError("--recipients-per-day must be at least 1")
            }
            if let days, !(1...3650).contains(days) { throw ValidationError("--days must be 1 to 3650") }
        }

        private var scopeList: [String] { Self.list(scopes) }
        private var networkList: [String] { Self.list(networks ?? "") }

        private static func list(_ text: String) -> [String] {
            text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        }

        func run() async throws {
            let secret = APIKeys.make(SystemIdentifiers())
            let id = try await common.withDatabase(isAudited: true) { _, database in
                let now = try await PostgresStatusStore(engine: database.engine).status().now
                return try await PostgresKeyStore(engine: database.engine).create(
                    ProvisionedKey(
                        name: name,
                        hash: APIKeys.hash(secret),
                        scopes: scopeList,
                        expiresAt: days.map { now + .seconds(Int64($0) * 86_400) },
                        networks: networkList,
                        recipientsPerDay: recipientsPerDay
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
                Key.show(secret)
            }
        }
    }

    private static func show(_ secret: String) {
        Console.print(secret)
        Console.error("The key is shown only once. Send it as: Authorization: Bearer \(secret.prefix(8))…")
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give a key a new secret and print it once. The present secret stays valid for a while.",
            discussion: """
                A third secret is never valid: an earlier one that was still valid ends now. Scopes, networks and the time of expiry stay. The key of a \
                provisioning file is rotated in the file, with previousSecretEnv.
                """
        )
        @Option(help: "The tenant.") var tenant: String
        @Argument(help: "The key's name or id.") var key: String
        @Option(help: "Hours for which the present secret stays valid (0 to 8760).") var overlapHours = 24
        @Flag(help: "Print JSON.") var json = false
        @OptionGroup var common: CommonOptions

        func validate() throws {
            guard (0...8760).contains(overlapHours) else { throw ValidationError("--overlap-hours must be 0 to 8760") }
        }

        func run() async throws {
            let secret = APIKeys.make(SystemIdentifiers())
            let didRotate = try await common.withDatabase(isAudited: true) { _, database in
                try await PostgresKeyStore(engine: database.engine).rotate(
                    key,
                    to: APIKeys.hash(secret),
                    overlap: .seconds(overlapHours * 3600),
                    in: TenantID(tenant),
                    by: common.actor
                )
            }
            guard didRotate else {
                throw CommandFailure(
                    "key rotate: tenant '\(tenant)' has no key '\(key)', or it is from the provisioning file"
                )
            }
            if json {
                Console.print(["key": .string(secret), "overlapSeconds": .int(Int64(overlapHours) * 3600)])
            } else {
                Key.show(secret)
            }
        }
    }

    struct Callback: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the secret that signs the calls to a sender's callback URL, as hex.",
            discussion: """
                X-Gateway-Signature is 'sha256=' and the HMAC-SHA256 of the body, keyed with these 32 bytes. The secret is derived from the names given as \
                options and from a secret that stays when the master key is rotated.
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
            let ring = try await common.withDatabase { try await $1.keyRing($0) }
            let secret = ring.senderSecret(TenantID(tenant), AppID(app), Vendor(vendor), SenderID(sender))
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
                        $0.tenant.rawValue, $0.name, $0.scopes.joined(separator: ","),
                        $0.networks.isEmpty ? "any" : $0.networks.joined(separator: ","), Self.recipients($0),
                        Self.day($0.createdAt), Self.day($0.expiresAt), Self.day($0.lastUsedAt), Self.secrets($0),
                        $0.isProvisioned ? "file" : "API, command",
                    ]
                }
                Console.print(
                    Console.table(
                        [
                            "tenant", "name", "scopes", "networks", "recipients today", "created", "expires",
                            "last used", "other secret", "from",
                        ],
                        rows
                    )
                )
            }
        }

        /// Until when the key's other secret is valid.
        private static func secrets(_ key: StoredKey) -> String {
            key.hasPrevious ? key.previousUntil.map { "until \(day($0))" } ?? "valid" : "none"
        }

        private static func recipients(_ key: StoredKey) -> String {
            key.recipientsPerDay.map { "\(key.recipientsToday ?? 0) of \($0)" } ?? "any"
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
                "networks": .array(key.networks.map { .string($0) }),
                "recipientsPerDay": key.recipientsPerDay.map { .int($0) } ?? .null,
                "recipientsToday": key.recipientsToday.map { .int($0) } ?? .null,
                "hasOtherSecret": .bool(key.hasPrevious),
                "otherSecretUntil": key.previousUntil.map { .int($0.milliseconds) } ?? .null,
            ]
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Revoke a key: its next call gets 401.")
        @Option(help: "The tenant.") var tenant: String
        @Argument(help: "The key's name or id.") var key: String
        @OptionGroup var common: CommonOptions

        func run() async throws {
            let didRevoke = try await common.withDatabase(isAudited: true) { _, database in
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
