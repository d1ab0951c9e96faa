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
            "SIGTERM or SIGINT drains it: no new work starts, work in progress ends, and the exit status is 0. A second signal ends the waits, a third one the process."
    )

    @Option(help: "host:port for plain HTTP; may be repeated; port 0 takes any free port. Default 127.0.0.1:8080.")
    var listen: [String] = []
    @Option(help: "host:port for HTTPS; may be repeated (apps of some vendors expect a specific port: docs/vendors).")
    var tlsListen: [String] = []
    @Option(help: "Certificate chain (PEM) of the HTTPS listeners.")
    var tlsCert: String?
    @Option(help: "Private key (PEM) of the HTTPS listeners.")
    var tlsKey: String?
    @Option(help: "Authorities (PEM) of the certificates that clients show to the HTTPS listeners.")
    var tlsClientCa: String?
    @Flag(
        inversion: .prefixedNo,
        help: "With --tls-client-ca: refuse clients that show no certificate. Default: they are refused."
    )
    var tlsClientRequired: Bool?
    @Option(help: "host:port for /healthz, /readyz and /metrics; may be repeated. Default 127.0.0.1:8081.")
    var adminListen: [String] = []
    @Option(
        help: "host:port for the web console; may be repeated; beyond 127.0.0.1 with TLS only. Default: no console."
    )
    var consoleListen: [String] = []
    @Flag(inversion: .prefixedNo, help: "Every account of the console needs one-time codes. Default: it does not.")
    var consoleCodesRequired: Bool?
    @Option(
        help: """
            log2 of the rounds of the console's password hashes, 12 to 18; each step doubles their time and memory. \
            Default 15.
            """
    )
    var consolePasswordRounds: Int?
    @Option(help: "File for the listeners' addresses as JSON, written when the gateway is ready.")
    var addressFile: String?
    @Option(help: "File to which the rows of the audit are appended, one JSON object per line.")
    var auditFile: String?
    @Option(
        help: "Collector to which the rows of the audit are sent: tcp://host:514, tls://host:6514 or unix:/dev/log."
    )
    var auditSyslog: String?
    @Option(help: "Authorities (PEM) of the collector's certificate. Default: those of the system.")
    var auditCa: String?
    @Option(
        help: "Refuse administrative calls while the file or the collector is behind by more seconds (60 to 86400)."
    )
    var auditLagSeconds: Int?
    @Option(help: "Refuse a secret of an API key that is older than this (1 to 3650 days). Default: none is too old.")
    var keysAgeDays: Int?
    @Option(
        help:
            "Account as which the gateway runs when root starts it. Default: the owner of the data directory; for a new one push-gateway, if there is such an account."
    )
    var runAs: String?
    @Option(help: "Private CIDR ranges that webhooks may target, comma-separated.")
    var webhookAllow: String?
    @Option(
        help:
            "Private CIDR ranges that upstreams may be in, comma-separated. Only there may they be called without TLS."
    )
    var upstreamAllow: String?
    @Option(
        help: "CIDR ranges of proxies whose X-Forwarded-For or Forwarded is trusted, comma-separated. Default: none."
    )
    var trustedProxies: String?
    @Flag(
        inversion: .prefixedNo,
        help: "Connections of trusted proxies begin with a header of PROXY protocol version 2, which names the client."
    )
    var proxyProtocol: Bool?
    @Option(help: "Factor for the delays between tries; below 1 only with a simulator.")
    var retryScale: String?
    @Option(help: "Seconds after which an unresponsive node loses its slices (2 to 600).")
    var leaseSeconds: Int?
    @Option(help: "Seconds between two evaluations of the gates of migrations (1 to 3600). Default: 30.")
    var migrationInterval: Int?
    @Option(help: "Time limit of a drain in seconds.")
    var drainSeconds: Int?
    @Flag(
        inversion: .prefixedNo,
        help:
            "Listen for the database's notifications. Without them, for example behind a pooler that loses them, the gateway polls for changes."
    )
    var databaseNotify: Bool?
    @Flag(
        inversion: .prefixedNo,
        help:
            "Let short concurrent writes share one flush to disk. Not on Citus, where the workers flush their own logs."
    )
    var databaseSharedFlush: Bool?
    @Option(
        help:
            "Collector of traces (OTLP over HTTP, JSON): http://host:4318 or https://host:4318. Default: nothing is traced."
    )
    var tracingEndpoint: String?
    @Option(help: "Share of the calls that are traced, 0 to 1. Default 0.01.")
    var tracingSample: String?
    @Option(
        help:
            "File with secret headers for the collector, name=value, one per line. Or set them in the environment: TRACING_HEADERS."
    )
    var tracingHeadersFile: String?
    @Option(help: "Authorities (PEM) of the collector's certificate. Default: those of the system.")
    var tracingCa: String?
    @OptionGroup var limits: LimitOptions
    @OptionGroup var common: CommonOptions

    func run() async throws {
        EventLoops.fit()
        var flags = limits.flags
        if !listen.isEmpty { flags["listen"] = listen.joined(separator: ",") }
        if !tlsListen.isEmpty { flags["tls.listen"] = tlsListen.joined(separator: ",") }
        if !adminListen.isEmpty { flags["admin.listen"] = adminListen.joined(separator: ",") }
        if !consoleListen.isEmpty { flags["console.listen"] = consoleListen.joined(separator: ",") }
        flags["console.codes.required"] = consoleCodesRequired.map { "\($0)" }
        flags["console.password.rounds"] = consolePasswordRounds.map(String.init)
        flags["tls.cert"] = tlsCert
        flags["tls.key"] = tlsKey
        flags["tls.client.ca"] = tlsClientCa
        flags["tls.client.required"] = tlsClientRequired.map { "\($0)" }
        flags["address.file"] = addressFile
        flags["audit.file"] = auditFile
        flags["run.as"] = runAs
        flags["audit.syslog"] = auditSyslog
        flags["audit.ca"] = auditCa
        flags["audit.lag.seconds"] = auditLagSeconds.map(String.init)
        flags["keys.age.days"] = keysAgeDays.map(String.init)
        flags["webhook.allow"] = webhookAllow
        flags["upstream.allow"] = upstreamAllow
        flags["trusted.proxies"] = trustedProxies
        flags["proxy.protocol"] = proxyProtocol.map { "\($0)" }
        flags["retry.scale"] = retryScale
        flags["lease.seconds"] = leaseSeconds.map(String.init)
        flags["migration.interval"] = migrationInterval.map(String.init)
        flags["drain.seconds"] = drainSeconds.map(String.init)
        flags["tracing.endpoint"] = tracingEndpoint
        flags["tracing.sample"] = tracingSample
        flags["tracing.headers.file"] = tracingHeadersFile
        flags["tracing.ca"] = tracingCa
        flags["database.notify"] = databaseNotify.map { "\($0)" }
        flags["database.shared.flush"] = databaseSharedFlush.map { "\($0)" }
        let configuration = try await common.load(flags)

        let level = configuration.logLevel
        LoggingSystem.bootstrap(
            { JSONLogHandler(label: $0, level: level, metadataProvider: $1) },
            metadataProvider: .request
        )
        if geteuid() == 0 {
            Logger(label: "push-gateway").warning("runs as root; name an account of its own with run.as")
        }
        let registry = PrometheusRegistry()
        MetricsSystem.bootstrap(registry)
        try await GatewayRuntime(configuration: configuration, registry: registry).run()
    }
}
