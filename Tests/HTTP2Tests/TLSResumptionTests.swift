import NIOConcurrencyHelpers
import Testing

@testable import HTTP2

/// TLS sessions are resumed per host, port, name and identity, over real TLS.
@Suite(.timeLimit(.minutes(10)))
struct TLSResumptionTests {
    let certificates: Certificates

    init() throws { certificates = try Certificates() }

    private func context(_ identity: TLSIdentity? = nil) throws -> TLSContext {
        try TLSContext(trustRoots: .pem(certificates.authorityPEM), identity: identity)
    }

    /// Opens a connection, sends one request, closes it, and returns the kind of its handshake.
    private func visit(_ port: Int, _ tls: TLSContext, host: String = "localhost") async throws -> TLSHandshake? {
        let harness = try Harness()
        let connection = try await harness.open(ConnectionConfiguration(host: host, port: port, tls: tls))
        var batch = harness.batch([1])
        #expect(connection.submit(&batch) == 1)
        try await harness.wait { $0.outcomes[1] != nil || $0.isClosed }
        #expect(harness.seen.outcomes[1] == ["200"], "\(harness.seen.closeError?.debugDescription ?? "open")")
        #expect(connection.load.dialDuration ?? .zero > .zero)
        let handshake = connection.load.handshake
        connection.close()
        try await harness.wait { $0.isClosed }
        return handshake
    }

    @Test(arguments: [false, true])
    func secondConnectionResumes(isTLS12: Bool) async throws {
        let resumed = NIOLockedValueBox<[Bool]>([])
        let peer = try TLSPeer(certificates, options: .init(isTLS12: isTLS12)) { peer in
            guard peer.shakeHands() else { return }
            resumed.withLockedValue { $0.append(peer.isResumed) }
            peer.serve()
        }
        let tls = try context()
        #expect(try await visit(peer.port, tls) == .full)
        // Three times: a session that was used once must be replaced by the peer, or kept.
        for _ in 0..<3 { #expect(try await visit(peer.port, tls) == .resumed) }
        #expect(resumed.withLockedValue { $0 } == [false, true, true, true])
        peer.end()
    }

    @Test func otherNameAndOtherContextResumeNothing() async throws {
        let peer = try TLSPeer(certificates) { peer in if peer.shakeHands() { peer.serve() } }
        let tls = try context()
        #expect(try await visit(peer.port, tls) == .full)
        #expect(try await visit(peer.port, tls, host: "127.0.0.1") == .full)
        #expect(try await visit(peer.port, context()) == .full)
        #expect(try await visit(peer.port, tls) == .resumed)
        peer.end()
    }

    // A session must not bypass the check of the name, because a resumed handshake does not verify it again.
    @Test func sessionOfOneNameIsNotOfferedUnderAnother() async throws {
        let peer = try TLSPeer(certificates) { peer in if peer.shakeHands() { peer.serve() } }
        let tls = try context()
        #expect(try await visit(peer.port, tls) == .full)
        let harness = try Harness()
        var configuration = ConnectionConfiguration(host: "localhost", port: peer.port, tls: tls)
        configuration.serverName = "api.push.apple.com"
        _ = try await harness.open(configuration)
        #expect(harness.seen.closeError?.code == .certificateRejected)
        peer.end()
    }

    @Test func sessionThatAnotherServerCannotReadCostsAFullHandshake() async throws {
        let tls = try context()
        let first = try TLSPeer(certificates) { peer in if peer.shakeHands() { peer.serve() } }
        #expect(try await visit(first.port, tls) == .full)
        let second = try TLSPeer(certificates) { peer in if peer.shakeHands() { peer.serve() } }
        let key = TLSSessionCache.Key(host: "localhost", port: first.port, serverName: "localhost")
        let session = try #require(tls.sessions.take(key))
        let other = TLSSessionCache.Key(host: "localhost", port: second.port, serverName: "localhost")
        tls.sessions.store(session, for: other)
        #expect(try await visit(second.port, tls) == .full)
        tls.sessions.store(Array("no session at all".utf8), for: other)
        #expect(try await visit(second.port, tls) == .full)
        first.end()
        second.end()
    }

    @Test func manyConnectionsOnSeveralThreadsShareTheSessions() async throws {
        let peer = try TLSPeer(certificates) { peer in if peer.shakeHands() { peer.serve() } }
        let tls = try context()
        _ = try await visit(peer.port, tls)
        let resumed = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var resumed = 0
                    for _ in 0..<5 {
                        let handshake = try await visit(peer.port, tls)
                        #expect(handshake != nil)
                        if handshake == .resumed { resumed += 1 }
                    }
                    return resumed
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(resumed > 0)
        peer.end()
    }

    // MARK: Client certificates

    @Test(arguments: [false, true])
    func peerThatRequiresTheCertificateReceivesAndResumesIt(isTLS12: Bool) async throws {
        let files = try IdentityFiles()
        let users = NIOLockedValueBox<[String?]>([])
        let options = TLSPeer.Options(isTLS12: isTLS12, clientAuthorityFile: files.authorityFile)
        let peer = try TLSPeer(certificates, options: options) { peer in
            guard peer.shakeHands() else { return }
            users.withLockedValue { $0.append(peer.clientUserID) }
            peer.serve()
        }
        let identity = try TLSIdentity(pkcs12: files.oldPKCS12(), passphrase: IdentityFiles.passphrase)
        let tls = try context(identity)
        #expect(try await visit(peer.port, tls) == .full)
        #expect(try await visit(peer.port, tls) == .resumed)
        #expect(users.withLockedValue { $0 } == ["com.example.shop", "com.example.shop"])
        peer.end()
    }

    // In TLS 1.3 the peer checks the certificate after the client's handshake has ended: requests submitted by then
    // were not processed.
    @Test(arguments: [false, true])
    func peerThatRefusesTheCertificateLeavesEveryRequestUnsent(hasWrongOne: Bool) async throws {
        let files = try IdentityFiles()
        let options = TLSPeer.Options(clientAuthorityFile: files.authorityFile)
        let peer = try TLSPeer(certificates, options: options) { peer in _ = peer.shakeHands() }
        let stranger = try IdentityFiles(isNew: true)
        let identity = hasWrongOne ? try TLSIdentity(pem: stranger.certificatePEM + stranger.keyPEM) : nil
        let harness = try Harness()
        let configuration = ConnectionConfiguration(host: "localhost", port: peer.port, tls: try context(identity))
        let connection = try await harness.open(configuration)
        var batch = harness.batch(1...2)
        let taken = connection.submit(&batch)
        try await harness.wait { $0.isClosed }
        #expect(harness.seen.closeError?.code == .identityRejected)
        #expect(harness.seen.outcomes.count == taken)
        #expect(harness.seen.outcomes.values.allSatisfy { $0.count == 1 && $0[0].hasSuffix("unsent") })
        peer.end()
    }
}
