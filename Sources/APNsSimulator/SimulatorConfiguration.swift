import Foundation
package import Logging

/// How the simulator answers.
package enum SimulatorMode: String, Sendable, CaseIterable {
    /// Every rule of the book, and scripted answers for single tokens.
    case validate
    /// 200 for everything, nothing remembered but counts: the other end of a load test.
    case accept
    /// `validate`, and scripted faults of streams and connections too.
    case script
}

/// Which of Apple's two hosts the simulator plays.
package enum APNsEnvironment: String, Sendable, CaseIterable {
    /// `api.push.apple.com`.
    case production
    /// `api.sandbox.push.apple.com`.
    case sandbox
}

/// Everything that a simulator can be told before it starts.
///
/// A default-made value is a working simulator: any key is accepted, any free port is taken, its CA lives in memory.
package struct SimulatorConfiguration: Sendable {
    /// Address that the APNs listener binds. The control listener is always on 127.0.0.1, because it has no authentication.
    package var host = "127.0.0.1"

    /// Port of the APNs listener; 0 means any free one.
    package var port = 0

    /// Port of the channel management listener, on the same address; 0 means any free one.
    package var managePort = 0

    /// Port of the control listener; 0 means any free one.
    package var controlPort = 0

    /// For how many days the server's certificate is valid; negative for one that has expired.
    package var serverCertificateDays = 365

    /// Whether ALPN `h2` is offered; the real service does not insist on it.
    package var offersALPN = true

    /// How the simulator answers.
    package var mode = SimulatorMode.validate

    /// Which host it plays: decides which keys fit and whether `apns-unique-id` is sent.
    package var environment = APNsEnvironment.production

    /// The provider keys whose signatures are accepted.
    package var keys = KeyRegistry.acceptingAnyKey

    /// The CAs whose client certificates are believed, besides our own; nil believes everyone (row 2).
    package var clientAuthorities: ClientAuthorities?

    /// The apps that may use broadcast channels; nil for all (row 40).
    package var broadcastApps: Set<String>?

    /// The CA that signs the server's certificate; nil makes a new one.
    package var authority: CertificateAuthority?

    /// How long every answer is held back.
    package var latency = Latency.zero

    /// Streams that a connection may have open once it has shown a valid provider token, 1...4096.
    ///
    /// 1000 is what the real service sends (pushy#878, observed).
    package var maxStreams = 1000

    /// Event loop threads. One is enough for a gateway on the same machine, and leaves the other cores to it.
    package var threads = 1

    /// Requests kept for `/_simulator/requests`, the oldest dropped first.
    ///
    /// 10,000: at a full payload each that is about 50 MB; without a bound a soak test would fill the memory.
    package var recordedRequestLimit = 10_000

    /// Distinct tokens, and distinct (token, apns-id) pairs, that can be told apart.
    ///
    /// 6,000,000 of each take 64 MiB of fingerprints each; above it new ones are counted as untracked and the report says so.
    package var trackedDeliveryLimit = 6_000_000

    /// Pushes that one device token may get per second before 429 `TooManyRequests`; nil switches the rule off.
    ///
    /// Off by default: Apple documents the reason, not the rate.
    package var pushesPerTokenAndSecond: Int?

    /// Whether a body that Apple accepts but a device would drop is refused with 400 `PayloadEmpty` instead of recorded as a finding.
    package var refusesUndeliverablePayloads = false

    /// Whether a connection that sent an expired provider token keeps failing, as Pushy saw it on the real service.
    package var wedgesOnExpiredToken = true

    /// Whether a connection answers nothing more after `TooManyProviderTokenUpdates`, as one provider saw it (pushy#931).
    package var silencesAfterTokenUpdates = false

    /// Whether device tokens that nobody registered at the control port are bad (row 22).
    package var knowsEveryDevice = false

    /// How long a device token has to be in bytes; nil for any length. Apple asks never to rely on one.
    package var deviceTokenBytes: Int?

    /// Whether a refused push drops the stream limit to 1 until the next accepted one (row 31, last seen 2019).
    package var dropsLimitOnReject = false

    /// How many `BadDeviceToken` within a minute end a connection (row 32); nil for no such rule. Apple documents the habit, not the number.
    package var badTokenLimit: Int?

    /// How long a connection may be idle before GOAWAY `IdleTimeout` (row 33); nil for ever.
    package var idleTimeout: Duration?

    /// Seed of every random choice: latencies, shares.
    package var seed: UInt64 = 1

    /// The clock of every rule about time, in seconds since 1970.
    package var now: @Sendable () -> Int = { Int(Date().timeIntervalSince1970) }

    /// Where the simulator tells what it does, at `debug` and `trace`.
    package var logger = Logger(label: "apns-simulator")

    /// A working simulator that accepts any key.
    package init() {}
}
