import Model
import Testing

@testable import EngineStore

@Suite struct StoreCredentialTests {
    @Test func aCredentialHasTheTimeOfItsSecret() async throws {
        let fixture = try await StoreFixture.make()
        let id = CredentialKey(tenant: fixture.acme, credential: "apple")
        func time(_ credential: ProvisionedCredential) async throws -> Timestamp {
            var tenant = fixture.tenant("acme")
            tenant.credentials = [credential]
            _ = try await fixture.provisioning.apply([tenant])
            return try #require(try await fixture.directory.credential(id)?.stored.storedAt)
        }
        var credential = fixture.credential("apple")
        let first = try await time(credential)
        credential.pushesPerSecond = 7
        #expect(try await time(credential) == first)
        #expect(try await fixture.directory.credential(id)?.stored.version == 2, "the control: it was changed")
        #expect(try await time(fixture.credential("apple", secret: 2)) > first)
    }
}
