import CommandSupport
import EmbeddedPostgres
import Foundation
import Model
import NIOConcurrencyHelpers
import PostgresClient
import TestKit
import Testing

@testable import Gateway

/// Every count of the analytics equals what a separate program (`exact_counts.py`) counts in the raw rows, after a run over five vendors with faults and kills.
///
/// Each run has 50,000 deliveries; `scripts/soak counts` sets the number of a long run.
@Suite(.serialized, .timeLimit(.minutes(120)))
struct ExactCountTests {
    static let deliveries = Soak.size("EXACT_DELIVERIES") ?? 50_000
    static let kills = Soak.size("EXACT_KILLS") ?? 2
    static let databaseKills = Soak.size("EXACT_DATABASE_KILLS") ?? 1
    static let seed = Soak.size("EXACT_SEED") ?? Int.random(in: 1...1_000_000)
    static let filters = Soak.size("EXACT_FILTERS") ?? 1000
    /// Of each of six dialects.
    private static let devices = min(max(deliveries / 60, 200), 4000)
    /// Messages to everyone that are canceled while they are being sent. Most of their deliveries need no push: a debug build sends some hundred per second.
    private static let stopped = 6

    /// The push service is slow enough that pushes are in progress when a node is killed.
    private static let simulator = ["--mode", "script", "--latency-ms", "50", "--max-streams", "20"]
    private static let arguments = ["--lease-seconds", "5", "--retry-scale", "0.01"]
    private static let limit = Duration.seconds(240 + deliveries / 50)
    /// The program reads every row and asks up to 1,000 questions.
    private static let comparisonLimit = Duration.seconds(300 + deliveries / 500)

    /// Receipts and erasures while nodes are killed. Node 1 is not.
    private struct Load {
        var messages: [String] = []
        var reports = 0
        var erased = 0
    }

    @Test func everyCountEqualsTheRows() async throws {
        let cluster = try Cluster(nodes: 3, arguments: Self.arguments, simulatorArguments: Self.simulator)
        cluster.changeTenants = ExactStage.tenants
        cluster.applyEnvironment = ExactStage.environment
        try await Soak.with(cluster) { cluster in
            let stage = try ExactStage(cluster, devices: Self.devices)
            try await eventually("the bindings are served") {
                let answer = try await stage.call("POST", "/ipns/getConfig", ["APP_ID": "hr.mobile", "DEVICE_ID": "x"])
                return answer.json?["RT"] == "2003"
            }
            try await stage.importDevices()
            let started = ContinuousClock.now
            try await stage.useVendors()
            let open = try await endings(stage)
            try await compare(stage, "settled", filters: 100, repeats: 0)
            let middle = ContinuousClock.now
            let killed = try await campaigns(stage)
            try await eventually("everything is settled but what waits", within: Self.limit, every: .milliseconds(200))
            {
                try await stage.cluster.number(
                    "SELECT count(*) AS number FROM gateway.slice WHERE state <> 'done' AND next_at < now() + interval '10 minutes'"
                ) == 0
            }
            let sent = ContinuousClock.now
            let compared = try await compare(stage, "settled", repeats: Self.deliveries)
            #expect(compared >= Self.deliveries, "fewer deliveries than asked for were compared")
            try await compare(stage, "snapshot", filters: min(Self.filters, 200))
            try await control(stage)
            print(
                "seed \(Self.seed), \(killed) kills, \(open) waiting; without kills \(middle - started), with kills "
                    + "\(sent - middle), comparisons \(ContinuousClock.now - sent)"
            )
        }
    }

    // MARK: Endings without kills, so that the push service's counts can be compared

    /// Sends messages that end in every way. Returns the number of targets that stay open.
    private func endings(_ stage: ExactStage) async throws -> Int {
        let world = stage.world
        let inFlight = try await sendEarly(stage)
        try await suppressions(stage)
        try await refusals(stage)
        // Canceled before it was due, and while it was being sent.
        let tomorrow: JSON = ["sendAt": Self.time(in: 86_400)]
        let canceled = try await stage.send(ExactStage.keys(0..<60), tomorrow)
        try await stage.control(canceled, "cancel")
        // 30 of the devices have no token any more.
        try await stage.settle(canceled, 60)
        _ = try await stage.send(ExactStage.keys(60..<100), tomorrow)
        let stopped = try await stop(stage)
        // Expired: 20 without an attempt, because the message is paused, and 20 after one.
        try await world.script([["token": "d00*", "status": 503, "retryAfter": 600]])
        let paused = try await stage.send(ExactStage.keys(100..<120), ["sendAt": Self.time(in: 2)])
        try await stage.control(paused, "pause")
        let tried = try await stage.send(ExactStage.keys(120..<140))
        try await stage.untilTried(tried)
        for message in [tried, paused] {
            // The shortest life of a message is a minute.
            _ = try await stage.cluster.number(
                """
                WITH m AS (UPDATE gateway.message SET expires_at = now() WHERE message_id = '\(message)' RETURNING 1),
                    s AS (UPDATE gateway.slice SET next_at = now() WHERE message_id = '\(message)' AND state = 'ready' RETURNING 1)
                SELECT count(*) AS number FROM s
                """
            )
            try await stage.settle(message, 20, "expired")
        }
        try await world.clearScript()
        for number in 120..<125 { #expect(try await stage.report(tried, number, "received") == "recorded") }
        try await settleEarly(stage, inFlight)
        try await retries(stage)
        // Paused, and resumed.
        let later = try await stage.send(ExactStage.keys(140..<160), tomorrow)
        try await stage.control(later, "pause")
        try await stage.control(later, "resume")
        let held = try await stage.send(ExactStage.keys(192..<200), tomorrow)
        try await stage.control(held, "pause")
        // Waits for an approval.
        let desk = try await stage.send(ExactStage.keys(0..<20), app: "desk")
        #expect(try await stage.call("GET", "/v1/messages/\(desk)").json?["state"] == "awaitingApproval")
        let small = try await stage.send(ExactStage.keys(20..<30), app: "desk", ["campaign": "desk"])
        try await stage.settle(small, 10)
        try await stage.report(small, 21, "read", app: "desk")
        try await eventually("the canceled messages have ended", within: Self.limit) {
            try await stage.cluster.number(
                "SELECT count(*) AS number FROM gateway.slice WHERE state <> 'done' AND message_id IN (\(stopped))"
            ) == 0
        }
        // Due tomorrow, paused, waiting for an approval, and given up.
        return 40 + 20 + 8 + 20 + 4
    }

    /// Sends messages to everyone, and cancels them while they are being sent. Returns their IDs as a list of SQL.
    private func stop(_ stage: ExactStage) async throws -> String {
        // So slow that few pushes are sent before all messages have all their targets.
        try await stage.world.script([["token": "d*", "status": 200, "latencyMs": 2000]])
        var stopped: [String] = []
        for _ in 0..<Self.stopped { stopped.append(try await stage.send(["everyone": true])) }
        let list = stopped.map { "'\($0)'" }.joined(separator: ", ")
        try await eventually("all targets are known", within: Self.limit, every: .milliseconds(25)) {
            try await stage.cluster.number(
                "SELECT count(*) AS number FROM gateway.message WHERE state = 'sending' AND message_id IN (\(list))"
            ) == Self.stopped
        }
        try await eventually("some are sent") {
            try await stage.cluster.number(
                "SELECT count(*) AS number FROM gateway.delivery WHERE sent_at IS NOT NULL AND message_id IN (\(list))"
            ) > 10
        }
        for message in stopped { try await stage.control(message, "cancel") }
        return list
    }

    /// A script of the push service with one entry per device.
    private static func entries(_ numbers: Range<Int>, _ entry: (Int) -> JSONObject) -> JSON {
        .array(numbers.map { .object(entry($0)) })
    }

    private static func time(in seconds: Int64) -> JSON {
        .string(Timestamp(seconds: Int64(Date().timeIntervalSince1970) + seconds).rfc3339)
    }

    private func suppressions(_ stage: ExactStage) async throws {
        let users = ["native-u1", "native-u2", "nobody", "nobody else"].map { JSON.string($0) }
        let some = try await stage.send(["users": .array(users)])
        try await stage.settle(some, 4)
        // Data cannot be shortened.
        let data: JSON = ["text": .string(String(repeating: "x", count: 6000))]
        let long = try await stage.send(ExactStage.keys(0..<5), ["data": data])
        try await stage.settle(long, 5, "failed")
    }

    /// Pushes that the push service refuses for good, and receipts that contradict it.
    private func refusals(_ stage: ExactStage) async throws {
        try await stage.world.script(
            Self.entries(30..<60) { number in
                let status: JSON = number < 45 ? 410 : 400
                var entry: JSONObject = ["token": .string(ExactStage.token(0, number)), "status": status]
                if number >= 45 { entry["reason"] = number < 52 ? "BadDeviceToken" : "DeviceTokenNotForTopic" }
                return entry
            }
        )
        let refused = try await stage.send(ExactStage.keys(30..<60), ["campaign": "spring", "variant": "b"])
        try await stage.settle(refused, 30, "failed")
        for number in [30, 31, 46, 53] {
            #expect(try await stage.report(refused, number, "received") == "recorded")
            #expect(try await stage.report(refused, number, "received") == "repeated")
        }
        for number in [31, 32] { #expect(try await stage.report(refused, number, "read") == "recorded") }
        #expect(try await stage.report(refused, 100, "read") == "orphan")
        try await stage.world.clearScript()
    }

    /// Receipts before the answer of the push service: some of the pushes are then accepted and some refused. The answer takes most of the 20 seconds for which
    /// a node waits, so that the receipts are early on a busy machine too. Returns the message, which is in flight.
    private func sendEarly(_ stage: ExactStage) async throws -> String {
        try await stage.world.script(
            Self.entries(160..<180) { number in
                [
                    "token": .string(ExactStage.token(0, number)), "latencyMs": 15_000,
                    "status": number < 174 ? 200 : 410,
                ]
            }
        )
        let message = try await stage.send(ExactStage.keys(160..<180), ["campaign": "spring"])
        for number in (160..<180) where number % 2 == 0 {
            try await eventually("the push to \(number) is in flight", within: .seconds(20)) {
                try await stage.report(message, number, number % 4 == 0 ? "read" : "received") == "recorded"
            }
        }
        // The script decides about a push when it arrives.
        try await eventually("all pushes have arrived", within: .seconds(10)) {
            (try await stage.world.stats()["streams"]?.int ?? 0) >= 20
        }
        #expect(try await stage.settled(message) == 0, "the receipts were not early")
        try await stage.world.clearScript()
        return message
    }

    private func settleEarly(_ stage: ExactStage, _ message: String) async throws {
        try await stage.settle(message, 20)
        for number in 160..<172 { try await stage.report(message, number, "read") }
    }

    /// Pushes that succeed after some attempts, and messages that gave up, one of which is requeued.
    private func retries(_ stage: ExactStage) async throws {
        try await stage.world.script([
            ["share": .number("0.05"), "status": 429], ["share": .number("0.05"), "status": 503],
        ])
        let retried = try await stage.send(["everyone": true], ["campaign": "autumn", "variant": "a"])
        let audience = Self.devices * ExactStage.dialects.count
        try await eventually("the message with retries is done", within: Self.limit) {
            try await stage.call("GET", "/v1/messages/\(retried)").json?["state"] == "done"
        }
        #expect(try await stage.settled(retried) > audience / 2)
        try await stage.world.clearScript()
        try await stage.world.script([["token": "d000b*", "status": 503, "reason": "ServiceUnavailable"]])
        // d000b4 to d000bf: the devices 180 to 191.
        let given = try await stage.send(ExactStage.keys(180..<192))
        let left = try await stage.send(ExactStage.keys(180..<184))
        for message in [given, left] { try await stage.giveUp(message) }
        try await stage.world.clearScript()
        try await stage.control(given, "requeue")
        try await stage.settle(given, 12, "sent")
    }

    // MARK: Campaigns with kills

    /// Sends campaigns to everyone while nodes and PostgreSQL are killed, devices report, and users are erased. Returns the number of kills.
    private func campaigns(_ stage: ExactStage) async throws -> Int {
        let load = NIOLockedValueBox(Load())
        let stop = NIOLockedValueBox(false)
        var chance = SplitMix(state: UInt64(Self.seed))
        let calls = (0..<3).map { lane in
            let random = chance.next()
            return Task { await Self.report(stage, load, stop, lane, random) }
        }
        let audience = Self.devices * ExactStage.dialects.count
        // All messages to everyone. A twentieth more, because refused and erased devices leave everyone.
        let everyone = (Self.deliveries * 21 / 20 + audience - 1) / audience
        // One of them had retries.
        let count = max(everyone - Self.stopped - 1, 4)
        var kills = Array(repeating: true, count: Self.kills) + Array(repeating: false, count: Self.databaseKills)
        kills.shuffle(using: &chance)
        for number in 0..<count {
            let named: JSON = ["campaign": .string("summer-\(number % 2)"), "variant": .string("v\(number % 3)")]
            let campaign = number % 3 == 0 ? [:] : named
            // So slow that the first campaign is still being sent after the recount.
            if number == 0 { try await stage.world.script([["token": "d*", "status": 200, "latencyMs": 2000]]) }
            let id = try await first("the campaign is accepted", within: Self.limit) {
                try await stage.trySend(["everyone": true], campaign)
            }
            load.withLockedValue { $0.messages.append(id) }
            if number == 0 { try await recountMeanwhile(stage, id) }
            // The kills are spread over the campaigns.
            while kills.count * count > (count - number - 1) * (Self.kills + Self.databaseKills),
                let isNode = kills.popLast()
            {
                try await eventually("the campaign is being sent", within: Self.limit, every: .milliseconds(20)) {
                    (try? await stage.settled(id) > audience / 10) ?? false
                }
                let victim = Bool.random(using: &chance) ? 0 : 2
                if isNode {
                    try await stage.cluster.killNode(victim)
                } else {
                    try stage.cluster.stopPostgresImmediately()
                }
                try await eventually("PostgreSQL accepts connections", within: Self.limit) {
                    await stage.cluster.isConnectable
                }
                try await compare(stage, "snapshot", filters: min(Self.filters, 200))
                if isNode { try await stage.cluster.startNode(victim) }
            }
        }
        try await eventually("the campaigns are done", within: Self.limit, every: .milliseconds(200)) {
            let open = try? await stage.cluster.number(
                "SELECT count(*) AS number FROM gateway.message WHERE state IN ('expanding', 'sending') AND is_counted"
            )
            return open == 0
        }
        stop.withLockedValue { $0 = true }
        for call in calls { await call.value }
        let done = load.withLockedValue(\.self)
        print("\(count) campaigns to \(audience), \(done.reports) receipts, \(done.erased) erasures")
        #expect(done.reports > 0 && done.erased > 0)
        return Self.kills + Self.databaseKills
    }

    /// Changes a count while a campaign is being sent, and has it corrected by a recount meanwhile.
    private func recountMeanwhile(_ stage: ExactStage, _ campaign: String) async throws {
        try await eventually("the campaign is being sent", within: Self.limit, every: .milliseconds(20)) {
            try await stage.settled(campaign) > 10
        }
        let changed = """
            WITH c AS (
                UPDATE gateway.counter SET accepted = accepted + 1000 WHERE ctid = (
                    SELECT ctid FROM gateway.counter WHERE accepted > 0 AND quarter <= extract(epoch FROM now()) / 900 LIMIT 1)
                RETURNING 1)
            SELECT count(*) AS number FROM c
            """
        try await eventually("the counts are folded") { try await stage.cluster.number(changed) == 1 }
        // Users are erased meanwhile, so that others write the audit too. Without the correction, `pending` is below zero in every comparison that follows.
        let recount = try await stage.world.command(["analytics", "recount"])
        try #require(recount.status == 0 && recount.log.contains("accepted -1000"), "\(recount.log)")
        let state = try await stage.call("GET", "/v1/messages/\(campaign)").json?["state"]
        #expect(state == "sending" || state == "expanding", "the campaign had ended before the recount")
        // All filters while the campaign is being sent; after each kill, a part of them.
        try await compare(stage, "snapshot")
        try await stage.world.clearScript()
    }

    /// Reports receipts of random devices, some of them repeatedly, and erases users. Calls fail while PostgreSQL is down.
    private static func report(
        _ stage: ExactStage,
        _ load: NIOLockedValueBox<Load>,
        _ stop: NIOLockedValueBox<Bool>,
        _ lane: Int,
        _ random: UInt64
    ) async {
        var chance = SplitMix(state: random)
        while !stop.withLockedValue(\.self) {
            guard let message = load.withLockedValue({ $0.messages.randomElement(using: &chance) }) else {
                try? await Task.sleep(for: .milliseconds(20))
                continue
            }
            let number = Int.random(in: 60..<Self.devices, using: &chance)
            let kind = Bool.random(using: &chance) ? "read" : "received"
            if let outcome = try? await stage.report(message, number, kind), outcome == "recorded" {
                load.withLockedValue { $0.reports += 1 }
            }
            if lane == 0, Int.random(in: 0..<20, using: &chance) == 0 {
                let dialect = ExactStage.dialects[Int.random(in: 0..<6, using: &chance)]
                let erased = try? await stage.call("DELETE", "/v1/users/\(dialect)-u\(number)")
                if erased?.status == 200 { load.withLockedValue { $0.erased += 1 } }
            }
        }
    }

    // MARK: Comparisons

    /// Runs the separate program, and expects no difference. Returns the number of deliveries that it counted.
    @discardableResult
    private func compare(
        _ stage: ExactStage,
        _ mode: String,
        filters: Int = ExactCountTests.filters,
        repeats: Int = 0,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Int {
        let result = try await Self.program(stage, mode, repeats: repeats, ["EXACT_FILTERS": "\(filters)"])
        #expect(result.status == 0, "\(result.log)", sourceLocation: sourceLocation)
        if mode == "settled" { try await stage.expectOrphans(sourceLocation: sourceLocation) }
        let summary = result.log.split(separator: "\n").last.map { String($0) } ?? ""
        print(summary)
        // "settled: 50000 deliveries, …"
        return summary.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    }

    private static func program(
        _ stage: ExactStage,
        _ mode: String,
        repeats: Int = 0,
        _ more: [String: String] = [:]
    ) async throws -> (status: Int32?, log: String) {
        let url = try AttachedCluster(directory: stage.world.material.path("data/postgres")).adminConnectionString
        let environment = [
            "EXACT_KEY": stage.world.apiKey, "EXACT_SEED": "\(seed)",
            "EXACT_REPEATS": "\(repeats)", "EXACT_SILENT": "desk",
        ]
        return try await PythonClient(stage.world).run(
            script: "exact_counts",
            [mode, url, stage.steady.base] + (mode == "settled" ? [stage.world.control.base] : []),
            environment: environment.merging(more) { $1 },
            within: comparisonLimit
        )
    }

    // Control: each kind of counter, changed by one, is a difference, and the recount corrects it.
    private func control(_ stage: ExactStage) async throws {
        let changes = [
            ("accepted", "UPDATE gateway.counter SET accepted = accepted + 1", "accepted > 1"),
            ("targets", "UPDATE gateway.counter SET targets = targets - 1", "targets > 1"),
            ("Unregistered", "UPDATE gateway.counter_reason SET count = count + 1", "reason = 'Unregistered'"),
            ("campaigns", "UPDATE gateway.property_count SET reached = reached + 1", "property = 'campaign'"),
            ("funnel of message", "UPDATE gateway.message_counter SET accepted = accepted + 1", "accepted > 1"),
        ]
        // Not the counts of messages that are due tomorrow, which a recount does not include.
        let isPast = "quarter <= extract(epoch FROM now()) / 900"
        for (name, sql, condition) in changes {
            let isByQuarter = !["campaigns", "funnel of message"].contains(name)
            let place = isByQuarter ? "\(condition) AND \(isPast)" : condition
            // Rows are folded within seconds.
            let table = try #require(sql.split(separator: " ").dropFirst().first)
            // Always the same row, because one of them is changed back.
            let order = name == "campaigns" ? " ORDER BY day, app_id, value, variant" : ""
            let one = "\(sql) WHERE ctid = (SELECT ctid FROM \(table) WHERE \(place)\(order) LIMIT 1) RETURNING 1"
            let changed = "WITH c AS (\(one)) SELECT count(*) AS number FROM c"
            try await eventually("the counts are folded") { try await stage.cluster.number(changed) == 1 }
            let quick = ["EXACT_READER_SECONDS": "1", "EXACT_FILTERS": "1"]
            let found = try await Self.program(stage, "settled", repeats: Self.deliveries, quick)
            // The last line is the summary, which has most names.
            let lines = found.log.split(separator: "\n").dropLast()
            #expect(found.status == 1 && lines.contains { $0.contains(name) }, "\(name): \(found.log)")
            if name == "campaigns" {
                let back = changed.replacing("reached + 1", with: "reached - 1")
                #expect(try await stage.cluster.number(back) == 1)
            } else {
                let recount = try await stage.world.command(["analytics", "recount"])
                #expect(recount.status == 0 && recount.log.contains("corrected"), "\(recount.log)")
            }
        }
        try await losses(stage)
        try await compare(stage, "settled", filters: 100, repeats: Self.deliveries)
    }

    // Control: each counter that lacks one addition is a difference of its own, in the rows and in the answers. The opposite is added, as a row that is folded.
    private func losses(_ stage: ExactStage) async throws {
        let names = [
            "suppressed", "canceled", "expired", "unsendable", "rejected", "uncertain", "received", "read",
        ]
        let values = names.map { "('\($0)', c.\($0))" }.joined(separator: ", ")
        let lost = """
            WITH g AS (
                SELECT DISTINCT ON (n.name) n.name, c.tenant_id, c.quarter, c.app_id, c.vendor, c.device_vendor, c.transport
                FROM gateway.counter c CROSS JOIN LATERAL (VALUES \(values)) AS n(name, number)
                WHERE n.number > 0 AND c.quarter <= extract(epoch FROM now()) / 900 ORDER BY n.name),
            i AS (
                INSERT INTO gateway.counter_delta
                        (tenant_id, quarter, app_id, vendor, device_vendor, transport, \(names.joined(separator: ", ")))
                    SELECT g.tenant_id, g.quarter, g.app_id, g.vendor, g.device_vendor, g.transport,
                        \(names.map { "-(g.name = '\($0)')::integer" }.joined(separator: ", "))
                    FROM g WHERE (SELECT count(*) FROM g) = \(names.count) RETURNING 1)
            SELECT count(*) AS number FROM i
            """
        try await eventually("there is a count of each kind") { try await stage.cluster.number(lost) == names.count }
        // The counts by version, which a recount does not correct. Always the same row.
        let version = """
            WITH c AS (
                UPDATE gateway.property_count SET reached = reached - 1 WHERE ctid = (
                    SELECT ctid FROM gateway.property_count WHERE property = 'client' ORDER BY day, app_id, value, variant LIMIT 1)
                RETURNING 1)
            SELECT count(*) AS number FROM c
            """
        #expect(try await stage.cluster.number(version) == 1)
        for mode in ["snapshot", "settled"] {
            let quick = ["EXACT_READER_SECONDS": "1", "EXACT_FILTERS": "1"]
            let found = try await Self.program(stage, mode, repeats: Self.deliveries, quick)
            // The last line is the summary.
            let lines = found.log.split(separator: "\n").dropLast()
            for name in names {
                let isNamed = lines.contains { line in
                    mode == "snapshot"
                        ? line.hasPrefix("\(name) Key(")
                        : line.hasPrefix("filter 0 /v1/analytics/funnel") && line.contains("'\(name)': ")
                }
                #expect(found.status == 1 && isNamed, "\(mode), \(name): \(found.log)")
            }
            let isVersionNamed = lines.contains { $0.hasPrefix("versions?by=") }
            #expect(isVersionNamed == (mode == "settled"), "\(mode): \(found.log)")
        }
        #expect(try await stage.cluster.number(version.replacing("reached - 1", with: "reached + 1")) == 1)
        let recount = try await stage.world.command(["analytics", "recount"])
        #expect(recount.status == 0 && recount.log.contains("corrected"), "\(recount.log)")
    }
}
