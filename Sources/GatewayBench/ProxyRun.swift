import CommandSupport
import Foundation
import Gateway
import Model
import Observability
import PostgresClient

/// A turn of `bench proxy`. The calls of a pair are made in this order or in the reverse one.
enum ProxyTurn: CaseIterable, Sendable {
    /// Calls that nginx, or the gateway, gives to the fast upstream. Calls per second.
    case nginx, proxied
    /// Calls of few connections to the upstream itself, and through the gateway. The p50 in milliseconds.
    case direct, added
    /// Registrations of new devices: served by the gateway; proxied and observed; served and forwarded. Calls per second.
    case served, observed, forwarded
}

/// The limits of `bench proxy`.
struct ProxyLimits: Sendable {
    /// The smallest rates, relative to nginx and to calls that the gateway serves.
    var proxied: Double
    var observed: Double
    var forwarded: Double
    /// The largest p50 that proxying adds. Unit: milliseconds.
    var added: Double
    /// The largest CPU of a campaign with a rollout, relative to that without.
    var rollout: Double
    /// The most memory of calls that wait for slow upstreams. Unit: MiB.
    var memory: Double

    /// The figures of the turns.
    func figures(_ pairs: [[ProxyTurn: Double]]) -> [BenchFigure] {
        func ratios(_ turn: ProxyTurn, to base: ProxyTurn) -> [Double] {
            pairs.compactMap { pair in
                guard let value = pair[turn], let reference = pair[base], reference > 0 else { return nil }
                return value / reference
            }
        }
        let differences = pairs.compactMap { pair -> Double? in
            guard let through = pair[.added], let direct = pair[.direct] else { return nil }
            return through - direct
        }
        return [
            .least("proxied calls/s, of nginx", ratios(.proxied, to: .nginx), proxied),
            .most("p50 added by proxying, ms", differences, added),
            .least("proxied and observed calls/s, of served", ratios(.observed, to: .served), observed),
            .least("served and forwarded calls/s, of served", ratios(.forwarded, to: .served), forwarded),
        ]
    }

    /// The figures of the campaigns, by pair, and of the memory of calls that wait.
    func figures(rollouts: [Double], waiting: Double) -> [BenchFigure] {
        [
            .most("CPU of a campaign with a rollout, of without", rollouts, rollout),
            .most("memory of 1,000 calls that wait, MiB", [waiting], memory),
        ]
    }
}

/// The turns of wrk of `bench proxy`.
struct ProxyRun {
    let stage: BenchStage
    let seconds: Int
    let connections: Int
    /// The core of wrk, PostgreSQL and the fast upstream.
    let core: Int
    /// The addresses of the fast upstream, and of the nginx in front of it.
    let upstream: String
    let nginx: String
    /// The metrics of the gateway.
    let admin: HTTPCaller

    /// 4 connections: the times of single calls, without queues.
    private static let few = 4
    /// 2 min until everything is observed or forwarded; longer means that it fails.
    private static let limit = Duration.seconds(120)

    private static let unknown = WrkPost(
        path: ProxyApps.unknownPath,
        body: #"{"APP_ID":"\#(ProxyApps.App.proxied.application)","NUMBER":"%d"}"#
    )

    private static func registration(_ app: ProxyApps.App) -> WrkPost {
        WrkPost(
            path: ProxyApps.registrationPath,
            body: #"{"APP_ID":"\#(app.application)","USER_CN":"U%d","DEVICE_ID":"new-%d","PUSH_TOKEN":"b%063x","#
                + #""PUSH_TYPE":"ios","PUSH_YN":"Y"}"#
        )
    }

    /// The value of each turn, by pair.
    ///
    /// - Throws: `StageFailure` when calls fail, or are not proxied, stored, observed or forwarded.
    func measure(pairs: Int) async throws -> [[ProxyTurn: Double]] {
        // No two registrations have one number: a device that is known costs less.
        var next = 1
        var found: [[ProxyTurn: Double]] = []
        // The first round is a warm-up.
        for pair in 0...pairs {
            let order = pair.isMultiple(of: 2) ? ProxyTurn.allCases : Array(ProxyTurn.allCases.reversed())
            var values: [ProxyTurn: Double] = [:]
            for turn in order { values[turn] = try await measure(turn, &next, for: pair == 0 ? 1 : seconds) }
            guard pair > 0 else { continue }
            found.append(values)
            let texts = ProxyTurn.allCases.map { "\($0) " + String(format: "%.2f", values[$0] ?? 0) }
            Console.error("pair \(pair): " + texts.joined(separator: ", "))
        }
        return found
    }

    private func measure(_ turn: ProxyTurn, _ next: inout Int, for seconds: Int) async throws -> Double {
        switch turn {
        case .nginx: return try await run(Self.unknown, at: nginx, for: seconds).perSecond
        case .proxied: return try await proxied(connections, for: seconds).perSecond
        case .direct: return try await run(Self.unknown, at: upstream, Self.few, for: seconds).p50
        case .added: return try await proxied(Self.few, for: seconds).p50
        case .served: return try await served(&next, for: seconds)
        case .observed: return try await observed(&next, for: seconds)
        case .forwarded: return try await forwarded(&next, for: seconds)
        }
    }

    private func run(
        _ post: WrkPost,
        at base: String,
        _ callers: Int? = nil,
        from first: Int = 1,
        for seconds: Int
    ) async throws -> WrkTurn {
        let wrk = WrkRun(stage: stage, connections: callers ?? connections, core: core)
        return try await wrk.run(post.script(from: first), named: post.path, at: base, for: seconds)
    }

    /// Registers new devices through the gateway.
    private func register(_ app: ProxyApps.App, _ next: inout Int, for seconds: Int) async throws -> WrkTurn {
        let turn = try await run(Self.registration(app), at: stage.gateway.base, from: next, for: seconds)
        next += turn.requests + connections
        return turn
    }

    // MARK: Turns

    private func proxied(_ callers: Int, for seconds: Int) async throws -> WrkTurn {
        let labels = [#"upstream="\#(ProxyApps.credential)""#, #"kind="other""#, #"outcome="2xx""#]
        let before = try await count(.upstreamCalls, labels)
        let turn = try await run(Self.unknown, at: stage.gateway.base, callers, for: seconds)
        let answers = try await count(.upstreamCalls, labels) - before
        guard answers >= turn.requests else {
            throw StageFailure("the upstream answered \(answers) of \(turn.requests) proxied calls")
        }
        return turn
    }

    private func served(_ next: inout Int, for seconds: Int) async throws -> Double {
        let before = try await devices(of: .served)
        let turn = try await register(.served, &next, for: seconds)
        let written = try await devices(of: .served) - before
        guard written >= turn.requests else {
            throw StageFailure("served: \(turn.requests) answered, \(written) written")
        }
        return turn.perSecond
    }

    /// Observation goes on behind the answers: its rest counts as time, and a call that it drops does not count.
    private func observed(_ next: inout Int, for seconds: Int) async throws -> Double {
        func ended() async throws -> (all: Int, stored: Int) {
            let metrics = try await metrics()
            let all = NodeMetrics.sum(.observed, in: metrics) + NodeMetrics.sum(.observedLost, in: metrics)
            return (all, NodeMetrics.sum(.observed, [#"outcome="stored""#], in: metrics))
        }
        let before = try await ended()
        let turn = try await register(.proxied, &next, for: seconds)
        let end = ContinuousClock.now
        while true {
            let now = try await ended()
            let rest = ContinuousClock.now - end
            if now.all - before.all >= turn.requests {
                return Double(min(now.stored - before.stored, turn.requests)) / (Double(seconds) + rest / .seconds(1))
            }
            guard rest < Self.limit else {
                throw StageFailure("\(now.all - before.all) of \(turn.requests) proxied calls were observed")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Forwarding goes on meanwhile. Its rest is not part of the rate, and ends before the next turn.
    private func forwarded(_ next: inout Int, for seconds: Int) async throws -> Double {
        let labels = [#"upstream="\#(ProxyApps.credential)""#, #"outcome="accepted""#]
        let (before, known) = (try await count(.outboxCalls, labels), try await devices(of: .forwarded))
        let turn = try await register(.forwarded, &next, for: seconds)
        let written = try await devices(of: .forwarded) - known
        guard written >= turn.requests else {
            throw StageFailure("forwarded: \(turn.requests) answered, \(written) written")
        }
        let end = ContinuousClock.now
        while true {
            let accepted = try await count(.outboxCalls, labels) - before
            if accepted >= turn.requests { return turn.perSecond }
            guard ContinuousClock.now - end < Self.limit else {
                throw StageFailure("\(accepted) of \(turn.requests) calls were forwarded")
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    // MARK: Counts

    private func metrics() async throws -> String { try await admin.call("GET", "/metrics").text }

    private func count(_ name: MetricName, _ labels: [String]) async throws -> Int {
        NodeMetrics.sum(name, labels, in: try await metrics())
    }

    private func devices(of app: ProxyApps.App) async throws -> Int {
        try await stage.database.engine.run(
            Statement(
                "SELECT count(*) AS number FROM gateway.identity WHERE tenant_id = $1 AND app_id = $2",
                [.text(ProxyApps.tenant.rawValue), .text(app.rawValue)]
            ),
            tenant: nil,
            timeout: .seconds(60)
        ).only().int("number")
    }
}
