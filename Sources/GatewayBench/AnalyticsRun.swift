import CommandSupport
import Foundation
import Gateway
import Model
import PostgresClient

/// One call that `bench analytics` measures.
struct AnalyticsCall: Sendable {
    var name: String
    /// Whether its range is longer than 92 days, of which counts are kept by quarter hour.
    var isLong = false
    var method = "GET"
    var path: String
    /// The days of the range that each call names, a different one each time; nil: the call names none.
    var days: Int?
    var body: JSON?
    /// Whether an answer contains what was asked for.
    var isWhole: @Sendable (JSON) -> Bool
}

/// The p95 of one call, in milliseconds.
struct AnalyticsSample: Sendable {
    var name: String
    var isLong: Bool
    /// With a tenth of the rows, and with all of them.
    var tenth: Double
    var all: Double

    /// 5 ms: shorter times differ by the noise of the machine.
    private static let noise = 5.0

    var ratio: Double { max(all, Self.noise) / max(tenth, Self.noise) }

    /// The values above their limits, as sentences. `limit`: the largest p95; `most`: the largest ratio.
    func excesses(limit: Double, ratio most: Double) -> [String] {
        var found: [String] = []
        if all > limit { found.append("p95 of \(name) is " + String(format: "%.0f ms, more than %.0f", all, limit)) }
        if ratio > most {
            let text = String(format: "%.2f times that with a tenth, more than %.2f", ratio, most)
            found.append("p95 of \(name) is \(text)")
        }
        return found
    }
}

/// Makes the calls one after the other, and measures each.
struct AnalyticsRun {
    let stage: BenchStage
    /// The number of calls of each kind.
    let count: Int

    /// Answers of these members are lists.
    private static func list(_ name: String) -> @Sendable (JSON) -> Bool { { $0[name]?.array?.isEmpty == false } }

    /// The p95 of each call.
    ///
    /// - Throws: `StageFailure` when an answer is wrong.
    func measure(_ calls: [AnalyticsCall]) async throws -> [Double] {
        var found: [Double] = []
        var bar = ProgressBar()
        for (place, call) in calls.enumerated() {
            bar.show(done: place, of: calls.count, rows: place * count)
            // Warms up: plans are prepared, and the rows of the newest range are in memory.
            for number in 0..<5 { _ = try await time(call, number) }
            var times: [Double] = []
            for number in 0..<count { times.append(try await time(call, number)) }
            times.sort()
            found.append(times[min(times.count - 1, Int(Double(times.count) * 0.95))])
        }
        bar.show(done: calls.count, of: calls.count, rows: calls.count * count, isLast: true)
        return found
    }

    private func time(_ call: AnalyticsCall, _ number: Int) async throws -> Double {
        var path = call.path
        if let days = call.days {
            // Other quarter hours each time; the range ends tomorrow at the latest.
            let end = (Int64(Date().timeIntervalSince1970) / 900 + 1 - Int64(number % 50)) * 900_000
            path += "\(path.contains("?") ? "&" : "?")from=\(end - Int64(days) * 86_400_000)&to=\(end)"
        }
        let start = ContinuousClock.now
        let answer = try await stage.gateway.call(call.method, path, call.body, bearer: stage.apiKey)
        let took = (ContinuousClock.now - start) / .milliseconds(1)
        guard answer.status == 200, let json = answer.json, call.isWhole(json) else {
            throw StageFailure("\(call.name): \(path) answered \(answer.status) \(answer.text.prefix(300))")
        }
        return took
    }

    // MARK: Calls

    /// The calls about counts: 92 days, and longer ones.
    static func countCalls(days longest: Int) -> [AnalyticsCall] {
        [(92, false), (longest, true)].flatMap { days, isLong -> [AnalyticsCall] in
            func call(_ name: String, _ path: String, _ isWhole: @escaping @Sendable (JSON) -> Bool) -> AnalyticsCall {
                AnalyticsCall(
                    name: "\(name), \(days) days",
                    isLong: isLong,
                    path: "/v1/analytics/\(path)",
                    days: days,
                    isWhole: isWhole
                )
            }
            return [
                call("funnel", "funnel") { ($0["total"]?["targets"]?.int ?? 0) > 0 },
                call("funnel by app and transport", "funnel?by=app,transport", list("groups")),
                call("funnel and the range before", "funnel?compare=previous") { $0["previous"]?["total"] != nil },
                call("timeseries by day", "timeseries?interval=day", list("series")),
                call("losses", "losses", list("losses")),
                call("losses by app and transport", "losses?by=app,transport", list("losses")),
                call("latency", "latency", list("latencies")),
                call("latency of an app", "latency?app=\(BenchStage.app)", list("latencies")),
                call("devices", "devices") { ($0["total"]?["devicesReached"]?.int ?? 0) > 0 },
                call("devices by day", "devices?interval=day", list("parts")),
                call("versions", "versions", list("groups")), call("campaigns", "campaigns", list("groups")),
                call("hours", "hours", list("groups")),
            ]
        }
    }

    /// The calls about messages and devices.
    ///
    /// - Parameter message: the newest message to all devices.
    /// - Returns: the calls, with the names of objects that exist.
    /// - Throws: the error of the database.
    func objectCalls(_ message: Int) async throws -> [AnalyticsCall] {
        let row = try await stage.database.engine.run(
            Statement(
                """
                SELECT \(AnalyticsFill.message(message))::text AS message, d.device_id::text AS device, d.token, i.user_id, i.key
                FROM gateway.identity i JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
                WHERE i.tenant_id = $1 AND i.key = 'bench-77'
                """,
                [.text(BenchStage.tenant.rawValue)]
            ),
            tenant: nil
        ).only()
        let (id, device) = (try row.text("message"), try row.text("device"))
        func find(_ name: String, _ value: String) -> AnalyticsCall {
            let body: JSON = ["value": .string(value)]
            return AnalyticsCall(
                name: "find \(name)",
                method: "POST",
                path: "/v1/find",
                body: body,
                isWhole: Self.list("matches")
            )
        }
        return [
            AnalyticsCall(name: "list messages", path: "/v1/messages?limit=50", isWhole: Self.list("messages")),
            AnalyticsCall(
                name: "list messages of a week",
                path: "/v1/messages?app=\(BenchStage.app)&state=done&limit=50",
                days: 7,
                isWhole: Self.list("messages")
            ),
            // Such a page reads a limited number of messages, whether it finds one or not.
            AnalyticsCall(
                name: "search messages for a rare text",
                path: "/v1/messages?text=nothing+has+this+text&limit=50",
                isWhole: { $0["messages"] != nil }
            ),
            find("message", id), find("token", try row.text("token")), find("key", try row.text("key")),
            find("user", try row.text("user_id")), find("device", device),
            // Such a value may be a phone number, a vendor's message number or a key.
            AnalyticsCall(
                name: "find a number that nobody has",
                method: "POST",
                path: "/v1/find",
                body: ["value": "01099998888"],
                isWhole: { $0["matches"] != nil }
            ),
            AnalyticsCall(name: "vendors", path: "/v1/analytics/vendors", isWhole: Self.list("vendors")),
            AnalyticsCall(
                name: "diagnosis",
                path: "/v1/devices/\(device)/diagnosis",
                isWhole: { $0["reachable"] != nil }
            ),
            AnalyticsCall(
                name: "funnel of a message to all",
                path: "/v1/messages/\(id)",
                isWhole: { ($0["funnel"]?["reached"]?.int ?? 0) > 0 }
            ),
        ]
    }

    /// Exports the deliveries of the newest message to all devices. Returns lines per second.
    ///
    /// - Throws: the client's error when the answer does not end properly.
    func export(_ message: Int) async throws -> Double {
        let row = try await stage.database.engine.run(
            Statement(
                """
                SELECT (extract(epoch FROM m.due_at) * 1000)::bigint AS due FROM gateway.message m
                WHERE m.tenant_id = $1 AND m.message_id = \(AnalyticsFill.message(message))
                """,
                [.text(BenchStage.tenant.rawValue)]
            ),
            tenant: nil
        ).only()
        let due = try row.int64("due")
        var lines = 0
        let start = ContinuousClock.now
        let answer = try await stage.gateway.stream(
            "/v1/exports/deliveries?from=\(due)&to=\(due + 1)",
            bearer: stage.apiKey
        ) { part in lines += part.count { $0 == UInt8(ascii: "\n") } }
        guard answer.status == 200, lines > 0 else {
            throw StageFailure("the export answered \(answer.status) with \(lines) lines \(answer.text.prefix(300))")
        }
        return Double(lines) / ((ContinuousClock.now - start) / .seconds(1))
    }
}
