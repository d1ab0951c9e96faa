import APNsSimulator
import HTTP2
import Model
import Testing

@testable import APNs

/// Certificates instead of provider tokens, over real TLS against the simulator, whose CA issues them like Apple.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct APNsCertificateTests {
    private let timeLimit = Duration.seconds(400)
    private let voip = PushPayload(bytes: Array(#"{"aps":{}}"#.utf8), type: .voip)
    private let location = PushPayload(bytes: Array(#"{"aps":{}}"#.utf8), type: .location)

    private func identity(_ peer: Peer, _ request: ClientCertificateRequest) throws -> TLSIdentity {
        let made = try peer.simulator.control.makeClientIdentity(request)
        return try TLSIdentity(pem: Array(made.certificatePEM.utf8), privateKeyPEM: Array(made.keyPEM.utf8))
    }

    private func credential(_ peer: Peer, _ request: ClientCertificateRequest) throws -> APNsCredential {
        APNsCredential(
            .certificate(try identity(peer, request)),
            endpoint: try APNsEndpoint(url: "https://\(peer.addresses.apns)"),
            trustRootsPEM: Array(peer.simulator.caPEM.utf8)
        )
    }

    private func rejection(_ outcome: Outcome?) -> Rejection? {
        if case .rejected(let rejection) = outcome { rejection } else { nil }
    }

    @Test func certificateReplacesTheProviderToken() async throws {
        let peer = try await Peer()
        try await withTransport { transport in
            let request = ClientCertificateRequest(topics: ["com.example.shop", "com.example.shop.voip"])
            try transport.open(Peer.credential, credential(peer, request))
            var pushes = (0..<300).map { makePush($0) }
            pushes.append(makePush(300, payload: voip))
            let completions = await collect(transport.send(pushes, through: Peer.credential, deadline: timeLimit))
            expectOncePerPush(completions, count: 301)
            #expect(completions.acceptedCount == 301)
            #expect(transport.metrics.tokenCount == 0)
            #expect(peer.simulator.control.requests(limit: 400).allSatisfy { $0.header("authorization") == nil })
            #expect(transport.pools.map(\.speaker).allSatisfy { $0.hasPrefix("certificate/") })
        }
        await peer.simulator.stop()
    }

    // docs/contracts/apns.md#4: refuse a mismatch before connecting.
    @Test func certificateOfTheOtherEnvironmentOpensNoConnection() async throws {
        let peer = try await Peer()
        try await withTransport { transport in
            let request = ClientCertificateRequest(topics: ["com.example.shop"], environment: .sandbox)
            let credential = try credential(peer, request)
            #expect(credential.fits(.sandbox) && !credential.fits(.production))
            try transport.open(Peer.credential, credential)
            let completions = await collect(
                transport.send([makePush(0)], through: Peer.credential, deadline: timeLimit)
            )
            #expect(rejection(completions.outcome(0))?.reason == "BadCertificateEnvironment")
            #expect(rejection(completions.outcome(0))?.scope == .credential)
            #expect(transport.metrics.connectCount == 0)
            #expect(peer.simulator.control.stats.connectionsTotal == 0)
        }
        await peer.simulator.stop()
    }

    @Test func topicThatTheCertificateDoesNotListIsRefusedLocally() async throws {
        let peer = try await Peer()
        try await withTransport { transport in
            try transport.open(
                Peer.credential,
                credential(
                    peer,
                    ClientCertificateRequest(topics: ["com.example.shop", "com.example.shop.location-query"])
                )
            )
            let pushes = [
                makePush(0), makePush(1, topic: "com.example.other"), makePush(2, payload: voip),
                makePush(3, payload: location),
            ]
            let completions = await collect(transport.send(pushes, through: Peer.credential, deadline: timeLimit))
            expectOncePerPush(completions, count: 4)
            #expect(completions.acceptedCount == 1)
            // The topic of another app is refused for all pushes of that app; a push type that the certificate does not
            // allow is an error of the push.
            #expect(rejection(completions.outcome(1))?.scope == .topic)
            #expect(rejection(completions.outcome(2))?.scope == .content)
            #expect(rejection(completions.outcome(3))?.scope == .content)
            #expect(peer.simulator.control.stats.rejectedTotal == 0)
        }
        await peer.simulator.stop()
    }

    // docs/contracts/apns.md#4: "separate pool per certificate and environment".
    @Test func twoCertificatesNeverShareAConnection() async throws {
        let peer = try await Peer()
        let other = CredentialKey(tenant: "acme", credential: "other")
        try await withTransport { transport in
            for (key, topic) in [(Peer.credential, "com.example.shop"), (other, "com.example.games")] {
                try transport.open(key, credential(peer, ClientCertificateRequest(topics: [topic])))
            }
            let first = await collect(transport.send([makePush(0)], through: Peer.credential, deadline: timeLimit))
            let push = makePush(0, topic: "com.example.games")
            let second = await collect(transport.send([push], through: other, deadline: timeLimit))
            #expect(first.acceptedCount == 1 && second.acceptedCount == 1)
            #expect(peer.simulator.control.stats.connectionsTotal == 2)
        }
        await peer.simulator.stop()
    }

    // MARK: Preflight

    private let now = Timestamp(milliseconds: TestWallClock.system.now().milliseconds)

    @Test func preflightReportsExpiryScopeAndEnvironmentOfACertificate() async throws {
        let peer = try await Peer()
        let credential = try credential(
            peer,
            ClientCertificateRequest(topics: ["com.example.shop"], environment: .production, days: 100)
        )
        let good = credential.preflight(
            for: [CredentialUse(topic: "com.example.shop", environment: .production)],
            at: now
        )
        #expect(good.findings == [])
        #expect(good.isUsable)
        #expect((99...100).contains(good.daysToExpiry ?? 0))
        #expect(good.topics == ["com.example.shop"])
        let bad = credential.preflight(
            for: [CredentialUse(topic: "com.example.other", environment: .sandbox)],
            at: now + .seconds(80 * 86_400)
        )
        #expect(
            bad.findings.map(\.kind).dropLast() == [
                .wrongEnvironment(.sandbox), .topicNotServed("com.example.other"),
            ]
        )
        guard case .expiresSoon(let days) = bad.findings.last?.kind else { return #expect(Bool(false)) }
        #expect((18...20).contains(days))
        #expect(!bad.isUsable)
        await peer.simulator.stop()
    }

    @Test func expiredCertificateIsFatalAndCountsDaysBelowZero() async throws {
        let peer = try await Peer()
        let credential = try credential(peer, ClientCertificateRequest(topics: ["com.example.shop"], days: -3))
        let preflight = credential.preflight(for: [], at: now)
        #expect(preflight.findings.map(\.kind) == [.expired])
        #expect((preflight.daysToExpiry ?? 0) < 0)
        #expect(!preflight.isUsable)
        await peer.simulator.stop()
    }

    @Test func preflightOfAKeyHasItsDeclaredTopicsAndNoExpiry() {
        let key = TestKey()
        let uses = [CredentialUse(topic: "com.example.shop", environment: .production)]
        var signing = APNsCredential.SigningKey(teamID: key.teamID, keyID: key.keyID, privateKeyPEM: key.privatePEM)
        #expect(APNsCredential(.token(signing)).preflight(for: uses, at: now).findings == [])
        signing.topics = ["com.example.games"]
        let preflight = APNsCredential(.token(signing)).preflight(for: uses, at: now)
        #expect(preflight.findings.map(\.kind) == [.topicNotServed("com.example.shop")])
        #expect(preflight.expiresAt == nil && preflight.daysToExpiry == nil)
    }

    @Test func credentialsPrintNothingOfTheirKeys() {
        let key = TestKey()
        let credential = APNsCredential(teamID: key.teamID, keyID: key.keyID, privateKeyPEM: key.privatePEM)
        let secret = String(decoding: key.privatePEM, as: UTF8.self).split(separator: "\n")[1]
        var text = ""
        dump(credential, to: &text)
        dump(credential.proof, to: &text)
        text += "\(credential) \(credential.proof) \(String(reflecting: credential))"
        #expect(!text.contains(secret))
        #expect(!text.contains("\(key.privatePEM[40]), \(key.privatePEM[41]), \(key.privatePEM[42])"))
    }
}
