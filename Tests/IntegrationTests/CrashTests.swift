import CommandSupport
import Foundation
import Model
import Testing

/// I1 and I2 with real processes and SIGKILL.
@Suite(.serialized, .timeLimit(.minutes(30)))
struct CrashTests {
    /// 2,500 deliveries and 8 kills, so that a debug build needs only minutes. `CRASH_AUDIENCE=20000` selects the
    /// long run.
    static let audience = Soak.size("CRASH_AUDIENCE") ?? 2500
    static let kills = Soak.size("CRASH_KILLS") ?? 8

    /// A push service that accepts about 1,000 pushes per second (8 connections with 25 streams each, 200 ms), so that even a slow machine
    /// observes the middle of a send.
    private static let steady = ["--mode", "script", "--latency-ms", "200", "--max-streams", "25"]

    // I1, I2: a SIGKILL at any moment loses no accepted message; each target has one counted outcome; repeats carry
    // the same apns-id.
    @Test func killedGatewayLosesAndDoublesNothing() async throws {
        try await World.with(
            simulatorArguments: Self.steady,
            serveArguments: ["--lease-seconds", "2"]
        ) { world in
            let applied = try await world.apply()
            try #require(applied.status == 0, "\(applied.log)")
            try await world.makeAudience(Self.audience)
            var resumed = 0
            for round in 1...Self.kills {
                let before = try await world.pairs()
                let id = try await world.sendToEveryone("round \(round)")
                let fraction = try await killInMidSend(
                    world,
                    before: before.distinct,
                    at: Double(round) / Double(Self.kills + 1)
                )
                try await world.startGateway()
                let funnel = try await world.funnel(of: id, within: .seconds(120 + Self.audience / 50))
                #expect(funnel["recipients"]?.int == Int64(Self.audience))
                #expect(funnel["sent"]?.int == Int64(Self.audience), "round \(round): \(JSONWriter.text(funnel))")
                let after = try await world.pairs()
                #expect(
                    after.distinct - before.distinct == Self.audience,
                    "each target was accepted, under one apns-id"
                )
                let repeats = after.repeats - before.repeats
                if fraction < 1 { resumed += 1 }
                print("kill \(round): at \(Int(fraction * 100)) % of the outcomes, \(repeats) repeats")
            }
            #expect(resumed > 0, "no kill caused a resumed slice")
        }
    }

    /// Kills the gateway when about `share` of the outcomes have reached the simulator. Returns the observed share.
    private func killInMidSend(
        _ world: World,
        before: Int,
        at share: Double,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Double {
        let wanted = before + Int(Double(Self.audience) * min(0.9, max(0.06, share)))
        try await eventually(
            "\(wanted) are sent",
            within: .seconds(120),
            every: .milliseconds(30),
            sourceLocation: sourceLocation
        ) {
            try await world.pairs().distinct >= wanted
        }
        try await world.killGateway()
        let now = try await world.pairs().distinct
        return Double(now - before) / Double(Self.audience)
    }

    /// The process of the database that is killed.
    enum Victim: String, CaseIterable {
        /// A backend of the engine: the postmaster ends all others and recovers.
        case backend
        /// The postmaster itself: the gateway starts it again.
        case postmaster
    }

    // I1: PostgreSQL is killed in the middle of a send. The gateway continues when PostgreSQL is back; nothing is
    // lost and nothing is counted twice.
    @Test(arguments: Victim.allCases)
    func killedPostgreSQLLosesAndDoublesNothing(_ victim: Victim) async throws {
        try await World.with(
            simulatorArguments: Self.steady,
            serveArguments: ["--lease-seconds", "4"]
        ) { world in
            try #require(try await world.apply().status == 0)
            try await world.makeAudience(2500)
            let id = try await world.sendToEveryone("while the database dies")
            try await reach(300, of: 2500, in: world)
            let postmaster = try world.postgresPID()
            kill(victim == .postmaster ? postmaster : try backend(of: postmaster), SIGKILL)
            let funnel = try await world.funnel(of: id)
            #expect(funnel["sent"]?.int == 2500, "\(JSONWriter.text(funnel))")
            #expect(try await world.pairs().distinct == 2500)
            let isSame = try world.postgresPID() == postmaster
            #expect(isSame == (victim == .backend), "the server that was killed is another one now")
        }
    }

    /// Waits until the given number of pushes, but not all, have reached the push service.
    private func reach(
        _ count: Int,
        of all: Int,
        in world: World,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let seen = try await first(
            "\(count) of \(all) are sent",
            every: .milliseconds(30),
            sourceLocation: sourceLocation
        ) {
            let seen = try await world.pairs().distinct
            return seen >= count ? seen : nil
        }
        try #require(seen < all, "all pushes were sent before the first poll", sourceLocation: sourceLocation)
    }

    private func backend(of postmaster: Int32) throws -> Int32 {
        let text = try String(contentsOfFile: "/proc/\(postmaster)/task/\(postmaster)/children", encoding: .utf8)
        let children = text.split(separator: " ").compactMap { Int32($0) }
        let backend = children.first { child in
            let name = (try? String(contentsOfFile: "/proc/\(child)/cmdline", encoding: .utf8)) ?? ""
            return name.contains("gateway_engine")
        }
        return try #require(backend, "no backend of the engine")
    }

    // The push service is killed and restarted. Unsent pushes are resent, pushes without an answer follow the
    // message's policy, and every delivery gets an outcome.
    @Test func killedSimulatorDelaysButEndsEveryDelivery() async throws {
        try await World.with(
            simulatorArguments: Self.steady,
            serveArguments: ["--lease-seconds", "4", "--retry-scale", "0.05"]
        ) { world in
            try #require(try await world.apply().status == 0)
            try await world.makeAudience(2500)
            let id = try await world.sendToEveryone("while the push service dies")
            try await reach(400, of: 2500, in: world)
            try #require(try await world.metric("apns_connections", #"state="open""#) > 0)
            try await world.killSimulator()
            try await eventually("the gateway has lost its connections") {
                try await world.metric("apns_connections", #"state="open""#) == 0
            }
            try await world.startSimulator()
            let funnel = try await world.funnel(of: id)
            #expect(funnel["sent"]?.int == 2500, "\(JSONWriter.text(funnel))")
        }
    }

    // I10: after SIGTERM in the middle of a send, the exit status is 0, and the successor repeats nothing.
    @Test func drainedGatewayLeavesNothingForItsSuccessorToRepeat() async throws {
        // 300 ms over 8 connections of 5 streams: 2,500 pushes take 19 s. The drain's end (5 s) comes in mid-send, and so does the end of what a
        // push may wait for a stream (10 s), which must not be taken for an answer.
        try await World.with(
            simulatorArguments: ["--mode", "script", "--latency-ms", "300", "--max-streams", "5"],
            serveArguments: ["--drain-seconds", "5"]
        ) { world in
            try #require(try await world.apply().status == 0)
            try await world.makeAudience(2500)
            let id = try await world.sendToEveryone("during the shutdown")
            try await reach(300, of: 2500, in: world)
            let status = await world.gateway?.stop()
            #expect(status == 0)
            let between = try await world.pairs().distinct
            #expect(between < 2500, "nothing was left to hand over")
            try await world.startGateway()
            let funnel = try await world.funnel(of: id, within: .seconds(90))
            #expect(funnel["sent"]?.int == 2500, "\(JSONWriter.text(funnel))")
            let after = try await world.pairs()
            #expect(after.distinct == 2500)
            #expect(after.repeats == 0)
            print("drain: \(between) of 2500 were out when it stopped")
        }
    }
}
