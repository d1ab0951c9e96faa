package import CaptureStore
package import EngineStore
import Foundation
import Model

/// The JSON and text forms of captures, for the native API, for `capture show --json` and for people.
package enum CaptureShapes {
    private static let members: [AnswerShape<CaptureFacts>.Member] = [
        .id("id", "The capture's id.") { $0.id.lowercased },
        .text("app", "The app.", example: "shop") { $0.app.rawValue },
        .text("vendor", "The vendor whose calls are recorded.", example: "upmc") { $0.vendor.rawValue },
        .word(
            "state",
            among: ["running", "over", "stopped", "full"],
            "Whether the capture is running, or why it ended."
        ) {
            state($0)
        },
        .time("startedAt", "When the capture was started.") { $0.startedAt },
        .time("endsAt", "When the time limit ends the capture.") { $0.endsAt },
        .optionalTime("endedAt", "When the capture ended early; null: it did not.") { $0.endedAt },
        .text("startedBy", "The API key or command that started it.", example: "key:backend") { $0.startedBy },
        .flag("texts", "Whether texts are recorded in full.") { $0.keepsTexts },
        .int("exchanges", "Recorded calls.") { $0.exchangeCount },
        .int("exchangeLimit", "The capture ends after this number of calls.") { $0.exchangeLimit },
        .int("bytes", "Recorded bytes.") { $0.byteCount },
        .int("byteLimit", "The capture ends after this number of bytes.") { $0.byteLimit },
        .int("bodyLimit", "Bytes recorded of each body.") { $0.bodyLimit },
    ]

    package static let facts = AnswerShape<CaptureFacts>("Capture", members)

    /// A capture with a page of its calls.
    package struct Page: Sendable {
        package var facts: CaptureFacts
        package var exchanges: [CapturedExchange]
        package var limit: Int

        package init(facts: CaptureFacts, exchanges: [CapturedExchange], limit: Int) {
            self.facts = facts
            self.exchanges = exchanges
            self.limit = limit
        }
    }

    package static let withPage = AnswerShape<Page>(
        "CaptureWithPage",
        members.map { member in .init(member.name, member.schema) { member.write($0.facts, true) } } + [
            .list("page", exchange, "A page of the recorded calls.") { $0.exchanges },
            .optionalInt("next", "The value of `after` for the next page; null on the last page.") { page in
                page.exchanges.count == page.limit ? page.exchanges.last?.sequence : nil
            },
        ]
    )

    /// `running`, `over` (its time limit was reached), `stopped` or `full`.
    package static func state(_ facts: CaptureFacts) -> String { facts.isRunning ? "running" : facts.endedBy ?? "over" }

    package static let exchange = AnswerShape<CapturedExchange>(
        "CapturedExchange",
        [
            .int("sequence", "1, 2, 3 … within the capture.") { $0.sequence },
            .time("at", "When the call came.") { $0.at },
            .word("outcome", "Whether the gateway knows the call and executed it.") { $0.outcome },
            .optionalText("reason", "Why it was refused.") { $0.reason },
            .text("route", "The vendor's route.", example: "/push") { $0.route },
            .text("method", "The HTTP method.", example: "POST") { $0.request.method },
            .text("path", "The path, masked.", example: "/push") { $0.request.path },
            .optionalText("query", "The query, masked.") { $0.request.query },
            .init("headers", .list(of: header).described("Names in order; most values are hidden.")) {
                $0.request.headers
            },
            .text("body", "The body, masked.") { $0.request.body },
            .int("bodyBytes", "The body's size.") { $0.request.bodyBytes },
            .int("status", "The answer's status.") { $0.answer.status },
            .optionalText("answerType", "The answer's content type.") { $0.answer.contentType },
            .text("answer", "The answer, masked.") { $0.answer.body },
            .int("answerBytes", "The answer's size.") { $0.answer.bodyBytes },
        ]
    )

    private static let header = JSONSchema.object([
        ("name", .text(example: "content-type"), true),
        ("value", JSONSchema.text(example: "application/json").nullable, true),
    ])

    /// Formats an exchange for people.
    package static func page(_ exchange: CapturedExchange) -> String {
        let at = Date(timeIntervalSince1970: Double(exchange.at.milliseconds) / 1000).formatted(.iso8601)
        let query = exchange.request.query.map { "?\($0)" } ?? ""
        let reason = exchange.reason.map { ": \($0)" } ?? ""
        var lines = ["#\(exchange.sequence)  \(at)  \(exchange.outcome.rawValue)\(reason)  (\(exchange.route))"]
        lines.append("  \(exchange.request.method) \(exchange.request.path)\(query)")
        for header in exchange.request.headers.array ?? [] {
            lines.append("  \(header["name"]?.string ?? ""): \(header["value"]?.string ?? "<hidden>")")
        }
        lines.append("  body, \(exchange.request.bodyBytes) bytes: \(exchange.request.body)")
        lines.append(
            "  → \(exchange.answer.status) \(exchange.answer.contentType ?? ""), \(exchange.answer.bodyBytes) bytes: \(exchange.answer.body)"
        )
        return lines.joined(separator: "\n")
    }
}
