import Testing

@testable import Gateway

struct GatewayConfigurationTests {
    // A number given as a flag holds: it was passed over silently once, because flags come as text.
    @Test func numberGivenAsAFlagHolds() async throws {
        let flags = ["lease.seconds": "7", "drain.seconds": "9", "retry.scale": "0.5", "listen": "127.0.0.1:0,[::1]:0"]
        let configuration = try await GatewayConfiguration.load(flags: flags, configFile: nil)
        #expect(configuration.leaseSeconds == 7)
        #expect(configuration.drainSeconds == 9)
        #expect(configuration.retryScale == 0.5)
        #expect(configuration.listen.count == 2)
    }

    @Test(arguments: [
        ["listen": "nonsense"], ["log.level": "loud"], ["retry.scale": "0"], ["tls.listen": "127.0.0.1:1"],
    ])
    func settingThatCannotBeUsedIsNamed(_ flags: [String: String]) async {
        await #expect(throws: ConfigurationProblem.self) {
            try await GatewayConfiguration.load(flags: flags, configFile: nil)
        }
    }
}
