import AnswerShapes
import ArgumentParser
import CommandSupport
import EngineStore
import Foundation
import Gateway
import Model
import Secrets
import Store

/// `audit show|verify`.
struct Audit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show or verify the audit log of administrative actions: keys, provisioning, imports, erasures.",
        discussion: "Without a subcommand, 'audit' shows the log.",
        subcommands: [AuditShow.self, AuditVerify.self],
        defaultSubcommand: AuditShow.self
    )
}

/// Shows the audit log.
struct AuditShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the audit log.",
        discussion: """
            Shows the last entries, oldest first; with --after, the entries after a position. An entry is written in the transaction of its action;
            only the owner of the schema can change or delete it. An erased person has a pseudonym: 'user ~4f2a…'.
            """
    )

    @Option(help: "Only this tenant; default: all tenants.") var tenant: String?
    @Option(help: "Only entries after this position; needs --tenant.") var after: Int64?
    @Option(
        help: "Only entries about this object, such as 'user u-1', 'phone 01012345678' or 'app shop'; needs --tenant."
    ) var subject: String?
    @Option(help: "Number of entries to show, 1 to 1000.") var limit = 50
    @Flag(help: "Print JSON.") var json = false
    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard (1...1000).contains(limit) else { throw ValidationError("--limit must be 1 to 1000") }
        guard after == nil || tenant != nil else {
            throw ValidationError("--after needs --tenant: each tenant has its own positions")
        }
        guard subject == nil || (tenant != nil && after == nil) else {
            throw ValidationError("--subject needs --tenant, and excludes --after")
        }
        if let after, after < 0 { throw ValidationError("--after must not be negative") }
    }

    func run() async throws {
        let entries = try await common.withDatabase { _, database -> [(String, AuditEntry)] in
            let store = PostgresAuditStore(call: database.call)
            if let tenant, let subject {
                return try await store.newest(limit, about: subject, in: TenantID(tenant)).map { (tenant, $0) }
            }
            if let tenant, let after {
                return try await store.entries(in: TenantID(tenant), after: after, limit: limit).map { (tenant, $0) }
            }
            var tenants = tenant.map { [TenantID($0)] } ?? []
            if tenant == nil { tenants = try await PostgresStatusStore(engine: database.engine).tenants() }
            var entries: [(String, AuditEntry)] = []
            for tenant in tenants {
                entries += try await store.newest(limit, in: tenant).map { (tenant.rawValue, $0) }
                // At most two pages are in memory, whatever the number of tenants.
                entries = Array(entries.sorted { ($0.1.at, $0.1.position) < ($1.1.at, $1.1.position) }.suffix(limit))
            }
            return entries
        }
        if json {
            Console.print(
                .array(
                    entries.map { tenant, entry in
                        var object = NativeShapes.audit.object(entry)
                        object["tenant"] = .string(tenant)
                        return .object(object)
                    }
                )
            )
            return
        }
        let rows = entries.map { tenant, entry in
            [
                Date(timeIntervalSince1970: Double(entry.at.milliseconds) / 1000).formatted(.iso8601), tenant,
                "\(entry.position)", entry.actor, entry.action, entry.subject, entry.data.map(JSONWriter.text) ?? "",
            ]
        }
        Console.print(Console.table(["at", "tenant", "position", "by", "did", "to", "what"], rows))
    }
}

/// Verifies the chain of digests and the checkpoints.
struct AuditVerify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check that no entry of the audit log was changed, removed or reordered.",
        discussion: """
            Each entry contains a digest of itself and of the digest before it, and a running gateway signs the newest digest once a minute. Exit status 1: something
            is wrong. Entries that are younger than the last checkpoint are protected by their digests only. Entries may be missing at the beginning only if
            retention removes them, and at the end none that a copy (audit.file, audit.syslog) has. The public key that is printed verifies the checkpoints
            anywhere; note it down in another place, so that a replaced master key is noticed.
            """
    )

    @Option(help: "Only this tenant; default: all tenants.") var tenant: String?
    @Option(
        help:
            "Public key (64 hex digits) whose checkpoints count, next to that of this node's master key. May be given several times."
    ) var signer: [String] = []
    @Flag(help: "Print JSON.") var json = false
    @OptionGroup var common: CommonOptions

    func validate() throws {
        for key in signer where HexCoding.decode(key)?.count != 32 {
            throw ValidationError("--signer must have 64 hex digits: \(key)")
        }
    }

    func run() async throws {
        let (own, chains) = try await common.withDatabase { configuration, database in
            let own = try AuditSigner(try await database.keyRing(configuration)).publicKey
            let signers = [own] + signer.compactMap { HexCoding.decode($0) }
            let reader = AuditReader(store: PostgresAuditStore(call: database.call))
            var tenants = tenant.map { [TenantID($0)] } ?? []
            if tenant == nil { tenants = try await PostgresStatusStore(engine: database.engine).tenants() }
            let keeper = PostgresAuditKeeper(engine: database.engine, node: NodeID("command"))
            let retention = try await keeper.retention()
            var chains: [(TenantID, AuditChain)] = []
            var bar = ProgressBar()
            var rows = 0
            for (index, tenant) in tenants.enumerated() {
                let bounds = AuditBounds(
                    kept: retention[tenant] ?? RetentionPolicy().audit,
                    copied: try await keeper.copied(in: tenant),
                    now: Timestamp(seconds: Int64(Date.now.timeIntervalSince1970))
                )
                let chain = try await reader.verify(tenant, signers: signers, within: bounds) {
                    rows += $0
                    bar.show(done: index, of: tenants.count, rows: rows)
                }
                chains.append((tenant, chain))
            }
            return (own, chains)
        }
        show(own, chains)
        if chains.contains(where: { $0.1.faultCount > 0 }) { throw ExitCode.failure }
    }

    private func show(_ own: [UInt8], _ chains: [(TenantID, AuditChain)]) {
        if json {
            Console.print(
                .object(
                    JSONObject([
                        ("publicKey", .string(HexCoding.encode(own))),
                        ("tenants", .array(chains.map { .object(Self.shape($0, $1)) })),
                    ])
                )
            )
            return
        }
        let rows = chains.map { tenant, chain in
            [
                tenant.rawValue, "\(chain.chained)", "\(chain.unchained)", "\(chain.confirmed)",
                chain.confirmedUntil.map { "\($0)" } ?? "", chain.faultCount == 0 ? "yes" : "no",
            ]
        }
        Console.print(
            Console.table(["tenant", "entries", "without digest", "checkpoints", "signed up to", "unchanged"], rows)
        )
        for (tenant, chain) in chains where chain.faultCount > 0 {
            for fault in chain.faults { Console.print("\(tenant): \(fault)") }
            let more = chain.faultCount - chain.faults.count
            if more > 0 { Console.print("\(tenant): \(more) more") }
        }
        Console.print("public key of the checkpoints: \(HexCoding.encode(own))")
    }

    private static func shape(_ tenant: TenantID, _ chain: AuditChain) -> JSONObject {
        JSONObject([
            ("tenant", .string(tenant.rawValue)),
            ("entries", .int(chain.chained)),
            ("withoutDigest", .int(chain.unchained)),
            ("checkpoints", .int(chain.confirmed)),
            ("signedUpTo", chain.confirmedUntil.map { .int($0) } ?? .null),
            ("faultCount", .int(chain.faultCount)),
            ("faults", .array(chain.faults.map { .string($0.description) })),
        ])
    }
}
