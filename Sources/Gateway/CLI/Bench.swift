import ArgumentParser
import Foundation
import Model

/// `bench`: submit → outcome in PostgreSQL, through every part, on this machine.
struct Bench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure submit → outcome in PostgreSQL for one message to many devices.",
        discussion:
            "Starts its own PostgreSQL, simulator (mode accept) and gateway. A figure, not a threshold: machines differ."
    )

    /// 1,000,000: more needs a database on another machine to mean anything.
    static let deviceLimit = 1_000_000

    @Option(help: "How many devices.") var devices = 100_000
    @Option(help: "How many messages to everyone, one after the other.") var runs = 3
    @Option(help: "The apns-simulator program. Default: beside this program.") var simulator: String?
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard (1...Self.deviceLimit).contains(devices), (1...100).contains(runs) else {
            throw ValidationError("--devices must be 1 to \(Self.deviceLimit), --runs 1 to 100")
        }
    }

    func run() async throws {
        let own = (CommandLine.arguments.first.map { URL(fileURLWithPath: $0) } ?? URL(fileURLWithPath: "push-gateway"))
            .resolvingSymlinksInPath()
        let beside = own.deletingLastPathComponent().appendingPathComponent("apns-simulator").path
        let stage = try await DemoStage.open(gateway: own.path, simulator: simulator ?? beside, mode: "accept")
        do {
            try await register(stage)
            var rates: [Double] = []
            for run in 1...runs {
                let seconds = try await send(stage, run)
                rates.append(Double(devices) / seconds)
                Console.error(
                    String(format: "run %d: %.2f s, %.0f deliveries/s", run, seconds, Double(devices) / seconds)
                )
            }
            report(rates.sorted())
            try await stage.close()
        } catch {
            await stage.abandon()
            throw error
        }
    }

    private func report(_ rates: [Double]) {
        let median = rates[rates.count / 2]
        if json {
            Console.print([
                "devices": .int(devices), "runs": .int(runs), "deliveriesPerSecondMedian": .int(Int(median)),
            ])
        } else {
            Console.print(
                String(
                    format: "%d devices, %d runs: median %.0f deliveries/s (%.0f … %.0f), submit → outcome committed",
                    devices,
                    rates.count,
                    median,
                    rates.first ?? 0,
                    rates.last ?? 0
                )
            )
        }
    }

    private func register(_ stage: DemoStage) async throws {
        let started = ContinuousClock.now
        let lanes = 64
        let total = devices
        let gateway = stage.gateway
        let apiKey = stage.apiKey
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<lanes {
                group.addTask {
                    for index in stride(from: lane, to: total, by: lanes) {
                        if lane == 0, index % (lanes * 100) == 0 { Progress.show("registering", index, total) }
                        let body: JSON = [
                            "app": "shop", "platform": "ios",
                            "token": .string(SystemIdentifiers().randomHex(byteCount: 32)),
                            "key": .string("bench-\(index)"),
                        ]
                        let answer = try await gateway.call("POST", "/v1/devices", body, bearer: apiKey)
                        guard answer.status == 201 else {
                            throw DemoFailure("registering answered \(answer.status) \(answer.text)")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        Progress.end()
        let seconds = Double((ContinuousClock.now - started).milliseconds) / 1000
        Console.error(
            String(format: "registered %d devices in %.1f s (%.0f/s)", devices, seconds, Double(devices) / seconds)
        )
    }

    /// Seconds from the submission to the last outcome.
    private func send(_ stage: DemoStage, _ run: Int) async throws -> Double {
        let started = ContinuousClock.now
        let answer = try await stage.gateway.call(
            "POST",
            "/v1/messages",
            ["app": "shop", "to": ["everyone": true], "body": .string("run \(run)")],
            bearer: stage.apiKey
        )
        guard let id = answer.json?["id"]?.string else {
            throw DemoFailure("sending answered \(answer.status) \(answer.text)")
        }
        while true {
            let message = try await stage.gateway.call("GET", "/v1/messages/\(id)", bearer: stage.apiKey).json ?? .null
            let sent = message["funnel"]?["sent"]?.int ?? 0
            Progress.show("sending", Int(sent), devices)
            if message["state"]?.string == "done" {
                Progress.end()
                guard sent == devices else { throw DemoFailure("only \(sent) of \(devices) were sent") }
                return Double((ContinuousClock.now - started).milliseconds) / 1000
            }
            guard ContinuousClock.now - started < .seconds(600) else {
                throw DemoFailure("not done within ten minutes")
            }
            try await Task.sleep(for: .milliseconds(100))
        }
    }
}

/// A bar on standard error, when somebody looks.
enum Progress {
    private static let isTerminal = isatty(2) == 1

    static func show(_ what: String, _ done: Int, _ total: Int) {
        guard isTerminal, total > 0 else { return }
        let filled = min(30, 30 * done / total)
        let bar = String(repeating: "█", count: filled) + String(repeating: "·", count: 30 - filled)
        FileHandle.standardError.write(Data("\r\(what) \(bar) \(done)/\(total)".utf8))
    }

    static func end() {
        if isTerminal { FileHandle.standardError.write(Data("\n".utf8)) }
    }
}
