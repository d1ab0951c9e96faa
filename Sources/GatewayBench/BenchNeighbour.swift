import ArgumentParser
import CommandSupport
import Foundation
import Gateway
import Model
import PostgresClient

/// `bench neighbour`: a tenant's single messages, in turn with and without a failing campaign of another tenant (I9).
struct BenchNeighbour: AsyncParsableCommand {
    enum Trouble: String, CaseIterable, ExpressibleByArgument {
        /// The credential points to an address without a server.
        case dead
        /// The push service answers after 30 seconds.
        case slow
        /// Twelve callers without a credential send JSON bodies of 10 MB at the same time.
        case bodies
    }

    static let configuration = CommandConfiguration(
        commandName: "neighbour",
        abstract: "Measure how one tenant's failures affect another, in pairs of phases with and without them.",
        discussion: """
            One tenant sends messages to one recipient each, at a steady rate. In every other phase another tenant runs a campaign to everyone whose \
            credential is dead, or whose push service answers after 30 seconds; or callers without a credential send large bodies. The result is the median of the pairs' ratios of p99, which may not exceed \
            the limit: otherwise the exit status is 1. Times below five milliseconds count as five, because the machine's own noise is of that size.
            """
    )

    @Option(help: "The failure of the other tenant: \(Trouble.allCases.map(\.rawValue).joined(separator: " or ")).")
    var trouble = Trouble.dead
    @Option(help: "Number of pairs of phases; their order alternates.") var pairs = 5
    @Option(help: "Seconds per phase.") var seconds = 5
    @Option(help: "Messages per second of the measured tenant.") var rate = 50
    @Option(help: "Number of devices of the other tenant's campaign.") var devices = 20_000
    @Option(help: "The largest ratio of p99, with and without trouble, of accepts and of accept → APNs.") var limit =
        1.5
    @Option(help: "The apns-accept-server program. Default: in the directory of this program.") var peer: String?
    @Flag(help: "Print JSON.") var json = false

    private static let neighbour: TenantID = "neighbour"
    private static let ownDevices = 10_000
    private static let callers = 16

    func validate() throws {
        guard (1...50).contains(pairs) else { throw ValidationError("--pairs must be 1 to 50") }
        guard (1...600).contains(seconds) else { throw ValidationError("--seconds must be 1 to 600") }
        guard (1...1000).contains(rate) else { throw ValidationError("--rate must be 1 to 1000") }
        guard limit >= 1 else { throw ValidationError("--limit must be at least 1") }
        guard (1...1_000_000).contains(devices) else { throw ValidationError("--devices must be 1 to 1000000") }
    }

    func run() async throws {
        let peer = peer ?? Bench.peer
        var isWithin = false
        try await BenchStage.with(peer: peer, nodes: 1) { stage in
            let slow = trouble == .slow ? try await stage.startPeer(peer, "slow", latency: .seconds(30)) : nil
            do {
                let key = try await stage.addTenant(
                    Self.neighbour,
                    apnsAddress: "localhost:\(slow?.port ?? BenchStage.discardPort)"
                )
                try await stage.makeAudience(Self.ownDevices)
                if trouble != .bodies { try await stage.makeAudience(devices, of: Self.neighbour) }
                isWithin = try await report(stage, try await measure(stage, key))
            } catch {
                _ = await slow?.0.stop()
                throw error
            }
            _ = await slow?.0.stop()
        }
        guard isWithin else { throw ExitCode(1) }
    }

    /// 5 ms: shorter times differ by the noise of the machine.
    private static let noise = 5.0

    /// The ratio of two times in milliseconds.
    static func ratio(of with: Double, to without: Double) -> Double { max(with, noise) / max(without, noise) }

    /// The ratios above the limit, as sentences; none if the neighbour's trouble does not matter.
    static func excesses(accept: Double, push: Double, limit: Double) -> [String] {
        [("accepts", accept), ("accept → APNs", push)].filter { $0.1 > limit }.map { what, ratio in
            "p99 of \(what) is " + String(format: "%.2f times that without trouble, more than %.2f", ratio, limit)
        }
    }

    private struct Pair {
        var without: TransactionalPhase
        var with: TransactionalPhase

        var acceptRatio: Double {
            BenchNeighbour.ratio(of: with.acceptMilliseconds(0.99), to: without.acceptMilliseconds(0.99))
        }
        var pushRatio: Double { BenchNeighbour.ratio(of: Double(with.pushP99), to: Double(without.pushP99)) }
    }

    private func measure(_ stage: BenchStage, _ neighbourKey: String) async throws -> [Pair] {
        let callers = TransactionalCallers(
            gateway: stage.gateway,
            apiKey: stage.apiKey,
            count: Self.callers,
            devices: Self.ownDevices
        )
        func phase() async throws -> TransactionalPhase {
            try await TransactionalPhase.measure(callers, at: Double(rate), for: .seconds(seconds), on: stage)
        }
        func troubled() async throws -> TransactionalPhase {
            if trouble == .bodies {
                let flooded = try await LargeBodyFlood.during(stage.gateway.base, phase)
                Console.error("\(flooded.count) large bodies were read")
                return flooded.value
            }
            let campaign = try await stage.send(["app": "shop", "to": "everyone", "body": "sale"], as: neighbourKey)
            try await meetTrouble(stage)
            let phase = try await phase()
            let canceled = try await stage.gateway.call("DELETE", "/v1/messages/\(campaign)", bearer: neighbourKey)
            guard canceled.status == 200 else { throw StageFailure("canceling answered \(canceled.status)") }
            try await TransactionalPhase.settle(stage, tenant: Self.neighbour)
            return phase
        }
        // Warms up: afterwards connections are open, statements are prepared and the server has its statistics.
        _ = try await callers.atRate(Double(rate), for: .seconds(3))
        try await TransactionalPhase.settle(stage)
        try await stage.psql("ANALYZE")
        _ = try await phase()
        var rows: [Pair] = []
        for number in 0..<pairs {
            // The first pair begins without trouble.
            let (with, without) = try await AlternatingPair.measure(number + 1) { hasTrouble in
                try await hasTrouble ? troubled() : phase()
            }
            let row = Pair(without: without, with: with)
            rows.append(row)
            Console.error(String(format: "pair %d: accept %.2f, push %.2f", number + 1, row.acceptRatio, row.pushRatio))
        }
        return rows
    }

    /// Waits until the audience is expanded and each of its slices has failed once: the normal cost of a campaign is not measured.
    private func meetTrouble(_ stage: BenchStage) async throws {
        let untried = Statement(
            """
            SELECT count(*) AS number FROM gateway.slice
            WHERE tenant_id = $1 AND (kind = 'expand' AND state <> 'done' OR state = 'ready' AND next_at <= now())
            """,
            [.text(Self.neighbour.rawValue)]
        )
        try await Task.sleep(for: .seconds(1))
        for _ in 0..<100 {
            if try await stage.database.engine.run(untried, tenant: nil).only().int("number") == 0 { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw StageFailure("not every slice of the campaign was tried within ten seconds")
    }

    /// Prints the result. Returns whether both ratios are within the limit.
    private func report(_ stage: BenchStage, _ rows: [Pair]) async throws -> Bool {
        let accept = BenchReport.median(rows.map(\.acceptRatio))
        let push = BenchReport.median(rows.map(\.pushRatio))
        let settings = try await stage.settings()
        let excesses = Self.excesses(accept: accept, push: push, limit: limit)
        defer { for excess in excesses { Console.error(excess) } }
        guard json else {
            let table = rows.enumerated().map { number, row in
                [
                    "\(number + 1)",
                    String(
                        format: "%.1f → %.1f ms",
                        row.without.acceptMilliseconds(0.99),
                        row.with.acceptMilliseconds(0.99)
                    ),
                    "\(row.without.pushP99) → \(row.with.pushP99) ms",
                ]
            }
            Console.print(
                Console.table(["pair", "accept p99, without → \(trouble.rawValue)", "accept → APNs p99"], table) + "\n"
                    + String(format: "median ratio: accept %.2f, accept → APNs %.2f\n", accept, push) + settings.text
            )
            return excesses.isEmpty
        }
        func number(_ value: Double) -> JSON { .number(String(format: "%.2f", value)) }
        Console.print(
            [
                "trouble": .string(trouble.rawValue), "pairs": .int(rows.count), "perSecond": .int(rate),
                "acceptP99Ratio": number(accept), "acceptToPushP99Ratio": number(push),
                "acceptP99Ms": .array(
                    rows.map { .array([$0.without, $0.with].map { number($0.acceptMilliseconds(0.99)) }) }
                ),
                "acceptToPushP99Ms": .array(rows.map { .array([$0.without, $0.with].map { .int($0.pushP99) }) }),
                "limit": number(limit), "passed": .bool(excesses.isEmpty),
                "settings": settings.json,
            ] as JSON
        )
        return excesses.isEmpty
    }
}
