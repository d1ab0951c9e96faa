import Foundation
import Testing

/// The rules of an app go from proxying over 10 % and 50 % back and to 100 %, while phones and back ends use it and processes are killed
/// (`Clients/migrations/README.md#rollouts`): each message arrives once per device.
@Suite(.serialized, .timeLimit(.minutes(60))) struct VendorRolloutTests {
    struct Run: Sendable, CustomTestStringConvertible {
        let vendor: String
        /// Some of `gateway`, `database` and `stub`, separated by commas, or `none`.
        let kills: String
        var testDescription: String { "\(vendor), kills: \(kills)" }
    }

    /// `ROLLOUT_DEVICES=2000` selects the long run.
    private static let devices = Soak.size("ROLLOUT_DEVICES") ?? 16
    private static let seed = Soak.size("ROLLOUT_SEED") ?? 1

    /// The runs that share the machine. Short ones mostly wait, so that they run at the same time.
    static let batches: [[Run]] = {
        let kills = ProcessInfo.processInfo.environment["ROLLOUT_KILLS"]
        let runs = VendorJourney.vendors.map { Run(vendor: $0, kills: kills ?? "gateway,database,stub") }
        guard devices <= 100 else { return runs.map { [$0] } }
        return [kills == nil ? runs + [Run(vendor: "upmc", kills: "none")] : runs]
    }()

    @Test(arguments: batches) func eachMessageArrivesOncePerDevice(_ batch: [Run]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for run in batch {
                group.addTask {
                    let arguments = ["--devices", "\(Self.devices)", "--seed", "\(Self.seed)", "--kills", run.kills]
                    let (status, log) = try await VendorJourney.run(
                        run.vendor,
                        ["--rollout"] + arguments,
                        name: "rollout, kills: \(run.kills)"
                    )
                    #expect(status == 0, "\(run): \(log.suffix(4000))")
                }
            }
            try await group.waitForAll()
        }
    }

    // Each scene is part of the runs above, which pass. Without its safeguard the same count finds what it must find.
    private static let controls: [(name: String, finding: String)] = [
        ("guard", "pushes arrived twice"),
        ("followMessage", "receipts of the vendor's messages are missing at the vendor"),
        ("versions", "pushes arrived twice"), ("records", "pushes arrived twice"),
    ]

    @Test func withoutItsSafeguardEachSceneFails() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (name, finding) in Self.controls {
                group.addTask {
                    let (status, log) = try await VendorJourney.run(
                        "upmc",
                        ["--rollout", "--devices", "16", "--control", name],
                        name: "rollout without \(name)"
                    ) { world in try await Self.take(name, from: world) }
                    let hasFound = log.contains("AssertionError") && log.contains(finding)
                    #expect(status == 1 && hasFound, "\(name): \(log.suffix(4000))")
                }
            }
            try await group.waitForAll()
        }
    }

    /// Takes a safeguard of the database away. The others are rules, which the client leaves out.
    private static func take(_ safeguard: String, from world: World) async throws {
        switch safeguard {
        case "versions":
            // Each lease gets the version in force.
            try await world.change("route_slice", "    v_version := s.route_version;\n", to: "")
        case "records":
            let insertion = "    INSERT INTO gateway.upstream_call ("
            let leaving = "    RETURN QUERY SELECT 'begun', NULL::uuid;\n    RETURN;\n"
            try await world.change("begin_upstream_call", insertion, to: leaving + insertion)
        default: break
        }
    }
}
