import ArgumentParser
import CommandSupport
import Foundation
import HTTP2
import Model

/// `bench proxy`: the cost of calls and deliveries under rules, relative to nginx and to the same without rules.
struct BenchProxy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "proxy",
        abstract:
            "Measure proxied, observed and forwarded calls, deliveries with a rollout, and calls that wait for slow upstreams.",
        discussion: """
            The gateway and an nginx that proxies to the same upstream share one core; PostgreSQL, wrk and the upstream, which is another nginx, share \
            the other. Served, observed and forwarded calls are registrations of new devices (appRegist of iPNS). A campaign to everyone is sent with and \
            without a rollout, all through the push service. 250 calls wait for each of four slow upstreams, once. All other figures are medians of the pairs, \
            whose order alternates. Exit status 1: a figure is beyond its limit. nginx is that of the Debian package 'nginx'.
            """
    )

    @Option(help: "Seconds per turn.") var seconds = 3
    @Option(help: "Number of pairs.") var pairs = 5
    @Option(help: "Number of connections of wrk.") var connections = 128
    @Option(help: "Number of devices of a campaign.") var devices = 50_000
    @Option(help: "The core of the gateway and of the nginx that proxies.") var gatewayCore = 0
    @Option(help: "The core of PostgreSQL, of wrk and of the upstream.") var otherCore = 1
    @Option(help: "The smallest rate of proxied calls, relative to nginx.") var proxied = 0.2
    @Option(help: "The largest p50 that proxying adds, in milliseconds.") var added = 1.5
    @Option(help: "The smallest rate of proxied and observed calls, relative to served ones.") var observed = 0.5
    @Option(help: "The smallest rate of served and forwarded calls, relative to served ones.") var forwarded = 0.8
    @Option(help: "The largest CPU of a campaign with a rollout, relative to one without.") var rollout = 1.05
    @Option(help: "The most memory of 1,000 calls that wait for slow upstreams, in MiB.") var memory = 64.0
    @Option(help: "The nginx program.") var nginx = "/usr/sbin/nginx"
    @Option(help: "The apns-accept-server program. Default: in the directory of this program.") var peer: String?
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard (1...120).contains(seconds) else { throw ValidationError("--seconds must be 1 to 120") }
        guard (1...50).contains(pairs) else { throw ValidationError("--pairs must be 1 to 50") }
        // 256 calls of an upstream may be in flight.
        guard (4...250).contains(connections) else { throw ValidationError("--connections must be 4 to 250") }
        guard (1000...1_000_000).contains(devices) else { throw ValidationError("--devices must be 1000 to 1000000") }
        guard (0...1023).contains(gatewayCore), (0...1023).contains(otherCore), gatewayCore != otherCore else {
            throw ValidationError("--gateway-core and --other-core must be different cores")
        }
        guard [proxied, added, observed, forwarded, rollout, memory].allSatisfy({ $0 >= 0 }) else {
            throw ValidationError("the limits must be at least 0")
        }
    }

    private var limits: ProxyLimits {
        ProxyLimits(
            proxied: proxied,
            observed: observed,
            forwarded: forwarded,
            added: added,
            rollout: rollout,
            memory: memory
        )
    }

    /// The programs that the bench starts, with the Debian packages that contain them.
    private var tools: [(program: String, package: String)] {
        [(nginx, "nginx"), ("/usr/bin/wrk", "wrk"), ("/usr/bin/taskset", "util-linux")]
    }

    func run() async throws {
        for tool in tools where !FileManager.default.isExecutableFile(atPath: tool.program) {
            throw StageFailure("no program \(tool.program); the Debian package '\(tool.package)' contains it")
        }
        // 1,000 callers and as many connections of slow upstreams are in this process.
        _ = FileLimit.raise()
        var excesses: [String] = []
        try await BenchStage.with(peer: peer ?? Bench.peer, nodes: 1, core: gatewayCore) { stage in
            let figures = try await measure(stage)
            excesses = figures.compactMap(\.excess)
            report(figures, try await stage.settings())
        }
        for excess in excesses { Console.error(excess) }
        guard excesses.isEmpty else { throw ExitCode(1) }
    }

    // MARK: Parts

    private func measure(_ stage: BenchStage) async throws -> [BenchFigure] {
        let material = stage.material
        let role = NginxServer.Role.answers(ProxyApps.answer)
        let upstream = try await NginxServer.start(nginx, "nginx-upstream", role, core: otherCore, in: material)
        return try await stage.during(upstream.process) {
            let role = NginxServer.Role.proxies(to: upstream.port)
            let proxy = try await NginxServer.start(nginx, "nginx-proxy", role, core: gatewayCore, in: material)
            return try await stage.during(proxy.process) {
                try await measure(stage, upstream: upstream.base, nginx: proxy.base)
            }
        }
    }

    private func measure(_ stage: BenchStage, upstream: String, nginx: String) async throws -> [BenchFigure] {
        let held = HeldAnswers()
        var slow: [CountingReceiver] = []
        for _ in 0..<ProxyApps.slowCount {
            slow.append(try await CountingReceiver.start(answer: ProxyApps.answer, held: held))
        }
        let key = try await ProxyApps.add(to: stage, fast: upstream, slow: slow.map(\.port))
        // First: a process mostly keeps the memory that it has used.
        let waiting = WaitingRun(process: stage.nodes[0].processID, base: stage.gateway.base, held: held)
        let more = try await waiting.measure()
        for receiver in slow { await receiver.stop() }
        Console.error(String(format: "memory of waiting calls: %.1f MiB", more))
        try await stage.makeAudience(devices, vendor: .ipns)
        try await stage.makeAudience(devices, of: ProxyApps.tenant, vendor: .ipns)
        try await stage.psql("ANALYZE")
        try WrkRun(stage: stage, connections: connections, core: otherCore).pinPostgres()
        let ratios = try await RolloutRun(stage: stage, devices: devices, apiKey: key).measure(pairs: pairs)
        let values = try await turns(stage, upstream: upstream, nginx: nginx)
        return limits.figures(values) + limits.figures(rollouts: ratios, waiting: more)
    }

    private func turns(_ stage: BenchStage, upstream: String, nginx: String) async throws -> [[ProxyTurn: Double]] {
        try await HTTPCaller(base: "http://\(stage.addresses.admin)").closing { admin in
            let run = ProxyRun(
                stage: stage,
                seconds: seconds,
                connections: connections,
                core: otherCore,
                upstream: upstream,
                nginx: nginx,
                admin: admin
            )
            return try await run.measure(pairs: pairs)
        }
    }

    // MARK: Report

    private func report(_ figures: [BenchFigure], _ settings: BenchSettings) {
        guard json else {
            Console.print(Console.table(BenchFigure.columns, figures.map(\.row)) + "\n" + settings.text)
            return
        }
        func number(_ value: Double) -> JSON { .number(BenchFigure.text(value)) }
        for figure in figures {
            Console.print(
                [
                    "figure": .string(figure.name), "median": number(figure.median),
                    "values": .array(figure.values.map(number)), "limit": number(figure.limit),
                    "isCeiling": .bool(figure.isCeiling), "passed": .bool(figure.passes),
                ] as JSON
            )
        }
        Console.print(
            [
                "passed": .bool(figures.allSatisfy(\.passes)), "call": "appRegist", "pairs": .int(pairs),
                "settings": settings.json,
            ] as JSON
        )
    }
}
