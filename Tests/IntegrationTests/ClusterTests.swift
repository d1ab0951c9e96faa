import Foundation
import Gateway
import Model
import Testing

@testable import CommandSupport

/// Several nodes on one database. These runs are short; `scripts/soak` sets the sizes of a long run.
@Suite(.serialized, .timeLimit(.minutes(60)))
struct ClusterTests {
    static let devices = Soak.size("SOAK_DEVICES") ?? 4000
    static let kills = Soak.size("SOAK_KILLS") ?? 3
    static let databaseKills = Soak.size("SOAK_DATABASE_KILLS") ?? 1
    /// How many seconds a key stays wrong after it was refused.
    static let wrongKeySeconds = Soak.size("SOAK_WRONG_KEY_SECONDS") ?? 0
    /// How many seconds a snapshot is held open.
    static let snapshotSeconds = Soak.size("SOAK_SNAPSHOT_SECONDS") ?? 2
    /// How many seconds a rate is measured for.
    static let rateSeconds = Soak.size("SOAK_RATE_SECONDS") ?? 5
    /// The number of keys that are sent to two nodes at the same time.
    static let repeatKeys = Soak.size("SOAK_REPEAT_KEYS") ?? 10

    /// The push service is slow enough that pushes are in progress when a node is killed: 8 connections with 60 streams each per node, 250 ms.
    private static let steady = ["--mode", "script", "--latency-ms", "250", "--max-streams", "60"]

    /// A fifth of that rate, in 100 ms, so that four kills, each with a restart, happen before all pushes are sent.
    private static let slow = ["--mode", "script", "--latency-ms", "100", "--max-streams", "5"]

    /// The time that a debug build may need on a busy machine.
    private static let limit = Duration.seconds(120 + devices / 50)

    // I3: without faults, every target is reached once by one of the nodes. I4: no session waits in an open transaction for the push service.
    @Test(arguments: [2, 5])
    func everyTargetIsReachedOnce(nodes: Int) async throws {
        // A node holds at most eight slices of 500 of one credential. Sixteen, sent slowly, cannot all be one node's before another one looks.
        let devices = max(Self.devices, 8000)
        let cluster = try Cluster(
            nodes: nodes,
            simulatorArguments: devices > 100_000 ? ["--mode", "accept"] : Self.steady
        )
        try await Soak.with(cluster) { cluster in
            try await cluster.world.makeAudience(devices)
            let started = ContinuousClock.now
            let id = try await cluster.world.sendToEveryone("to all")
            let owners = try await first("two nodes that send", within: Self.limit, every: .milliseconds(25)) {
                let count = try await cluster.number(
                    "SELECT count(DISTINCT owner) AS number FROM gateway.slice WHERE state = 'leased'"
                )
                return count > 1 ? count : nil
            }
            try await expectAll(cluster, id, devices)
            let seconds = (ContinuousClock.now - started) / .seconds(1)
            try await expectNoTransactionDuringPushes(cluster)
            let pairs = try await cluster.world.pairs()
            #expect(pairs.repeats == 0)
            print("\(nodes) nodes: \(devices) in \(String(format: "%.1f", seconds)) s, \(owners) nodes took part")
        }
    }

    /// Expects that no transaction waits for the push service, neither after a handover in memory nor after a claim.
    private func expectNoTransactionDuringPushes(_ cluster: Cluster) async throws {
        let world = cluster.world
        // Half of the answers come at once, the others after three seconds.
        let latency: JSON = ["latency": "percentiles:50=0,51=3000"]
        let slowed = try await world.control.call("POST", "/_simulator/latency", latency)
        try #require(slowed.status == 200, "\(slowed.text)")
        let sessions = try await SessionWatch(world)
        // The accepting node passes on in memory what is due now. Any other slice is claimed from the database when it is due.
        let inASecond: JSON = ["after": 1]
        for sendAt in [nil, inASecond] {
            try await expectNoTransactionDuringPushes(world, sessions, sendAt: sendAt)
        }
        try await sessions.expectToSeeAnOpenTransaction()
        await sessions.close()
    }

    /// Expects a moment without an open transaction at which some pushes of a message are answered and written, and the push service holds the others back.
    private func expectNoTransactionDuringPushes(
        _ world: World,
        _ sessions: SessionWatch,
        sendAt: JSON?
    ) async throws {
        let audience: JSON = ["keys": .array((1...40).map { .string("bench-\($0)") })]
        let end = ContinuousClock.now + Self.limit
        var (isShown, open) = (false, [String]())
        // A machine that stands still may miss the three seconds of a message.
        while !isShown, ContinuousClock.now < end {
            let id = try await world.send("held back", to: audience, sendAt: sendAt)
            while !isShown, ContinuousClock.now < end {
                if try await world.native("GET", "/v1/messages/\(id)").json?["state"] == "done" { break }
                guard try await sessions.written(id) > 0, try await areHeld(world) else { continue }
                open = try await sessions.idle()
                if open.isEmpty { isShown = try await areHeld(world) }
            }
            #expect(try await world.funnel(of: id, within: Self.limit)["sent"]?.int == 40)
        }
        let origin = sendAt == nil ? "handover" : "claim"
        #expect(isShown, "after a \(origin), open transactions: \(open)")
    }

    /// Whether the push service has pushes that it has not answered.
    private func areHeld(_ world: World) async throws -> Bool { try await world.stats()["streams"]?.int ?? 0 > 0 }

    /// Expects that all pushes were sent, each under one `apns-id`, and that the queue is empty.
    private func expectAll(
        _ cluster: Cluster,
        _ id: String,
        _ devices: Int = Self.devices,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let funnel = try await cluster.world.funnel(of: id, within: Self.limit, sourceLocation: sourceLocation)
        #expect(funnel["recipients"]?.int == Int64(devices), sourceLocation: sourceLocation)
        #expect(
            funnel["sent"]?.int == Int64(devices),
            "\(JSONWriter.text(funnel))",
            sourceLocation: sourceLocation
        )
        #expect(try await cluster.world.pairs().distinct == devices, sourceLocation: sourceLocation)
        #expect(try await cluster.openSlices() == 0, sourceLocation: sourceLocation)
    }

    // I1, I2: nodes and PostgreSQL are killed at random while three nodes send; nothing is lost and nothing is
    // counted twice.
    @Test func killedNodesAndDatabaseLoseNothing() async throws {
        let cluster = try Cluster(
            nodes: 3,
            arguments: ["--lease-seconds", "5"],
            simulatorArguments: Self.devices > 100_000 ? ["--mode", "accept"] : Self.slow
        )
        try await Soak.with(cluster) { cluster in
            try await cluster.world.makeAudience(Self.devices)
            let id = try await cluster.world.sendToEveryone("while they die")
            // The number of pushes that the kills may repeat, by the metrics of the nodes.
            var bound = 0
            let total = Self.kills + Self.databaseKills
            var databaseLeft = Self.databaseKills
            for round in 1...total {
                guard try await reach(Double(round) / Double(total + 1), cluster) else {
                    Issue.record("all were sent before kill \(round)")
                    break
                }
                // The database's kills are spread among the others.
                if databaseLeft * total > Self.databaseKills * (total - round) {
                    databaseLeft -= 1
                    let open = try await stopPostgres(cluster)
                    bound += open
                    print("kill \(round): PostgreSQL, at most \(open) repeats")
                } else {
                    let victim = Int.random(in: 0..<cluster.count)
                    let open = try await kill(victim, of: cluster)
                    bound += open
                    print("kill \(round): node \(victim), at most \(open) repeats")
                    try await cluster.startNode(victim)
                }
            }
            try await expectAll(cluster, id)
            try await cluster.expectEqualCounts(of: [id])
            let pairs = try await cluster.world.pairs()
            #expect(pairs.repeats <= bound)
            print(
                "\(total) kills, \(pairs.distinct) reached, \(pairs.repeats) of at most \(bound) repeats, all under the same apns-id"
            )
        }
    }

    /// Kills a node. Returns how many pushes that may repeat: those that it has not written, and those that were accepted since its metrics were read.
    private func kill(_ victim: Int, of cluster: Cluster) async throws -> Int {
        // The gauges of one scrape are not of one moment, and an answer that is on its way to the node is in none: the count of answers begins one round
        // trip earlier, and the larger of two scrapes counts.
        let before = try await cluster.world.accepted()
        let first = try await cluster.openWork(of: victim)
        let open = max(first, try await cluster.openWork(of: victim))
        try await cluster.killNode(victim)
        return try await open + cluster.world.accepted() - before
    }

    /// Stops PostgreSQL immediately. Returns how many pushes that may repeat: a lease may end before its node can write, and another node then continues.
    private func stopPostgres(_ cluster: Cluster) async throws -> Int {
        let before = try await cluster.world.accepted()
        let earlier = try await openWork(of: cluster)
        let postmaster = try cluster.world.postgresPID()
        try cluster.stopPostgresImmediately()
        try await eventually("PostgreSQL is another one and accepts connections", within: Self.limit) {
            guard let now = try? cluster.world.postgresPID(), now != postmaster else { return false }
            return await cluster.isConnectable
        }
        // A lease may have ended since the stop, and with it the work that was open then.
        let open = max(earlier, try await openWork(of: cluster))
        // Each node has written or lost what was open when at most one window per slice is left.
        try await eventually("the nodes write again", within: Self.limit) {
            try await openWork(of: cluster) < max(open / 2, 500)
        }
        return try await open + cluster.world.accepted() - before
    }

    private func openWork(of cluster: Cluster) async throws -> Int {
        var total = 0
        for number in 0..<cluster.count { total += try await cluster.openWork(of: number) }
        return total
    }

    /// Waits until this share of the devices was reached. Returns false if all of them were.
    private func reach(
        _ share: Double,
        _ cluster: Cluster,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Bool {
        let count = Int(Double(Self.devices) * share)
        return try await reach(count: count, cluster, sourceLocation: sourceLocation) < Self.devices
    }

    /// Waits until the given number of devices was reached. Returns the number that was reached.
    @discardableResult
    private func reach(
        count: Int,
        _ cluster: Cluster,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Int {
        try await first(
            "\(count) are sent",
            within: Self.limit,
            every: .milliseconds(20),
            sourceLocation: sourceLocation
        ) {
            let seen = try await cluster.world.pairs().distinct
            return seen >= count ? seen : nil
        }
    }

    // I4: a snapshot that a client holds open blocks nothing.
    @Test func aSnapshotHeldOpenStopsNothing() async throws {
        try await Soak.with(Cluster(nodes: 2)) { cluster in
            try await cluster.world.makeAudience(Self.devices)
            let holder = try ChildProcess(
                "psql",
                program: "/usr/bin/psql",
                arguments: [
                    "-X", "-d", try await cluster.withDatabase { $0.adminConnectionString }, "-c",
                    "BEGIN ISOLATION LEVEL REPEATABLE READ", "-c", "SELECT count(*) FROM gateway.message", "-c",
                    "SELECT pg_sleep(3600)",
                ],
                logFile: cluster.world.material.path("snapshot.log")
            )
            let end = ContinuousClock.now + .seconds(Self.snapshotSeconds)
            var messages = 0
            repeat {
                messages += 1
                let id = try await cluster.world.sendToEveryone("under a snapshot \(messages)")
                let funnel = try await cluster.world.funnel(of: id, within: Self.limit)
                #expect(funnel["sent"]?.int == Int64(Self.devices), "\(JSONWriter.text(funnel))")
            } while ContinuousClock.now < end
            let held = try await cluster.number(
                "SELECT count(*) AS number FROM pg_stat_activity WHERE backend_xmin IS NOT NULL AND query LIKE '%pg_sleep(3600)%'"
            )
            #expect(held >= 1, "nobody held a snapshot")
            holder.kill()
            #expect(try await cluster.world.pairs().repeats == 0)
            print("\(messages) messages of \(Self.devices) under one snapshot")
        }
    }

    // Ids, expiries and provider tokens use the database's clock. Without notifications, the nodes find everything by
    // polling.
    @Test(.enabled(if: Cluster.clockLibrary != nil, "needs Debian's faketime"))
    func wrongClocksAndLostNotificationsDoNoHarm() async throws {
        let cluster = try Cluster(
            [
                .init(arguments: ["--no-database-notify"]),
                .init(arguments: ["--no-database-notify"], clockError: 300),
                .init(arguments: ["--no-database-notify"], clockError: -300),
            ],
            simulatorArguments: Self.steady
        )
        try await Soak.with(cluster) { cluster in
            try await cluster.world.makeAudience(Self.devices)
            // Accepted by each of them, once for now and once for in three seconds.
            for node in 0..<cluster.count {
                let http = try cluster.http(node)
                let answer = try await http.call(
                    "POST",
                    "/v1/messages",
                    ["app": "shop", "to": ["keys": [.string("bench-\(node + 1)")]], "body": "now"],
                    bearer: cluster.world.apiKey
                )
                try #require(answer.status == 202, "\(answer.text)")
                let id = try #require(answer.json?["id"]?.string)
                // A UUIDv7 begins with its milliseconds.
                let made = try #require(Int(id.replacing("-", with: "").prefix(12), radix: 16))
                let now = try await cluster.number(
                    "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS number"
                )
                #expect(
                    abs(now - made) < 10_000,
                    "node \(node) made an id \(now - made) ms away from the database's clock"
                )
                let funnel = try await cluster.world.funnel(of: id)
                #expect(funnel["sent"]?.int == 1)
            }
            let id = try await cluster.world.sendToEveryone("to all")
            let funnel = try await cluster.world.funnel(of: id, within: Self.limit)
            #expect(funnel["sent"]?.int == Int64(Self.devices), "\(JSONWriter.text(funnel))")
            #expect(try await cluster.world.pairs().repeats == 0)
            #expect(try await cluster.openSlices() == 0)
            let wrong = try await cluster.number(
                """
                SELECT count(*) AS number FROM gateway.provider_token
                WHERE abs(extract(epoch FROM clock_timestamp() - issued_at)) > 200
                """
            )
            #expect(wrong == 0, "a provider token was issued by a wrong clock")
        }
    }

    // One key is sent to two nodes at the same time, and again after a SIGKILL before or after the commit: the result
    // is one message and one body.
    @Test func aRepeatKeyGivesOneMessageOnAnyNode() async throws {
        try await Soak.with(Cluster(nodes: 3)) { cluster in
            try await cluster.world.makeAudience(10)
            for round in 0..<Self.repeatKeys {
                let victim = 1
                let bodies = await withTaskGroup(of: String?.self) { group in
                    for node in [victim, 2] {
                        guard let http = try? cluster.http(node) else { continue }
                        let apiKey = cluster.world.apiKey
                        group.addTask {
                            let answer = try? await http.call(
                                "POST",
                                "/v1/messages",
                                ["app": "shop", "to": ["keys": ["bench-1"]], "body": "once"],
                                headers: ["idempotency-key": "round-\(round)"],
                                bearer: apiKey
                            )
                            guard let answer, answer.status == 202 else { return nil }
                            return answer.text
                        }
                    }
                    // 0 to 20 ms: before, while and after it commits.
                    try? await Task.sleep(for: .milliseconds(Int.random(in: 0...20)))
                    try? await cluster.killNode(victim)
                    var bodies: Set<String> = []
                    for await body in group { if let body { bodies.insert(body) } }
                    return bodies
                }
                let again = try await cluster.http(2).call(
                    "POST",
                    "/v1/messages",
                    ["app": "shop", "to": ["keys": ["bench-1"]], "body": "once"],
                    headers: ["idempotency-key": "round-\(round)"],
                    bearer: cluster.world.apiKey
                )
                try #require(again.status == 202, "\(again.text)")
                #expect(bodies.union([again.text]).count == 1, "round \(round): \(bodies) \(again.text)")
                let messages = try await cluster.number("SELECT count(*) AS number FROM gateway.message")
                #expect(messages == round + 1)
                try await cluster.startNode(victim)
            }
        }
    }

    // A wrong key fails no delivery. The deliveries wait, and continue when the key is corrected.
    @Test func aWrongKeyFailsNoDelivery() async throws {
        let cluster = try Cluster(
            nodes: 2,
            arguments: ["--retry-scale", Self.wrongKeySeconds > 60 ? "1" : "0.05"],
            simulatorArguments: Self.steady
        )
        try await Soak.with(cluster) { cluster in
            let world = cluster.world
            try await world.makeAudience(Self.devices)
            let right = try Data(
                contentsOf: URL(fileURLWithPath: world.material.path("AuthKey_\(StageMaterial.keyID).p8"))
            )
            let id = try await world.sendToEveryone("while the key is wrong")
            _ = try await reach(0.1, cluster)
            let other = StageMaterial(directory: world.material.path("other"))
            try FileManager.default.createDirectory(atPath: other.directory, withIntermediateDirectories: true)
            try other.write()
            let wrong = try Data(contentsOf: URL(fileURLWithPath: other.path("AuthKey_\(StageMaterial.keyID).p8")))
            try await provision(wrong, cluster)
            try await eventually("Apple refuses the key", within: Self.limit) {
                try await world.stats()["rejected"]?["InvalidProviderToken"]?.int ?? 0 > 0
            }
            // A long run keeps the key wrong for the time that an operator may need.
            if Self.wrongKeySeconds > 0 { try await Task.sleep(for: .seconds(Self.wrongKeySeconds)) }
            let between = try await world.pairs().distinct
            #expect(between < Self.devices, "all were sent before the key was wrong")
            try await provision(right, cluster)
            let corrected = ContinuousClock.now
            let funnel = try await world.funnel(of: id, within: Self.limit)
            #expect(funnel["sent"]?.int == Int64(Self.devices), "\(JSONWriter.text(funnel))")
            #expect((funnel["failed"]?.int ?? 0) == 0)
            #expect(try await cluster.openSlices() == 0)
            print(
                "wrong for \(Self.wrongKeySeconds) s after \(between) of \(Self.devices); all sent "
                    + String(format: "%.1f s after it was corrected", (ContinuousClock.now - corrected) / .seconds(1))
            )
        }
    }

    // 100 pushes per second over five nodes are 100 per second.
    @Test func aRateHoldsOverAllNodes() async throws {
        let cluster = try Cluster(nodes: 5)
        // The tenants change before the other nodes start. The first node is notified, and polls each second meanwhile.
        cluster.changeTenants = { text in
            let limited = text.replacing("{ id: apple, kind", with: "{ id: apple, pushesPerSecond: 100, kind")
            try #require(limited != text)
            return limited
        }
        try await Soak.with(cluster) { cluster in
            let world = cluster.world
            try await world.makeAudience((Self.rateSeconds + 20) * 100)
            let id = try await world.sendToEveryone("slowly")
            try await reach(count: 200, cluster)
            // Less than the rate is what a busy machine manages: of short looks, one must show more. A long run has one look.
            let isLong = Self.rateSeconds >= 60
            var looks = [try await rate(world)]
            while !isLong, looks.max() ?? 0 <= 60, looks.count < 3 { looks.append(try await rate(world)) }
            // A draw is a quarter of a second's worth, and so unsteady is a short look.
            #expect(looks.allSatisfy { $0 < 100 * (1.05 + (isLong ? 0 : 0.25 / Double(Self.rateSeconds))) }, "\(looks)")
            #expect(looks.max() ?? 0 > (isLong ? 95 : 60), "\(looks)")
            let canceled = try await world.native("DELETE", "/v1/messages/\(id)")
            #expect(canceled.status == 200)
            // A node does not continue to send a canceled message from memory for long.
            try await eventually("nothing is sent within a second", within: .seconds(8), every: .zero) {
                let before = try await world.pairs().distinct
                try await Task.sleep(for: .seconds(1))
                return try await world.pairs().distinct == before
            }
        }
    }

    /// The pushes per second of one look.
    private func rate(_ world: World) async throws -> Double {
        // The time surrounds both counts.
        let started = ContinuousClock.now
        let begun = try await world.pairs().distinct
        try await Task.sleep(for: .seconds(Self.rateSeconds))
        let ended = try await world.pairs().distinct
        let perSecond = Double(ended - begun) / ((ContinuousClock.now - started) / .seconds(1))
        print(String(format: "%.1f pushes per second over %d s and 5 nodes", perSecond, Self.rateSeconds))
        return perSecond
    }

    private func provision(_ key: Data, _ cluster: Cluster) async throws {
        try key.write(to: URL(fileURLWithPath: cluster.world.material.path("AuthKey_\(StageMaterial.keyID).p8")))
        let applied = try await cluster.world.apply()
        try #require(applied.status == 0, "\(applied.log)")
    }
}
