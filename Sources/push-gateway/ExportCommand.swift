import ArgumentParser
import CommandSupport
import Foundation
import Imports
import Model

/// Exports of a range, through a running gateway's native API.
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write deliveries, events or devices to a file, as lines of JSON or as CSV.",
        discussion: """
            Uses /v1/exports, with the API key from the environment variable PUSH_GATEWAY_KEY. The lines go to FILE.part, which becomes FILE at the end. \
            A command that was stopped continues FILE.part after its last whole line. Without --output the lines go to standard output, for a pipe: \
            push-gateway export deliveries | gzip > deliveries.ndjson.gz
            """
    )

    enum Kind: String, CaseIterable, ExpressibleByArgument { case deliveries, events, devices }

    /// Consecutive attempts without a line, each after twice the pause: half a minute in all.
    private static let attempts = 6
    /// 1 MiB: longer than any line.
    private static let tailBytes: UInt64 = 1 << 20

    @Argument(help: "deliveries, events or devices.") var kind: Kind
    @Option(help: "The beginning of the range (RFC 3339). Deliveries: of due times; default: seven days ago.") var from:
        String?
    @Option(help: "The end of the range. Default: now.") var to: String?
    @Option(help: "Only this app.") var app: String?
    @Option(help: "Only this vendor.") var vendor: String?
    @Option(help: "ndjson or csv.") var format = DeviceFormat.ndjson
    @Option(name: .shortAndLong, help: "The file. Default: standard output.", completion: .file()) var output: String?
    @OptionGroup var api: APIOptions

    func validate() throws {
        if kind == .devices, from != nil || to != nil {
            throw ValidationError("devices have no range: leave out --from and --to")
        }
    }

    func run() async throws {
        let key = try api.key("export")
        let target = try ExportTarget(output, format, tailBytes: Self.tailBytes)
        if let cursor = target.cursor {
            Console.error("Continuing after \(cursor); remove \(target.partPath) to start over.")
        }
        // The range of all attempts is that of the first.
        let end = to ?? (kind == .devices ? nil : Timestamp(seconds: Int64(Date().timeIntervalSince1970) + 1).rfc3339)
        let client = HTTPCaller(base: api.url)
        var bar = ProgressBar()
        var failures = 0
        while true {
            let before = target.rows
            do {
                let answer = try await client.stream(path(to: end, after: target.cursor), bearer: key) { bytes in
                    try target.take(bytes)
                    bar.show(done: target.rows, of: nil, rows: target.rows)
                }
                try APIOptions.check(answer, "export")
                break
            } catch let failure as CommandFailure {
                await client.close()
                throw failure
            } catch {
                target.dropPart()
                failures = target.rows > before ? 1 : failures + 1
                guard failures < Self.attempts else {
                    await client.close()
                    let hint = output == nil ? "" : "; repeat the command to continue"
                    throw CommandFailure(
                        "export: the connection to \(api.url) failed after \(target.rows) rows\(hint): \(error)"
                    )
                }
                try await Task.sleep(for: .seconds(1 << (failures - 1)))
            }
        }
        await client.close()
        try target.finish()
        bar.show(done: target.rows, of: nil, rows: target.rows, isLast: true)
    }

    private func path(to end: String?, after cursor: String?) -> String {
        HTTPCaller.path(
            "/v1/exports/\(kind.rawValue)",
            [
                ("from", from), ("to", end), ("app", app), ("vendor", vendor), ("format", format.rawValue),
                ("after", cursor),
            ]
        )
    }
}

/// The destination of an export: whole lines only, so that the last one says where to continue.
private final class ExportTarget {
    private let path: String?
    private let format: DeviceFormat
    private let handle: FileHandle
    private var pending: [UInt8] = []
    /// Whether the next line is a header that the file has already.
    private var skipsHeader = false
    /// Whether the next line is the header of a new file.
    private var awaitsHeader: Bool
    /// The `cursor` of the last line.
    private(set) var cursor: String?
    private(set) var rows = 0

    var partPath: String { (path ?? "") + ".part" }

    init(_ path: String?, _ format: DeviceFormat, tailBytes: UInt64) throws {
        self.path = path
        self.format = format
        awaitsHeader = format == .csv
        guard let path else {
            handle = .standardOutput
            return
        }
        let part = path + ".part"
        if !FileManager.default.fileExists(atPath: part) {
            // The rows name people: only the user may read them.
            _ = FileManager.default.createFile(atPath: part, contents: nil, attributes: [.posixPermissions: 0o600])
        }
        guard let handle = FileHandle(forUpdatingAtPath: part) else {
            throw CommandFailure("export: '\(part)' cannot be written; give another file with --output", isUsage: true)
        }
        self.handle = handle
        let size = try handle.seekToEnd()
        let start = size > tailBytes ? size - tailBytes : 0
        try handle.seek(toOffset: start)
        let tail = [UInt8](try handle.readToEnd() ?? Data())
        let whole = (tail.lastIndex(of: 0x0A) ?? -1) + 1
        try handle.truncate(atOffset: start + UInt64(whole))
        let lines = tail[..<whole].split(separator: 0x0A)
        // The only line of CSV may be the header.
        guard let last = lines.last, format == .ndjson || start > 0 || lines.count > 1 else {
            try handle.truncate(atOffset: 0)
            return
        }
        cursor = Self.cursor(last, format)
        guard cursor != nil else {
            throw CommandFailure(
                "export: '\(part)' is not an export in \(format.rawValue); remove it to start over",
                isUsage: true
            )
        }
        skipsHeader = format == .csv
        awaitsHeader = false
    }

    func take(_ bytes: [UInt8]) throws {
        pending += bytes
        guard let end = pending.lastIndex(of: 0x0A) else { return }
        var lines = pending[...end]
        pending = Array(pending[(end + 1)...])
        if skipsHeader, let first = lines.firstIndex(of: 0x0A) {
            lines = lines[(first + 1)...]
            skipsHeader = false
        }
        guard !lines.isEmpty else { return }
        try handle.write(contentsOf: Data(lines))
        let parts = lines.split(separator: 0x0A)
        // The header of CSV is not a row, and its first cell is not a cursor.
        rows += parts.count - (awaitsHeader ? 1 : 0)
        awaitsHeader = false
        if rows > 0, let last = parts.last { cursor = Self.cursor(last, format) ?? cursor }
    }

    /// The connection ended in the middle of a line; the next answer begins with a header again.
    func dropPart() {
        pending = []
        skipsHeader = format == .csv && !awaitsHeader
    }

    func finish() throws {
        guard let path else { return }
        try handle.close()
        if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
        try FileManager.default.moveItem(atPath: path + ".part", toPath: path)
    }

    private static func cursor(_ line: ArraySlice<UInt8>, _ format: DeviceFormat) -> String? {
        switch format {
        case .ndjson: (try? JSONParser.parse(Array(line)))?["cursor"]?.string
        case .csv: line.firstIndex(of: UInt8(ascii: ",")).map { String(decoding: line[..<$0], as: UTF8.self) }
        }
    }
}
