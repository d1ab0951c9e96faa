import ArgumentParser
import CommandSupport
import EngineStore
import Foundation
import Gateway
import Model
import NativeHTTP
import Store

/// Shows the audit log.
struct Audit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the audit log of administrative actions: keys, provisioning, imports, erasures.",
        discussion: """
            Shows the last entries, oldest first; with --after, the entries after a position. An entry is written in the transaction of its action;
            only the owner of the schema can change or delete it.
            """
    )

    @Option(help: "Only this tenant; default: all tenants.") var tenant: String?
    @Option(help: "Only entries after this position; needs --tenant.") var after: Int64?
    @Option(help: "Number of entries to show, 1 to 1000.") var limit = 50
    @Flag(help: "Print JSON.") var json = false
    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard (1...1000).contains(limit) else { throw ValidationError("--limit must be 1 to 1000") }
        guard after == nil || tenant != nil else {
            throw ValidationError("--after needs --tenant: each tenant has its own positions")
        }
        if let after, after < 0 { throw ValidationError("--after must not be negative") }
    }

    func run() async throws {
        let entries = try await common.withDatabase { _, database -> [(String, AuditEntry)] in
            let store = PostgresAuditStore(call: database.call)
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
