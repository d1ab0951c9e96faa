import ArgumentParser
import CommandSupport
import Commands
import EngineStore
import Foundation
import Gateway
import Imports
import Model
import NIOConcurrencyHelpers
import Routing
import Store

extension DeviceFormat: ExpressibleByArgument {}

/// Imports devices from a file, such as another vendor's export, and exports them.
struct Devices: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Import, export and diagnose devices, and confirm their users.",
        subcommands: [Import.self, Export.self, Vouch.self, DiagnoseCommand.self]
    )

    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Register the devices of a file.",
            discussion: """
                CSV contains the column names in the first line; NDJSON contains an object per line. Columns: \(DeviceLine.columns.joined(separator: ", "));
                the vendor's own names are accepted as well (push-gateway vendors NAME).
                Tags are separated by spaces or semicolons; a single semicolon removes all tags. In NDJSON they are an array.
                A row needs a key (the name that the vendor's SDK uses for the device) or a token. Empty fields do not change stored values.
                The same file may be imported repeatedly: keys identify the devices, and rows without a difference change nothing. A killed import continues at
                its checkpoint.
                With --as-of, what changed here after that time stays: a device that has registered or got another token since, and one that has ended. Such rows
                count as older. An opt-out counts in each case, and of two consents the newer one; where a time is missing, the withdrawal. Without --as-of the
                file is newer than everything but the decisions of users.
                """
        )

        @Argument(help: "The file; - for standard input.", completion: .file()) var file: String
        @Option(help: "The tenant.") var tenant: String
        @Option(help: "The app.") var app: String
        @Option(help: "The vendor of the app's SDK: \(DeviceLine.vendorNames).") var vendor =
            Vendor.native.rawValue
        @Option(help: "csv or ndjson. Default: given by the file name's extension.") var format: DeviceFormat?
        @Option(help: "When the file was made, such as 2026-03-02T01:00:00Z: what changed here later stays.") var asOf:
            String?
        @Flag(help: "Count the changes without making them.") var dryRun = false
        @Option(help: "The file for rejected rows, with line and reason. Default: FILE.rejects") var rejects: String?
        @Flag(help: "Do not write FILE.checkpoint, from which a killed import continues.") var noCheckpoint = false
        @OptionGroup var common: CommonOptions

        private var isStandardInput: Bool { file == "-" }
        private var rejectsPath: String { rejects ?? (isStandardInput ? "rejects.ndjson" : file + ".rejects") }
        private var checkpointPath: String? { isStandardInput || noCheckpoint || dryRun ? nil : file + ".checkpoint" }

        func validate() throws {
            if format == nil, DeviceFormat(fileName: file) == nil {
                throw ValidationError(
                    "the name '\(file)' does not indicate the format; give --format csv or --format ndjson"
                )
            }
            if let asOf, Timestamp(rfc3339: asOf) == nil {
                throw ValidationError("--as-of '\(asOf)' is not a time like 2026-03-02T01:00:00Z")
            }
            guard DeviceLine.vendors.contains(Vendor(vendor)) else {
                throw ValidationError(
                    "--vendor must be one of \(DeviceLine.vendorNames)"
                )
            }
        }

        func run() async throws {
            guard let format = format ?? DeviceFormat(fileName: file) else { return }
            let (source, start) = try open()
            let state = try await common.withDatabase(isAudited: true) { _, database in
                let scope = AppScope(app: AppID(app), vendor: Vendor(vendor))
                let tenant = TenantID(tenant)
                guard try await database.commands.run(StoreRequest(FindApp(scope)) { $0 != nil }, in: tenant) else {
                    throw CommandFailure(
                        "devices import: tenant '\(self.tenant)' has no app '\(app)'; see push-gateway apply"
                    )
                }
                return try await self.run(source, format, start, database, scope, tenant)
            }
            if let path = checkpointPath { try? FileManager.default.removeItem(atPath: path) }
            report(state)
        }

        private func report(_ state: DeviceImport.State) {
            let checkpoint = state.checkpoint
            let rows =
                dryRun
                ? [["would be new", "\(checkpoint.created)"], ["would change", "\(checkpoint.updated)"]]
                : [["new", "\(checkpoint.created)"], ["changed", "\(checkpoint.updated)"]]
            let others = [
                ["unchanged", "\(checkpoint.unchanged)"], ["older", "\(checkpoint.older)"],
                ["rejected", "\(checkpoint.rejected)"],
            ]
            Console.print(Console.table(["devices", "rows"], rows + others))
            if checkpoint.rejected > 0 { Console.error("Rejected rows with their reasons: \(rejectsPath)") }
        }

        private static func checkpoint(_ path: String) throws -> ImportCheckpoint? {
            do {
                return try ImportCheckpoint.read(path)
            } catch {
                throw CommandFailure(error.description, isUsage: error.isUsage)
            }
        }

        private func open() throws -> (FileHandle, ImportCheckpoint) {
            if isStandardInput { return (.standardInput, ImportCheckpoint(sourceBytes: 0)) }
            guard let source = FileHandle(forReadingAtPath: file) else {
                throw CommandFailure("devices import: '\(file)' cannot be read", isUsage: true)
            }
            let size = Int(clamping: try source.seekToEnd())
            var start = ImportCheckpoint(sourceBytes: size)
            start.asOf = asOf
            if let path = checkpointPath, let known = try Self.checkpoint(path) {
                guard known.sourceBytes == size else {
                    throw CommandFailure(
                        "devices import: \(path) belongs to another '\(file)' (\(known.sourceBytes) bytes, not \(size)); remove it to start over"
                    )
                }
                guard known.asOf == asOf else {
                    let given = known.asOf.map { "--as-of " + $0 } ?? "no --as-of"
                    throw CommandFailure(
                        "devices import: \(path) belongs to an import with \(given); give the same, or remove it to start over"
                    )
                }
                start = known
                Console.error("Continuing at line \(start.line); remove \(path) to start over.")
            }
            try source.seek(toOffset: UInt64(start.offset))
            return (source, start)
        }

        private func run(
            _ source: FileHandle,
            _ format: DeviceFormat,
            _ start: ImportCheckpoint,
            _ database: Database,
            _ scope: AppScope,
            _ tenant: TenantID
        ) async throws -> DeviceImport.State {
            let handler = database.commands
            let actor = common.actor
            let rejects = RejectsFile(path: rejectsPath, keep: start.rejectBytes)
            var progress = ImportProgress(start: start, size: isStandardInput ? nil : start.sourceBytes)
            let work = DeviceImport(
                format: format,
                target: try await target(handler, database, scope, tenant, actor),
                reject: { try rejects.append($0.text) },
                done: { state in
                    var checkpoint = state.checkpoint
                    checkpoint.rejectBytes = rejects.bytes
                    if let path = checkpointPath { try checkpoint.write(path) }
                    progress.show(state)
                }
            )
            let state = try await Self.reporting { try await work.run(source, from: start) }
            progress.show(state, isLast: true)
            if !dryRun {
                let counts = state.checkpoint.counts
                let rejected = state.checkpoint.rejected
                try await handler.run(ImportRules.end(counts, rejected: rejected, scope, by: actor), in: tenant)
            }
            return state
        }

        /// Creates the target of the batches.
        private func target(
            _ handler: CommandHandler,
            _ database: Database,
            _ scope: AppScope,
            _ tenant: TenantID,
            _ actor: AuditActor
        ) async throws -> DeviceImport.Target {
            let begun = (
                at: try await PostgresStatusStore(engine: database.engine).status().now, on: ContinuousClock.now
            )
            let identifiers = SystemIdentifiers()
            let isPreview = dryRun
            let asOf = asOf.flatMap { Timestamp(rfc3339: $0) }
            let source = "import/\(identifiers.uuid(at: begun.at).uuidString.lowercased())"
            // A quarter of a minute in all; after that, ending the import and resuming from the checkpoint is better.
            let pauses = [1, 2, 4, 8]
            let isFirst = NIOLockedValueBox(true)
            let statistics = ImportStatistics(PostgresMaintenance(engine: database.engine, node: NodeID("import")))
            return DeviceImport.Target(
                write: { rows, turn async throws(StoreError) in
                    if isPreview {
                        return try await handler.run(
                            ImportRules.preview(rows, scope, asOf: asOf),
                            in: tenant,
                            pauses: pauses
                        )
                    }
                    let at = begun.at + begun.on.duration(to: .now)
                    let counts = try await handler.importDevices(
                        rows,
                        scope,
                        in: tenant,
                        .init(
                            at: at,
                            asOf: asOf,
                            source: source,
                            begunBy: isFirst.withLockedValue { $0 } ? actor : nil,
                            pauses: pauses
                        ),
                        turn: turn
                    )
                    isFirst.withLockedValue { $0 = false }
                    try await statistics.imported(rows.count)
                    return counts
                },
                identifiers: identifiers,
                batchesAtOnce: 2,
                ownColumns: DeviceLine.ownColumns(of: scope.vendor)
            )
        }

        /// Runs `body` and converts a problem of the file to a failure of the command.
        private static func reporting<Value>(_ body: () async throws -> Value) async throws -> Value {
            do {
                return try await body()
            } catch let problem as ImportProblem {
                throw CommandFailure(problem.description, isUsage: problem.isUsage)
            }
        }
    }

    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write an app's active devices to standard output, in the format of import.",
            discussion: "The file contains complete device tokens: protect it like the database."
        )

        @Option(help: "The tenant.") var tenant: String
        @Option(help: "The app.") var app: String
        @Option(help: "Only devices of this vendor's SDK.") var vendor: String?
        @Option(help: "csv or ndjson.") var format = DeviceFormat.ndjson
        @OptionGroup var common: CommonOptions

        /// 1,000 devices per page: at most a megabyte in memory.
        private static let pageSize = 1000

        func run() async throws {
            try await common.withDatabase(isAudited: true) { _, database in
                let store = PostgresDeviceStore(call: database.call)
                try await database.commands.run(
                    ExportRules.begin(AppID(app), vendor: vendor, by: common.actor),
                    in: TenantID(tenant)
                )
                if format == .csv { Console.print(CSV.record(DeviceLine.columns)) }
                var bar = ProgressBar()
                var count = 0
                var after: DeviceID?
                while true {
                    let page = try await store.devices(
                        in: TenantID(tenant),
                        app: AppID(app),
                        after: after,
                        limit: Self.pageSize
                    )
                    let lines = try await lines(page, store)
                    if !lines.isEmpty { Console.print(lines.joined(separator: "\n")) }
                    count += lines.count
                    after = page.last?.id
                    let isLast = page.count < Self.pageSize
                    bar.show(done: count, of: nil, rows: count, isLast: isLast)
                    if isLast { return }
                }
            }
        }

        /// The rows of a page.
        private func lines(_ page: [DeviceFacts], _ store: PostgresDeviceStore) async throws -> [String] {
            let rows = page.flatMap { device in
                device.identities
                    .filter { $0.state == .active && (vendor == nil || $0.vendor.rawValue == vendor) }
                    .map { (device, $0) }
            }
            let facts = try await store.exported(rows.map(\.1.id), in: TenantID(tenant))
            return rows.map { device, identity in
                DeviceLine.line(DeviceLine.values(device, identity, facts[identity.id] ?? ExportedFacts()), format)
            }
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

/// Shows the progress of an import, relative to where it started.
private struct ImportProgress {
    private var bar = ProgressBar()
    private let start: ImportCheckpoint
    /// The size of the source; nil when it is unknown. Unit: bytes.
    private let size: Int?

    init(start: ImportCheckpoint, size: Int?) {
        self.start = start
        self.size = size
    }

    mutating func show(_ state: DeviceImport.State, isLast: Bool = false) {
        let done = state.checkpoint
        let rows = done.created + done.updated + done.unchanged + done.older + done.rejected
        let before = start.created + start.updated + start.unchanged + start.older + start.rejected
        bar.show(
            done: done.offset - start.offset,
            of: size.map { $0 - start.offset },
            rows: rows - before,
            isLast: isLast
        )
    }
}

/// The file of rejected rows; created with the first of them.
private final class RejectsFile {
    private let path: String
    private let keep: Int
    private var handle: FileHandle?
    /// The size of the file. Unit: bytes.
    private(set) var bytes: Int

    /// Truncates the file to its first `keep` bytes: the rest belongs to a batch after the checkpoint, which is imported again.
    init(path: String, keep: Int) {
        self.path = path
        self.keep = keep
        bytes = keep
    }

    func append(_ line: String) throws {
        let handle = try handle ?? open()
        self.handle = handle
        let data = Data((line + "\n").utf8)
        try handle.write(contentsOf: data)
        bytes += data.count
    }

    private func open() throws -> FileHandle {
        if keep == 0 || !FileManager.default.fileExists(atPath: path) {
            // The rows are personal data: only the user may read them.
            _ = FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
        }
        guard let handle = FileHandle(forWritingAtPath: path) else {
            throw CommandFailure("devices import: '\(path)' cannot be written; give another file with --rejects")
        }
        try handle.truncate(atOffset: UInt64(keep))
        return handle
    }
}
