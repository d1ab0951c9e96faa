import APNsSimulator
import ApplePayload
import HTTP2
import Model
import NIOConcurrencyHelpers
import Testing

@testable import APNs

/// Channels over TLS and HTTP/2, against the simulator, which shares no code with the client.
@Suite(.timeLimit(.minutes(10)))
struct ChannelClientTests {
    private static let bundle = "com.example.shop"

    /// Runs `body` with a client of a fresh simulator.
    private func withClient(
        keys: [TestKey] = [TestKey()],
        signedAt time: @escaping @Sendable (_ refused: String?) -> Timestamp = { _ in TestWallClock.system.now() },
        _ change: (inout SimulatorConfiguration) -> Void = { _ in },
        _ body: (ChannelClient, Peer) async throws -> Void
    ) async throws {
        let peer = try await Peer(keys: keys, change)
        let key = peer.key
        let signer = try ProviderTokenSigner(teamID: key.teamID, keyID: key.keyID, privateKeyPEM: key.privatePEM)
        let loop = try EventLoop(name: "channels")
        let token = NIOLockedValueBox<String?>(nil)
        let client = ChannelClient(
            hosts: ChannelHosts(
                send: try APNsEndpoint(url: "https://\(peer.addresses.apns)"),
                manage: try APNsEndpoint(url: "https://\(peer.addresses.manage)")
            ),
            tls: try peer.credential().makeTLSContext(),
            loop: loop
        ) { refused throws(APNsError) in
            // The token is kept, because a new token per call is too many for any peer.
            if refused == nil, let known = token.withLockedValue({ $0 }) { return known }
            let new = try signer.sign(issuedAt: time(refused)).authorization
            token.withLockedValue { $0 = new }
            return new
        }
        do {
            try await body(client, peer)
        } catch {
            client.close()
            await peer.simulator.stop()
            loop.shutdown()
            throw error
        }
        client.close()
        await peer.simulator.stop()
        loop.shutdown()
    }

    private func call(_ client: ChannelClient, _ operation: ChannelRequest.Operation) async throws
        -> ChannelAnswer.Result
    {
        try await client.send(ChannelRequest(bundleID: Self.bundle, operation)).result
    }

    private func created(_ client: ChannelClient, _ storage: ChannelStorage) async throws -> ChannelID {
        let result = try await call(client, .create(storage))
        guard case .created(let id) = result else { throw Surprise(result: result) }
        return id
    }

    private struct Surprise: Error { let result: ChannelAnswer.Result }

    private func update(_ home: Int) -> LiveActivity {
        LiveActivity(
            .update,
            timestamp: Timestamp(seconds: 1_790_000_000),
            contentState: JSONObject([("home", JSON.int(home))])
        )
    }

    @Test func channelIsCreatedReadListedSentToAndDeleted() async throws {
        try await withClient { client, _ in
            let id = try await created(client, .newest)
            #expect(try await call(client, .read(id)) == .channel(.newest, pushType: "LiveActivity"))
            #expect(try await call(client, .list) == .channels([id]))
            let broadcast = Broadcast(bundleID: Self.bundle, channel: id, activity: update(1))
            guard case .accepted(let requestID, _) = try await client.send(broadcast) else {
                return #expect(Bool(false), "the broadcast was refused")
            }
            #expect(!requestID.isEmpty)
            #expect(try await call(client, .delete(id)) == .deleted)
            #expect(try await call(client, .list) == .channels([]))
            let gone = try await client.send(broadcast)
            #expect(gone == .refused(ChannelRefusal(reason: .channelNotRegistered, status: 400)))
        }
    }

    // "Storage policy 0: apns-expiration must be 0."
    @Test func expirationOfAChannelWithoutStorageIsRefusedByThePeer() async throws {
        try await withClient { client, _ in
            let id = try await created(client, .none)
            var broadcast = Broadcast(bundleID: Self.bundle, channel: id, activity: update(1))
            guard case .accepted = try await client.send(broadcast) else { return #expect(Bool(false)) }
            broadcast.expiresAt = Timestamp(seconds: 4_000_000_000)
            #expect(
                try await client.send(broadcast) == .refused(ChannelRefusal(reason: .badExpirationDate, status: 400))
            )
        }
    }

    @Test func manyCallsAtOnceShareOneConnection() async throws {
        try await withClient { client, peer in
            let id = try await created(client, .newest)
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        let broadcast = Broadcast(bundleID: Self.bundle, channel: id, activity: update(number))
                        if case .accepted = try await client.send(broadcast) { return true }
                        return false
                    }
                }
                var count = 0
                for try await isAccepted in group where isAccepted { count += 1 }
                #expect(count == 100)
            }
            // One connection per host.
            #expect(peer.simulator.control.stats.connectionsTotal == 2)
        }
    }

    @Test func expiredTokenIsRenewedOnceOnANewConnection() async throws {
        let old = Timestamp(milliseconds: TestWallClock.system.now().milliseconds - 2 * 3_600_000)
        let refusals = NIOLockedValueBox(0)
        let time: @Sendable (String?) -> Timestamp = { refused in
            guard refused != nil else { return old }
            refusals.withLockedValue { $0 += 1 }
            return TestWallClock.system.now()
        }
        try await withClient(signedAt: time) { client, _ in
            let result = try await call(client, .list)
            #expect(result == .channels([]))
        }
        #expect(refusals.withLockedValue { $0 } == 1)
    }

    @Test func invalidCallIsNotSent() async throws {
        try await withClient { client, peer in
            await #expect(throws: ChannelClient.Failure.self) {
                try await client.send(ChannelRequest(bundleID: "a/b", .list))
            }
            #expect(peer.simulator.control.stats.connectionsTotal == 0)
        }
    }

    @Test func unreachablePeerIsAnErrorAndNotAnAnswer() async throws {
        try await withClient { client, peer in
            await peer.simulator.stop()
            do throws(ChannelClient.Failure) {
                _ = try await client.send(ChannelRequest(bundleID: Self.bundle, .list))
                Issue.record("answered by nobody")
            } catch {
                guard case .unanswered(let cause) = error else { return #expect(Bool(false), "\(error)") }
                #expect(cause.isUnsent)
                #expect(cause.code == .connectFailed)
            }
        }
    }

    @Test func closedClientFailsAtOnce() async throws {
        try await withClient { client, _ in
            client.close()
            do throws(ChannelClient.Failure) {
                _ = try await client.send(ChannelRequest(bundleID: Self.bundle, .list))
                Issue.record("answered after the end")
            } catch {
                guard case .unanswered(let cause) = error else { return #expect(Bool(false), "\(error)") }
                #expect(cause.code == .closed)
            }
        }
    }
}
