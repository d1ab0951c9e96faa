import Foundation
import Model
import Postgres

/// How captures are spelled: in the native API, by `capture show --json`, and for people.
enum CaptureShapes {
    static func facts(_ facts: CaptureFacts) -> JSON {
        [
            "id": .string(facts.id.lowercased), "app": .string(facts.app.rawValue),
            "vendor": .string(facts.vendor.rawValue), "state": .string(state(facts)),
            "startedAt": .int(facts.startedAt.milliseconds), "endsAt": .int(facts.endsAt.milliseconds),
            "endedAt": facts.endedAt.map { .int($0.milliseconds) } ?? .null, "startedBy": .string(facts.startedBy),
            "texts": .bool(facts.keepsTexts), "exchanges": .int(facts.exchangeCount),
            "exchangeLimit": .int(facts.exchangeLimit), "bytes": .int(facts.byteCount),
            "byteLimit": .int(facts.byteLimit), "bodyLimit": .int(facts.bodyLimit),
        ]
    }

    /// `running`, `over` (its time), `stopped` or `full`.
    static func state(_ facts: CaptureFacts) -> String { facts.isRunning ? "running" : facts.endedBy ?? "over" }

    static func exchange(_ exchange: CapturedExchange) -> JSON {
        [
            "sequence": .int(exchange.sequence), "at": .int(exchange.at.milliseconds),
            "outcome": .string(exchange.outcome.rawValue), "reason": text(exchange.reason),
            "route": .string(exchange.route), "method": .string(exchange.method), "path": .string(exchange.path),
            "query": text(exchange.query), "headers": exchange.headers, "body": .string(exchange.body),
            "bodyBytes": .int(exchange.bodyBytes), "status": .int(exchange.status),
            "answerType": text(exchange.answerType), "answer": .string(exchange.answer),
            "answerBytes": .int(exchange.answerBytes),
        ]
    }

    private static func text(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }

    /// An exchange as people read it.
    static func page(_ exchange: CapturedExchange) -> String {
        let at = Date(timeIntervalSince1970: Double(exchange.at.milliseconds) / 1000).formatted(.iso8601)
        let query = exchange.query.map { "?\($0)" } ?? ""
        let reason = exchange.reason.map { ": \($0)" } ?? ""
        var lines = ["#\(exchange.sequence)  \(at)  \(exchange.outcome.rawValue)\(reason)  (\(exchange.route))"]
        lines.append("  \(exchange.method) \(exchange.path)\(query)")
        for header in exchange.headers.array ?? [] {
            lines.append("  \(header["name"]?.string ?? ""): \(header["value"]?.string ?? "<hidden>")")
        }
        lines.append("  body, \(exchange.bodyBytes) bytes: \(exchange.body)")
        lines.append(
            "  → \(exchange.status) \(exchange.answerType ?? ""), \(exchange.answerBytes) bytes: \(exchange.answer)"
        )
        return lines.joined(separator: "\n")
    }
}
