import Configuration
import GatewayHTTP

/// The settings of the web console.
package struct ConsoleConfiguration: Sendable {
    /// Empty: the node serves no console.
    var listen: [ListenAddress]
    /// Whether every account needs one-time codes.
    var mustHaveCodes: Bool
    /// log2 of the rounds of password hashes. Each step doubles their time and memory.
    var passwordRounds: Int

    /// 15: 32 MiB and about a tenth of a second.
    static let standardRounds = 15
    private static let rounds = 12...18

    /// - Throws: `ConfigurationProblem`.
    init(_ settings: SettingReader) throws(ConfigurationProblem) {
        listen = try settings.addresses("console.listen", "console-listen", default: [])
        mustHaveCodes = try settings.isOn("console.codes.required", "console-codes-required", default: false)
        passwordRounds =
            try settings.number("console.password.rounds", "console-password-rounds", in: Self.rounds)
            ?? Self.standardRounds
    }

    /// Passwords and sessions never cross a network in clear text.
    ///
    /// - Throws: `ConfigurationProblem`.
    func check(hasTLS: Bool, hasProxies: Bool) throws(ConfigurationProblem) {
        guard listen.allSatisfy(\.isLoopback) || hasTLS || hasProxies else {
            throw ConfigurationProblem(
                setting: "console-listen",
                problem: "beyond 127.0.0.1 it needs --tls-cert and --tls-key, or --trusted-proxies that report HTTPS"
            )
        }
    }
}
