import APNsSimulator
import ApplePayload
import Model
import Testing

@testable import APNs

/// Channels through the credentials of a transport.
@Suite(.timeLimit(.minutes(10)))
struct TransportChannelTests {
    private func credential(_ peer: Peer) throws -> APNsCredential {
        var credential = try peer.credential()
        credential.channelEndpoint = try APNsEndpoint(url: "https://\(peer.addresses.manage)")
        return credential
    }

    private func code(_ body: () throws(APNsError) -> ChannelClient) -> APNsError.Code? {
        do throws(APNsError) {
            _ = try body()
            return nil
        } catch { return error.code }
    }

    @Test func aChannelIsMadeWithTheTokensOfPushes() async throws {
        let peer = try await Peer()
        try await withTransport { transport in
            try transport.open(Peer.credential, credential(peer))
            let client = try transport.channels(of: Peer.credential, in: .production)
            let answer = try await client.send(ChannelRequest(bundleID: "com.example.shop", .create(.newest)))
            if case .created = answer.result {} else { Issue.record("\(answer.result)") }
            _ = await collect(transport.send([makePush(1)], through: Peer.credential, deadline: .seconds(30)))
            #expect(transport.metrics.tokenCount == 1, "one token for both")
            #expect(try transport.channels(of: Peer.credential, in: .production) === client)
            #expect(try transport.channels(of: Peer.credential, in: .sandbox) !== client)
        }
        await peer.simulator.stop()
    }

    @Test func aReplacedCredentialHasAnotherClientAndARemovedOneNone() async throws {
        let peer = try await Peer()
        try await withTransport { transport in
            #expect(
                code { () throws(APNsError) in try transport.channels(of: Peer.credential, in: .production) }
                    == .noCredential
            )
            try transport.open(Peer.credential, credential(peer))
            let first = try transport.channels(of: Peer.credential, in: .production)
            var other = try credential(peer)
            other.channelEndpoint = try APNsEndpoint(url: "https://127.0.0.1:1")
            try transport.open(Peer.credential, other)
            #expect(try transport.channels(of: Peer.credential, in: .production) !== first)
            transport.remove(Peer.credential)
            #expect(
                code { () throws(APNsError) in try transport.channels(of: Peer.credential, in: .production) }
                    == .noCredential
            )
            await transport.shutdown(deadline: .zero)
            #expect(
                code { () throws(APNsError) in try transport.channels(of: Peer.credential, in: .production) }
                    == .shutDown
            )
        }
        await peer.simulator.stop()
    }

    // A simulator's pushes must not be followed by calls to Apple.
    @Test func hostsAreApplesOrTheCredentialsOwn() throws {
        func hosts(_ endpoint: String?, _ channels: String?) throws -> ChannelHosts? {
            let credential = APNsCredential(
                .token(.init(teamID: "T", keyID: "K", privateKeyPEM: [])),
                endpoint: try endpoint.map { try APNsEndpoint(url: $0) },
                channelEndpoint: try channels.map { try APNsEndpoint(url: $0) }
            )
            return ChannelHosts(credential, .production)
        }
        #expect(try hosts(nil, nil) == ChannelHosts(.production))
        #expect(try hosts("https://localhost:1", nil) == nil)
        let firewall = try hosts("https://api.push.apple.com:2197", nil)
        #expect(firewall?.manage == ChannelHosts(.production).manage && firewall?.send.port == 2197)
        let own = try hosts("https://localhost:1", "https://localhost:2")
        #expect(own?.send.port == 1 && own?.manage.port == 2)
        #expect(try hosts(nil, "https://localhost:2")?.send == .production)
    }
}
