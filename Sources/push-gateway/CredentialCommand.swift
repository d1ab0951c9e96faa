import ArgumentParser
import CommandSupport
import EngineStore
import Gateway
import Model
import Secrets
import Store

/// The credentials of the push service and of upstreams.
struct CredentialCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credential",
        abstract: "List credentials, with their secrets masked.",
        discussion: "Credentials are created by 'push-gateway apply' and by PUT /v1/credentials/{credential}.",
        subcommands: [List.self]
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List credentials, with their secrets masked.")
        @Option(help: "Only this tenant.") var tenant: String?
        @Flag(help: "Show the path under which the vendor of each upstream reports. It is a secret.") var reports =
            false
        @Flag(help: "Print JSON.") var json = false
        @OptionGroup var common: CommonOptions

        func run() async throws {
            let rows = try await common.withDatabase { configuration, database in
                let ring = try await database.keyRing(configuration)
                let directory = PostgresDirectory(call: database.call, engine: database.engine)
                return try await directory.credentials().filter { tenant == nil || $0.key.tenant.rawValue == tenant }
                    .map { Row($0, ring, showsReports: reports) }
            }
            if json {
                Console.print(.array(rows.map(\.json)))
            } else {
                var columns = ["tenant", "credential", "kind", "address", "per second", "state", "secrets", "from"]
                if reports { columns.append("reports to") }
                Console.print(Console.table(columns, rows.map(\.columns)))
            }
        }
    }

    /// One credential.
    private struct Row: Sendable {
        private let stored: StoredCredential
        /// The names of the secrets. Nil: no master key of this node opens them.
        private let secrets: [String]?
        /// The path of reports. Nil: not shown. Empty: the credential is not an upstream.
        private let reports: String?

        init(_ stored: StoredCredential, _ ring: KeyRing, showsReports: Bool) {
            self.stored = stored
            let path = stored.upstream == nil ? "" : UpstreamReportID(stored.key, ring).path
            reports = showsReports ? path : nil
            guard stored.upstream != nil else {
                secrets = ["key"]
                return
            }
            secrets = (try? CredentialSecret.openUpstream(stored, with: ring))??.secrets.keys.sorted()
        }

        private var address: String { stored.endpoint ?? "Apple" }
        private var state: String { stored.refusal.map { "refused: \($0)" } ?? "not refused" }

        var columns: [String] {
            [
                stored.key.tenant.rawValue, stored.key.credential.rawValue, stored.kind, address,
                stored.pushesPerSecond.map { "\($0)" } ?? "any", state,
                secrets.map { $0.map { "\($0)=***" }.joined(separator: " ") } ?? "unreadable", stored.origin.rawValue,
            ] + (reports.map { [$0] } ?? [])
        }

        var json: JSON {
            let rate = stored.upstream == nil ? "pushesPerSecond" : "callsPerSecond"
            var object: JSONObject = [
                "tenant": .string(stored.key.tenant.rawValue), "credential": .string(stored.key.credential.rawValue),
                "kind": .string(stored.kind), "address": stored.endpoint.map { .string($0) } ?? .null,
                rate: stored.pushesPerSecond.map { .int(Int64($0)) } ?? .null,
                "refusal": stored.refusal.map { .string($0) } ?? .null,
                "secrets": secrets.map { .object(JSONObject($0.map { ($0, "***") })) } ?? .null,
                "origin": .string(stored.origin.rawValue),
            ]
            if let reports, !reports.isEmpty { object["reportsTo"] = .string(reports) }
            return .object(object)
        }
    }
}
