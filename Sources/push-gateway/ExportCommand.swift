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
            A command that was stopped continues FILE.part after its last whole row. Without --output the lines go to standard output, for a pipe: \
            push-gateway export deliveries | gzip > deliveries.ndjson.gz
            """
    )

    enum Kind: String, CaseIterable, ExpressibleByArgument { case deliveries, events, devices }

    /// Consecutive attempts without a line, each after twice the pause: half a minute in all.
    private static let attempts = 6

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
        let target = try destination()
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

    private func destination() throws -> ExportFile {
        do {
            return try ExportFile(output, format)
        } catch ExportFile.Problem.notWritable(let path) {
            throw CommandFailure("export: '\(path)' cannot be written; give another file with --output", isUsage: true)
        } catch ExportFile.Problem.notAnExport(let path) {
            throw CommandFailure(
                "export: '\(path)' is not an export in \(format.rawValue); remove it to start over",
                isUsage: true
            )
        }
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
