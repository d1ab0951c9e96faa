import APNs
import APNsSimulator
import Foundation
import HTTP2
import Model
import Testing

/// The whole transport over TLS and HTTP/2 against the simulator, which shares no code with it.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct APNsTransportTests {
    /// Long enough for the simulator, which answers in milliseconds, even if it is built without optimization on a
    /// busy machine.
    private let timeLimit = Duration.seconds(400)

    // MARK: Answers

    @Test func fiveThousandPushesAreAcceptedOnceEachWithTheirOwnIDs() async throws {
        let peer = try await Peer()
        try await withTransport { transport in
            try transport.open(Peer.credential, peer.credential())
            let pushes = (0..<5_000).map { makePush($0) }
            let stream = transport.send(pushes, through: Peer.credential, deadline: timeLimit)
            let completions = await collect(stream)
            expectOncePerPush(completions, count: 5_000)
            for completion in completions {
                let id = pushes[completion.slot].id.lowercased
                #expect(completion.outcome == .accepted(TransportMessageID(id)))
            }
            let seen = peer.simulator.control.requests(limit: 10_000)
            #expect(Set(seen.map { $0.header("apns-id") ?? "" }) == Set(pushes.map(\.id.lowercased)))
            #expect(Set(seen.map(\.token)) == Set(pushes.map(\.token.text)))
            #expect(peer.simulator.control.duplicates.repeats == 0)
            #expect(peer.simulator.control.stats.accepted == 5_000)
            #expect(peer.simulator.control.stats.connectionsTotal == 1)
            let metrics = transport.metrics
            #expect(metrics.acceptedCount == 5_000)
            #expect(metrics.inFlightCount == 0)
            #expect(metrics.reconnectCount == 0)
        }
        await peer.simulator.stop()
    }

    @Test func headersMatchThePush() async throws {
        let peer = try await Peer()
        try await withTransport { transport in
            try transport.open(Peer.credential, peer.credential())
            let body = Array(#"{"aps":{"content-available":1}}"#.utf8)
            let payload = PushPayload(bytes: body, type: .voip, priority: 5, collapseID: "match-7")
            let full = makePush(0, payload: payload, expiresAt: Timestamp(milliseconds: 1_999_999_999_999))
            let bare = makePush(1)
            let once = makePush(2, expiresAt: Timestamp(seconds: 0))
            _ = await collect(transport.send([full, bare, once], through: Peer.credential, deadline: timeLimit))
            let seen = peer.simulator.control.requests()
            let first = try #require(seen.first { $0.token == full.token.text })
            #expect(first.header("apns-topic") == "com.example.shop.voip")
            #expect(first.header("apns-push-type") == "voip")
            #expect(first.header("apns-priority") == "5")
            #expect(first.header("apns-collapse-id") == "match-7")
            #expect(first.header("apns-expiration") == "1999999999")
            #expect(first.header("apns-id") == full.id.lowercased)
            #expect(first.payload == body)
            let second = try #require(seen.first { $0.token == bare.token.text })
            #expect(second.header("apns-topic") == "com.example.shop")
            #expect(second.header("apns-expiration") == nil)
            #expect(second.header("apns-collapse-id") == nil)
            #expect(seen.first { $0.token == once.token.text }?.header("apns-expiration") == "0")
        }
        await peer.simulator.stop()
    }

    @Test func scriptedAnswersKeepTheirMeaning() async throws {
        let peer = try await Peer()
        var patient = ScriptedAnswer(token: testToken(4), status: 429)
        patient.retryAfter = 9
        try peer.simulator.control.script([
            ScriptedAnswer(token: testToken(1), status: 410, timestamp: 1_790_000_000_123),
            ScriptedAnswer(token: testToken(2), status: 400, reason: "BadDeviceToken"),
            ScriptedAnswer(token: testToken(3), status: 429),
            patient,
            ScriptedAnswer(token: testToken(5), status: 503),
            ScriptedAnswer(token: testToken(6), status: 418, reason: "Teapot"),
        ])
        try await withTransport { transport in
            try transport.open(Peer.credential, peer.credential())
            let pushes = (0..<8).map { makePush($0) }
            let completions = await collect(
                transport.send(pushes, through: Peer.credential, deadline: timeLimit)
            )
            expectOncePerPush(completions, count: 8)
            func no(_ scope: Rejection.Scope, _ reason: String, _ status: Int) -> Rejection {
                Rejection(scope: scope, reason: reason, status: status)
            }
            let since = Timestamp(milliseconds: 1_790_000_000_123)
            #expect(completions.outcome(1) == .rejected(no(.tokenDead(since: since), "Unregistered", 410)))
            #expect(completions.outcome(2) == .rejected(no(.tokenDoubtful, "BadDeviceToken", 400)))
            #expect(completions.outcome(3) == .deferred(no(.service, "TooManyRequests", 429), after: nil))
            #expect(completions.outcome(4) == .deferred(no(.service, "TooManyRequests", 429), after: .seconds(9)))
            #expect(completions.outcome(5) == .deferred(no(.service, "ServiceUnavailable", 503), after: nil))
            #expect(completions.outcome(6) == .rejected(no(.content, "Teapot", 418)))
            #expect(completions.acceptedCount == 2)
            #expect(transport.metrics.rejectedCounts == ["Unregistered": 1, "BadDeviceToken": 1, "Teapot": 1])
            #expect(transport.metrics.deferredCounts == ["TooManyRequests": 2, "ServiceUnavailable": 1])
        }
        await peer.simulator.stop()
    }

    @Test func wrongKeyRejectsTheCredentialNotTheToken() async throws {
        let peer = try await Peer()
        try await withTransport { transport in
            // The correct ids with another key: the signature is invalid.
            try transport.open(Peer.credential, peer.credential(TestKey()))
            let stream = transport.send((0..<20).map { makePush($0) }, through: Peer.credential, deadline: timeLimit)
            let completions = await collect(stream)
            expectOncePerPush(completions, count: 20)
            let expected = Rejection(scope: .credential, reason: "InvalidProviderToken", status: 403)
            #expect(completions.allSatisfy { $0.outcome == .rejected(expected) })
        }
        await peer.simulator.stop()
    }

    @Test func pushThatAppleWouldRefuseNeverLeaves() async throws {
        let peer = try await Peer()
        try await withTransport { transport in
            try transport.open(Peer.credential, peer.credential())
            let big = PushPayload(bytes: Array(repeating: 0x20, count: 4_097))
            let pushes = [makePush(0, payload: big), makePush(1), makePush(2, topic: "a\r\nb")]
            let completions = await collect(transport.send(pushes, through: Peer.credential, deadline: timeLimit))
            expectOncePerPush(completions, count: 3)
            #expect(completions.acceptedCount == 1)
            #expect(peer.simulator.control.stats.rejectedTotal == 0)
        }
        await peer.simulator.stop()
    }

    // MARK: Provider tokens

    /// A source whose first token is old, like that of a node with a wrong clock; later tokens are current.
    private struct OldThenNew: ProviderTokenSource {
        func token(
            for signer: ProviderTokenSigner,
            replacing stale: APNs.ProviderToken?
        ) async throws(APNsError) -> AgedProviderToken {
            let now = TestWallClock.system.now()
            if stale != nil { return AgedProviderToken(try signer.sign(issuedAt: now), age: .zero) }
            let old = try signer.sign(issuedAt: Timestamp(milliseconds: now.milliseconds - 3_700_000))
            return AgedProviderToken(old, age: .minutes(30))
        }
    }

    @Test func expiredProviderTokenIsRenewedAndEveryPushGoesThrough() async throws {
        let peer = try await Peer()
        try await withTransport(tokens: OldThenNew()) { transport in
            try transport.open(Peer.credential, peer.credential())
            let pushes = (0..<200).map { makePush($0) }
            let completions = await collect(transport.send(pushes, through: Peer.credential, deadline: timeLimit))
            expectOncePerPush(completions, count: 200)
            #expect(completions.acceptedCount == 200)
            #expect(peer.simulator.control.stats.rejected["ExpiredProviderToken", default: 0] > 0)
            #expect(peer.simulator.control.stats.connectionsTotal == 2)
            #expect(transport.metrics.tokenCount == 2)
        }
        await peer.simulator.stop()
    }

    // MARK: Credentials

    @Test func unknownCredentialAnswersAtOnceEvenWithoutRunning() async throws {
        let transport = try APNsTransport(tokens: SelfSignedTokens(clock: TestWallClock.system))
        let stream = transport.send((0..<3).map { makePush($0) }, through: Peer.credential, deadline: .seconds(60))
        let completions = await collect(stream)
        expectOncePerPush(completions, count: 3)
        #expect(completions.unsentCount(.noCredential) == 3)
        #expect(await collect(transport.send([], through: Peer.credential, deadline: .seconds(1))).isEmpty)
        await transport.shutdown(deadline: .zero)
    }

    // "apply: a rotated .p8 drains the old pool."
    @Test func rotatedCredentialDrainsTheOldKeyAndUsesTheNewOne() async throws {
        let old = TestKey(keyID: "OLDKEY1234")
        let new = TestKey(keyID: "NEWKEY1234")
        let peer = try await Peer(keys: [old, new]) { $0.latency = .milliseconds(150) }
        try await withTransport { transport in
            try transport.open(Peer.credential, peer.credential(old))
            let before = transport.send(
                (0..<300).map { makePush($0) },
                through: Peer.credential,
                deadline: timeLimit
            )
            var iterator = before.makeAsyncIterator()
            // At the first answer, the other pushes are in flight with the old key, or wait.
            var completions = try #require(await iterator.next())
            try transport.open(Peer.credential, peer.credential(new))
            let after = transport.send(
                (0..<50).map { makePush($0 + 1_000) },
                through: Peer.credential,
                deadline: timeLimit
            )
            while let batch = await iterator.next() { completions += batch }
            expectOncePerPush(completions, count: 300)
            // Requests that the old connection had accepted but not started are returned as unsent and are sent with
            // the new key.
            let unsent = completions.compactMap { completion in
                if case .unsent = completion.outcome { makePush(completion.slot) } else { nil }
            }
            #expect(completions.acceptedCount + unsent.count == 300)
            if !unsent.isEmpty {
                let again = transport.send(unsent, through: Peer.credential, deadline: timeLimit)
                #expect(await collect(again).acceptedCount == unsent.count)
            }
            #expect(await collect(after).acceptedCount == 50)
            #expect(peer.simulator.control.stats.connectionsTotal == 2)
            #expect(peer.simulator.control.duplicates.repeats == 0)
            transport.remove(Peer.credential)
            let gone = await collect(transport.send([makePush(0)], through: Peer.credential, deadline: .seconds(5)))
            #expect(gone.unsentCount(.noCredential) == 1)
        }
        await peer.simulator.stop()
    }

    @Test func openingTheSameCredentialAgainChangesNothing() async throws {
        let peer = try await Peer()
        try await withTransport { transport in
            let credential = try peer.credential()
            for _ in 0..<3 {
                try transport.open(Peer.credential, credential)
                let completions = await collect(
                    transport.send([makePush(0)], through: Peer.credential, deadline: timeLimit)
                )
                #expect(completions.acceptedCount == 1)
            }
            #expect(peer.simulator.control.stats.connectionsTotal == 1)
            // An invalid replacement is refused, and the previous credential stays open.
            let bad = APNsCredential(teamID: "T", keyID: "K", privateKeyPEM: Array("x".utf8))
            #expect(throws: APNsError.self) { try transport.open(Peer.credential, bad) }
            #expect(transport.pools.map(\.status) == [APNsStatus(isReachable: true, lastError: nil)])
        }
        await peer.simulator.stop()
    }

    // I9: an unreachable endpoint affects only its own credential.
    @Test func deadEndpointReturnsItsPushesAndDoesNotDisturbAnother() async throws {
        let peer = try await Peer()
        let dead = CredentialKey(tenant: "acme", credential: "dead")
        try await withTransport { transport in
            var credential = try peer.credential()
            // No process listens on port 1 of this machine.
            credential.endpoint = try APNsEndpoint(url: "https://127.0.0.1:1")
            try transport.open(dead, credential)
            try transport.open(Peer.credential, peer.credential())
            let stuck = transport.send((0..<5).map { makePush($0) }, through: dead, deadline: .milliseconds(700))
            let fine = transport.send((0..<500).map { makePush($0) }, through: Peer.credential, deadline: timeLimit)
            #expect(await collect(fine).acceptedCount == 500)
            let completions = await collect(stuck)
            expectOncePerPush(completions, count: 5)
            #expect(completions.unsentCount(.noConnection) == 5)
            #expect(transport.pools.compactMap(\.status.lastError) == ["connectFailed"])
        }
        await peer.simulator.stop()
    }

    // MARK: Faults

    @Test func simulatorThatStopsAndComesBackLosesNoPush() async throws {
        // Every other push is not answered and keeps its stream, so the simulator stops before the last push even if this task is late.
        let peer = try await Peer { $0.mode = .script }
        try peer.simulator.control.script([ScriptedAnswer(ScriptSelector(token: "*", every: 2), fault: .silence)])
        var second: Peer?
        try await withTransport { transport in
            try transport.open(Peer.credential, peer.credential())
            let stream = transport.send(
                (0..<3_000).map { makePush($0) },
                through: Peer.credential,
                deadline: timeLimit
            )
            var iterator = stream.makeAsyncIterator()
            var completions: [PushCompletion] = []
            while completions.count < 500, let batch = await iterator.next() { completions += batch }
            await peer.simulator.stop()
            second = try await peer.restarted()
            while let batch = await iterator.next() { completions += batch }
            expectOncePerPush(completions, count: 3_000)
            // Pushes in flight got no answer; all pushes that had not left were sent to the new peer.
            #expect(completions.acceptedCount + completions.indeterminateCount == 3_000)
            #expect(completions.indeterminateCount <= 1_000)
            #expect(transport.metrics.reconnectCount >= 1)
            let accepted = peer.simulator.control.stats.accepted + (second?.simulator.control.stats.accepted ?? 0)
            #expect(accepted >= completions.acceptedCount)
        }
        await second?.simulator.stop()
    }

    @Test func streamRefusedByThePeerIsSentAgain() async throws {
        let peer = try await Peer { $0.mode = .script }
        try peer.simulator.control.script([
            ScriptedAnswer(ScriptSelector(token: testToken(3)), fault: .reset(code: 7), times: 2),
            ScriptedAnswer(ScriptSelector(token: testToken(4)), fault: .reset(code: 2), times: 1),
        ])
        try await withTransport { transport in
            try transport.open(Peer.credential, peer.credential())
            let pushes = (0..<10).map { makePush($0) }
            let completions = await collect(transport.send(pushes, through: Peer.credential, deadline: timeLimit))
            expectOncePerPush(completions, count: 10)
            #expect(completions.acceptedCount == 9)
            // Codes other than REFUSED_STREAM do not guarantee that the request was not processed.
            guard case .indeterminate(let error) = completions.outcome(4) else { return #expect(Bool(false)) }
            #expect(error.code == .reset)
            #expect(transport.metrics.resentCount == 2)
        }
        await peer.simulator.stop()
    }

    @Test func goAwayResendsWhatItDidNotProcess() async throws {
        let peer = try await Peer { $0.mode = .script }
        let goAway = Fault.goingAway(GoAwayFault(code: 0, debugText: GoAwayFault.json("Shutdown"), lastStream: .before))
        let selector = ScriptSelector(token: testToken(50))
        try peer.simulator.control.script([ScriptedAnswer(selector, fault: goAway, times: 1)])
        try await withTransport { transport in
            try transport.open(Peer.credential, peer.credential())
            let pushes = (0..<100).map { makePush($0) }
            let completions = await collect(transport.send(pushes, through: Peer.credential, deadline: timeLimit))
            expectOncePerPush(completions, count: 100)
            if case .accepted = completions.outcome(50) {
            } else {
                Issue.record("not resent: \(String(describing: completions.outcome(50)))")
            }
            #expect(completions.acceptedCount + completions.indeterminateCount == 100)
            #expect(peer.simulator.control.stats.connectionsTotal >= 2)
        }
        await peer.simulator.stop()
    }

    @Test func silentPeerEndsWithTheDeadlineAsUnknown() async throws {
        let peer = try await Peer { $0.mode = .script }
        try peer.simulator.control.script([ScriptedAnswer(ScriptSelector(token: testToken(1)), fault: .silence)])
        try await withTransport { transport in
            try transport.open(Peer.credential, peer.credential())
            let pushes = (0..<3).map { makePush($0) }
            let completions = await collect(transport.send(pushes, through: Peer.credential, deadline: .seconds(1)))
            expectOncePerPush(completions, count: 3)
            #expect(completions.acceptedCount == 2)
            guard case .indeterminate(let error) = completions.outcome(1) else { return #expect(Bool(false)) }
            #expect(error.code == .timedOut)
        }
        await peer.simulator.stop()
    }

    // MARK: Shutdown

    @Test func shutdownReturnsWaitingPushesAndFinishesThoseInFlight() async throws {
        let peer = try await Peer {
            $0.latency = .milliseconds(200)
            $0.maxStreams = 10
        }
        try await withTransport { transport in
            try transport.open(Peer.credential, peer.credential())
            let stream = transport.send(
                (0..<1_000).map { makePush($0) },
                through: Peer.credential,
                deadline: timeLimit
            )
            var iterator = stream.makeAsyncIterator()
            var completions = try #require(await iterator.next())
            await transport.shutdown(deadline: .seconds(5))
            while let batch = await iterator.next() { completions += batch }
            expectOncePerPush(completions, count: 1_000)
            #expect(completions.indeterminateCount == 0)
            #expect(completions.unsentCount(.goingAway) > 900)
            #expect(completions.acceptedCount == peer.simulator.control.stats.accepted)
            let late = await collect(transport.send([makePush(0)], through: Peer.credential, deadline: .seconds(5)))
            #expect(late.unsentCount(.goingAway) == 1)
        }
        await peer.simulator.stop()
    }

    @Test func shutdownWithoutTimeStillCompletesEveryPushOnce() async throws {
        let peer = try await Peer { $0.latency = .milliseconds(500) }
        try await withTransport { transport in
            try transport.open(Peer.credential, peer.credential())
            let stream = transport.send(
                (0..<1_000).map { makePush($0) },
                through: Peer.credential,
                deadline: timeLimit
            )
            var iterator = stream.makeAsyncIterator()
            // After the probe's answer, hundreds of pushes are in flight.
            var completions = try #require(await iterator.next())
            await transport.shutdown(deadline: .zero)
            while let batch = await iterator.next() { completions += batch }
            expectOncePerPush(completions, count: 1_000)
        }
        await peer.simulator.stop()
    }

    @Test func aCancelledCallerDoesNotAffectOthers() async throws {
        let peer = try await Peer { $0.latency = .milliseconds(50) }
        try await withTransport { transport in
            try transport.open(Peer.credential, peer.credential())
            let task = Task {
                await collect(
                    transport.send((0..<5_000).map { makePush($0) }, through: Peer.credential, deadline: timeLimit)
                )
            }
            task.cancel()
            _ = await task.value
            let completions = await collect(
                transport.send((0..<500).map { makePush($0) }, through: Peer.credential, deadline: timeLimit)
            )
            expectOncePerPush(completions, count: 500)
            #expect(completions.acceptedCount == 500)
        }
        await peer.simulator.stop()
    }

    @Test func concurrentBatchesAllFinish() async throws {
        let peer = try await Peer()
        try await withTransport { transport in
            try transport.open(Peer.credential, peer.credential())
            await withTaskGroup(of: [PushCompletion].self) { group in
                for sender in 0..<20 {
                    group.addTask {
                        let pushes = (0..<100).map { makePush($0, token: testToken(sender * 1_000 + $0)) }
                        return await collect(
                            transport.send(pushes, through: Peer.credential, deadline: timeLimit)
                        )
                    }
                }
                for await completions in group {
                    expectOncePerPush(completions, count: 100)
                    #expect(completions.acceptedCount == 100)
                }
            }
            #expect(peer.simulator.control.stats.accepted == 2_000)
            #expect(peer.simulator.control.duplicates.repeats == 0)
            #expect(peer.simulator.control.stats.connectionsTotal == 1)
        }
        await peer.simulator.stop()
    }
}
