import CNGHTTP2
import NIOConcurrencyHelpers
import TestKit
import Testing

@testable import HTTP2

/// A peer that accepts little or nothing: windows, stream limits, a full socket, and all faults together.
@Suite(.timeLimit(.minutes(10)))
struct ConnectionPressureTests {
    let certificates: Certificates
    let harness: Harness

    init() throws {
        certificates = try Certificates()
        harness = try Harness()
    }

    private func bigBatch(_ slots: ClosedRange<UInt64>, bytes: Int, timeout: Duration) -> RequestBatch {
        let body = [UInt8](repeating: UInt8(ascii: "x"), count: bytes)
        var batch = RequestBatch()
        for slot in slots {
            batch.append(slot: slot, head: harness.head, deadline: .now + timeout) { writer in
                writer.path("/ok")
                writer.body(body)
            }
        }
        return batch
    }

    // docs/contracts/apns.md#11.1: the limit may fall to 1 under open streams.
    @Test func streamLimitThatFallsToOneIsObeyed() async throws {
        let highest = NIOLockedValueBox(0)
        let peer = try TLSPeer(certificates) { peer in
            guard peer.shakeHands(), let first = peer.requests(4) else { return }
            peer.http.settings(maxStreams: 1)
            peer.flush()
            for stream in first { peer.http.respond(stream, status: 200) }
            var answered = Set(first)
            peer.poll { peer in
                let open = peer.http.requests.filter { $0.value.isComplete && !answered.contains($0.key) }.map(\.key)
                highest.withLockedValue { $0 = max($0, open.count) }
                for stream in open {
                    answered.insert(stream)
                    peer.http.respond(stream, status: 200)
                }
                return false
            }
        }
        let connection = try await harness.open(certificates.configuration(for: peer))
        var batch = harness.batch(1...4)
        #expect(connection.submit(&batch) == 4)
        try await harness.wait { $0.changes.contains(.streamLimit(1)) && $0.outcomes.count == 4 }
        #expect(connection.load.streamLimit == 1)
        var done = 4
        var rest = harness.batch(5...24)
        while !rest.isEmpty {
            done += connection.submit(&rest)
            let count = done
            try await harness.wait { $0.outcomes.count == count }
        }
        #expect(harness.seen.outcomes.values.allSatisfy { $0 == ["200"] })
        #expect(highest.withLockedValue { $0 } == 1)
        connection.abort()
        try await harness.wait { $0.isClosed }
        peer.end()
    }

    @Test func closedWindowHoldsBodiesUntilItOpensOrTheirDeadline() async throws {
        let isOpening = NIOLockedValueBox(false)
        let peer = try TLSPeer(certificates) { peer in
            guard peer.shakeHands() else { return }
            peer.http.settings(maxStreams: 100, initialWindow: 0)
            peer.poll { _ in isOpening.withLockedValue { $0 } }
            peer.http.settings(maxStreams: 100, initialWindow: 65_535)
            peer.serve()
        }
        let connection = try await harness.open(certificates.configuration(for: peer))
        try await harness.wait { $0.reportCount > 0 }
        // The peer's window is known after it has answered a PING that was sent after its SETTINGS arrived.
        connection.ping()
        try await harness.wait { $0.changes.contains { if case .pingAnswered = $0 { true } else { false } } }
        var impatient = harness.batch([1], timeout: .milliseconds(150))
        var patient = harness.batch([2])
        #expect(connection.submit(&impatient) == 1)
        #expect(connection.submit(&patient) == 1)
        try await harness.wait { $0.outcomes[1] != nil }
        #expect(harness.seen.outcomes == [1: ["deadlineExceeded unknown"]])
        isOpening.withLockedValue { $0 = true }
        try await harness.wait { $0.outcomes[2] != nil }
        #expect(harness.seen.outcomes[2] == ["200"])
        connection.abort()
        try await harness.wait { $0.isClosed }
        peer.end()
    }

    // The bound is `HTTP2Limits.maxPendingOutputBytes`.
    @Test func peerThatDoesNotReadCostsAtMostTheBound() async throws {
        let peer = try TLSPeer(certificates) { peer in
            peer.shrinkReceiveBuffer()
            guard peer.shakeHands() else { return }
            peer.http.settings(maxStreams: 1_000, initialWindow: 1 << 30)
            peer.http.openConnectionWindow()
            peer.poll { !$0.http.requests.isEmpty }
            peer.freeze()
        }
        var configuration = try certificates.configuration(for: peer)
        // The client must end the connection, however long a slow machine takes for twenty polls.
        configuration.timeouts.pingWhenSilent = .seconds(3600)
        let connection = try await harness.open(configuration)
        try await harness.wait { $0.changes.contains(.streamLimit(900)) }
        var first = harness.batch([0])
        #expect(connection.submit(&first) == 1)
        var batch = bigBatch(1...200, bytes: 60_000, timeout: .seconds(20))
        let taken = connection.submit(&batch)
        #expect(taken == 200)
        // 12 MB are queued, more than the kernel buffers on loopback hold.
        var most = 0
        var sampleCount = 0
        while sampleCount < 20, !harness.seen.isClosed {
            most = max(most, connection.load.pendingOutputBytes)
            if most > 0 { sampleCount += 1 }
            try await Task.sleep(for: .milliseconds(5))
        }
        connection.abort()
        try await harness.wait { $0.isClosed }
        let bound = configuration.limits.maxPendingOutputBytes
        #expect(most > 0)
        #expect(most <= bound + bound / 2)
        #expect(harness.seen.closeError?.code == .closed)
        #expect(harness.seen.outcomes.count == 201)
        #expect(harness.seen.outcomes.values.allSatisfy { $0.count == 1 })
        peer.end()
    }

    // Every request ends once, for any faults at any time.
    @Test(arguments: [UInt64.random(in: 1...999_999)])
    func mixedFaultsLoseNoRequestAndAnswerNoneTwice(seed: UInt64) async throws {
        let counter = NIOLockedValueBox(seed)
        let peer = try TLSPeer(certificates) { peer in
            let own = counter.withLockedValue { value -> UInt64 in
                value += 1
                return value
            }
            var random = SplitMix(state: own)
            RandomFaults.play(on: peer, &random)
        }
        let tls = try TLSContext(trustRoots: .pem(certificates.authorityPEM))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<4 {
                group.addTask {
                    for round in 0..<15 { try await attempt(peer, tls, "seed \(seed), lane \(lane), round \(round)") }
                }
            }
            try await group.waitForAll()
        }
        peer.end()
    }

    private func attempt(_ peer: TLSPeer, _ tls: TLSContext, _ place: String) async throws {
        let harness = try Harness()
        var configuration = ConnectionConfiguration(host: "localhost", port: peer.port, tls: tls)
        configuration.initialStreamLimit = 20
        configuration.timeouts.tls = .milliseconds(500)
        configuration.timeouts.pingWhenSilent = .milliseconds(60)
        configuration.timeouts.pingAnswer = .milliseconds(60)
        configuration.timeouts.drain = .milliseconds(200)
        configuration.timeouts.maxAge = .milliseconds(400)
        let connection = try await harness.open(configuration)
        var batch = harness.batch(1...30, timeout: .milliseconds(300))
        let taken = connection.submit(&batch)
        try await harness.wait { $0.outcomes.count == taken }
        connection.close()
        try await harness.wait { $0.isClosed }
        #expect(harness.seen.outcomes.count == taken, "\(place)")
        #expect(harness.seen.outcomes.values.allSatisfy { $0.count == 1 }, "\(place)")
        #expect(harness.seen.closeCount == 1, "\(place)")
        #expect(connection.load.inFlightCount == 0, "\(place)")
    }
}

/// A random fault after a few valid answers.
enum RandomFaults {
    static func play(on peer: PeerConnection, _ random: inout SplitMix) {
        let isSlow = Int.random(in: 0..<8, using: &random) == 0
        guard peer.shakeHands(chunk: isSlow ? 64 : .max, pause: isSlow ? .milliseconds(20) : .zero) else { return }
        let wanted = Int.random(in: 0..<20, using: &random)
        if Int.random(in: 0..<4, using: &random) == 0 { peer.http.settings(maxStreams: 1) }
        let end = ContinuousClock.now + .milliseconds(100)
        var answered: Set<Int32> = []
        peer.poll { peer in
            for (stream, request) in peer.http.requests where request.isComplete && answered.count < wanted {
                if answered.insert(stream).inserted { peer.http.respond(stream, status: 200) }
            }
            return answered.count >= wanted || ContinuousClock.now > end
        }
        let open = peer.http.streams.filter { !answered.contains($0) }
        switch Int.random(in: 0..<10, using: &random) {
        case 0: peer.http.goAway(last: open.randomElement(using: &random) ?? 0)
        case 1: peer.http.goAway(last: 0, code: NGHTTP2_ENHANCE_YOUR_CALM)
        case 2: for stream in open { peer.http.reset(stream, NGHTTP2_REFUSED_STREAM) }
        case 3: for stream in open { peer.http.reset(stream, NGHTTP2_INTERNAL_ERROR) }
        case 4: return peer.sendAlert()
        case 5: return peer.resetOnClose()
        case 6: return peer.ignore()
        case 7:
            if let stream = open.first { peer.http.respond(stream, status: 503) }
            peer.write(Array(peer.http.output().dropLast()))
            return peer.ignore()
        case 8: return peer.write((0..<100).map { _ in UInt8.random(in: 0...255, using: &random) })
        default: break
        }
        peer.serve()
    }
}
