import CommandSupport
import Foundation
import Gateway
import Model
import PostgresClient
import Store

/// Measures one message to everyone, from the submission to the commit of the last outcome.
struct BenchRun {
    let stage: BenchStage
    let devices: Int
    /// The tenant that sends, whose app `shop` has the devices.
    var tenant = BenchStage.tenant
    /// Its key; nil: that of the stage's tenant.
    var apiKey: String?
    /// Half an hour; a longer run indicates an error.
    private static let limit = Duration.seconds(1800)

    private static let state = """
        SELECT m.state FROM gateway.message m WHERE m.tenant_id = $1 AND m.message_id = $2
        """
    private static let sent =
        "SELECT coalesce(sum(c.sent), 0)::bigint AS sent FROM gateway.counter_hour c WHERE c.tenant_id = $1"
    /// The age of the oldest due slice.
    private static let queueAge = """
        SELECT coalesce(extract(epoch FROM clock_timestamp() - min(next_at)) * 1000, 0)::bigint AS age FROM gateway.slice
        WHERE tenant_id = $1 AND state = 'ready' AND next_at <= clock_timestamp()
        """
    private static let written = """
        SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint AS wal,
            (SELECT sum(tup_inserted + tup_updated)::bigint FROM pg_stat_database WHERE datname = current_database()) AS rows
        """

    /// - Throws: `StageFailure` when not every device was reached.
    func measure(_ number: Int) async throws -> BenchSample {
        let tenant = PostgresValue.text(self.tenant.rawValue)
        let before = try await usage()
        let sentBefore = try await ask(Self.sent, [tenant]).only().int("sent")
        let started = ContinuousClock.now
        let id = try await submit(number)
        var ages: [Int] = []
        var bar = ProgressBar()
        while true {
            if try await ask(Self.state, [tenant, .uuid(id.rawValue)]).only().text("state") == "done" { break }
            // The sum reads every count that is not folded yet, so it is asked once a second.
            if ages.count % 20 == 0 {
                let done = try await ask(Self.sent, [tenant]).only().int("sent") - sentBefore
                bar.show(done: done, of: devices, rows: done)
            }
            ages.append(try await ask(Self.queueAge, [tenant]).only().int("age"))
            guard ContinuousClock.now - started < Self.limit else { throw StageFailure("not done within half an hour") }
            try await Task.sleep(for: .milliseconds(50))
        }
        let seconds = (ContinuousClock.now - started) / .seconds(1)
        bar.show(done: devices, of: devices, rows: devices, isLast: true)
        let after = try await usage()
        let sent = try await funnelSent(id)
        guard sent == devices else { throw StageFailure("only \(sent) of \(devices) were sent") }
        ages.sort()
        return BenchSample(
            seconds: seconds,
            perSecond: Double(devices) / seconds,
            gatewayMicroseconds: (after.gateway - before.gateway) / Double(devices) * 1e6,
            postgresMicroseconds: (after.postgres - before.postgres) / Double(devices) * 1e6,
            peakMiB: stage.nodes.map { ProcessUsage.peakMiB($0.processID) }.max() ?? 0,
            rowsWritten: after.rows - before.rows,
            walBytes: after.wal - before.wal,
            queueAgeP50: ages.isEmpty ? 0 : ages[ages.count / 2],
            queueAgeP99: ages.isEmpty ? 0 : ages[ages.count * 99 / 100]
        )
    }

    private func submit(_ number: Int) async throws -> MessageID {
        let answer = try await stage.gateway.call(
            "POST",
            "/v1/messages",
            ["app": .string(BenchStage.app.rawValue), "to": ["everyone": true], "body": .string("run \(number)")],
            bearer: apiKey ?? stage.apiKey
        )
        guard let id = (answer.json?["id"]?.string).flatMap({ MessageID(text: $0) }) else {
            throw StageFailure("sending answered \(answer.status) \(answer.text)")
        }
        return id
    }

    private func funnelSent(_ id: MessageID) async throws -> Int {
        try await PostgresQueryStore(call: stage.database.call)
            .message(id.description, in: tenant)?.funnel.sent ?? 0
    }

    private struct Usage {
        /// CPU seconds of all nodes, and of PostgreSQL.
        var gateway: Double
        var postgres: Double
        var wal: Int
        var rows: Int
    }

    private func usage() async throws -> Usage {
        let row = try await ask(Self.written, []).only()
        return Usage(
            gateway: stage.gatewayCPU(),
            postgres: try stage.postgresCPU(),
            wal: try row.int("wal"),
            rows: try row.int("rows")
        )
    }

    private func ask(_ text: String, _ parameters: [PostgresValue]) async throws -> ResultSet {
        try await stage.database.engine.run(Statement(text, parameters), tenant: nil)
    }
}

/// The cost of one run.
struct BenchSample: Sendable, CustomStringConvertible {
    var seconds: Double
    var perSecond: Double
    /// CPU time per delivery.
    var gatewayMicroseconds: Double
    var postgresMicroseconds: Double
    /// The peak memory of the largest node.
    var peakMiB: Double
    var rowsWritten: Int
    var walBytes: Int
    /// The age of the oldest due slice in milliseconds, over the samples of the run.
    var queueAgeP50: Int
    var queueAgeP99: Int

    var description: String {
        String(
            format: "%.2f s, %.0f deliveries/s, CPU per delivery %.1f µs gateway + %.1f µs PostgreSQL, peak %.0f MiB",
            seconds,
            perSecond,
            gatewayMicroseconds,
            postgresMicroseconds,
            peakMiB
        )
    }
}
