import AsyncHTTPClient
import Model
import Outgoing
import Testing

@Suite struct PinnedClientsTests {
    @Test func theClientThatWasNotUsedForTheLongestTimeMakesRoom() throws {
        let address = try #require(IPAddress("127.0.0.1"))
        let clients = PinnedClients(limit: 2)
        func pin(_ name: String) -> OwnedClient {
            clients.client(PinnedClients.Key(name: name, address: address)) { HTTPClient() }
        }
        let (first, second) = (pin("first"), pin("second"))
        #expect(pin("first") === first)
        let third = pin("third")
        #expect(pin("first") === first && pin("third") === third)
        #expect(pin("second") !== second)
    }
}
