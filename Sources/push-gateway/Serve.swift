import ArgumentParser
import Foundation
import Gateway
import GatewayHTTP
import Logging
import Metrics
import Observability

/// `serve`: the gateway itself.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the gateway.",
        discussion:
            "SIGTERM or SIGINT drains it: no new work, what is in flight ends, exit 0. A second signal leaves at once."
    )

    @Option(help: "host:port for plain HTTP; may repeat; port 0 takes any. Default 127.0.0.1:8080.")
    var listen: [String] = []
    @Option(help: "host:port for HTTPS; may repeat (apps of some vendors expect a port of their own: docs/vendors).")
    var tlsListen: [String] = []
    @Option(help: "Certificate chain (PEM) of the HTTPS listeners.")
    var tlsCert: String?
    @Option(help: "Private key (PEM) of the HTTPS listeners.")
    var tlsKey: String?
    @Option(help: "host:port for /healthz, /readyz and /metrics; may repeat. Default 127.0.0.1:8081.")
    var adminListen: [String] = []
    @Option(help: "File to write the listeners' addresses to when ready, as JSON.")
    var addressFile: String?
    @Option(help: "CIDR ranges that webhooks may reach although they are private, comma-separated.")
    var webhookAllow: String?
    @Option(help: "Factor on the waits between tries; below 1 only against a simulator.")
    var retryScale: String?
    @Option(help: "Seconds a node may hold a slice without a sign of life (2 to 600).")
    var leaseSeconds: Int?
    @Option(help: "Seconds a drain may take.")
    var drainSeconds: Int?
    @Option(help: "Vendor calls per second that one client address may make in the long run. Default 0: no limit.")
    var callsPerSecond: String?
    @Flag(
        inversion: .prefixedNo,
        help:
            "Hear the database's notifications. Without, as behind a pooler that loses them, changes are found by looking."
    )
    var databaseNotify: Bool?
    @Flag(
        inversion: .prefixedNo,
        help:
            "Let short writes that come together share one flush to disk. Not over Citus, whose workers flush for themselves."
    )
    var databaseSharedFlush: Bool?
    @OptionGroup var common: CommonOptions

    func run() async throws {
        EventLoops.fit()
        var flags: [String: String] = [:]
        if !listen.isEmpty { flags["listen"] = listen.joined(separator: ",") }
        if !tlsListen.isEmpty { flags["tls.listen"] = tlsListen.joined(separator: ",") }
        if !adminListen.isEmpty { flags["admin.listen"] = adminListen.joined(separator: ",") }
        flags["tls.cert"] = tlsCert
        flags["tls.key"] = tlsKey
        flags["address.file"] = addressFile
        flags["webhook.allow"] = webhookAllow
        flags["retry.scale"] = retryScale
        flags["lease.seconds"] = leaseSeconds.map(String.init)
        flags["drain.seconds"] = drainSeconds.map(String.init)
        flags["calls.per.second"] = callsPerSecond
        flags["database.notify"] = databaseNotify.map { "\($0)" }
        flags["database.shared.flush"] = databaseSharedFlush.map { "\($0)" }
        let configuration = try await common.load(flags)

        let level = configuration.logLevel
        LoggingSystem.bootstrap { JSONLogHandler(label: $0, level: level) }
        let registry = PrometheusRegistry()
        MetricsSystem.bootstrap(registry)
        try await GatewayRuntime(configuration: configuration, registry: registry).run()
    }
}
