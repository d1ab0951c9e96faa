import CommandSupport
import Foundation
import Gateway
import Model
import PostgresClient

/// Messages to one recipient each at a steady rate, with their latencies.
struct TransactionalPhase {
    /// The times from the due time of each call to its 202, shortest first.
    let accepts: [Duration]
    /// Milliseconds from the message's acceptance to the push service's answer, as stored.
    let pushP50: Int
    let pushP99: Int

    /// Sends for `duration` and waits until everything is delivered.
    ///
    /// - Throws: `StageFailure` when a call was not accepted, or when not everything was sent within a minute.
    static func measure(
        _ callers: TransactionalCallers,
        at perSecond: Double,
        for duration: Duration,
        on stage: BenchStage
    ) async throws -> TransactionalPhase {
        let since = try await stage.database.engine.run(Statement(clock), tenant: nil).only().int64("now")
        let accepts = try await callers.atRate(perSecond, for: duration)
        try await settle(stage)
        let row = try await stage.database.engine.run(
            Statement(latencies, [.text(BenchStage.tenant.rawValue), .int64(since)]),
            tenant: nil
        ).only()
        let percentiles = try row.ints("percentiles")
        return TransactionalPhase(accepts: accepts, pushP50: percentiles.first ?? 0, pushP99: percentiles.last ?? 0)
    }

    /// The quantile of the answer times for `share`, in milliseconds.
    func acceptMilliseconds(_ share: Double) -> Double {
        guard !accepts.isEmpty else { return 0 }
        return accepts[min(accepts.count - 1, Int(Double(accepts.count) * share))] / .milliseconds(1)
    }

    /// Waits at most a minute until the tenant has nothing left to send.
    ///
    /// - Throws: `StageFailure` when something is left.
    static func settle(_ stage: BenchStage, tenant: TenantID = BenchStage.tenant) async throws {
        for _ in 0..<1200 {
            let statement = Statement(open, [.text(tenant.rawValue)])
            if try await stage.database.engine.run(statement, tenant: nil).only().int("number") == 0 { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw StageFailure("not everything of \(tenant) was sent within a minute")
    }

    private static let clock = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now"
    private static let open = "SELECT count(*) AS number FROM gateway.slice WHERE tenant_id = $1 AND state <> 'done'"
    private static let latencies = """
        SELECT percentile_disc(ARRAY[0.5, 0.99]) WITHIN GROUP (
            ORDER BY (extract(epoch FROM d.sent_at - m.accepted_at) * 1000)::bigint) AS percentiles
        FROM gateway.message m
        JOIN gateway.delivery d ON d.tenant_id = $1 AND d.due_day = m.due_day AND d.message_id = m.message_id
        WHERE m.tenant_id = $1 AND m.accepted_at >= to_timestamp($2 / 1000.0) AND d.state = 'sent'
        """
}

/// Simulates callers of a back end: each message is sent to one device.
struct TransactionalCallers: Sendable {
    let gateway: HTTPCaller
    let apiKey: String
    let count: Int
    let devices: Int

    /// Each caller calls again when it receives an answer. Returns the number of accepted calls.
    ///
    /// - Throws: `StageFailure` when a call was not accepted.
    func asFastAsPossible(for duration: Duration) async throws -> Int {
        let end = ContinuousClock.now + duration
        return try await withThrowingTaskGroup(of: Int.self) { group in
            for caller in 0..<count {
                group.addTask {
                    var accepted = 0
                    while ContinuousClock.now < end {
                        try await send(caller + accepted * count)
                        accepted += 1
                    }
                    return accepted
                }
            }
            return try await group.reduce(0, +)
        }
    }

    /// Calls at fixed times; a late caller calls at once. Returns the times from the due time of each call to its answer, shortest first.
    ///
    /// - Throws: `StageFailure` when a call was not accepted.
    func atRate(_ perSecond: Double, for duration: Duration) async throws -> [Duration] {
        let total = Int(perSecond * (duration / .seconds(1)))
        let start = ContinuousClock.now
        return try await withThrowingTaskGroup(of: [Duration].self) { group in
            for caller in 0..<count {
                group.addTask {
                    var latencies: [Duration] = []
                    for number in stride(from: caller, to: total, by: count) {
                        let due = start + .seconds(Double(number) / perSecond)
                        if due > .now { try await Task.sleep(until: due, clock: .continuous) }
                        try await send(number)
                        latencies.append(.now - due)
                    }
                    return latencies
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }.sorted()
        }
    }

    private func send(_ number: Int) async throws {
        let answer = try await gateway.call(
            "POST",
            "/v1/messages",
            [
                "app": .string(BenchStage.app.rawValue), "to": ["keys": [.string("bench-\(number % devices + 1)")]],
                "body": "your code is 123456",
            ],
            bearer: apiKey
        )
        guard answer.status == 202 else { throw StageFailure("sending answered \(answer.status) \(answer.text)") }
    }
}
