import ArgumentParser
import CommandSupport
import EngineStore
import Foundation
import Gateway
import Model
import NativeHTTP
import Store

/// Who did what.
struct Audit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show who did what: keys, provisioning, imports, erasures.",
        discussion: """
            The last entries, oldest first; with --after those behind a position, to go on reading. Rows are written in the transaction of the act itself;
            nobody but the schema's owner can change or delete them.
            """
    )

    @Option(help: "Only this tenant; default: every one.") var tenant: String?
    @Option(help: "Only entries behind this position; needs --tenant.") var after: Int64?
    @Option(help: "How many to show, 1 to 1000.") var limit = 50
    @Flag(help: "Print JSON.") var json = false
    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard (1...1000).contains(limit) else { throw ValidationError("--limit must be 1 to 1000") }
        guard after == nil || tenant != nil else {
            throw ValidationError("--after needs --tenant: each has its own positions")
        }
        if let after, after < 0 { throw ValidationError("--after is no position") }
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
                // No more than two pages in memory, however many tenants there are.
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
