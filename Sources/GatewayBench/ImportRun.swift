import CommandSupport
import Foundation
import Gateway
import Imports
import Model
import PostgresClient

/// The format of a measured file.
enum ImportFormat: String, CaseIterable, Sendable {
    case csv, map, braze, notificationhubs

    /// Whether its lines state other facts than those of `csv`.
    var hasOwnFacts: Bool { self == .braze || self == .notificationhubs }

    /// A new device.
    fileprivate func line(_ number: Int, token: String) -> String {
        let phone = String(10_000_000_000 + number)
        return switch self {
        case .csv: "bench-\(number),ios,production,\(token),user-\(number),Name \(number),\(phone)"
        case .map: "bench-\(number);\(token);user-\(number);Name \(number);\(phone);REAL"
        case .braze:
            #"{"external_id":"user-\#(number)","push_subscribe":"opted_in","push_tokens":[{"app":"Shop","platform":"iOS","#
                + #""token":"\#(token)","device_id":"bench-\#(number)"}],"apps":[{"name":"Shop","platform":"iOS","version":"2.4"}]}"#
        case .notificationhubs:
            "<AppleRegistrationDescription xmlns:i=\"http://www.w3.org/2001/XMLSchema-instance\" "
                + "xmlns=\"http://schemas.microsoft.com/netservices/2010/10/servicebus/connect\"><ETag>1</ETag>"
                + "<ExpirationTime>9999-12-31T23:59:59.999Z</ExpirationTime><RegistrationId>\(number)-1-1</RegistrationId>"
                + "<Tags>seoul,$UserId:{user-\(number)}</Tags><DeviceToken>\(token)</DeviceToken></AppleRegistrationDescription>"
        }
    }

    /// The columns that the lines of the formats need, in CSV files with their facts.
    fileprivate enum Column: String, CaseIterable {
        case key, platform, environment, token, user, attributes, tags, appVersion, acceptsPush

        /// The value for a device; nil: the line states none.
        func value(of device: DeviceRegistration) -> JSON? {
            switch self {
            case .key: device.key.map { .string($0.rawValue) }
            case .platform: .string(device.platform.rawValue)
            case .environment: device.environment.map { .string($0.rawValue) }
            case .token: device.token.map { .string($0.text) }
            case .user: device.user.map { .string($0.rawValue) }
            case .attributes: device.attributes.isEmpty ? nil : .object(device.attributes)
            case .tags: device.tags.map { .array($0.map { .string($0.text) }) }
            case .appVersion: device.client[.appVersion].map { .string($0) }
            case .acceptsPush: device.imported.acceptsPush.map { .bool($0) }
            }
        }
    }

    /// The row of a CSV file with the facts that an import takes from a vendor's line.
    ///
    /// - Throws: `StageFailure` if the line is not one of this format.
    func row(of line: String) throws -> String {
        guard let export = DeviceLine.export(of: Vendor(rawValue)),
            case .registration(.register(let device))? =
                try export.registrations(inExport: Array(line.utf8), ExportTerms()).first
        else { throw StageFailure("not a line of \(rawValue): \(line)") }
        return DeviceLine.line(Column.allCases.map { (column: $0.rawValue, value: $0.value(of: device)) }, .csv)
    }
}

/// A measured file.
struct ImportFile: Sendable, Hashable {
    let format: ImportFormat
    /// Whether the facts of the format are written as CSV.
    var isTable = false

    var name: String { isTable ? "\(format.rawValue).table" : format.rawValue }

    /// The first line; nil: the file has none.
    var heading: String? {
        if isTable { return ImportFormat.Column.allCases.map(\.rawValue).joined(separator: ",") }
        return switch format {
        case .csv: "key,platform,environment,token,user,name,phone"
        case .map: "DEVICE_ID;PSID;CUID;CNAME;PHONENUM;APNS_MODE"
        case .braze, .notificationhubs: nil
        }
    }

    /// A new device, with `token`.
    func line(_ number: Int, token: String) throws -> String {
        let line = format.line(number, token: token)
        return isTable ? try format.row(of: line) : line
    }

    /// The options of the import, apart from the file.
    fileprivate func options(_ map: String) -> [String] {
        guard !isTable else { return [] }
        return switch format {
        case .csv: []
        case .map: ["--map", map]
        case .braze, .notificationhubs: ["--from", format.rawValue]
        }
    }
}

/// Measures one import of a file into empty tables, and COPY of the same rows.
struct ImportRun {
    let stage: BenchStage
    /// This program.
    let program: String
    let rows: Int
    /// Whether the files are compressed with gzip, as vendors deliver them.
    let isCompressed: Bool

    /// 5,000 rows per write: about half a megabyte in memory.
    private static let pageCount = 5000

    private func path(_ file: ImportFile) -> String { stage.material.path("devices-\(file.name).csv") }
    private func importedPath(_ file: ImportFile) -> String { path(file) + (isCompressed ? ".gz" : "") }
    private var map: String { stage.material.path("map.yaml") }

    // MARK: The file

    /// Writes the file: the tokens in random order, as in a grown audience, and the keys in ascending order, as in an export.
    ///
    /// - Throws: the error of the file system, or `StageFailure` if the file cannot be compressed.
    func write(_ file: ImportFile) async throws {
        let path = path(file)
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        guard let handle = FileHandle(forWritingAtPath: path) else { throw StageFailure("cannot write \(path)") }
        if let heading = file.heading { try handle.write(contentsOf: Data("\(heading)\n".utf8)) }
        for first in stride(from: 0, to: rows, by: Self.pageCount) {
            var text = ""
            for number in first..<min(first + Self.pageCount, rows) {
                text += try file.line(number, token: Self.token(number)) + "\n"
            }
            try handle.write(contentsOf: Data(text.utf8))
        }
        try handle.close()
        if isCompressed { try await Self.compress(path) }
        guard file.format == .map else { return }
        let map = """
            separator: ";"
            key: DEVICE_ID
            token: PSID
            user: CUID
            name: CNAME
            phone: PHONENUM
            environment: { column: APNS_MODE, values: { REAL: production, DEV: sandbox } }
            """
        try Data(map.utf8).write(to: URL(filePath: self.map))
    }

    /// Writes the compressed file next to a file, with `.gz` after its name.
    ///
    /// - Throws: `StageFailure` if it cannot be compressed.
    static func compress(_ file: String) async throws {
        let log = file + ".gzip.log"
        let gzip = try ChildProcess("gzip", program: "/usr/bin/gzip", arguments: ["-k", "-f", file], logFile: log)
        do {
            while gzip.isRunning { try await Task.sleep(for: .milliseconds(10)) }
        } catch {
            _ = await gzip.stop()
            throw error
        }
        guard await gzip.stop() == 0 else { throw StageFailure("gzip cannot compress \(file); see \(log)") }
    }

    /// 64 hex digits, different for each number: the finalizer of SplitMix64 is a bijection.
    private static func token(_ number: Int) -> String {
        var text = ""
        for part in 0..<4 {
            var word = UInt64(truncatingIfNeeded: number) &+ UInt64(part) &* 0x9E37_79B9_7F4A_7C15
            word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
            let hex = String(word ^ (word >> 31), radix: 16)
            text += String(repeating: "0", count: 16 - hex.count) + hex
        }
        return text
    }

    // MARK: Measuring

    private static let counted = "SELECT count(*) AS count FROM gateway.identity WHERE tenant_id = $1"

    /// - Throws: `StageFailure` when a row was not imported.
    func measure(_ file: ImportFile) async throws -> ImportSample {
        try await stage.psql("TRUNCATE gateway.identity, gateway.device, gateway.identity_count CASCADE; CHECKPOINT;")
        let before = try stage.postgresCPU()
        let started = ContinuousClock.now
        let log = stage.material.path("import.log")
        let process = try ChildProcess(
            "push-gateway devices import",
            program: program,
            arguments: [
                "devices", "import", importedPath(file), "--tenant", BenchStage.tenant.rawValue, "--app",
                BenchStage.app.rawValue,
                "--data-dir", stage.material.path("data"),
            ] + file.options(map),
            logFile: log
        )
        var (peak, own) = (0.0, 0.0)
        while process.isRunning {
            // The value is zero after the process has ended.
            peak = max(peak, ProcessUsage.peakMiB(process.processID))
            own = max(own, ProcessUsage.cpuSeconds(process.processID))
            try await Task.sleep(for: .milliseconds(10))
        }
        let seconds = (ContinuousClock.now - started) / .seconds(1)
        let after = try stage.postgresCPU()
        guard await process.stop() == 0 else {
            let text = FileManager.default.contents(atPath: log) ?? Data()
            throw StageFailure("the import failed: \(String(decoding: text.suffix(500), as: UTF8.self))")
        }
        let statement = Statement(Self.counted, [.text(BenchStage.tenant.rawValue)])
        let taken = try await stage.database.engine.run(statement, tenant: nil).only().int("count")
        guard taken == rows else { throw StageFailure("only \(taken) of \(rows) rows were imported") }
        return ImportSample(
            seconds: seconds,
            perSecond: Double(rows) / seconds,
            copyPerSecond: try await copy(),
            peakMiB: peak,
            gatewayMicroseconds: own / Double(rows) * 1e6,
            postgresMicroseconds: (after - before) / Double(rows) * 1e6
        )
    }

    /// The rate of COPY in pairs of a device row and an identity row per second. Generated columns are not copied, and computed again, as in the import.
    private func copy() async throws -> Double {
        let files = (stage.material.path("device.copy"), stage.material.path("identity.copy"))
        try await stage.psql(
            """
            \\copy gateway.device TO '\(files.0)' (FORMAT binary)
            \\copy gateway.identity TO '\(files.1)' (FORMAT binary)
            DROP SCHEMA IF EXISTS bench CASCADE;
            CREATE SCHEMA bench;
            CREATE TABLE bench.device (LIKE gateway.device INCLUDING ALL) WITH (fillfactor = 90);
            CREATE TABLE bench.identity (LIKE gateway.identity INCLUDING ALL) WITH (fillfactor = 90);
            CHECKPOINT;
            """
        )
        let started = ContinuousClock.now
        try await stage.psql(
            """
            \\copy bench.device FROM '\(files.0)' (FORMAT binary)
            \\copy bench.identity FROM '\(files.1)' (FORMAT binary)
            """
        )
        return Double(rows) / ((ContinuousClock.now - started) / .seconds(1))
    }
}
