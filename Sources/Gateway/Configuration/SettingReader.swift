import Configuration
import Foundation
import GatewayHTTP
import Logging
import Model

/// Reads and checks one setting at a time. Flags are text, and a provider does not convert text to a number.
///
/// `key` is the setting's dotted name, and `name` is its flag without dashes, for messages.
struct SettingReader {
    let reader: ConfigReader

    func integer(_ key: ConfigKey, default fallback: Int) -> Int {
        reader.string(forKey: key).flatMap { Int($0) } ?? reader.int(forKey: key) ?? fallback
    }

    /// A number in a range; nil: not set.
    ///
    /// - Throws: `ConfigurationProblem`.
    func number(_ key: ConfigKey, _ name: String, in range: ClosedRange<Int>) throws(ConfigurationProblem) -> Int? {
        guard let text = text(key) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw ConfigurationProblem(setting: name, problem: "must be \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func list(_ key: ConfigKey) -> [String] {
        let texts = reader.string(forKey: key).map { $0.split(separator: ",").map(String.init) }
        return (texts ?? reader.stringArray(forKey: key) ?? [])
            .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    /// - Throws: `ConfigurationProblem`.
    func addresses(
        _ key: ConfigKey,
        _ name: String,
        default fallback: [ListenAddress]
    ) throws(ConfigurationProblem) -> [ListenAddress] {
        let texts = list(key)
        if texts.isEmpty { return fallback }
        var out: [ListenAddress] = []
        for text in texts {
            guard let address = ListenAddress(text) else {
                throw ConfigurationProblem(setting: name, problem: "'\(text)' is not host:port")
            }
            out.append(address)
        }
        return out
    }

    /// - Throws: `ConfigurationProblem`.
    func logLevel(_ key: ConfigKey, _ name: String) throws(ConfigurationProblem) -> Logger.Level {
        let text = reader.string(forKey: key, default: "info")
        guard let level = Logger.Level(rawValue: text) else {
            throw ConfigurationProblem(
                setting: name,
                problem: "'\(text)' is not one of trace, debug, info, notice, warning, error, critical"
            )
        }
        return level
    }

    /// - Throws: `ConfigurationProblem`.
    func retryScale(_ key: ConfigKey, _ name: String) throws(ConfigurationProblem) -> Double {
        let text = reader.string(forKey: key, default: "1")
        guard let value = Double(text), value > 0, value <= 10 else {
            throw ConfigurationProblem(setting: name, problem: "'\(text)' is not a number in 0…10")
        }
        return value
    }

    /// A rate and a burst, `10/600`; nil if the limit is off: `0` or `off`.
    ///
    /// - Throws: `ConfigurationProblem`.
    func rate(
        _ key: ConfigKey,
        _ name: String,
        default fallback: CallRate?
    ) throws(ConfigurationProblem) -> CallRate? {
        guard let text = text(key) else { return fallback }
        if Self.off.contains(text) { return nil }
        guard let rate = CallRate(text) else {
            throw ConfigurationProblem(
                setting: name,
                problem: "'\(text)' is neither a rate per second and a burst, like 10/600, nor off"
            )
        }
        return rate
    }

    /// A whole number; 0 and `off` mean 0.
    ///
    /// - Throws: `ConfigurationProblem`.
    func count(
        _ key: ConfigKey,
        _ name: String,
        default fallback: Int,
        upTo limit: Int
    ) throws(ConfigurationProblem) -> Int {
        guard let text = text(key) else { return fallback }
        if Self.off.contains(text) { return 0 }
        guard let count = Int(text), (1...limit).contains(count) else {
            throw ConfigurationProblem(setting: name, problem: "'\(text)' is neither a number in 1…\(limit) nor off")
        }
        return count
    }

    private static let off: Set = ["0", "off", "false", "no"]

    /// A scalar of any type as text; YAML reads `off` as a truth value.
    private func text(_ key: ConfigKey) -> String? {
        reader.string(forKey: key) ?? reader.int(forKey: key).map { "\($0)" }
            ?? reader.bool(forKey: key).map { "\($0)" }
    }

    /// - Throws: `ConfigurationProblem`.
    func networks(_ key: ConfigKey, _ name: String) throws(ConfigurationProblem) -> [AddressRange] {
        try Self.networks(list(key), name)
    }

    /// - Throws: `ConfigurationProblem` that names the setting and the text that is not a network.
    static func networks(_ texts: [String], _ name: String) throws(ConfigurationProblem) -> [AddressRange] {
        var networks: [AddressRange] = []
        for text in texts {
            guard let range = AddressRange(text) else {
                throw ConfigurationProblem(setting: name, problem: "'\(text)' is not a CIDR range")
            }
            networks.append(range)
        }
        return networks
    }

    /// - Throws: `ConfigurationProblem`.
    func isOn(_ key: ConfigKey, _ name: String, default standard: Bool = true) throws(ConfigurationProblem) -> Bool {
        guard let text = reader.string(forKey: key) else { return reader.bool(forKey: key) ?? standard }
        switch text {
        case "true", "on", "yes": return true
        case "false", "off", "no": return false
        default: throw ConfigurationProblem(setting: name, problem: "'\(text)' is neither true nor false")
        }
    }
}
