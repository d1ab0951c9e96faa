import CNGHTTP2
import Testing

@testable import HTTP2

/// The orderly end of a connection, requested by the peer or by its own rules (docs/contracts/apns.md#11), over real
/// TLS.
@Suite(.timeLimit(.minutes(10)))
struct ConnectionGoAwayTests {
    let certificates: Certificates
    let harness: Harness

    init() throws {
        certificates = try Certificates()
        harness = try Harness()
    }

    // RFC 9113 §6.8 and docs/contracts/apns.md#11.2.
    @Test func goAwayAnswersUpToTheLastIDAndReturnsTheOthers() async throws {
        let peer = try TLSPeer(certificates) { peer in
            guard peer.shakeHands(), let streams = peer.requests(4) else { return }
            peer.http.goAway(last: streams[1], debug: #"{"reason":"Shutdown"}"#)
            peer.flush()
            for stream in streams[...1] { peer.http.respond(stream, status: 200) }
            peer.poll { _ in false }
        }
        let connection = try await harness.open(certificates.configuration(for: peer))
        var batch = harness.batch(1...4)
        #expect(connection.submit(&batch) == 4)
        try await harness.wait { $0.isClosed }
        #expect(
            harness.seen.outcomes == [1: ["200"], 2: ["200"], 3: ["goAway unsent"], 4: ["goAway unsent"]]
        )
        #expect(harness.seen.goAways.map(\.lastStreamID) == [3])
        #expect(harness.seen.goAways.first?.debugData == Array(#"{"reason":"Shutdown"}"#.utf8))
        #expect(harness.seen.closeError == nil)
        peer.end()
    }

    // pushy#312: two GOAWAY frames in a row, the first as a warning (RFC 9113 §6.8).
    @Test func secondGoAwayAppliesAndBothAreReported() async throws {
        let peer = try TLSPeer(certificates) { peer in
            guard peer.shakeHands(), let streams = peer.requests(3) else { return }
            peer.http.goAway(last: .max)
            peer.flush()
            peer.http.goAway(last: streams[0], code: NGHTTP2_ENHANCE_YOUR_CALM, debug: "calm")
            peer.flush()
            peer.http.respond(streams[0], status: 200)
            peer.poll { _ in false }
        }
        let connection = try await harness.open(certificates.configuration(for: peer))
        var batch = harness.batch(1...3)
        #expect(connection.submit(&batch) == 3)
        try await harness.wait { $0.isClosed }
        #expect(harness.seen.outcomes == [1: ["200"], 2: ["goAway unsent"], 3: ["goAway unsent"]])
        #expect(harness.seen.goAways.map(\.lastStreamID) == [.max, 1])
        #expect(harness.seen.goAways.last?.code == NGHTTP2_ENHANCE_YOUR_CALM.rawValue)
        var late = harness.batch([9])
        #expect(connection.submit(&late) == 0)
        peer.end()
    }

    @Test func debugDataIsCutAtItsBound() async throws {
        let peer = try TLSPeer(certificates) { peer in
            guard peer.shakeHands() else { return }
            peer.http.goAway(last: 0, debug: String(repeating: "x", count: 12_000))
            peer.poll { _ in false }
        }
        _ = try await harness.open(certificates.configuration(for: peer))
        try await harness.wait { $0.isClosed }
        #expect(harness.seen.goAways.first?.debugData.count == HTTP2Limits().maxGoAwayDebugBytes)
        peer.end()
    }

    @Test func peerThatClosesDuringADrainLeavesOpenRequestsUnknown() async throws {
        let peer = try TLSPeer(certificates) { peer in
            guard peer.shakeHands(), let streams = peer.requests(3) else { return }
            peer.http.goAway(last: streams[1])
            peer.flush()
            peer.http.respond(streams[0], status: 200)
            peer.flush()
        }
        let connection = try await harness.open(certificates.configuration(for: peer))
        var batch = harness.batch(1...3)
        #expect(connection.submit(&batch) == 3)
        try await harness.wait { $0.isClosed }
        #expect(
            harness.seen.outcomes == [1: ["200"], 2: ["connectionLost unknown"], 3: ["goAway unsent"]]
        )
        #expect(harness.seen.closeError?.code == .connectionLost)
        peer.end()
    }

    @Test func drainThatNeverEndsIsCutAtItsDeadline() async throws {
        let peer = try TLSPeer(certificates) { peer in
            guard peer.shakeHands(), let streams = peer.requests(1) else { return }
            peer.http.goAway(last: streams[0])
            peer.poll { _ in false }
        }
        var configuration = try certificates.configuration(for: peer)
        configuration.timeouts.drain = .milliseconds(150)
        let connection = try await harness.open(configuration)
        var batch = harness.batch([1])
        #expect(connection.submit(&batch) == 1)
        try await harness.wait { $0.isClosed }
        #expect(harness.seen.outcomes == [1: ["closed unknown"]])
        peer.end()
    }

    // MARK: By its own rules

    @Test func idleConnectionRetiresInOrder() async throws {
        let peer = try TLSPeer(certificates) { peer in if peer.shakeHands() { peer.serve() } }
        var configuration = try certificates.configuration(for: peer)
        configuration.timeouts.idleClose = .milliseconds(150)
        _ = try await harness.open(configuration, sending: harness.batch([1]))
        try await harness.wait { $0.isClosed }
        #expect(harness.seen.outcomes == [1: ["200"]])
        #expect(harness.seen.changes.contains(.retired(.idle)))
        #expect(harness.seen.closeError == nil)
        peer.end()
    }

    @Test func agedConnectionFinishesOpenRequestsAndTakesNoNewOnes() async throws {
        let peer = try TLSPeer(certificates) { peer in
            guard peer.shakeHands(), let stream = peer.requests(1)?.first else { return }
            // The client sends GOAWAY when it retires; the answer arrives after that.
            peer.poll { $0.http.hasGoAway }
            peer.http.respond(stream, status: 200)
            peer.poll { _ in false }
        }
        var configuration = try certificates.configuration(for: peer)
        configuration.timeouts.maxAge = .milliseconds(300)
        let connection = try await harness.open(configuration, sending: harness.batch([1]))
        try await harness.wait { $0.changes.contains(.retired(.age)) }
        var late = harness.batch([2])
        #expect(connection.submit(&late) == 0)
        try await harness.wait { $0.isClosed }
        #expect(harness.seen.outcomes == [1: ["200"]])
        #expect(harness.seen.closeError == nil)
        peer.end()
    }
}
