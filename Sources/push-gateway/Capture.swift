import Adapters
import AnswerShapes
import ArgumentParser
import CaptureStore
import CommandSupport
import Commands
import EngineStore
import Foundation
import Gateway
import Model
import Store

/// `capture start|stop|list|show|remove`.
struct Capture: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Record the calls of a binding, masked, for a limited time.",
        discussion: """
            Nothing is recorded unless a capture runs. Its time, its number of calls and its bytes are limited over all nodes. Tokens, secrets, names,
            numbers and (without --texts) texts are replaced with their kind and length before they are written. See docs/capture.md.
            """,
        subcommands: [Start.self, Stop.self, List.self, Show.self, Remove.self]
    )

    /// The options of all subcommands.
    struct Options: ParsableArguments {
        @Option(help: "The tenant; may be omitted if there is only one.") var tenant: String?
        @OptionGroup var common: CommonOptions

        /// Runs `body` on the captures of the selected tenant.
        ///
        /// - Throws: `CommandFailure` when the tenant is ambiguous.
        func with<Value: Sendable>(
            _ body: (PostgresCaptureStore, CommandHandler, TenantID) async throws -> Value
        ) async throws -> Value {
            try await common.withDatabase(isAudited: true) { _, database in
                let store = PostgresCaptureStore(call: database.call, engine: database.engine)
                if let tenant { return try await body(store, database.commands, TenantID(tenant)) }
                let tenants = try await PostgresStatusStore(engine: database.engine).tenants()
                guard tenants.count == 1, let only = tenants.first else {
                    throw CommandFailure("capture: there are \(tenants.count) tenants; give --tenant", isUsage: true)
                }
                return try await body(store, database.commands, only)
            }
        }
    }

    /// Selects a capture.
    struct Reference: ParsableArguments {
        @Argument(help: "The capture's id, or its first characters.") var id: String

        /// - Throws: `CommandFailure` when no capture or several captures have this prefix.
        func find(_ store: PostgresCaptureStore, _ tenant: TenantID) async throws -> CaptureFacts {
            let found = try await store.list(in: tenant).filter { $0.id.lowercased.hasPrefix(id.lowercased()) }
            guard found.count == 1, let only = found.first else {
                throw CommandFailure("capture: \(found.isEmpty ? "no" : "more than one") capture '\(id)'")
            }
            return only
        }
    }

    struct Start: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Start a capture, and print its id.")
        @Option(help: "The app.") var app: String
        @Option(
            help:
                "The vendor whose calls are recorded: \(VendorCatalog.product.names { _ in true }.joined(separator: ", "))."
        )
        var vendor: String
        @Option(help: "Duration in minutes, 1 to 1440.") var minutes = 15
        @Option(help: "Maximum number of exchanges, 1 to 1000.") var count = 200
        @Flag(help: "Keep titles and bodies of messages readable.") var texts = false
        @Flag(help: "Print JSON.") var json = false
        @OptionGroup var options: Options

        func validate() throws {
            guard (1...1440).contains(minutes) else { throw ValidationError("--minutes must be 1 to 1440") }
            guard CaptureLimits.exchangeCounts.contains(count) else {
                throw ValidationError("--count must be 1 to 1000")
            }
        }

        func run() async throws {
            let order = CaptureOrder(
                app: AppID(app),
                vendor: Vendor(vendor),
                limits: CaptureLimits(duration: .seconds(minutes * 60), exchangeCount: count),
                keepsTexts: texts
            )
            let start = try await options.with { store, handler, tenant in
                let isBound = try await store.hasBinding(order, in: tenant)
                let request = CaptureRules.start(UUID(), order, isBound: isBound, by: options.common.actor)
                return try await handler.run(request, in: tenant)
            }
            switch start {
            case .started(let facts):
                guard json else { return Console.print(facts.id.lowercased) }
                Console.print(CaptureShapes.facts.json(facts))
            case .missing: throw CommandFailure("capture start: app '\(app)' has no binding of '\(vendor)'")
            case .running:
                throw CommandFailure("capture start: a capture of this binding is already running; stop it first")
            case .tooMany:
                throw CommandFailure(
                    "capture start: a tenant has at most \(CaptureLimits.capturesPerTenant); remove a capture first"
                )
            }
        }
    }

    struct Stop: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Stop a capture early; its recorded calls stay.")
        @OptionGroup var reference: Reference
        @OptionGroup var options: Options

        func run() async throws {
            let didStop = try await options.with { store, handler, tenant in
                let facts = try await reference.find(store, tenant)
                return try await handler.run(CaptureRules.stop(facts.id, by: options.common.actor), in: tenant)
            }
            Console.print(didStop ? "stopped" : "it had already ended")
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List captures, newest first.")
        @Flag(help: "Print JSON.") var json = false
        @OptionGroup var options: Options

        func run() async throws {
            let captures = try await options.with { store, _, tenant in try await store.list(in: tenant) }
            if json { return Console.print(.array(captures.map { CaptureShapes.facts.json($0) })) }
            let rows = captures.map {
                [
                    $0.id.lowercased, $0.app.rawValue, $0.vendor.rawValue, CaptureShapes.state($0),
                    "\($0.exchangeCount)/\($0.exchangeLimit)", "\($0.byteCount)/\($0.byteLimit)",
                    Date(timeIntervalSince1970: Double($0.endsAt.milliseconds) / 1000).formatted(.iso8601),
                    $0.startedBy,
                ]
            }
            Console.print(
                Console.table(["id", "app", "vendor", "state", "exchanges", "bytes", "until", "by"], rows)
            )
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the recorded calls.",
            discussion: """
                With --json, one line of JSON per exchange; --after continues after a number. With --har, a file that the network panel of a \
                browser opens (HAR 1.2), masked like all other output.
                """
        )
        @OptionGroup var reference: Reference
        @Option(help: "Only exchanges after this number.") var after = 0
        @Flag(help: "Print JSON, a line per exchange.") var json = false
        @Flag(help: "Print a HAR file.") var har = false
        @OptionGroup var options: Options

        func validate() throws {
            guard !json || !har else { throw ValidationError("--json and --har cannot be combined") }
        }

        func run() async throws {
            try await options.with { store, _, tenant in
                let facts = try await reference.find(store, tenant)
                if let head = head(facts) { Console.print(head) }
                var last = max(0, after)
                var isFirst = true
                while true {
                    let page = try await store.exchanges(of: facts.id, in: tenant, after: last, limit: Self.pageSize)
                    for exchange in page {
                        Console.print(text(exchange, isFirst: isFirst))
                        isFirst = false
                        last = exchange.sequence
                    }
                    if page.count < Self.pageSize { break }
                }
                if har { Console.print(CaptureArchive.closing) }
            }
        }

        private func head(_ facts: CaptureFacts) -> String? {
            if har { return CaptureArchive.opening(of: facts.id, vendor: facts.vendor, app: facts.app) }
            if json { return nil }
            return "\(facts.vendor) of \(facts.app): \(CaptureShapes.state(facts)), "
                + "\(facts.exchangeCount) of \(facts.exchangeLimit) exchanges, "
                + "\(facts.byteCount) of \(facts.byteLimit) bytes\n"
        }

        private func text(_ exchange: CapturedExchange, isFirst: Bool) -> String {
            if har { return CaptureArchive.entry(exchange, isFirst: isFirst) }
            return json ? JSONWriter.text(CaptureShapes.exchange.json(exchange)) : CaptureShapes.page(exchange) + "\n"
        }

        /// 50 exchanges, at most about 2 MiB in memory.
        private static let pageSize = 50
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Remove a capture with its recorded calls.")
        @OptionGroup var reference: Reference
        @OptionGroup var options: Options

        func run() async throws {
            _ = try await options.with { store, handler, tenant in
                let facts = try await reference.find(store, tenant)
                return try await handler.run(CaptureRules.remove(facts.id, by: options.common.actor), in: tenant)
            }
            Console.print("removed")
        }
    }
}
