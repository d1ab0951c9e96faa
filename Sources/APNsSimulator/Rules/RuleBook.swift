/// Apple's rules for a request, in the order of the table in docs/simulator.md#rules. Pure: no socket, no clock.
///
/// Rows 1, 3 and 4 (TLS, SETTINGS, stream limit) and 30 to 34 (raising and dropping it, idleness, shutdown) belong to the connection; of row 2
/// only what a request is told is here.
package struct RuleBook: Sendable {
    /// What the rules depend on besides the request.
    package struct Settings: Sendable {
        /// The provider keys that are known (rows 10 to 12, 17).
        package var keys: KeyRegistry

        /// The host that is played (rows 2, 11, 22).
        package var environment: APNsEnvironment

        /// Whether a body that a device would drop is refused (row 27).
        package var refusesUndeliverablePayloads = false

        /// Whether an expired token spoils its connection (row 13).
        package var wedgesOnExpiredToken = true

        /// Whether a connection is silent after too many token updates (row 14).
        package var silencesAfterTokenUpdates = false

        /// Whether device tokens that nobody registered are bad (row 22).
        package var knowsEveryDevice = false

        /// How long a device token has to be; nil for any length (row 22).
        package var deviceTokenBytes: Int?

        /// The apps that may use channels; nil for all (row 40).
        package var broadcastApps: Set<String>?

        /// Settings for one environment with these keys.
        package init(keys: KeyRegistry, environment: APNsEnvironment = .production) {
            self.keys = keys
            self.environment = environment
        }
    }

    /// What became of a request.
    package struct Verdict: Sendable, Equatable {
        /// nil when the push is accepted.
        package var refusal: RuleRefusal?

        /// The row that decided; 29 when the push is accepted.
        package var row: Int

        /// How well that row is known to be Apple's.
        package var evidence: Evidence

        /// The device token of the path, as sent; a broadcast's channel id; empty when there is neither.
        package var deviceToken: String

        /// The `apns-id` (or `apns-request-id`) of the answer; nil when one has to be made up.
        package var apnsID: String?

        /// Whether the answer's id is an `apns-request-id`: broadcasts and channel management.
        package var isRequestID: Bool

        /// Whether an accepted request is a delivery: a push or a broadcast, not channel management.
        package var isPush: Bool

        /// What a device would not show although Apple accepts it.
        package var findings: [String]

        /// The scripted answer that was found for the token: its latency and fault are the connection's to play.
        package var scripted: ScriptedAnswer?

        /// What a success gets besides 200.
        package var reply: SuccessReply
    }

    /// The largest payload of any push type, in bytes (VoIP, broadcasts).
    package static let longestPayloadBytes = 5120

    private let settings: Settings

    /// The rows after the envelope and the credential. Apple documents no order; it is X as a whole.
    private static let device =
        PushHeaderRules.all + DeviceRules.registry + PushPayloadRules.all + DeviceRules.rate + DeviceRules.trouble
    private static let broadcast = BroadcastRules.all + PushPayloadRules.all + DeviceRules.trouble

    /// A book with these settings.
    package init(_ settings: Settings) {
        self.settings = settings
    }

    /// Judges one request.
    ///
    /// - Parameters:
    ///   - request: The whole request, body included.
    ///   - connection: What is known of its connection; updated.
    ///   - facts: What is known of device tokens, channels and keys.
    ///   - now: Seconds since 1970.
    /// - Returns: Whether it is accepted, and which row decided.
    package func judge(
        _ request: PushRequest,
        on connection: inout ConnectionState,
        facts: WorldFacts,
        now: Int
    ) -> Verdict {
        var examination = Examination(
            request: request,
            settings: settings,
            facts: facts,
            now: now,
            connection: connection
        )
        defer { connection = examination.connection }
        let envelope = connection.listener == .send ? EnvelopeRules.send : EnvelopeRules.manage
        let credential = connection.certificate == nil ? ProviderTokenRules.all : CertificateRules.all
        let failed =
            firstFailed(of: envelope, &examination) ?? firstFailed(of: credential, &examination)
            ?? firstFailed(of: Self.table(examination), &examination)
        return Verdict(
            refusal: failed?.refusal,
            row: failed?.rule.row ?? 29,
            evidence: failed?.rule.evidence ?? .documented,
            deviceToken: examination.deviceToken,
            apnsID: examination.apnsID,
            isRequestID: examination.endpoint != .device || connection.listener == .manage,
            isPush: connection.listener == .send,
            findings: examination.findings,
            scripted: examination.scripted,
            reply: examination.reply
        )
    }

    private static func table(_ examination: Examination) -> [Rule] {
        switch examination.endpoint {
        case .device: device
        case .broadcast: broadcast
        case .channels, .allChannels:
            ChannelRules.table(examination.endpoint, method: examination.request.method)
        }
    }

    private func firstFailed(of rules: [Rule], _ examination: inout Examination) -> (rule: Rule, refusal: RuleRefusal)?
    {
        for rule in rules {
            if let refusal = rule.check(&examination) { return (rule, refusal) }
        }
        return nil
    }
}
