import CommandSupport
import Commands
import DeviceFiles
import Foundation
import Gateway
import Imports
import Model
import Store
import TransferStore

/// Writes the files of a tenant's export, and at the end the manifest, without which they are no export.
final class BundleWriter {
    private let directory: String
    private var manifest: BundleManifest
    private var open: (file: BundleManifest.File, handle: FileHandle, meter: BundleMeter)?
    private var next: (kind: BundleManifest.Kind, scope: AppScope)?

    /// - Throws: `CommandFailure` if the directory cannot be created or contains an export.
    init(_ directory: String, asOf: Timestamp) throws {
        self.directory = directory
        manifest = BundleManifest(asOf: asOf)
        guard !FileManager.default.fileExists(atPath: "\(directory)/\(BundleManifest.fileName)") else {
            throw CommandFailure(
                "tenant export: '\(directory)' contains an export; give another directory",
                isUsage: true
            )
        }
        do {
            try FileManager.default.createDirectory(
                atPath: directory,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw CommandFailure("tenant export: '\(directory)' cannot be created", isUsage: true)
        }
    }

    /// Begins the rows of another kind or app. A file is created with its first row.
    func begin(_ kind: BundleManifest.Kind, _ scope: AppScope) {
        close()
        next = (kind, scope)
    }

    func write(_ lines: [String]) throws {
        guard !lines.isEmpty else { return }
        if open == nil, let next {
            let name = BundleManifest.name(next.kind, manifest.files.count + 1)
            let handle = try create(name)
            let file = BundleManifest.File(
                kind: next.kind,
                app: next.scope.app,
                vendor: next.scope.vendor,
                name: name,
                rows: 0,
                size: 0,
                digest: ""
            )
            open = (file, handle, BundleMeter())
        }
        let bytes = Array((lines.joined(separator: "\n") + "\n").utf8)
        open?.meter.add(bytes)
        try open?.handle.write(contentsOf: Data(bytes))
    }

    private func create(_ name: String) throws -> FileHandle {
        let path = "\(directory)/\(name)"
        // The rows are personal data: only the user may read them.
        _ = FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
        guard let handle = FileHandle(forWritingAtPath: path) else {
            throw CommandFailure("tenant export: '\(path)' cannot be written")
        }
        return handle
    }

    private func close() {
        guard let (begun, handle, meter) = open else { return }
        open = nil
        try? handle.close()
        var file = begun
        (file.rows, file.size, file.digest) = (meter.rows, meter.size, meter.digest)
        manifest.files.append(file)
    }

    /// Writes the manifest. Returns its files.
    func finish() throws -> [BundleManifest.File] {
        close()
        guard !manifest.files.isEmpty else { return [] }
        let handle = try create(BundleManifest.fileName)
        try handle.write(contentsOf: Data(manifest.text.utf8))
        try handle.close()
        return manifest.files
    }
}

/// Imports the files of a tenant's export: groups and users before devices, and their messages last, so that each has what the next refers to.
struct BundleImport {
    private let directory: String
    private let manifest: BundleManifest
    private let tenant: TenantID
    private let database: Database
    private let actor: AuditActor

    init(
        _ directory: String,
        _ manifest: BundleManifest,
        _ tenant: TenantID,
        _ database: Database,
        _ actor: AuditActor
    ) {
        self.directory = directory
        self.manifest = manifest
        self.tenant = tenant
        self.database = database
        self.actor = actor
    }

    /// The manifest of a directory whose files are all there and unchanged.
    ///
    /// - Throws: `CommandFailure` with the name of the file.
    static func manifest(_ directory: String) throws -> BundleManifest {
        guard let data = FileManager.default.contents(atPath: "\(directory)/\(BundleManifest.fileName)") else {
            throw CommandFailure(
                "tenant import: \(BundleManifest.fileName) is missing in '\(directory)'",
                isUsage: true
            )
        }
        do throws(BundleManifest.Fault) {
            let manifest = try BundleManifest(Array(data))
            try manifest.check(in: directory)
            return manifest
        } catch {
            throw CommandFailure("tenant import: \(error.what)", isUsage: true)
        }
    }

    /// - Throws: `CommandFailure` with the name of the first app that the tenant lacks, or whose dialect this program does not know.
    func checkApps() async throws {
        for file in manifest.files {
            guard DeviceLine.vendors.contains(file.vendor) else {
                throw CommandFailure(
                    "tenant import: \(file.name) is of the vendor '\(file.vendor)', which is not known"
                )
            }
            let scope = AppScope(app: file.app, vendor: file.vendor)
            guard try await database.commands.run(StoreRequest(FindApp(scope)) { $0 != nil }, in: tenant) else {
                throw CommandFailure(
                    "tenant import: tenant '\(tenant)' has no app '\(file.app)'; see push-gateway apply"
                )
            }
        }
    }

    /// Imports all files. Returns the counts of each as a row of a table.
    func run() async throws -> [[String]] {
        var rows: [[String]] = []
        for kind in [BundleManifest.Kind.groups, .users, .devices, .inbox] {
            for file in manifest.files where file.kind == kind {
                let counts = try await run(file)
                rows.append(
                    [file.name, file.app.rawValue, file.vendor.rawValue]
                        + [counts.created, counts.updated, counts.unchanged, counts.older].map { "\($0)" }
                )
            }
        }
        return rows
    }

    private func run(_ file: BundleManifest.File) async throws -> ImportCounts {
        let scope = AppScope(app: file.app, vendor: file.vendor)
        let path = "\(directory)/\(file.name)"
        switch file.kind {
        case .devices:
            let plan = ImportPlan(
                tenant: tenant,
                scope: scope,
                asOf: manifest.asOf,
                act: .write,
                actor: actor,
                namesSource: false
            )
            let work = try await ImportWork(plan, database)
            let source = try ImportSource(path, .columns(.ndjson), checkpoint: nil, asOf: nil)
            let state = try await work.run(source, rejects: path + ".rejects")
            _ = try await work.end([state])
            guard state.rejected == 0 else {
                throw CommandFailure("tenant import: \(file.name) has rejected rows; see \(path).rejects")
            }
            return state.counts
        case .users: return try await users(path, scope)
        case .groups: return try await groups(path, scope)
        case .inbox: return try await inbox(path, scope)
        }
    }

    private func users(_ path: String, _ scope: AppScope) async throws -> ImportCounts {
        var counts = ImportCounts()
        var page: [ImportedUser] = []
        func put() async throws {
            guard !page.isEmpty else { return }
            let stored = try await database.commands.run(UserImportRules.profiles(of: page, scope), in: tenant)
            guard stored.count == page.count else { throw CommandFailure("tenant import: the users cannot be read") }
            let new = UserImportRules.new(page, stored)
            if !new.isEmpty { try await database.commands.run(UserImportRules.create(new, scope), in: tenant) }
            let people = page.filter { !$0.consents.isEmpty }.map {
                ImportPeople.Person($0.user, consents: $0.consents)
            }
            if !people.isEmpty {
                _ = try await database.commands.run(UserImportRules.people(people, scope), in: tenant)
            }
            counts.created += new.count
            counts.unchanged += page.count - new.count
            page = []
        }
        try await lines(path) { record in
            page.append(try UserLine.user(record))
            if page.count == UserImportRules.pageCount { try await put() }
        }
        try await put()
        try await end("users", counts, scope)
        return counts
    }

    private func groups(_ path: String, _ scope: AppScope) async throws -> ImportCounts {
        var counts = ImportCounts()
        try await lines(path) { record in
            let part = try GroupLine.part(record)
            let request = UserImportRules.group(part.name, title: part.title, scope)
            let isNew = try await database.commands.run(request, in: tenant)
            if isNew { counts.created += 1 } else { counts.unchanged += 1 }
            guard !part.members.isEmpty else { return }
            let people = part.members.map { ImportPeople.Person($0, groups: [part.name]) }
            _ = try await database.commands.run(UserImportRules.people(people, scope), in: tenant)
        }
        try await end("groups", counts, scope)
        return counts
    }

    /// Messages of devices that are not here count as older: the file has a device that was removed since.
    private func inbox(_ path: String, _ scope: AppScope) async throws -> ImportCounts {
        var counts = ImportCounts()
        var page: [UnreadMessage] = []
        func put() async throws {
            guard !page.isEmpty else { return }
            for outcome in try await database.commands.run(UserImportRules.unread(page, scope), in: tenant) {
                switch outcome {
                case .new: counts.created += 1
                case .known: counts.unchanged += 1
                case .unknown, .taken: counts.older += 1
                }
            }
            page = []
        }
        try await lines(path) { record in
            page.append(try InboxLine.message(record))
            if page.count == InboxLine.pageCount { try await put() }
        }
        try await put()
        try await end("unread messages", counts, scope)
        return counts
    }

    private func end(_ what: String, _ counts: ImportCounts, _ scope: AppScope) async throws {
        let request = UserImportRules.end(
            what,
            created: counts.created,
            unchanged: counts.unchanged,
            scope,
            by: actor
        )
        try await database.commands.run(request, in: tenant)
    }

    /// Passes each line to `take`.
    ///
    /// - Throws: `CommandFailure` with file and line, or the error of the store.
    private func lines(_ path: String, _ take: ([UInt8]) async throws -> Void) async throws {
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw CommandFailure("tenant import: '\(path)' cannot be read")
        }
        var splitter = RecordSplitter(quotes: false, limitBytes: RecordSplitter.exportLimitBytes)
        func all(_ records: [RecordSplitter.Record]) async throws {
            for record in records {
                guard let bytes = record.bytes else {
                    throw CommandFailure("tenant import: \(path), line \(record.line): is too long")
                }
                do {
                    try await take(bytes)
                } catch let fault as DeviceLine.Fault {
                    throw CommandFailure("tenant import: \(path), line \(record.line): \(fault.reason)")
                }
            }
        }
        for try await chunk in try DeviceChunks(handle, at: 0) { try await all(splitter.feed(chunk)) }
        try await all(splitter.finish().map { [$0] } ?? [])
    }
}
