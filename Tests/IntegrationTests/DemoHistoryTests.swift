import CommandSupport
import Foundation
import GatewayDemo
import Model
import TestKit
import Testing

/// The generated history of `push-gateway demo --stay`.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct DemoHistoryTests {
    // docs/metrics.md, "Recount": the counts equal the deliveries. `ExactCountTests` shows that a recount finds a count that is wrong by one.
    @Test func theGeneratedHistoryEqualsItsCountsAndFillsEveryQuestion() async throws {
        try await World.with { world in
            _ = try await world.apply()
            let text = try String(contentsOfFile: world.material.path("tenants.yaml"), encoding: .utf8)
            try (text + "\n" + DemoHistory.lines.joined(separator: "\n") + "\n")
                .write(toFile: world.material.path("history.yaml"), atomically: true, encoding: .utf8)
            let applied = try await world.apply("history.yaml")
            try #require(applied.status == 0, "\(applied.log)")

            let numbers = try await DemoHistory.write(world.material)
            #expect(numbers.hasSuffix("to 600 devices"), "\(numbers)")

            let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
            let from = now + .seconds(-30 * 86_400)
            let recount = try await world.command([
                "analytics", "recount", "--dry-run", "--from", from.rfc3339Date, "--to", now.rfc3339Date,
            ])
            #expect(recount.status == 0, "\(recount.log)")

            let range = "app=\(DemoHistory.app)&from=\(from.rfc3339Date)T00:00:00Z&to=\(now.rfc3339)"
            for (question, list) in [
                ("campaigns", "groups"), ("hours", "groups"), ("versions", "groups"), ("losses", "losses"),
                ("latency", "latencies"),
            ] {
                let answer = try await world.http.call(
                    "GET",
                    "/v1/analytics/\(question)?\(range)",
                    bearer: world.apiKey
                )
                let count = answer.json?[list]?.array?.count ?? 0
                #expect(answer.status == 200 && count >= 4, "\(question): \(answer.text.prefix(300))")
            }
        }
    }
}
