/// Apple's rules for `/3/device/<token>`, in the order of the table in the project's APNs notes §16.2. Pure: no socket, no clock.
///
/// Rows 1 to 4 (TLS, SETTINGS, stream limit) and 30 (raising it) belong to the connection; row 2 (client certificates) is not
/// played, because the simulator asks for none; rows 31 to 33 are Apple's habits that nobody has seen of late.
package struct RuleBook: Sendable {
    /// What the rules depend on besides the request.
    package struct Settings: Sendable {
        /// The provider keys that are known (rows 10 to 12, 17).
        package var keys: KeyRegistry

        /// The host that is played (row 11).
        package var environment: APNsEnvironment

        /// Whether a body that a device would drop is refused (row 27).
        package var refusesUndeliverablePayloads = false

        /// Whether an expired token spoils its connection (row 13).
        package var wedgesOnExpiredToken = true

        /// Settings for one environment with these keys.
        package init(keys: KeyRegistry, environment: APNsEnvironment = .production) {
            self.keys = keys
            self.environment = environment
        }
    }

    /// What became of a request.
    package struct Verdict: Sendable, Equatable {
        /// nil when the push is accepted.
        package var refusal: Refusal?

        /// The row that decided; 29 when the push is accepted.
        package var row: Int

        /// How well that row is known to be Apple's.
        package var evidence: Evidence

        /// The device token of the path, as sent; empty when the path has none.
        package var deviceToken: String

        /// The `apns-id` of the answer; nil when one has to be made up.
        package var apnsID: String?

        /// What a device would not show although Apple accepts it.
        package var findings: [String]

        /// The scripted answer that was found for the token: its latency and fault are the connection's to play.
        package var scripted: ScriptedAnswer?
    }

    /// The largest payload of any push type, in bytes (VoIP).
    package static let longestPayloadBytes = 5120

    private let settings: Settings

    /// The table, in order of evaluation. Apple documents no order; it is X as a whole.
    private static let table: [Rule] =
        EnvelopeRules.all + ProviderTokenRules.all + HeaderRules.all + DeviceRules.registry + PayloadRules.all
        + DeviceRules.rate

    /// A book with these settings.
    package init(_ settings: Settings) {
        self.settings = settings
    }

    /// Judges one request.
    ///
    /// - Parameters:
    ///   - request: The whole request, body included.
    ///   - connection: What is known of its connection; updated.
    ///   - devices: What is known of its device token.
    ///   - now: Seconds since 1970.
    /// - Returns: Whether it is accepted, and which row decided.
    package func judge(
        _ request: PushRequest,
        on connection: inout ConnectionState,
        devices: DeviceFacts,
        now: Int
    ) -> Verdict {
        var examination = Examination(
            request: request,
            settings: settings,
            devices: devices,
            now: now,
            connection: connection
        )
        defer { connection = examination.connection }
        for rule in Self.table {
            if let refusal = rule.check(&examination) {
                return verdict(refusal, row: rule.row, evidence: rule.evidence, examination)
            }
        }
        return verdict(nil, row: 29, evidence: .documented, examination)
    }

    private func verdict(_ refusal: Refusal?, row: Int, evidence: Evidence, _ examination: Examination) -> Verdict {
        Verdict(
            refusal: refusal,
            row: row,
            evidence: evidence,
            deviceToken: examination.deviceToken,
            apnsID: examination.apnsID,
            findings: examination.findings,
            scripted: examination.scripted
        )
    }
}
