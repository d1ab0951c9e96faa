import APNsSimulator
import Foundation
import Testing

/// Rows 2, 3 and 31 to 34, client certificates and channels over real sockets.
@Suite struct ConnectionHabitsTests {
    private static let app = "com.example.shop"

    // MARK: Certificates

    /// Source: Apple, "Establishing a connection to APNs": with a certificate the full limit applies at once.
    @Test func aCertificateOpensAllStreamsAtOnce() async throws {
        try await RunningSimulator.with { running in
            let client = try await client(running, ClientCertificateRequest(topics: [Self.app]))
            try await client.settings()
            #expect(try await client.next(.settings, flags: 0).setting(RawClient.maxConcurrentStreams) == 1000)
            try await client.send(client.request(Self.headers(), on: 1))
            #expect(try await client.answer().headers[":status"] == "200")
            #expect(running.simulator.control.stats.accepted == 1)
        }
    }

    /// Source: aapns, pushy#312 (observed).
    @Test func theWrongEnvironmentEndsTheConnection() async throws {
        try await RunningSimulator.with { running in
            let client = try await client(running, .init(topics: [Self.app], environment: .sandbox))
            let frame = try await client.next(.goAway)
            #expect(frame.number(at: 0) == 0)
            #expect(
                String(decoding: frame.payload.dropFirst(8), as: UTF8.self)
                    == #"{"reason":"BadCertificateEnvironment"}"#
            )
            try await client.end()
        }
    }

    @Test func anExpiredCertificateIsBad() async throws {
        try await RunningSimulator.with { running in
            let client = try await client(running, .init(topics: [Self.app], days: -1))
            try await client.settings()
            try await client.send(client.request(Self.headers(), on: 1))
            #expect(try await client.answer().body == #"{"reason":"BadCertificate"}"#)
        }
    }

    @Test func anUnknownCertificateIsBadIfCAsAreConfigured() async throws {
        let other = try CertificateAuthority()
        let configured: (inout SimulatorConfiguration) -> Void = {
            $0.clientAuthorities = try? ClientAuthorities(pem: CertificateAuthority().certificatePEM)
        }
        try await RunningSimulator.with(change: configured) { running in
            for (identity, status) in [
                (try other.makeClientIdentity(.init(topics: [Self.app])), "403"),
                (try running.simulator.control.makeClientIdentity(.init(topics: [Self.app])), "200"),
            ] {
                let client = try await RawClient(running, identity: identity)
                try await client.settings()
                try await client.send(client.request(Self.headers(), on: 1))
                #expect(try await client.answer().headers[":status"] == status)
            }
        }
    }

    // MARK: Channels

    @Test func aChannelIsCreatedOnTheManagementHostAndUsedOnTheOther() async throws {
        try await RunningSimulator.with { running in
            let manager = try await RawClient(running, port: running.addresses.managePort)
            try await manager.settings()
            let create = [
                (":method", "POST"), (":scheme", "https"), (":path", "/1/apps/\(Self.app)/channels"),
                (":authority", "localhost"), ("authorization", running.bearer),
            ]
            let body = #"{"message-storage-policy":0,"push-type":"LiveActivity"}"#
            try await manager.send(manager.request(create, body: body, on: 1))
            let made = try await manager.answer()
            #expect(made.headers[":status"] == "201")
            #expect(made.headers["apns-request-id"]?.count == 36)
            #expect(made.headers["apns-id"] == nil)
            #expect(made.body == "")
            let id = try #require(made.headers["apns-channel-id"])

            let sender = try await RawClient(running)
            try await sender.settings()
            let headers = [
                (":method", "POST"), (":scheme", "https"), (":path", "/4/broadcasts/apps/\(Self.app)"),
                ("host", "localhost"), ("authorization", running.bearer), ("apns-channel-id", id),
                ("apns-push-type", "liveactivity"), ("apns-expiration", "0"),
                ("apns-request-id", "123e4567-e89b-12d3-a456-426614174000"),
            ]
            let event = #"{"aps":{"event":"end","timestamp":1}}"#
            try await sender.send(sender.request(headers, body: event, on: 1))
            let sent = try await sender.answer()
            #expect(sent.headers == [":status": "200", "apns-request-id": "123e4567-e89b-12d3-a456-426614174000"])
            #expect(running.simulator.control.stats.accepted == 1)
            #expect(running.simulator.control.requests(token: id).first?.row == 29)
        }
    }

    // MARK: Requests

    /// aioapns sends `host`; Apple's own samples do (docs/contracts/apns.md#2).
    @Test func aRequestWithoutAuthorityIsServed() async throws {
        try await RunningSimulator.with { running in
            let client = try await RawClient(running)
            try await client.settings()
            let headers = running.pushHeaders().filter { $0.0 != ":authority" } + [("host", "localhost")]
            try await client.send(client.request(headers, on: 1))
            #expect(try await client.answer().headers[":status"] == "200")
        }
    }

    @Test func aRevokedKeyIsRefusedAfterTheRevocation() async throws {
        try await RunningSimulator.with { running in
            let client = try await open(running)
            running.simulator.control.setRevoked(running.key.keyID, true)
            try await client.send(client.request(running.pushHeaders(), on: 3))
            #expect(try await client.answer().body == #"{"reason":"Forbidden"}"#)
            running.simulator.control.setRevoked(running.key.keyID, false)
            try await client.send(client.request(running.pushHeaders(), on: 5))
            #expect(try await client.answer().headers[":status"] == "200")
        }
    }

    // MARK: Behavior of the connection

    /// Source: openradar 27870881, pushy#356 (observed until 2019).
    @Test func theLimitDropsAfterARefusalIfConfigured() async throws {
        try await RunningSimulator.with(change: { $0.dropsLimitOnReject = true }) { running in
            let client = try await open(running)
            try await client.send(client.request(running.pushHeaders(token: "xyz1"), on: 3))
            #expect(try await client.next(.settings, flags: 0).setting(RawClient.maxConcurrentStreams) == 1)
            #expect(try await client.answer().body == #"{"reason":"BadDeviceToken"}"#)
            try await client.send(client.request(running.pushHeaders(), on: 5))
            #expect(try await client.next(.settings, flags: 0).setting(RawClient.maxConcurrentStreams) == 1000)
        }
    }

    @Test func manyBadTokensEndTheConnection() async throws {
        try await RunningSimulator.with(change: { $0.badTokenLimit = 3 }) { running in
            let client = try await open(running)
            for stream in [3, 5, 7] {
                try await client.send(client.request(running.pushHeaders(token: "xyz1"), on: stream))
            }
            #expect(try await client.next(.goAway).number(at: 0) == 7)
            try await client.end()
        }
    }

    @Test func anIdleConnectionGetsAGoAway() async throws {
        try await RunningSimulator.with(change: { $0.idleTimeout = .milliseconds(50) }) { running in
            let client = try await RawClient(running)
            let frame = try await client.next(.goAway)
            #expect(String(decoding: frame.payload.dropFirst(8), as: UTF8.self) == #"{"reason":"IdleTimeout"}"#)
            try await client.end()
        }
    }

    /// Source: pushy#931 (observed).
    @Test func aConnectionMayFallSilentAfterTooManyTokens() async throws {
        try await RunningSimulator.with(change: { $0.silencesAfterTokenUpdates = true }) { running in
            let client = try await open(running)
            let now = Int(Date().timeIntervalSince1970)
            let other =
                running.pushHeaders().filter { $0.0 != "authorization" }
                + [("authorization", try running.key.bearer(issuedAt: now))]
            try await client.send(client.request(other, on: 3))
            #expect(try await client.answer().body == #"{"reason":"TooManyProviderTokenUpdates"}"#)
            try await client.send(client.request(running.pushHeaders(), on: 5))
            try await eventually("one request has no answer") { running.simulator.control.stats.unanswered == 1 }
            #expect(running.simulator.control.stats.accepted == 1)
        }
    }

    // MARK: Helpers

    private func client(_ running: RunningSimulator, _ request: ClientCertificateRequest) async throws -> RawClient {
        try await RawClient(running, identity: running.simulator.control.makeClientIdentity(request))
    }

    private func open(_ running: RunningSimulator) async throws -> RawClient {
        let client = try await RawClient(running)
        try await client.settings()
        try await client.send(client.request(running.pushHeaders(), on: 1))
        #expect(try await client.answer().headers[":status"] == "200")
        return client
    }

    private static func headers() -> [(String, String)] {
        [
            (":method", "POST"), (":scheme", "https"), (":path", "/3/device/\(RuleBench.token)"),
            (":authority", "localhost"), ("apns-topic", app),
        ]
    }
}
