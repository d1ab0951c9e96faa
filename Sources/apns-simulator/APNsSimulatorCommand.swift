import APNsSimulator
import ArgumentParser
import Logging

/// The command line of `Simulator`.
struct APNsSimulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apns-simulator",
        abstract: "An APNs server that applies Apple's checks, over real TLS and HTTP/2.",
        discussion: """
            Without flags it listens on free ports of 127.0.0.1, creates a CA in memory and accepts any provider key. \
            Exit status: 0 stopped by SIGTERM or SIGINT, 1 failed, 2 wrong usage.
            """
    )

    @Option(help: "Address of the APNs listener. The control listener is always on 127.0.0.1.")
    var host = "127.0.0.1"

    @Option(help: "Port of the APNs listener (TLS, HTTP/2); 0 = any.")
    var port = 0

    @Option(help: "Port of the channel management listener (TLS, HTTP/2), on the same address; 0 = any.")
    var managePort = 0

    @Option(help: "Port of the control listener (HTTP/1.1 without TLS); 0 = any.")
    var controlPort = 0

    @Option(help: ArgumentHelp("Write the CA's certificate to this file, in PEM.", valueName: "file"))
    var caOut: String?

    @Option(
        help: ArgumentHelp(
            "Store the CA's key and certificate in this file, so that clients still trust it after a restart.",
            valueName: "file"
        )
    )
    var caKey: String?

    @Option(
        help: ArgumentHelp(
            "JSON array of {teamId, keyId, publicKeyFile, topics?, environment?, revoked?}; the key files are relative to this file.",
            valueName: "file"
        )
    )
    var keys: String?

    @Flag(help: "Accept every well-formed provider token, whoever signed it. The default without --keys.")
    var acceptAnyKey = false

    @Option(
        help: ArgumentHelp(
            "Accept only client certificates of these CAs (PEM) and of the simulator's own. Default: every certificate.",
            valueName: "file"
        )
    )
    var clientCa: String?

    @Option(
        help: ArgumentHelp(
            "An app that may use broadcast channels; repeatable. Default: every app.",
            valueName: "bundle"
        )
    )
    var broadcastApp: [String] = []

    @Option(help: "Delay of every answer in milliseconds.")
    var latencyMs = 0

    @Option(
        help: ArgumentHelp(
            "Delay of answers, drawn from a distribution: fixed:50, uniform:10-90, exponential:50, percentiles:50=20,99=400,100=2000.",
            valueName: "spec"
        )
    )
    var latency: String?

    @Option(help: "Streams per connection once a valid provider token was seen.")
    var maxStreams = 1000

    @Option(help: "validate: apply all rules. accept: only answer 200 and count. script: like validate, with faults.")
    var mode = SimulatorMode.validate

    @Option(help: "Which of Apple's hosts to simulate: production or sandbox.")
    var environment = APNsEnvironment.production

    @Option(help: ArgumentHelp("Write {\"apns\",\"control\",\"manage\"} to this file when ready.", valueName: "file"))
    var addressFile: String?

    @Option(help: "Event loop threads.")
    var threads = 1

    @Option(help: "Requests kept for /_simulator/requests.")
    var keepRequests = 10_000

    @Option(help: "Pushes that one device token may get per second before 429. Default: no limit.")
    var tokenRate: Int?

    @Flag(help: "Refuse with 400 payloads that Apple accepts but a device would discard.")
    var strict = false

    @Flag(help: "Let a connection recover after ExpiredProviderToken.")
    var noWedge = false

    @Flag(help: "Refuse device tokens that were not registered at the control port.")
    var strictDevices = false

    @Option(help: "Required length of device tokens in bytes. Default: any length.")
    var tokenBytes: Int?

    @Flag(help: "Send no further answers on a connection that got TooManyProviderTokenUpdates.")
    var silentAfterUpdates = false

    @Flag(help: "Lower the stream limit to 1 after a refused push, until the next accepted one.")
    var dropLimitOnReject = false

    @Option(help: "How many BadDeviceToken answers within a minute end a connection. Default: no limit.")
    var badTokenLimit: Int?

    @Option(help: "Seconds a connection may be idle before GOAWAY IdleTimeout. Default: no limit.")
    var idleSeconds: Int?

    @Option(help: "Days the server's certificate is valid; negative for one that has expired.")
    var certificateDays = 365

    @Flag(help: "Do not offer an ALPN protocol.")
    var noAlpn = false

    @Option(help: "Seed of every random choice.")
    var seed: UInt64 = 1

    @Option(help: "Lowest log level that is written to standard error: trace, debug, info, warning, error.")
    var logLevel = "info"

    func validate() throws {
        func require(_ isRight: Bool, _ sentence: String) throws {
            if !isRight { throw ValidationError(sentence) }
        }
        try require((0...65_535).contains(port), "--port must be 0 to 65535.")
        try require((0...65_535).contains(managePort), "--manage-port must be 0 to 65535.")
        try require((0...65_535).contains(controlPort), "--control-port must be 0 to 65535.")
        try require(keys == nil || !acceptAnyKey, "--keys and --accept-any-key exclude each other.")
        try require((0...3_600_000).contains(latencyMs), "--latency-ms must be 0 to 3600000.")
        try require(
            latency.map { Latency($0) != nil && latencyMs == 0 } ?? true,
            "--latency must be fixed:MS, uniform:MS-MS, exponential:MS or percentiles:P=MS,…; not with --latency-ms."
        )
        try require((1...4096).contains(maxStreams), "--max-streams must be 1 to 4096.")
        try require((1...64).contains(threads), "--threads must be 1 to 64.")
        try require((0...1_000_000).contains(keepRequests), "--keep-requests must be 0 to 1000000.")
        try require(Logger.Level(rawValue: logLevel) != nil, "--log-level must be one of swift-log's levels.")
        try require(tokenRate.map { $0 > 0 } ?? true, "--token-rate must be 1 or more.")
        try require(tokenBytes.map { (1...512).contains($0) } ?? true, "--token-bytes must be 1 to 512.")
        try require(badTokenLimit.map { (1...100_000).contains($0) } ?? true, "--bad-token-limit must be 1 to 100000.")
        try require(idleSeconds.map { (1...86_400).contains($0) } ?? true, "--idle-seconds must be 1 to 86400.")
        try require((-3650...3650).contains(certificateDays), "--certificate-days must be -3650 to 3650.")
    }

    func run() async throws {
        var logger = Logger(label: "apns-simulator") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = Logger.Level(rawValue: logLevel) ?? .info
        let signals = StopSignals()
        let simulator = try Simulator(configuration: configuration(logger: logger))
        if let caOut { try CertificateFile.write(simulator.caPEM, to: caOut) }
        let addresses = try await simulator.start()
        if let addressFile { try AddressFile.write(addresses, to: addressFile) }
        logger.info(
            "Listening",
            metadata: [
                "apns": "\(addresses.apns)", "control": "\(addresses.control)", "manage": "\(addresses.manage)",
                "mode": "\(mode.rawValue)",
            ]
        )
        await signals.first()
        logger.info("Stopping")
        await simulator.stop()
    }

    private func configuration(logger: Logger) throws -> SimulatorConfiguration {
        var configuration = SimulatorConfiguration()
        configuration.host = host
        configuration.port = port
        configuration.managePort = managePort
        configuration.controlPort = controlPort
        configuration.mode = mode
        configuration.environment = environment
        configuration.keys = try keys.map { try KeyRegistry(contentsOfFile: $0) } ?? .acceptingAnyKey
        configuration.authority = try caKey.map { try CertificateAuthority(keptIn: $0) }
        configuration.clientAuthorities = try clientCa.map { try ClientAuthorities(contentsOfFile: $0) }
        configuration.broadcastApps = broadcastApp.isEmpty ? nil : Set(broadcastApp)
        configuration.latency = latency.flatMap { Latency($0) } ?? .milliseconds(latencyMs)
        configuration.maxStreams = maxStreams
        configuration.threads = threads
        configuration.recordedRequestLimit = keepRequests
        configuration.pushesPerTokenAndSecond = tokenRate
        configuration.refusesUndeliverablePayloads = strict
        configuration.wedgesOnExpiredToken = !noWedge
        configuration.silencesAfterTokenUpdates = silentAfterUpdates
        configuration.knowsEveryDevice = strictDevices
        configuration.deviceTokenBytes = tokenBytes
        configuration.dropsLimitOnReject = dropLimitOnReject
        configuration.badTokenLimit = badTokenLimit
        configuration.idleTimeout = idleSeconds.map { .seconds($0) }
        configuration.serverCertificateDays = certificateDays
        configuration.offersALPN = !noAlpn
        configuration.seed = seed
        configuration.logger = logger
        return configuration
    }
}

extension SimulatorMode: ExpressibleByArgument {}
extension APNsEnvironment: ExpressibleByArgument {}
