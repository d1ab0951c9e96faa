import Adapters
import Testing

@testable import Provisioning

/// Warnings of `apply` about documented calls that the defaults refuse.
struct DefaultWarningTests {
    private func warnings(_ binding: String) throws -> [String] {
        let reader = ProvisioningReader(
            directory: ".",
            environment: ["KEY": "5c1f0ae69b7d3428f1d0c96e8a7b2354"],
            allowsInlineSecrets: false
        )
        let text = "tenants: [ { id: acme, apps: [ { id: shop, bindings: { \(binding) } } ] } ]"
        return DefaultWarnings(vendors: .product).warnings(of: try reader.read(text))
    }

    @Test(arguments: [
        ("rationalowl: { accountId: a", ["unregisterByPhone", "historyScope"]),
        ("upmc: { applicationId: a", ["receiptsByUser", "historyScope", "history.cuidAlone"]),
        ("ipns: { appId: a", ["deviceIdAlone", "historyScope"]),
        ("notificationhubs: { hub: h, keys: [ { name: a, valueEnv: KEY, rights: [send] } ]", ["listenMayTag"]),
        ("braze: { restKeyEnv: KEY", ["sdkEnabled"]),
    ])
    func aBindingIsNamedWithTheSettingsThatItDoesNotState(_ binding: String, _ settings: [String]) throws {
        let warning = try #require(try warnings("\(binding) }").first)
        for setting in settings { #expect(warning.contains("(\(setting))"), "\(warning)") }
        #expect(warning.hasPrefix("tenants[0].apps[0].bindings."))
        let stated = settings.map { $0 == "historyScope" ? "\($0): sinceRegistration" : "\($0): false" }
        #expect(try warnings("\(binding), settings: { \(stated.joined(separator: ", ")) } }") == [])
        let one = try #require(try warnings("\(binding), settings: { userMoves: vouch } }").first)
        #expect(one == warning)
    }

    @Test func aBindingThatStatesThemIsNotNamed() throws {
        #expect(try warnings("braze: { restKeyEnv: KEY, settings: { sdkEnabled: false } }") == [])
    }
}
