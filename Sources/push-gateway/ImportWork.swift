import CommandSupport
import Commands
import DeviceFiles
import EngineStore
import Foundation
import Gateway
import Imports
import Model
import NIOConcurrencyHelpers
import Provisioning
import Store

/// A file of an import, from its checkpoint on.
struct ImportSource {
    let file: String
    let reading: DeviceReading
    let start: ImportCheckpoint
    /// Nil: the import of this file cannot be continued.
    let checkpoint: String?

    private var isStandardInput: Bool { file == "-" }

    /// - Throws: `CommandFailure`.
    init(_ file: String, _ reading: DeviceReading, checkpoint: String?, asOf: String?) throws {
        self.file = file
        self.reading = reading
        self.checkpoint = checkpoint
        guard file != "-" else {
            start = ImportCheckpoint(sourceBytes: 0)
            return
        }
        let size = Int(clamping: try Self.open(file).seekToEnd())
        var start = ImportCheckpoint(sourceBytes: size)
        start.asOf = asOf
        if let path = checkpoint, let known = try Self.known(path) {
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
        self.start = start
    }

    private static func open(_ file: String) throws -> FileHandle {
        guard let handle = FileHandle(forReadingAtPath: file) else {
            throw CommandFailure("devices import: '\(file)' cannot be read", isUsage: true)
        }
        return handle
    }

    private static func known(_ path: String) throws -> ImportCheckpoint? {
        do {
            return try ImportCheckpoint.read(path)
        } catch {
            throw CommandFailure(error.description, isUsage: error.isUsage)
        }
    }

    /// Its content from the checkpoint on, and its size if the progress can be shown as a part of it. Unit: bytes.
    ///
    /// - Throws: `CommandFailure`, or the error of reading.
    func chunks() throws -> (DeviceChunks, size: Int?) {
        if isStandardInput { return (DeviceChunks(streaming: .standardInput), nil) }
        let handle = try Self.open(file)
        // The offset in a compressed file is one of its content, whose size is not known.
        let isCompressed = try DeviceChunks.isCompressed(handle)
        return (try DeviceChunks(handle, at: start.offset), isCompressed ? nil : start.sourceBytes)
    }

    /// Ends the import of all files; until then the checkpoint says that this file was imported.
    func removeCheckpoint() {
        if let checkpoint { try? FileManager.default.removeItem(atPath: checkpoint) }
    }
}

/// The act of an import, and whose devices it is about.
struct ImportPlan {
    enum Act { case write, preview, compare }

    var tenant: TenantID
    var scope: AppScope
    var asOf: Timestamp?
    var act: Act
    var actor: AuditActor
    /// Whether consents that name no source get that of this import.
    var namesSource = true
}

/// Imports files, one after the other, or compares them with the stored devices.
struct ImportWork {
    /// A quarter of a minute in all; after that, ending the import and resuming from the checkpoint is better.
    private static let pauses = [1, 2, 4, 8]

    private let plan: ImportPlan
    private let database: Database
    private let target: DeviceImport.Target
    private let comparison: NIOLockedValueBox<DeviceComparison>

    /// - Throws: `StoreError`.
    init(_ plan: ImportPlan, _ database: Database) async throws {
        self.plan = plan
        self.database = database
        let comparison = NIOLockedValueBox(DeviceComparison())
        self.comparison = comparison
        let now = try await PostgresStatusStore(engine: database.engine).status().now
        let identifiers = SystemIdentifiers()
        target = DeviceImport.Target(
            write: Self.writing(plan, database, identifiers, from: now, comparison),
            identifiers: identifiers,
            batchesAtOnce: 2,
            ownColumns: DeviceLine.ownColumns(of: plan.scope.vendor)
        )
    }

    private typealias Write =
        @Sendable ([DeviceRegistration], _ turn: @Sendable () async throws(StoreError) -> Void) async throws(StoreError)
        -> ImportCounts

    private static func writing(
        _ plan: ImportPlan,
        _ database: Database,
        _ identifiers: SystemIdentifiers,
        from now: Timestamp,
        _ comparison: NIOLockedValueBox<DeviceComparison>
    ) -> Write {
        let handler = database.commands
        let (tenant, scope, asOf, actor) = (plan.tenant, plan.scope, plan.asOf, plan.actor)
        switch plan.act {
        case .compare:
            return { rows, _ async throws(StoreError) in
                let stored = try await handler.run(ImportRules.compare(rows, scope), in: tenant, pauses: pauses)
                comparison.withLockedValue { $0.take(rows, stored) }
                return ImportCounts(unchanged: rows.count)
            }
        case .preview:
            return { rows, _ async throws(StoreError) in
                try await handler.run(ImportRules.preview(rows, scope, asOf: asOf), in: tenant, pauses: pauses)
            }
        case .write:
            let source = plan.namesSource ? "import/\(identifiers.uuid(at: now).uuidString.lowercased())" : nil
            let isFirst = NIOLockedValueBox(true)
            let statistics = ImportStatistics(PostgresMaintenance(engine: database.engine, node: NodeID("import")))
            let begun = ContinuousClock.now
            return { rows, turn async throws(StoreError) in
                let manner = ImportRules.Manner(
                    at: now + begun.duration(to: .now),
                    asOf: asOf,
                    source: source,
                    begunBy: isFirst.withLockedValue { $0 } ? actor : nil,
                    pauses: pauses
                )
                let counts = try await handler.importDevices(rows, scope, in: tenant, manner, turn: turn)
                isFirst.withLockedValue { $0 = false }
                try await statistics.imported(rows.count)
                return counts
            }
        }
    }

    /// Imports a file, and returns the counts of the whole file.
    ///
    /// - Throws: `CommandFailure` for a problem of the file; otherwise the error of the store.
    func run(_ source: ImportSource, rejects path: String) async throws -> ImportCheckpoint {
        let (chunks, size) = try source.chunks()
        let rejects = RejectsFile(path: path, keep: source.start.rejectBytes)
        var progress = ImportProgress(start: source.start, size: size)
        let work = DeviceImport(
            source.reading,
            target: target,
            reject: { try rejects.append($0.text) },
            done: { state in
                var checkpoint = state.checkpoint
                checkpoint.rejectBytes = rejects.bytes
                if let path = source.checkpoint { try checkpoint.write(path) }
                progress.show(state)
            }
        )
        do {
            let state = try await work.run(chunks, from: source.start)
            progress.show(state, isLast: true)
            comparison.withLockedValue { $0.reject(state.checkpoint.rejected) }
            return state.checkpoint
        } catch let problem as ImportProblem {
            let name = source.file == "-" ? "" : " ('\(source.file)')"
            throw CommandFailure(problem.description + name, isUsage: problem.isUsage)
        }
    }

    /// Writes the counts of all files to the audit. Returns the comparison, if the files were compared.
    ///
    /// - Throws: `StoreError`, or `CommandFailure` for more devices than can be compared.
    func end(_ states: [ImportCheckpoint]) async throws -> DeviceComparison? {
        let handler = database.commands
        switch plan.act {
        case .preview: return nil
        case .write:
            let counts = states.reduce(into: ImportCounts()) { $0 += $1.counts }
            let rejected = states.reduce(0) { $0 + $1.rejected }
            let optOuts = states.reduce(0) { $0 + $1.optOuts }
            let consents = states.reduce(0) { $0 + $1.consents }
            let end = ImportRules.end(
                counts,
                rejected: rejected,
                optOuts: optOuts,
                consents: consents,
                plan.scope,
                by: plan.actor
            )
            try await handler.run(end, in: plan.tenant)
            return nil
        case .compare:
            var comparison = comparison.withLockedValue { $0 }
            try await compareStored(&comparison)
            if comparison.isTooLarge {
                throw CommandFailure(
                    "devices import: more than \(DeviceComparison.deviceLimit) devices cannot be compared at once"
                )
            }
            // Files without devices say nothing, and must not count as an agreement.
            if comparison.summary.difference != nil {
                let record = ImportRules.compared(comparison.result, plan.scope, by: plan.actor)
                try await handler.run(record, in: plan.tenant)
            }
            return comparison
        }
    }

    /// Finds the stored devices that the files lack, 1,000 devices at a time.
    private func compareStored(_ comparison: inout DeviceComparison) async throws {
        let store = PostgresDeviceStore(call: database.call)
        var after: DeviceID?
        while true {
            let page = try await store.devices(in: plan.tenant, app: plan.scope.app, after: after, limit: 1000)
            for device in page {
                for identity in device.identities
                where identity.state == .active && identity.vendor == plan.scope.vendor {
                    let hasToken = device.token != nil && device.tokenState == .active
                    comparison.stored(identity.id, identity.key, hasToken: hasToken)
                }
            }
            after = page.last?.id
            if page.count < 1000 { return }
        }
    }
}

/// The file of `--map`.
enum MapFile {
    /// - Throws: `CommandFailure`.
    static func read(_ path: String) throws -> ColumnMap {
        func failure(_ what: String) -> CommandFailure {
            CommandFailure("devices import: the map '\(path)' \(what)", isUsage: true)
        }
        guard let data = FileManager.default.contents(atPath: path) else { throw failure("cannot be read") }
        guard data.count <= ColumnMap.limitBytes, let text = String(validating: data, as: UTF8.self) else {
            throw failure("must be UTF-8 with at most \(ColumnMap.limitBytes) bytes")
        }
        let tree: JSON
        do throws(ProvisioningProblem) {
            tree = try YAMLTree.parse(text)
        } catch {
            throw failure("is wrong: \(error.problem)")
        }
        do throws(ColumnMap.Fault) {
            return try ColumnMap(tree)
        } catch {
            throw failure("is wrong: \(error.what)")
        }
    }
}
