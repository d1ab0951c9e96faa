import ArgumentParser
import CommandSupport
import Commands
import DeviceFiles
import Gateway
import Imports
import Model
import Store
import TransferStore

extension DeviceFormat: ExpressibleByArgument {}

/// Imports devices from a file, such as another vendor's export, and exports them.
struct Devices: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Import, export and diagnose devices, and confirm their users.",
        subcommands: [Import.self, Export.self, Vouch.self, DiagnoseCommand.self]
    )

    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write an app's active devices to standard output by their keys, in the format of import.",
            discussion: "The file contains complete device tokens: protect it like the database."
        )

        @Option(help: "The tenant.") var tenant: String
        @Option(help: "The app.") var app: String
        @Option(help: "Only devices of this vendor's SDK.") var vendor: String?
        @Option(help: "csv or ndjson.") var format = DeviceFormat.ndjson
        @OptionGroup var common: CommonOptions

        /// 1,000 rows per page: at most a megabyte in memory.
        private static let pageSize = 1000

        func run() async throws {
            try await common.withDatabase(isAudited: true) { _, database in
                let store = PostgresTransferStore(call: database.call)
                try await database.commands.run(
                    ExportRules.begin(AppID(app), vendor: vendor, by: common.actor),
                    in: TenantID(tenant)
                )
                if format == .csv { Console.print(CSV.record(DeviceLine.columns)) }
                var bar = ProgressBar()
                var count = 0
                var after: ExportedIdentities.Place?
                repeat {
                    let page = try await rows(of: store, after: after)
                    let lines = page.items.map {
                        DeviceLine.line(DeviceLine.values($0.device, $0.identity, $0.facts), format)
                    }
                    if !lines.isEmpty { Console.print(lines.joined(separator: "\n")) }
                    count += lines.count
                    after = page.next
                    bar.show(done: count, of: nil, rows: count, isLast: after == nil)
                } while after != nil
            }
        }

        /// The page of rows after a place; nil: the first.
        private func rows(
            of store: PostgresTransferStore,
            after: ExportedIdentities.Place?
        ) async throws(StoreError) -> ExportedIdentities {
            let owner = TenantID(tenant)
            guard let vendor else {
                return try await store.identities(of: AppID(app), in: owner, after: after, limit: Self.pageSize)
            }
            let scope = AppScope(app: AppID(app), vendor: Vendor(vendor))
            return try await store.identities(of: scope, in: owner, after: after, limit: Self.pageSize)
        }
    }
}

extension Devices {
    /// Confirms the user of an identity, as `POST /v1/identities/{identity}/vouch` does.
    struct Vouch: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Confirm the user of an identity, so that its level of assurance is vouched.",
            discussion: """
                The identity is identities[].id of GET /v1/devices?user=…, and the event "moved" names it. Writes an audit entry and the event "vouched".
                """
        )

        @Argument(help: "The identity's id.") var identity: String
        @Option(help: "The tenant.") var tenant: String
        @Option(help: "The user that is confirmed; if the identity has another one, nothing is changed.") var user:
            String?
        @OptionGroup var common: CommonOptions

        func validate() throws {
            guard IdentityID(text: identity) != nil else {
                throw ValidationError("the identity '\(identity)' is not a UUID")
            }
        }

        func run() async throws {
            guard let id = IdentityID(text: identity) else { return }
            let request = DeviceChangeRules.vouch(id, of: user.map { UserID($0) }, by: common.actor)
            let vouched = try await common.withDatabase(isAudited: true) { _, database in
                try await database.commands.run(request, in: TenantID(tenant))
            }
            guard let vouched else {
                throw CommandFailure("devices vouch: tenant '\(tenant)' has no such active identity of that user")
            }
            Console.print(
                "vouched for \(vouched.user?.rawValue ?? "no user") (\(vouched.vendor), \(vouched.key.rawValue))"
            )
        }
    }
}
