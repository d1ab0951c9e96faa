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

/// Devices by the file: in from another vendor's export, out as a copy.
struct Devices: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Import and export devices.",
        subcommands: [Import.self, Export.self]
    )

    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Register the devices of a file.",
            discussion: """
                CSV names its columns in the first line; NDJSON has an object per line. Columns: \(DeviceLine.columns.joined(separator: ", "));
                the vendor's own names are accepted too (push-gateway vendors NAME).
                Tags stand between spaces or semicolons; a semicolon alone takes all away. In NDJSON they are an array.
                A row needs a key (what the vendor's SDK calls the device) or a token. Empty fields leave what is stored as it is.
                The same file may be imported again: devices are known by their keys. A killed import goes on where it was.
                """
        )

        @Argument(help: "The file; - for standard input.", completion: .file()) var file: String
        @Option(help: "The tenant.") var tenant: String
        @Option(help: "The app.") var app: String
        @Option(help: "Whose SDK the app has: \(DeviceLine.vendorNames).") var vendor =
            Vendor.native.rawValue
        @Option(help: "csv or ndjson. Default: by the file's ending.") var format: DeviceFormat?
        @Flag(help: "Only say what would change.") var dryRun = false
        @Option(help: "Where rows that are not taken go, with line and reason. Default: FILE.rejects") var rejects:
            String?
        @Flag(help: "Do not keep FILE.checkpoint, which a killed import goes on from.") var noCheckpoint = false
        @OptionGroup var common: CommonOptions

        private var isStandardInput: Bool { file == "-" }
        private var rejectsPath: String { rejects ?? (isStandardInput ? "rejects.ndjson" : file + ".rejects") }
        private var checkpointPath: String? { isStandardInput || noCheckpoint || dryRun ? nil : file + ".checkpoint" }

        func validate() throws {
            if format == nil, DeviceFormat(fileName: file) == nil {
                throw ValidationError("'\(file)' does not say what it is; give --format csv or --format ndjson")
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
            let state = try await common.withDatabase { _, database in
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
                ? [
                    ["would be new", "\(checkpoint.created)"], ["would change", "\(checkpoint.updated)"],
                    ["unchanged", "\(state.unchanged)"],
                ] : [["new", "\(checkpoint.created)"], ["known before", "\(checkpoint.updated)"]]
            Console.print(Console.table(["devices", "rows"], rows + [["rejected", "\(checkpoint.rejected)"]]))
            if checkpoint.rejected > 0 { Console.error("Rows that were not taken, with their reasons: \(rejectsPath)") }
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
            if let path = checkpointPath, let known = try Self.checkpoint(path) {
                guard known.sourceBytes == size else {
                    throw CommandFailure(
                        "devices import: \(path) belongs to another '\(file)' (\(known.sourceBytes) bytes, not \(size)); remove it to begin anew"
                    )
                }
                start = known
                Console.error("Going on at line \(start.line); remove \(path) to begin anew.")
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
            let actor = AuditActor.command(user: getuid())
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

        /// Where batches of rows go.
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
            // A quarter of a minute in all; then the checkpoint is better than waiting.
            let pauses = [1, 2, 4, 8]
            let isFirst = NIOLockedValueBox(true)
            let statistics = ImportStatistics(PostgresMaintenance(engine: database.engine, node: NodeID("import")))
            return DeviceImport.Target(
                write: { rows, turn async throws(StoreError) in
                    if isPreview {
                        return try await handler.run(ImportRules.preview(rows, scope), in: tenant, pauses: pauses)
                    }
                    let at = begun.at + begun.on.duration(to: .now)
                    let counts = try await handler.importDevices(
                        rows,
                        scope,
                        in: tenant,
                        .init(at: at, begunBy: isFirst.withLockedValue { $0 } ? actor : nil, pauses: pauses),
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

        /// Runs `body`; a problem of the file becomes a failure of the command.
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
            abstract: "Write an app's active devices to standard output, as import reads them.",
            discussion: "Device tokens are written whole: keep the file as safe as the database."
        )

        @Option(help: "The tenant.") var tenant: String
        @Option(help: "The app.") var app: String
        @Option(help: "Only devices of this vendor's SDK.") var vendor: String?
        @Option(help: "csv or ndjson.") var format = DeviceFormat.ndjson
        @OptionGroup var common: CommonOptions

        /// 1,000 devices a page: a megabyte at most in memory.
        private static let pageSize = 1000

        func run() async throws {
            try await common.withDatabase { _, database in
                let store = PostgresDeviceStore(call: database.call)
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
                    let lines = page.flatMap { device in
                        device.identities
                            .filter { $0.state == .active && (vendor == nil || $0.vendor.rawValue == vendor) }
                            .map { DeviceLine.line(DeviceLine.values(device, $0), format) }
                    }
                    if !lines.isEmpty { Console.print(lines.joined(separator: "\n")) }
                    count += lines.count
                    after = page.last?.id
                    let isLast = page.count < Self.pageSize
                    bar.show(done: count, of: nil, rows: count, isLast: isLast)
                    if isLast { return }
                }
            }
        }
    }
}

/// Shows how far an import is, relative to where it started.
private struct ImportProgress {
    private var bar = ProgressBar()
    private let start: ImportCheckpoint
    /// The source's size; nil: unknown. Unit: bytes.
    private let size: Int?

    init(start: ImportCheckpoint, size: Int?) {
        self.start = start
        self.size = size
    }

    mutating func show(_ state: DeviceImport.State, isLast: Bool = false) {
        let done = state.checkpoint
        let rows = done.created + done.updated + state.unchanged + done.rejected
        let before = start.created + start.updated + start.rejected
        bar.show(
            done: done.offset - start.offset,
            of: size.map { $0 - start.offset },
            rows: rows - before,
            isLast: isLast
        )
    }
}

/// The file of rows that were not taken; made with the first.
private final class RejectsFile {
    private let path: String
    private let keep: Int
    private var handle: FileHandle?
    /// How long it is. Unit: bytes.
    private(set) var bytes: Int

    /// What is behind the first `keep` bytes belongs to a batch that was not noted, and is written again.
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
            // The rows are people's: nobody else reads them.
            _ = FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
        }
        guard let handle = FileHandle(forWritingAtPath: path) else {
            throw CommandFailure("devices import: '\(path)' cannot be written; give another file with --rejects")
        }
        try handle.truncate(atOffset: UInt64(keep))
        return handle
    }
}
