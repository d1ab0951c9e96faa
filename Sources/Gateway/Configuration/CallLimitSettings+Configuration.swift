import Configuration
import GatewayHTTP
import Model

extension CallLimitSettings {
    /// Reads `limits.…`.
    ///
    /// - Throws: `ConfigurationProblem` that names the setting.
    init(_ settings: SettingReader) throws(ConfigurationProblem) {
        self.init()
        isOn = try settings.isOn("limits.calls", "limits-calls")
        func rate(_ limit: CallLimit, _ key: ConfigKey) throws(ConfigurationProblem) {
            rates[limit] = try settings.rate(key, "limits-\(limit.rawValue)", default: Self.standardRates[limit])
        }
        try rate(.identities, "limits.identities")
        try rate(.unknown, "limits.unknown")
        try rate(.identity, "limits.identity")
        try rate(.user, "limits.user")
        try rate(.phone, "limits.phone")
        addressFailures = try settings.count(
            "limits.proofs.address",
            "limits-proofs-address",
            default: addressFailures,
            upTo: Self.failureLimit
        )
        nameFailures = try settings.count(
            "limits.proofs.name",
            "limits-proofs-name",
            default: nameFailures,
            upTo: Self.failureLimit
        )
        let most = try settings.count(
            "limits.connections",
            "limits-connections",
            default: connections ?? 0,
            upTo: Listener.connectionLimit
        )
        connections = most > 0 ? most : nil
        bodyBytes = try settings.count(
            "limits.bodies.bytes",
            "limits-bodies-bytes",
            default: bodyBytes,
            upTo: Self.bodyLimit
        )
        bodyWaitSeconds = max(
            1,
            try settings.count("limits.bodies.wait", "limits-bodies-wait", default: bodyWaitSeconds, upTo: 60)
        )
        exempt = try settings.networks("limits.exempt", "limits-exempt")
    }

    /// 1 GiB of bodies. The memory of a body is a multiple of its bytes.
    private static let bodyLimit = 1 << 30
    /// 1,000,000 failures are as good as no limit.
    private static let failureLimit = 1_000_000
}
