import CommandSupport
import Foundation
import Gateway
import Model
import PostgresClient

/// The results of one kind of batch: medians of its turns.
struct TrackSample {
    var name: String
    var perSecond: Double
    /// Unit: milliseconds.
    var p99: Double
    /// CPU time per batch, of the gateway and of PostgreSQL. Unit: microseconds.
    var gatewayMicroseconds: Double
    var postgresMicroseconds: Double
}

/// The turns of `bench track`.
struct TrackRun {
    let stage: BenchStage
    let seconds: Int
    let connections: Int
    /// The number of elements in each list of a batch, one per user.
    let size: Int
    let otherCore: Int

    private static let key = "bench-rest-key-0123456789abcdef"

    /// Whether the users of a batch are new, and whether the batch is a repetition.
    private enum Kind: String, CaseIterable {
        case new = "new users"
        case known = "known users"
        case again = "the same batch again"
    }

    /// - Throws: `StageFailure` when a part does not start, an answer is not 2xx, or an answered write is missing.
    func measure(turns count: Int) async throws -> [TrackSample] {
        try await stage.bind("braze: { restKeyEnv: BENCH_REST_KEY }", environment: ["BENCH_REST_KEY": Self.key]) {
            stage in
            let answer = try await stage.gateway.call("POST", "/users/track", [:] as JSON, bearer: Self.key)
            return answer.status == 400
        }
        let wrk = WrkRun(stage: stage, connections: connections, core: otherCore)
        try wrk.pinPostgres()
        var turns: [Kind: [WrkTurn]] = [:]
        // The number of batches so far, each with its own users, and the number of rounds of changes for all of them.
        var made = 0
        var round = 0
        // The first round is a warm-up.
        for turn in 0...count {
            for kind in Kind.allCases {
                let before = try await acts()
                if kind == .known { round += 1 }
                let result = try await wrk.run(
                    script(
                        from: kind == .new ? made : 0,
                        of: kind == .new ? .max : made,
                        round: kind == .new ? 0 : round
                    ),
                    named: kind.rawValue,
                    at: stage.gateway.base,
                    for: seconds
                )
                let written = try await acts() - before
                guard kind != .new || written >= result.requests * size * 2 else {
                    throw StageFailure("\(result.requests) batches answered, \(written) events and purchases written")
                }
                if kind == .new { made += result.requests + connections }
                Console.error(String(format: "%@ %.0f/s, p99 %.1f ms", kind.rawValue, result.perSecond, result.p99))
                if turn > 0 { turns[kind, default: []].append(result) }
            }
        }
        return Kind.allCases.map { kind in
            func median(_ value: (WrkTurn) -> Double) -> Double { BenchReport.median((turns[kind] ?? []).map(value)) }
            return TrackSample(
                name: kind.rawValue,
                perSecond: median(\.perSecond),
                p99: median(\.p99),
                gatewayMicroseconds: median(\.gateway),
                postgresMicroseconds: median(\.postgres)
            )
        }
    }

    /// Batch n contains the users from n × `size` on. The changes differ in each round.
    private func script(from first: Int, of total: Int, round: Int) -> String {
        """
        local number = \(first)
        local headers = { ["Content-Type"] = "application/json", ["Authorization"] = "Bearer \(Self.key)" }
        local attribute = '{"external_id":"u-%d","first_name":"Name %d","loyalty":%d,"city":"Seoul"}'
        local event = '{"external_id":"u-%d","name":"add_to_cart","time":"2026-01-01T00:00:00Z","properties":{"sku":"A%d","round":%d}}'
        local purchase = '{"external_id":"u-%d","product_id":"A1","currency":"KRW","price":%d,"quantity":2,"time":"2026-01-01T00:00:%02dZ"}'
        function request()
          local attributes, events, purchases = {}, {}, {}
          for place = 1, \(size) do
            local user = number * \(size) + place
            attributes[place] = string.format(attribute, user, user, \(round))
            events[place] = string.format(event, user, user, \(round))
            purchases[place] = string.format(purchase, user, 9900 + user, \(round))
          end
          number = (number + 1) % \(max(1, total))
          local body = '{"attributes":[' .. table.concat(attributes, ",") .. '],"events":[' .. table.concat(events, ",")
            .. '],"purchases":[' .. table.concat(purchases, ",") .. ']}'
          return wrk.format("POST", "/users/track", headers, body)
        end
        """
    }

    /// The number of stored events and purchases.
    private func acts() async throws -> Int {
        try await stage.database.engine.run(
            Statement(
                "SELECT count(*) AS number FROM gateway.user_act WHERE tenant_id = $1",
                [.text(BenchStage.tenant.rawValue)]
            ),
            tenant: nil,
            timeout: .seconds(60)
        ).only().int("number")
    }
}
