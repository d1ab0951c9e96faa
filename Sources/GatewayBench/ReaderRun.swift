import CommandSupport
import Gateway
import Model
import PostgresClient

/// One campaign of `bench reader`.
struct ReaderSample: Sendable {
    var seconds: Double
    /// CPU seconds of the gateway and of PostgreSQL.
    var cpu: Double
    /// Seconds from the end of the campaign until every event was counted.
    var catchUp: Double
    /// CPU seconds of counting after the end of the campaign.
    var catchUpCPU: Double
    /// Seconds from the end of the campaign until a follower of the log had the last event; 0 without one.
    var lag = 0.0
}

/// The same campaign without the event reader, with it, and with it and a follower of the log.
struct ReaderPair: Sendable {
    var without: ReaderSample
    var with: ReaderSample
    var followed: ReaderSample

    /// The rate with the reader, relative to that without it.
    var rateRatio: Double { without.seconds / with.seconds }
    /// The rate with a follower too, relative to that without one.
    var followedRatio: Double { with.seconds / followed.seconds }
    /// Parts of the campaign's duration.
    var catchUpShare: Double { with.catchUp / with.seconds }
    var lagShare: Double { followed.lag / followed.seconds }
    /// The part of all CPU that counting takes, if it is done afterwards.
    var cpuShare: Double { without.catchUpCPU / max(without.cpu + without.catchUpCPU, 0.001) }
}

/// The limits of `bench reader`.
struct ReaderLimits: Sendable {
    /// The smallest rates, relative to that without the reader and to that without a follower.
    var rate: Double
    var followedRate: Double
    /// The longest times after the end, relative to the campaign's duration.
    var catchUp: Double
    var lag: Double

    /// The medians that are beyond their limits, as sentences.
    func excesses(_ pairs: [ReaderPair]) -> [String] {
        let figures: [BenchFigure] = [
            .least("the relative rate with the reader", pairs.map(\.rateRatio), rate),
            .least("the relative rate with a follower", pairs.map(\.followedRatio), followedRate),
            .most("the relative time until everything is counted", pairs.map(\.catchUpShare), catchUp),
            .most("the relative time until a follower has everything", pairs.map(\.lagShare), lag),
        ]
        return figures.compactMap(\.excess)
    }
}

/// Sends campaigns to everyone, with and without the reader of the event log.
struct ReaderRun {
    enum Kind: CaseIterable { case without, with, followed }

    let stage: BenchStage
    let devices: Int

    /// An hour: a reader that needs longer is not working.
    private static let limit = Duration.seconds(3600)

    /// The reader is at the end of the log at its beginning and at its end.
    ///
    /// - Throws: `StageFailure` when a campaign does not end, or its events are not counted within an hour.
    func measure(_ kind: Kind, _ number: Int) async throws -> ReaderSample {
        // A step in progress cannot end under another epoch, so that nothing is counted from here on.
        if kind == .without {
            try await stage.psql(
                "UPDATE gateway.event_reader SET epoch = epoch + 1, next_at = now() + interval '1 day'"
            )
        }
        let (gateway, key, devices) = (stage.gateway, stage.apiKey, devices)
        let head = try await positions().head
        let follower = Task { () async throws -> ContinuousClock.Instant? in
            guard kind == .followed else { return nil }
            return try await Self.follow(gateway, key, after: head, count: devices)
        }
        let campaign: BenchSample
        do {
            campaign = try await BenchRun(stage: stage, devices: devices).measure(number)
        } catch {
            follower.cancel()
            throw error
        }
        let (end, before) = (ContinuousClock.now, try cpu())
        if kind == .without { try await stage.psql("UPDATE gateway.event_reader SET next_at = now()") }
        try await settle()
        let (counted, after) = (ContinuousClock.now, try cpu())
        let last = try await follower.value
        return ReaderSample(
            seconds: campaign.seconds,
            cpu: (campaign.gatewayMicroseconds + campaign.postgresMicroseconds) * Double(devices) / 1e6,
            catchUp: (counted - end) / .seconds(1),
            catchUpCPU: after - before,
            lag: last.map { max(0, ($0 - end) / .seconds(1)) } ?? 0
        )
    }

    /// Waits until every event is counted.
    ///
    /// - Throws: `StageFailure` when that takes longer than an hour.
    func settle() async throws {
        let start = ContinuousClock.now
        while true {
            let (cursor, head) = try await positions()
            if cursor >= head { return }
            guard ContinuousClock.now - start < Self.limit else {
                throw StageFailure("the event reader is at \(cursor) of \(head)")
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// The event up to which everything is counted, and the last one.
    private func positions() async throws -> (cursor: Int64, head: Int64) {
        let row = try await stage.database.engine.run(
            Statement(
                """
                SELECT coalesce((SELECT r.cursor FROM gateway.event_reader r WHERE r.tenant_id = $1), 0) AS cursor,
                    coalesce((SELECT max(p.last) FROM gateway.event_position p WHERE p.tenant_id = $1), 0) AS head
                """,
                [.text(BenchStage.tenant.rawValue)]
            ),
            tenant: nil
        ).only()
        return (try row.int64("cursor"), try row.int64("head"))
    }

    private func cpu() throws -> Double { stage.gatewayCPU() + (try stage.postgresCPU()) }

    private struct Finished: Error {}

    /// Receives events as they happen. Returns when the last one arrived.
    private static func follow(
        _ gateway: HTTPCaller,
        _ key: String,
        after head: Int64,
        count: Int
    ) async throws -> ContinuousClock.Instant {
        let deadline = ContinuousClock.now + limit
        var (events, last): (Int, UInt8) = (0, 0)
        do {
            let path = "/v1/events?kinds=sent&follow=true&after=\(head)"
            let answer = try await gateway.stream(path, bearer: key) { part in
                for byte in part {
                    // An empty line is a sign of life.
                    if byte == UInt8(ascii: "\n"), last == UInt8(ascii: "}") { events += 1 }
                    last = byte
                }
                if events >= count { throw Finished() }
                guard ContinuousClock.now < deadline else {
                    throw StageFailure("the follower has \(events) of \(count) events")
                }
            }
            throw StageFailure("the stream of events ended with \(answer.status) \(answer.text.prefix(300))")
        } catch is Finished {
            return .now
        }
    }
}
