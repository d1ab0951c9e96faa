import Foundation
package import Logging

/// The modes of the simulator.
package enum SimulatorMode: String, Sendable, CaseIterable {
    /// Applies all rules, and scripted answers for single tokens.
    case validate
    /// Answers 200 to everything and records only counts: the server of a load test.
    case accept
    /// Like `validate`, and injects scripted faults of streams and connections.
    case script
}

/// The environments of Apple's hosts.
package enum APNsEnvironment: String, Sendable, CaseIterable {
    /// `api.push.apple.com`.
    case production
    /// `api.sandbox.push.apple.com`.
    case sandbox
}

/// All settings of a simulator.
///
/// The default value is a working simulator: it accepts any key, listens on free ports, and keeps its CA in memory.
package struct SimulatorConfiguration: Sendable {
    /// The address of the APNs listener. The control listener is always on 127.0.0.1, because it has no authentication.
    package var host = "127.0.0.1"

    /// Port of the APNs listener; 0 for any free one.
    package var port = 0

    /// Port of the channel management listener, on the same address; 0 for any free one.
    package var managePort = 0

    /// Port of the control listener; 0 for any free one.
    package var controlPort = 0

    /// For how many days the server's certificate is valid; negative for one that has expired.
    package var serverCertificateDays = 365

    /// Whether ALPN `h2` is offered; the real service does not require it.
    package var offersALPN = true

    /// The mode of the simulator.
    package var mode = SimulatorMode.validate

    /// The environment of the simulated host: it decides which keys are valid and whether `apns-unique-id` is sent.
    package var environment = APNsEnvironment.production

    /// The provider keys whose signatures are accepted.
    package var keys = KeyRegistry.acceptingAnyKey

    /// The CAs whose client certificates are trusted, in addition to the simulator's own; nil trusts every certificate (row 2).
    package var clientAuthorities: ClientAuthorities?

    /// The apps that may use broadcast channels; nil for all (row 40).
    package var broadcastApps: Set<String>?

    /// The CA that signs the server's certificate; nil creates a new one.
    package var authority: CertificateAuthority?

    /// The delay of all answers.
    package var latency = Latency.zero

    /// How many streams a connection may have open once a valid provider token was seen, 1...4096.
    ///
    /// The real service sends 1000 (pushy#878, observed).
    package var maxStreams = 1000

    /// Event loop threads. One is enough for a gateway on the same machine, and leaves the other cores to the gateway.
    package var threads = 1

    /// How many requests are kept for `/_simulator/requests`; the oldest are discarded first.
    ///
    /// 10,000 requests with full payloads need about 50 MB; without a limit, a soak test would fill the memory.
    package var recordedRequestLimit = 10_000

    /// How many distinct tokens, and distinct (token, apns-id) pairs, are tracked.
    ///
    /// 6,000,000 of each need 64 MiB of fingerprints each; above that, new ones are counted as untracked and the report shows their number.
    package var trackedDeliveryLimit = 6_000_000

    /// How many pushes one device token may get per second before 429 `TooManyRequests`; nil disables the rule.
    ///
    /// It is disabled by default, because Apple documents the reason but not the rate.
    package var pushesPerTokenAndSecond: Int?

    /// Whether a body that Apple accepts but a device would discard is refused with 400 `PayloadEmpty` instead of being recorded as a finding.
    package var refusesUndeliverablePayloads = false

    /// Whether every further request fails on a connection that sent an expired provider token, as Pushy observed on the real service.
    package var wedgesOnExpiredToken = true

    /// Whether a connection gets no further answers after `TooManyProviderTokenUpdates`, as one provider observed (pushy#931).
    package var silencesAfterTokenUpdates = false

    /// Whether device tokens that were not registered at the control port are refused (row 22).
    package var knowsEveryDevice = false

    /// The required length of a device token in bytes; nil for any length. Apple asks clients never to rely on a length.
    package var deviceTokenBytes: Int?

    /// Whether a refused push lowers the stream limit to 1 until the next accepted one (row 31, last observed in 2019).
    package var dropsLimitOnReject = false

    /// How many `BadDeviceToken` answers within a minute end a connection (row 32); nil disables the rule. Apple documents the behavior, not the number.
    package var badTokenLimit: Int?

    /// How long a connection may be idle before GOAWAY `IdleTimeout` (row 33); nil for no limit.
    package var idleTimeout: Duration?

    /// Seed of all random choices: latencies and shares.
    package var seed: UInt64 = 1

    /// The clock of every rule about time, in seconds since 1970.
    package var now: @Sendable () -> Int = { Int(Date().timeIntervalSince1970) }

    /// The logger of the simulator; it uses the levels `debug` and `trace`.
    package var logger = Logger(label: "apns-simulator")

    /// Creates the default configuration, which accepts any key.
    package init() {}
}
