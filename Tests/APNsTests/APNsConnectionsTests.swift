import APNsSimulator
import HTTP2
import Model
import NIOConcurrencyHelpers
import Testing

@testable import APNs

/// Several connections, clients and transports over real sockets.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct APNsConnectionsTests {
    private let timeLimit = Duration.seconds(400)

    private func several(_ count: Int = 4) -> (inout APNsTransport.Configuration) -> Void {
        {
            $0.limits.maxConnections = count
            $0.limits.growAfter = .milliseconds(50)
            $0.limits.dialSpacing = .milliseconds(50)
        }
    }

    // MARK: Growth and warm-up

    @Test func moreConnectionsAreOpenedWhenStreamsAreTheLimit() async throws {
        let peer = try await Peer {
            $0.latency = .milliseconds(100)
            $0.maxStreams = 20
        }
        try await withTransport(several(3)) { transport in
            try transport.open(Peer.credential, peer.credential())
            let completions = await collect(
                transport.send((0..<500).map { makePush($0) }, through: Peer.credential, deadline: timeLimit)
            )
            expectOncePerPush(completions, count: 500)
            #expect(completions.acceptedCount == 500)
            #expect(peer.simulator.control.stats.connectionsTotal == 3)
            #expect(transport.metrics.openConnectionCount == 3)
            #expect(transport.metrics.allowedStreamCount == 60)
            // The first handshake uses the certificate, the later ones resume its session.
            #expect(transport.metrics.fullHandshakeCount + transport.metrics.resumedHandshakeCount == 3)
            #expect(transport.metrics.resumedHandshakeCount >= 1)
        }
        await peer.simulator.stop()
    }

    @Test func warmConnectionsAreOpenBeforeTheFirstPush() async throws {
        let peer = try await Peer()
        try await withTransport(several()) { transport in
            try transport.open(Peer.credential, peer.credential())
            #expect(transport.keepWarm(2, Peer.credential, .production))
            #expect(!transport.keepWarm(1, CredentialKey(tenant: "acme", credential: "none"), .production))
            try await until { transport.metrics.openConnectionCount == 2 }
            #expect(peer.simulator.control.stats.connectionsTotal == 2)
            // As many pushes as the two connections hold; more would open a third.
            let completions = await collect(
                transport.send((0..<2).map { makePush($0) }, through: Peer.credential, deadline: timeLimit)
            )
            #expect(completions.acceptedCount == 2)
            #expect(peer.simulator.control.stats.connectionsTotal == 2)
        }
        await peer.simulator.stop()
    }

    // MARK: Clients

    // One client (team) can never starve another, not even with the same key over the same connection.
    @Test func smallTenantWaitsForATurnNotForALargeBatchOfAnother() async throws {
        let peer = try await Peer {
            $0.latency = .milliseconds(20)
            $0.maxStreams = 50
        }
        let small = CredentialKey(tenant: "small", credential: "apple")
        try await withTransport { transport in
            try transport.open(Peer.credential, peer.credential())
            try transport.open(small, peer.credential())
            #expect(transport.pools.count == 1)
            let flood = transport.send((0..<6_000).map { makePush($0) }, through: Peer.credential, deadline: timeLimit)
            var iterator = flood.makeAsyncIterator()
            var floodCount = 0
            while floodCount < 100, let batch = await iterator.next() { floodCount += batch.count }
            let pushes = (0..<10).map { makePush($0, token: testToken(100_000 + $0)) }
            let completions = await collect(transport.send(pushes, through: small, deadline: timeLimit))
            #expect(completions.acceptedCount == 10)
            // The large batch is far from complete when the small one completes.
            #expect(peer.simulator.control.stats.accepted < 5_000)
            while let batch = await iterator.next() { floodCount += batch.count }
            #expect(floodCount == 6_000)
        }
        await peer.simulator.stop()
    }

    @Test func teamsNeverShareAConnection() async throws {
        let (first, second) = (TestKey(teamID: "TEAMAAAAAA"), TestKey(teamID: "TEAMBBBBBB", keyID: "KEYBBBBBBB"))
        let peer = try await Peer(keys: [first, second])
        let other = CredentialKey(tenant: "other", credential: "apple")
        try await withTransport { transport in
            try transport.open(Peer.credential, peer.credential(first))
            try transport.open(other, peer.credential(second))
            let streams = [Peer.credential, other].map { key in
                transport.send((0..<200).map { makePush($0) }, through: key, deadline: timeLimit)
            }
            for stream in streams { #expect(await collect(stream).acceptedCount == 200) }
            #expect(peer.simulator.control.stats.connectionsTotal == 2)
            #expect(transport.pools.count == 2)
        }
        await peer.simulator.stop()
    }

    // MARK: Cancellation and the end

    @Test func cancelledPushThatHasNotLeftIsReturnedUnsent() async throws {
        let peer = try await Peer { $0.latency = .milliseconds(3000) }
        try await withTransport { transport in
            try transport.open(Peer.credential, peer.credential())
            // The probe uses the only stream.
            let probe = transport.send([makePush(0)], through: Peer.credential, deadline: timeLimit)
            try await until { transport.metrics.inFlightCount == 1 }
            let task = Task {
                await collect(transport.send([makePush(1)], through: Peer.credential, deadline: timeLimit))
            }
            try await until { transport.metrics.queuedCount == 1 }
            task.cancel()
            try await until { transport.metrics.queuedCount == 0 }
            _ = await task.value
            #expect(await collect(probe).acceptedCount == 1)
            #expect(peer.simulator.control.stats.accepted == 1)
        }
        await peer.simulator.stop()
    }

    @Test func pushesAfterTheShutdownAreReturnedAtOnce() async throws {
        let transport = try APNsTransport(tokens: SelfSignedTokens(clock: TestWallClock.system))
        await transport.shutdown(deadline: .zero)
        let completions = await collect(
            transport.send([makePush(0)], through: Peer.credential, deadline: timeLimit)
        )
        #expect(completions.map(\.outcome) == [.unsent(TransportError(.goingAway))])
    }
}

/// Waits for an effect of another thread.
func until(
    _ limit: Duration = .seconds(100),
    sourceLocation: SourceLocation = #_sourceLocation,
    _ isTrue: () -> Bool
) async throws {
    let end = ContinuousClock.now + limit
    while !isTrue() {
        try #require(ContinuousClock.now < end, "not within \(limit)", sourceLocation: sourceLocation)
        try await Task.sleep(for: .milliseconds(2))
    }
}
