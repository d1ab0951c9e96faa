import Foundation
import GatewayHTTP
import Logging
import Model
import Testing

@testable import Gateway

final class GatewayConfigurationTests {
    // A number in a flag is used. Flags are text, so it must be converted and not ignored.
    @Test func numberGivenAsAFlagIsUsed() async throws {
        let flags = ["lease.seconds": "7", "drain.seconds": "9", "retry.scale": "0.5", "listen": "127.0.0.1:0,[::1]:0"]
        let configuration = try await GatewayConfiguration.load(flags: flags, configFile: nil)
        #expect(configuration.leaseSeconds == 7)
        #expect(configuration.drainSeconds == 9)
        #expect(configuration.retryScale == 0.5)
        #expect(configuration.listen.count == 2)
    }

    @Test func settingsFileIsUsedAndFlagsOverrideIt() async throws {
        let path = try file(
            """
            lease: {seconds: 11}
            drain: {seconds: 12}
            calls: {per: {second: 2.5}}
            limits: {identities: 20/100, unknown: off, user: 0, proofs: {address: 7, name: off}, exempt: [10.0.0.0/8]}
            listen: [127.0.0.1:1, 127.0.0.1:2]
            log: {level: warning}
            """
        )
        let configuration = try await GatewayConfiguration.load(flags: ["drain.seconds": "9"], configFile: path)
        #expect(configuration.leaseSeconds == 11)
        #expect(configuration.drainSeconds == 9)
        #expect(configuration.hasFormerLimit)
        let limits = configuration.limits
        #expect(limits.isOn && limits.exempt.map(\.description) == ["10.0.0.0/8"])
        #expect(limits.rates[.identities] == CallRate(perSecond: 20, burst: 100))
        #expect(limits.rates[.unknown] == nil && limits.rates[.user] == nil)
        #expect(limits.rates[.phone] == CallLimitSettings.standardRates[.phone])
        #expect(limits.addressFailures == 7 && limits.nameFailures == 0)
        #expect(configuration.listen.map(\.port) == [1, 2])
        #expect(configuration.logLevel == .warning)
    }

    @Test func limitsAreOnByDefault() async throws {
        let configuration = try await GatewayConfiguration.load(flags: [:], configFile: nil)
        #expect(
            configuration.limits == CallLimitSettings() && configuration.limits.isOn && !configuration.hasFormerLimit
        )
        #expect(Set(configuration.limits.rates.keys) == [.identities, .unknown, .identity, .user, .phone])
        let off = try await GatewayConfiguration.load(flags: ["limits.calls": "off"], configFile: nil)
        #expect(!off.limits.isOn)
        let bodies = try await GatewayConfiguration.load(
            flags: ["limits.bodies.bytes": "1000", "limits.bodies.wait": "3", "limits.connections": "off"],
            configFile: nil
        )
        #expect(bodies.limits.bodyBytes == 1000 && bodies.limits.bodyWaitSeconds == 3)
        #expect(bodies.limits.connections == nil)
    }

    // Two evaluations in succession decide about a migration, so that the interval says how fast a fault stops it.
    @Test func migrationsAreEvaluatedEveryThirtySecondsByDefault() async throws {
        func interval(_ flags: [String: String]) async throws -> Duration {
            try await GatewayConfiguration.load(flags: flags, configFile: nil).migrationInterval
        }
        #expect(try await interval([:]) == .seconds(30))
        #expect(try await interval(["migration.interval": "1"]) == .seconds(1))
    }

    @Test(arguments: ["lease: {second: 11}", "listne: 127.0.0.1:1", "- 7", "a: [", "listen: 1\nlisten: 2"])
    func fileWithAnUnknownSettingIsRefused(_ text: String) async throws {
        let path = try file(text)
        await #expect(throws: ConfigurationProblem.self) {
            try await GatewayConfiguration.load(flags: [:], configFile: path)
        }
    }

    private let path = FileManager.default.temporaryDirectory.path + "/gateway-\(UInt64.random(in: 0 ... .max)).yaml"

    private func file(_ text: String) throws -> String {
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    @Test(arguments: [
        ["listen": "nonsense"], ["log.level": "loud"], ["retry.scale": "0"], ["tls.listen": "127.0.0.1:1"],
        ["limits.identities": "10"], ["limits.proofs.address": "many"], ["limits.exempt": "10.0.0.0/33"],
        ["limits.calls": "perhaps"], ["migration.interval": "0"], ["migration.interval": "3601"],
        ["migration.interval": "1s"],
    ])
    func invalidSettingIsNamed(_ flags: [String: String]) async {
        await #expect(throws: ConfigurationProblem.self) {
            try await GatewayConfiguration.load(flags: flags, configFile: nil)
        }
    }
}
