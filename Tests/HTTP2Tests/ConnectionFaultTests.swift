import CNGHTTP2
import Glibc
import Testing

@testable import HTTP2

/// Faults that a peer can cause on a connection, down to single bytes. Each request ends once, as "not processed" or
/// "unknown".
@Suite(.timeLimit(.minutes(10)))
struct ConnectionFaultTests {
    let certificates: Certificates
    let harness: Harness

    init() throws {
        certificates = try Certificates()
        harness = try Harness()
    }

    private func configuration(_ peer: TLSPeer) throws -> ConnectionConfiguration {
        var configuration = try certificates.configuration(for: peer)
        configuration.timeouts.pingWhenSilent = .milliseconds(150)
        configuration.timeouts.pingAnswer = .milliseconds(150)
        return configuration
    }

    /// Opens a connection, sends requests 1...`count` and returns their outcomes after it is closed.
    private func outcomes(
        _ count: UInt64,
        _ configuration: ConnectionConfiguration
    ) async throws -> [UInt64: [String]] {
        _ = try await harness.open(configuration, sending: harness.batch(1...count))
        try await harness.wait { $0.isClosed }
        #expect(harness.seen.closeCount == 1)
        return harness.seen.outcomes
    }

    // MARK: RST_STREAM

    // docs/contracts/apns.md#13.4: REFUSED_STREAM guarantees that the request was not processed; all other codes do
    // not. RFC 9113 does not define code 14.
    @Test(arguments: Array(UInt32(0)...14))
    func resetEndsOneRequestByItsCodeAndTheConnectionContinues(code: UInt32) async throws {
        let peer = try TLSPeer(certificates) { peer in
            guard peer.shakeHands(), let stream = peer.requests(1)?.first else { return }
            peer.http.reset(stream, nghttp2_error_code(rawValue: code))
            peer.serve()
        }
        let connection = try await harness.open(configuration(peer))
        var batch = harness.batch([1])
        #expect(connection.submit(&batch) == 1)
        try await harness.wait { $0.outcomes[1] != nil }
        let isRefused = code == NGHTTP2_REFUSED_STREAM.rawValue
        #expect(harness.seen.outcomes[1] == [isRefused ? "refusedStream unsent" : "streamReset unknown"])
        var next = harness.batch([2])
        #expect(connection.submit(&next) == 1)
        try await harness.wait { $0.outcomes[2] != nil }
        #expect(harness.seen.outcomes[2] == ["200"])
        connection.close()
        try await harness.wait { $0.isClosed }
        peer.end()
    }

    // MARK: The network fails

    @Test func tcpResetLeavesOpenRequestsUnknown() async throws {
        let peer = try TLSPeer(certificates) { peer in
            guard peer.shakeHands() else { return }
            _ = peer.requests(2)
            peer.resetOnClose()
        }
        let outcomes = try await outcomes(2, configuration(peer))
        #expect(outcomes == [1: ["connectionLost unknown"], 2: ["connectionLost unknown"]])
        peer.end()
    }

    @Test func orderlyEndOfTLSWithoutGoAwayIsALoss() async throws {
        let peer = try TLSPeer(certificates) { peer in
            guard peer.shakeHands() else { return }
            _ = peer.requests(1)
        }
        #expect(try await outcomes(1, configuration(peer)) == [1: ["connectionLost unknown"]])
        peer.end()
    }

    @Test func fatalAlertLeavesOpenRequestsUnknown() async throws {
        let peer = try TLSPeer(certificates) { peer in
            guard peer.shakeHands() else { return }
            _ = peer.requests(2)
            peer.sendAlert()
            peer.freeze()
        }
        let outcomes = try await outcomes(2, configuration(peer))
        #expect(outcomes == [1: ["tlsFailed unknown"], 2: ["tlsFailed unknown"]])
        #expect(harness.seen.closeError?.underlying?.contains("bad record mac") == true)
        peer.end()
    }

    @Test func bytesOtherThanTLSEndIt() async throws {
        let peer = try TLSPeer(certificates) { peer in
            guard peer.shakeHands() else { return }
            _ = peer.requests(1)
            peer.drip(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
            peer.freeze()
        }
        #expect(try await outcomes(1, configuration(peer)) == [1: ["tlsFailed unknown"]])
        peer.end()
    }

    @Test func bytesOtherThanHTTP2EndIt() async throws {
        let peer = try TLSPeer(certificates) { peer in
            guard peer.shakeHands() else { return }
            peer.speaksHTTP = false
            peer.poll { !$0.received.isEmpty }
            peer.write(Array("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".utf8))
            peer.poll { _ in false }
        }
        #expect(try await outcomes(1, configuration(peer)) == [1: ["protocolError unknown"]])
        peer.end()
    }

    @Test func frameLargerThanAllowedEndsIt() async throws {
        let peer = try TLSPeer(certificates) { peer in
            guard peer.shakeHands() else { return }
            _ = peer.requests(1)
            // 0x10 0000 bytes of DATA on stream 1, where 0x4000 are allowed.
            peer.write([0x10, 0, 0, 0, 0, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 1_000))
            peer.poll { _ in false }
        }
        #expect(try await outcomes(1, configuration(peer)) == [1: ["protocolError unknown"]])
        peer.end()
    }

    // MARK: Silence

    @Test func halfAFrameAndThenSilenceEndsByThePing() async throws {
        let peer = try TLSPeer(certificates) { peer in
            guard peer.shakeHands(), let stream = peer.requests(1)?.first else { return }
            peer.http.respond(stream, status: 200)
            let frame = peer.http.output()
            peer.write(Array(frame.dropLast()))
            peer.ignore()
        }
        #expect(try await outcomes(1, configuration(peer)) == [1: ["pingTimeout unknown"]])
        peer.end()
    }

    @Test func halfARecordAndThenSilenceEndsByThePing() async throws {
        let peer = try TLSPeer(certificates) { peer in
            guard peer.shakeHands(), let stream = peer.requests(1)?.first else { return }
            peer.http.respond(stream, status: 200)
            let record = peer.encrypted(peer.http.output())
            peer.drip(Array(record.prefix(record.count / 2)))
            peer.ignore()
        }
        #expect(try await outcomes(1, configuration(peer)) == [1: ["pingTimeout unknown"]])
        peer.end()
    }

    @Test func peerThatNeverSpeaksHTTPEndsByThePing() async throws {
        let peer = try TLSPeer(certificates) { peer in if peer.shakeHands() { peer.ignore() } }
        #expect(try await outcomes(3, configuration(peer)).values.allSatisfy { $0 == ["pingTimeout unknown"] })
        peer.end()
    }

    @Test func idleConnectionThatDiedIsNoticedWithoutARequest() async throws {
        let peer = try TLSPeer(certificates) { peer in if peer.shakeHands() { peer.ignore() } }
        var configuration = try configuration(peer)
        configuration.timeouts.pingWhenIdle = .milliseconds(100)
        _ = try await harness.open(configuration)
        try await harness.wait { $0.isClosed }
        #expect(harness.seen.closeError?.code == .pingTimeout)
        peer.end()
    }

    @Test func answersInSingleBytesAreComplete() async throws {
        let peer = try TLSPeer(certificates) { peer in
            guard peer.shakeHands(), let streams = peer.requests(3) else { return }
            for stream in streams { peer.http.respond(stream, status: 410, body: Array("{}".utf8)) }
            peer.drip(peer.encrypted(peer.http.output()), 1, .microseconds(50))
            peer.serve()
        }
        let connection = try await harness.open(configuration(peer))
        var batch = harness.batch(1...3)
        #expect(connection.submit(&batch) == 3)
        try await harness.wait { $0.outcomes.count == 3 }
        #expect(harness.seen.outcomes == [1: ["410"], 2: ["410"], 3: ["410"]])
        connection.abort()
        try await harness.wait { $0.isClosed }
        peer.end()
    }

    // MARK: Opening

    @Test func slowHandshakeEndsAtItsDeadline() async throws {
        let peer = try TLSPeer(certificates) { peer in
            _ = peer.shakeHands(chunk: 1, pause: .milliseconds(20))
        }
        var configuration = try configuration(peer)
        configuration.timeouts.tls = .milliseconds(200)
        _ = try await harness.open(configuration)
        // A byte arrives every 20 ms, and the peer has a few hundred, so only a deadline for the whole handshake ends
        // it.
        #expect(harness.seen.closeError?.code == .tlsTimeout)
        #expect(harness.seen.closeError?.isUnsent == true)
        peer.end()
    }

    @Test func slowHandshakeWithinItsDeadlineOpens() async throws {
        let peer = try TLSPeer(certificates) { peer in
            guard peer.shakeHands(chunk: 100, pause: .milliseconds(5)) else { return }
            peer.serve()
        }
        let connection = try await harness.open(configuration(peer))
        #expect(connection.load.phase == .open)
        #expect(connection.load.dialDuration ?? .zero >= .milliseconds(20))
        connection.close()
        try await harness.wait { $0.isClosed }
        peer.end()
    }

    // docs/contracts/apns.md#2: APNs does not have to select a protocol; other servers do.
    @Test(arguments: [false, true])
    func peerWithoutALPNIsRefusedUnlessThatIsAllowed(requiresALPN: Bool) async throws {
        let peer = try TLSPeer(certificates, options: .init(selectsALPN: false)) { peer in
            if peer.shakeHands() { peer.serve() }
        }
        var configuration = try configuration(peer)
        configuration.tls = try TLSContext(
            trustRoots: .pem(certificates.authorityPEM),
            requiresALPN: requiresALPN
        )
        let connection = try await harness.open(configuration)
        #expect(connection.load.phase == (requiresALPN ? .closed : .open))
        #expect(harness.seen.closeError?.code == (requiresALPN ? .noALPN : nil))
        connection.close()
        try await harness.wait { $0.isClosed }
        peer.end()
    }

    @Test func connectionThatIsClosedWhileDiallingEndsWithoutError() async throws {
        let peer = try TLSPeer(certificates) { $0.freeze() }
        let connection = Connection(try configuration(peer), loop: harness.loop, observer: harness)
        connection.open()
        connection.close()
        try await harness.wait { $0.isClosed }
        #expect(harness.seen.closeError == nil)
        peer.end()
    }
}
