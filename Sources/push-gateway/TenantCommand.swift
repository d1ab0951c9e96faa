import Adapters
import ArgumentParser
import CommandSupport
import Commands
import EngineStore
import Foundation
import Gateway
import Imports
import Model
import Store
import TransferStore

/// The devices and users of a tenant as files, to move it to another gateway.
struct TenantCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tenant",
        abstract:
            "Write a tenant's devices, users, groups and unread messages to files, and import them at another gateway.",
        subcommands: [Export.self, Import.self]
    )

    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write the devices, users, groups and unread messages of a tenant to a directory.",
            discussion: """
                Each file contains lines of JSON of one app and dialect; devices are written as 'devices export' does, with tags, groups, consents and badges.
                Messages are those that devices have not fetched (UPMC, iPNS): at most 100 of a device, without images and pages. manifest.json lists the files
                with their rows and SHA-256. Settings, keys, credentials and other messages are not part of the export; apply the provisioning file at the
                other gateway first. The files contain complete device tokens: protect them like the database.
                """
        )

        @Argument(help: "The directory; it is created.", completion: .directory) var directory: String
        @Option(help: "The tenant.") var tenant: String
        @OptionGroup var common: CommonOptions

        /// 1,000 rows per page: at most a megabyte in memory.
        private static let pageSize = 1000

        func run() async throws {
            let files = try await common.withDatabase(isAudited: true) { _, database in
                let now = try await PostgresStatusStore(engine: database.engine).status().now
                let writer = try BundleWriter(directory, asOf: now)
                let store = PostgresQueryStore(call: database.call)
                var after: AppID?
                while true {
                    let page = try await store.apps(in: TenantID(tenant), after: after, limit: Self.pageSize)
                    for app in page where app.retiredAt == nil { try await export(app.app, database, writer) }
                    after = page.last?.app
                    if page.count < Self.pageSize { break }
                }
                return try writer.finish()
            }
            guard !files.isEmpty else {
                throw CommandFailure("tenant export: tenant '\(tenant)' has no devices, users and groups")
            }
            let rows = files.map { ["\($0.kind.rawValue)", $0.app.rawValue, $0.vendor.rawValue, "\($0.rows)"] }
            Console.print(Console.table(["file", "app", "vendor", "rows"], rows))
        }

        private func export(_ app: AppID, _ database: Database, _ writer: BundleWriter) async throws {
            let tenant = TenantID(tenant)
            try await database.commands.run(ExportRules.begin(app, vendor: nil, by: common.actor), in: tenant)
            for vendor in DeviceLine.vendors {
                let scope = AppScope(app: app, vendor: vendor)
                try await groups(scope, tenant, database, writer)
                try await users(scope, tenant, database, writer)
                try await devices(scope, tenant, database, writer)
                try await inbox(scope, tenant, database, writer)
            }
        }

        /// Writes the messages that devices have not fetched, in the dialects whose devices fetch messages.
        private func inbox(
            _ scope: AppScope,
            _ tenant: TenantID,
            _ database: Database,
            _ writer: BundleWriter
        ) async throws {
            guard VendorCatalog.product.inboxes.contains(scope.vendor) else { return }
            let store = PostgresTransferStore(call: database.call)
            var after: VendorDeviceKey?
            writer.begin(.inbox, scope)
            while let page = try await store.unread(of: scope, in: tenant, after: after) {
                try writer.write(page.messages.map(InboxLine.text))
                after = page.last
            }
        }

        private func devices(
            _ scope: AppScope,
            _ tenant: TenantID,
            _ database: Database,
            _ writer: BundleWriter
        ) async throws {
            let store = PostgresTransferStore(call: database.call)
            var after: ExportedIdentities.Place?
            writer.begin(.devices, scope)
            repeat {
                let page = try await store.identities(of: scope, in: tenant, after: after, limit: Self.pageSize)
                try writer.write(
                    page.items.map { DeviceLine.line(DeviceLine.values($0.device, $0.identity, $0.facts), .ndjson) }
                )
                after = page.next
            } while after != nil
        }

        private func users(
            _ scope: AppScope,
            _ tenant: TenantID,
            _ database: Database,
            _ writer: BundleWriter
        ) async throws {
            let store = PostgresTransferStore(call: database.call)
            var after: UserID?
            writer.begin(.users, scope)
            while true {
                let page = try await store.users(of: scope, in: tenant, after: after, limit: Self.pageSize)
                try writer.write(page.map(UserLine.text))
                guard let last = page.last else { return }
                after = last.user
            }
        }

        private func groups(
            _ scope: AppScope,
            _ tenant: TenantID,
            _ database: Database,
            _ writer: BundleWriter
        ) async throws {
            let store = PostgresTransferStore(call: database.call)
            var after: GroupName?
            writer.begin(.groups, scope)
            while true {
                let page = try await store.groups(of: scope, in: tenant, after: after, limit: Self.pageSize)
                for group in page { try await members(of: group, scope, tenant, database, writer) }
                guard let last = page.last else { return }
                after = last.name
            }
        }

        /// Writes a group: one line without members, otherwise one for each page of them.
        private func members(
            of group: TitledGroup,
            _ scope: AppScope,
            _ tenant: TenantID,
            _ database: Database,
            _ writer: BundleWriter
        ) async throws {
            let store = PostgresQueryStore(call: database.call)
            let title = group.title.isEmpty ? nil : group.title
            var after: UserID?
            while true {
                let page = try await store.members(
                    of: group.name,
                    scope,
                    in: tenant,
                    after: after,
                    limit: GroupLine.memberCount
                )
                if page.isEmpty, after != nil { return }
                try writer.write([GroupLine.text(.init(group.name, title: title, members: page))])
                after = page.last
                if page.count < GroupLine.memberCount { return }
            }
        }
    }

    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Import the devices, users, groups and unread messages of a directory that 'tenant export' has written.",
            discussion: """
                The tenant and its apps must exist (push-gateway apply). Nothing is imported if a file is missing or was changed, or if another version wrote the
                files. Later changes here stay, as with 'devices import --as-of'; users that exist keep their attributes and settings. The import
                may be repeated, also after it was killed.
                """
        )

        @Argument(help: "The directory.", completion: .directory) var directory: String
        @Option(help: "The tenant.") var tenant: String
        @OptionGroup var common: CommonOptions

        func run() async throws {
            let manifest = try BundleImport.manifest(directory)
            let rows = try await common.withDatabase(isAudited: true) { _, database in
                let work = BundleImport(directory, manifest, TenantID(tenant), database, common.actor)
                try await work.checkApps()
                return try await work.run()
            }
            Console.print(Console.table(["file", "app", "vendor", "new", "changed", "unchanged", "older"], rows))
        }
    }
}
