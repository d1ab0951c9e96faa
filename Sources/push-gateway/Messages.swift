import Adapters
import AnswerShapes
import ApplePayload
import ArgumentParser
import CommandSupport
import Commands
import EngineStore
import Explain
import Foundation
import Gateway
import Model
import Store

/// Sends through a running gateway's native API.
struct Send: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send a message through a running gateway.",
        discussion: "Uses POST /v1/messages, with the API key from the environment variable PUSH_GATEWAY_KEY."
    )

    @Option(help: "The gateway's URL.") var url = "http://127.0.0.1:8080"
    @Option(help: "The app.") var app: String
    @OptionGroup var audience: AudienceOptions
    @Option(help: "The title.") var title: String?
    @Option(help: "The text. Required unless --push-type selects a type without text.") var body: String?
    @OptionGroup(title: "Apple") var apple: AppleOptions
    @Flag(help: "Show the headers and bytes that each dialect would send; send nothing.") var dryRun = false
    @Flag(help: "Print JSON, also in a dry run.") var json = false

    func validate() throws {
        try audience.check()
        guard body != nil || apple.pushType != nil else { throw ValidationError("give --body or a --push-type") }
    }

    func run() async throws {
        guard let key = ProcessInfo.processInfo.environment["PUSH_GATEWAY_KEY"] else {
            throw CommandFailure("send: set PUSH_GATEWAY_KEY to an API key (push-gateway key create)", isUsage: true)
        }
        var message = JSONObject([("app", .string(app))])
        message["to"] = audience.json
        message["body"] = body.map { .string($0) }
        message["title"] = title.map { .string($0) }
        message["apns"] = apple.json
        let path = "/v1/messages\(dryRun ? "?preview=true" : "")"
        let answer = try await HTTPCaller(base: url).closing { client in
            try await client.call("POST", path, .object(message), bearer: key)
        }
        if dryRun, !json, let previews = answer.json?["previews"]?.object {
            Console.print(DryRun.text(previews))
        } else {
            Console.print(answer.json ?? .string(answer.text))
        }
        guard (200..<300).contains(answer.status) else {
            throw CommandFailure("send: the gateway answered \(answer.status)")
        }
    }
}

/// `message show`.
struct MessageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "message",
        abstract: "Show and control messages.",
        subcommands: [Show.self, Approve.self, Pause.self, Resume.self, Requeue.self, Cancel.self]
    )

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show a message, its funnel and its deliveries.")
        @Argument(help: "The message's id, or the vendor's own number.") var id: String
        @Option(help: "The tenant.") var tenant: String
        @Option(help: "Explain the delivery to this device: its id, or its name in the vendor's SDK.") var device:
            String?
        @Option(help: "Number of deliveries to show.") var limit = 20
        @Flag(help: "Print JSON.") var json = false
        @OptionGroup var common: CommonOptions

        func run() async throws {
            if let device { return try await explain(device) }
            let (facts, deliveries) = try await common.withDatabase { _, database in
                let facts = try await found(database)
                let queries = PostgresQueryStore(call: database.call)
                let page = try await queries.deliveries(of: facts.id, in: TenantID(tenant), limit: max(1, limit))
                return (facts, page)
            }
            if json {
                Console.print([
                    "message": NativeShapes.message.json(facts),
                    "deliveries": .array(deliveries.map { NativeShapes.delivery.json($0) }),
                ])
                return
            }
            Console.print(
                "message \(facts.id)  app \(facts.scope.app)  by \(facts.scope.vendor)  \(facts.state.rawValue)"
            )
            for line in Self.texts(of: facts.content) { Console.print(line) }
            Console.print(FunnelTable.text([(facts.id.description, facts.funnel)]))
            for part in facts.dead {
                Console.print(
                    "gave up: \(part.targets) targets in \(part.slices) slices (\(part.reason)); 'message requeue' tries them again"
                )
            }
            let rows = deliveries.map { delivery -> [String] in
                let snapshot = delivery.snapshot
                return [
                    snapshot.target.description, snapshot.address?.canonical ?? "", snapshot.state.rawValue,
                    snapshot.reason ?? "",
                    delivery.transportID?.lowercased ?? "", "\(delivery.attempts)", "\(delivery.payloadBytes)",
                ]
            }
            Console.print(
                Console.table(["target", "address", "state", "reason", "transport id", "tries", "bytes"], rows)
            )
        }

        /// The title and the text, each in one line; none for a message without a text.
        static func texts(of content: Content) -> [String] {
            let shown = ShownText(content)
            return [("title", shown.title ?? ""), ("text", shown.body)].filter { !$0.1.isEmpty }
                .map { name, text in "\(name): \(text.oneLine())" }
        }

        private func found(_ database: Database) async throws -> MessageFacts {
            let queries = PostgresQueryStore(call: database.call)
            guard let facts = try await queries.message(id, in: TenantID(tenant)) else {
                throw CommandFailure("message show: tenant '\(tenant)' has no message '\(id)'")
            }
            return facts
        }

        private func explain(_ device: String) async throws {
            let explanations = try await common.withDatabase { _, database in
                let facts = try await found(database)
                let queries = PostgresQueryStore(call: database.call)
                let explainer = DeliveryExplainer(
                    queries: queries,
                    directory: PostgresDirectory(call: database.call, engine: database.engine),
                    adapters: VendorCatalog.product.byVendor,
                    identifiers: SystemIdentifiers()
                )
                var explanations: [DeliveryExplanation] = []
                for target in try await queries.targets(of: facts, device: device, in: TenantID(tenant)) {
                    if let one = try await explainer.explain(facts, to: target, in: TenantID(tenant)) {
                        explanations.append(one)
                    }
                }
                return explanations
            }
            guard !explanations.isEmpty else {
                throw CommandFailure(
                    "message show: '\(device)' is not one of its targets; it was not addressed, or its device was erased"
                )
            }
            if json {
                Console.print(["message": .string(id), "deliveries": .array(explanations.map(\.json))])
            } else {
                Console.print(explanations.map(\.text).joined(separator: "\n\n"))
            }
        }
    }
}

/// Formats the counts of a message for people.
enum FunnelTable {
    static func text(_ rows: [(String, Funnel)]) -> String {
        Console.table(
            ["message", "recipients", "sent", "received", "read", "failed", "suppressed", "expired"],
            rows.map { name, funnel in
                [
                    name, funnel.recipients.map { "\($0)" } ?? "?", "\(funnel.sent)", "\(funnel.received)",
                    "\(funnel.read)",
                    "\(funnel.failed)", "\(funnel.suppressed)", "\(funnel.expired)",
                ]
            }
        )
    }
}
