import APNsSimulator
import ArgumentParser
import Logging

/// The command line around `Simulator`.
struct APNsSimulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apns-simulator",
        abstract: "An APNs server that checks what Apple checks, over real TLS and HTTP/2.",
        discussion: """
            Without flags it listens on any two free ports of 127.0.0.1, makes a CA in memory and accepts any provider key. \
            Exit status: 0 ended by SIGTERM or SIGINT, 1 failed, 2 wrong usage.
            """
    )

    @Option(help: "Address of the APNs listener. The control listener is always on 127.0.0.1.")
    var host = "127.0.0.1"

    @Option(help: "Port of the APNs listener (TLS, HTTP/2); 0 = any.")
    var port = 0

    @Option(help: "Port of the control listener (HTTP/1.1 in clear); 0 = any.")
    var controlPort = 0

    @Option(help: ArgumentHelp("Write the CA's certificate here, in PEM.", valueName: "file"))
    var caOut: String?

    @Option(
        help: ArgumentHelp(
            "Keep the CA's key and certificate here: clients that trust it still do after a restart.",
            valueName: "file"
        )
    )
    var caKey: String?

    @Option(
        help: ArgumentHelp(
            "JSON array of {teamId, keyId, publicKeyFile, topics?, environment?, revoked?}; files relative to it.",
            valueName: "file"
        )
    )
    var keys: String?

    @Flag(help: "Believe every well-formed provider token, whoever signed it. The default without --keys.")
    var acceptAnyKey = false

    @Option(help: "Milliseconds that every answer is held back.")
    var latencyMs = 0

    @Option(help: "Streams per connection once a valid provider token was seen.")
    var maxStreams = 1000

    @Option(help: "validate: every rule. accept: 200 for everything, counts only. script: validate, and faults.")
    var mode = SimulatorMode.validate

    @Option(help: "Which of Apple's hosts to play: production or sandbox.")
    var environment = APNsEnvironment.production

    @Option(help: ArgumentHelp("Write {\"apns\",\"control\"} here when ready.", valueName: "file"))
    var addressFile: String?

    @Option(help: "Event loop threads.")
    var threads = 1

    @Option(help: "Requests kept for /_simulator/requests.")
    var keepRequests = 10_000

    @Option(help: "Pushes that one device token may get per second before 429; without it no limit.")
    var tokenRate: Int?

    @Flag(help: "Refuse with 400 what Apple accepts but a device would drop.")
    var strict = false

    @Flag(help: "Let a connection recover after ExpiredProviderToken.")
    var noWedge = false

    @Option(help: "Least level of what is logged to standard error: trace, debug, info, warning, error.")
    var logLevel = "info"

    func validate() throws {
        func require(_ isRight: Bool, _ sentence: String) throws {
            if !isRight { throw ValidationError(sentence) }
        }
        try require((0...65_535).contains(port), "--port is 0 to 65535.")
        try require((0...65_535).contains(controlPort), "--control-port is 0 to 65535.")
        try require(keys == nil || !acceptAnyKey, "--keys and --accept-any-key exclude each other.")
        try require((0...3_600_000).contains(latencyMs), "--latency-ms is 0 to 3600000.")
        try require((1...4096).contains(maxStreams), "--max-streams is 1 to 4096.")
        try require((1...64).contains(threads), "--threads is 1 to 64.")
        try require((0...1_000_000).contains(keepRequests), "--keep-requests is 0 to 1000000.")
        try require(Logger.Level(rawValue: logLevel) != nil, "--log-level is one of swift-log's levels.")
        try require(tokenRate.map { $0 > 0 } ?? true, "--token-rate is 1 or more.")
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
            metadata: ["apns": "\(addresses.apns)", "control": "\(addresses.control)", "mode": "\(mode.rawValue)"]
        )
        await signals.first()
        logger.info("Stopping")
        await simulator.stop()
    }

    private func configuration(logger: Logger) throws -> SimulatorConfiguration {
        var configuration = SimulatorConfiguration()
        configuration.host = host
        configuration.port = port
        configuration.controlPort = controlPort
        configuration.mode = mode
        configuration.environment = environment
        configuration.keys = try keys.map { try KeyRegistry(contentsOfFile: $0) } ?? .acceptingAnyKey
        configuration.authority = try caKey.map { try CertificateAuthority(keptIn: $0) }
        configuration.latency = .milliseconds(latencyMs)
        configuration.maxStreams = maxStreams
        configuration.threads = threads
        configuration.recordedRequestLimit = keepRequests
        configuration.pushesPerTokenAndSecond = tokenRate
        configuration.refusesUndeliverablePayloads = strict
        configuration.wedgesOnExpiredToken = !noWedge
        configuration.logger = logger
        return configuration
    }
}

extension SimulatorMode: ExpressibleByArgument {}
extension APNsEnvironment: ExpressibleByArgument {}
