import ArgumentParser
import CommandSupport
import Commands
import DeviceFiles
import EngineStore
import Foundation
import Gateway
import Imports
import Model
import NIOConcurrencyHelpers
import Store

extension Devices {
    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Register the devices of files, or compare files with the registered devices.",
            discussion: """
                CSV contains the column names in the first line; NDJSON contains an object per line. Columns: \(DeviceLine.columns.joined(separator: ", "));
                the vendor's own names are accepted as well (push-gateway vendors NAME). A file may be compressed with gzip.
                Tags are separated by spaces or semicolons; a single semicolon removes all tags. In NDJSON they are an array.
                A row needs a key (the name that the vendor's SDK uses for the device) or a token. Empty fields do not change stored values.
                The same file may be imported repeatedly: keys identify the devices, and rows without a difference change nothing. A killed import continues at
                its checkpoint.
                With --as-of, what changed here after that time stays: a device that has registered or got another token since, and one that has ended. Such rows
                count as older. An opt-out counts in each case, and of two consents the newer one; where a time is missing, the withdrawal. Without --as-of the
                file is newer than everything but the decisions of users.
                --from reads a vendor's own export, and --map any table whose columns the file of the map names (docs/migration).
                --compare changes no device: it counts the devices that only one side has, and those whose token, user or push setting differs. The counts are
                stored with the masked keys of some devices, and gates of migrations use them for a day (push-gateway routes parity shows them). The exit status
                is 1 if more than --max-difference of the devices differ.
                """
        )

        @Argument(help: "The files, in the order of their import; - for standard input.", completion: .file())
        var files: [String]
        @Option(help: "The tenant.") var tenant: String
        @Option(help: "The app.") var app: String
        @Option(help: "The vendor of the app's SDK: \(DeviceLine.vendorNames). Default: that of --from, or native.")
        var vendor: String?
        @Option(help: "csv or ndjson. Default: given by the file name's extension.") var format: DeviceFormat?
        @Option(help: "Read the export of this vendor: \(Self.exportNames).") var from: String?
        @Option(help: "A YAML file that names the columns of a table.", completion: .file()) var map: String?
        @Option(help: "The environment of the tokens of an export that names none: production or sandbox.")
        var environment: String?
        @Option(help: "Only tokens of this app of an export, by the vendor's name of the app.") var exportApp: String?
        @Option(help: "When the files were made, such as 2026-03-02T01:00Z: what changed here later stays.")
        var asOf: String?
        @Flag(help: "Count the changes without making them.") var dryRun = false
        @Flag(help: "Compare the files with the registered devices, and change nothing.") var compare = false
        @Option(help: "The greatest share of devices that may differ, such as 0.5% or 0.005. Default: 0.5%")
        var maxDifference: String?
        @Option(help: "The file for rejected rows, with line and reason. Default: FILE.rejects") var rejects: String?
        @Flag(help: "Do not write FILE.checkpoint, from which a killed import continues.") var noCheckpoint = false
        @OptionGroup var common: CommonOptions

        static let exportNames = DeviceLine.exporting.map(\.rawValue).joined(separator: ", ")

        private var isStandardInput: Bool { files == ["-"] }
        private var dialect: Vendor { Vendor(vendor ?? from ?? Vendor.native.rawValue) }
        private var time: Timestamp? { asOf.flatMap(Self.time) }

        private func rejectsPath(_ file: String) -> String {
            rejects ?? (isStandardInput ? "rejects.ndjson" : file + ".rejects")
        }

        private func checkpointPath(_ file: String) -> String? {
            isStandardInput || noCheckpoint || dryRun || compare ? nil : file + ".checkpoint"
        }

        // MARK: Options

        func validate() throws {
            if files.contains("-"), !isStandardInput {
                throw ValidationError("standard input cannot be imported together with files")
            }
            if Set(files).count < files.count { throw ValidationError("a file is named twice") }
            if files.count > 1, rejects != nil {
                throw ValidationError("--rejects is for one file; rejected rows of FILE are in FILE.rejects")
            }
            if let asOf, time == nil {
                throw ValidationError("--as-of '\(asOf)' is not a time like 2026-03-02T01:00Z")
            }
            guard DeviceLine.vendors.contains(dialect) else {
                throw ValidationError("--vendor must be one of \(DeviceLine.vendorNames)")
            }
            if compare, dryRun { throw ValidationError("--compare changes nothing, so that --dry-run has no meaning") }
            if let maxDifference {
                guard compare else { throw ValidationError("--max-difference needs --compare") }
                guard Self.share(maxDifference) != nil else {
                    throw ValidationError("--max-difference '\(maxDifference)' is not a share like 0.5% or 0.005")
                }
            }
            try validateReading()
        }

        private func validateReading() throws {
            if map != nil, from != nil { throw ValidationError("give --from or --map, not both") }
            if let environment, PushEnvironment(rawValue: environment) == nil {
                throw ValidationError("--environment must be production or sandbox")
            }
            guard let from else {
                if environment != nil || exportApp != nil {
                    throw ValidationError("--environment and --export-app need --from; a map can have 'value: sandbox'")
                }
                if map != nil {
                    if format == .ndjson { throw ValidationError("--map reads tables, not NDJSON") }
                } else if let file = files.first(where: { format == nil && DeviceFormat(fileName: $0) == nil }) {
                    throw ValidationError(
                        "the name '\(file)' does not indicate the format; give --format csv or --format ndjson"
                    )
                }
                return
            }
            guard DeviceLine.exporting.contains(Vendor(from)) else {
                throw ValidationError("--from must be one of \(Self.exportNames)")
            }
            if format != nil { throw ValidationError("--from determines the format; leave out --format") }
            if dialect != Vendor(from) { throw ValidationError("--vendor must be that of --from") }
        }

        /// A time with or without seconds.
        static func time(_ text: String) -> Timestamp? {
            Timestamp(rfc3339: text) ?? Timestamp(rfc3339: "\(text.prefix(16)):00\(text.dropFirst(16))")
        }

        /// The share that a percentage or a number from 0 to 1 states; nil: neither.
        static func share(_ text: String) -> Double? {
            let isPercentage = text.hasSuffix("%")
            guard let number = Double(isPercentage ? text.dropLast() : text[...]) else { return nil }
            let share = isPercentage ? number / 100 : number
            return (0...1).contains(share) ? share : nil
        }

        /// How a file is read.
        private func reading(_ file: String) throws -> DeviceReading {
            if let from {
                guard let export = DeviceLine.export(of: Vendor(from)) else {
                    throw CommandFailure("devices import: --from must be one of \(Self.exportNames)", isUsage: true)
                }
                let stated = environment.flatMap { PushEnvironment(rawValue: $0) }
                return .export(export, ExportTerms(environment: stated, app: exportApp, asOf: time))
            }
            if let map { return .table(try MapFile.read(map)) }
            return .columns(format ?? DeviceFormat(fileName: file) ?? .ndjson)
        }

        // MARK: Running

        func run() async throws {
            let sources = try files.map { file in
                try ImportSource(file, reading(file), checkpoint: checkpointPath(file), asOf: asOf)
            }
            let (states, comparison) = try await common.withDatabase(isAudited: true) { _, database in
                let scope = AppScope(app: AppID(app), vendor: dialect)
                let tenant = TenantID(tenant)
                guard try await database.commands.run(StoreRequest(FindApp(scope)) { $0 != nil }, in: tenant) else {
                    throw CommandFailure(
                        "devices import: tenant '\(self.tenant)' has no app '\(app)'; see push-gateway apply"
                    )
                }
                let plan = ImportPlan(
                    tenant: tenant,
                    scope: scope,
                    asOf: time,
                    act: compare ? .compare : dryRun ? .preview : .write,
                    actor: common.actor
                )
                let work = try await ImportWork(plan, database)
                var states: [ImportCheckpoint] = []
                for source in sources { states.append(try await work.run(source, rejects: rejectsPath(source.file))) }
                return (states, try await work.end(states))
            }
            for source in sources { source.removeCheckpoint() }
            report(states, comparison)
            if let comparison { try check(comparison.summary) }
        }

        private func report(_ states: [ImportCheckpoint], _ comparison: DeviceComparison?) {
            let rejected = states.reduce(0) { $0 + $1.rejected }
            if let comparison {
                Console.print(comparison.table)
            } else {
                let counts = states.reduce(into: ImportCounts()) { $0 += $1.counts }
                let rows =
                    dryRun
                    ? [["would be new", "\(counts.created)"], ["would change", "\(counts.updated)"]]
                    : [["new", "\(counts.created)"], ["changed", "\(counts.updated)"]]
                let others = [
                    ["unchanged", "\(counts.unchanged)"], ["older", "\(counts.older)"], ["rejected", "\(rejected)"],
                ]
                Console.print(Console.table(["devices", "rows"], rows + others))
            }
            for (file, state) in zip(files, states) where state.rejected > 0 {
                Console.error("Rejected rows with their reasons: \(rejectsPath(file))")
            }
        }

        /// - Throws: `CommandFailure` if more devices differ than permitted, or nothing was compared.
        private func check(_ summary: ComparisonSummary) throws {
            guard let difference = summary.difference else {
                throw CommandFailure("devices import: the files have no devices, so that nothing was compared")
            }
            let limit = Self.share(maxDifference ?? "0.5%") ?? 0
            guard difference <= limit else {
                throw CommandFailure(
                    "devices import: \(Self.percent(difference)) of the devices differ, more than \(Self.percent(limit))"
                )
            }
        }

        static func percent(_ share: Double) -> String {
            let parts = Int((share * 100_000).rounded())
            let rest = String(1000 + parts % 1000).dropFirst()
            return "\(parts / 1000).\(rest) %"
        }
    }
}

extension DeviceComparison {
    /// The counts, each with the masked keys of some devices.
    var table: String {
        func row(_ name: String, _ count: Int, _ kind: Kind? = nil) -> [String] {
            [name, "\(count)", kind.flatMap { examples[$0]?.prefix(3).joined(separator: ", ") } ?? ""]
        }
        return Console.table(
            ["devices", "rows", "such as"],
            [
                row("in the export", summary.exported),
                row("only in the export", summary.onlyInExport, .onlyInExport),
                row("only here", summary.onlyHere, .onlyHere),
                row("token differs", summary.tokenDiffers, .token),
                row("user differs", summary.userDiffers, .user),
                row("push setting differs", summary.pushDiffers, .push),
                row("newer in the export", summary.newerInExport),
                row("rejected", summary.rejected),
                ["difference", summary.difference.map(Devices.Import.percent) ?? "-", ""],
            ]
        )
    }
}
