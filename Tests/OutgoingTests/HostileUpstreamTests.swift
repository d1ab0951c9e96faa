import Foundation
import HTTPTypes
import Outgoing
import TestKit
import Testing
import UpstreamSupport

/// Upstreams that answer wrongly, never, or without end. The caller gets an answer or an error in time, and the memory stays bounded.
@Suite(.timeLimit(.minutes(10))) struct HostileUpstreamTests {
    @Test func anEndlessAnswerEndsAtTheLimit() async throws {
        let upstream = try await RawServer.start([.endless])
        let caller = try Caller("http://127.0.0.1:\(upstream.port)") { $0.bodyBytes = 1 << 20 }
        guard case .failure(let error) = await caller.call(upTo: .max) else { throw CancellationError() }
        #expect(error == .indeterminate(.tooLong))
        await upstream.stop()
    }

    // At most one part is held for the reader. Everything else that the upstream has sent is in the buffers of two sockets.
    @Test func aSlowReaderMakesTheUpstreamWait() async throws {
        let upstream = try await RawServer.start([.endless])
        let caller = try Caller("http://127.0.0.1:\(upstream.port)") { $0.bodyBytes = .max }
        let response = try await caller.client.call(OutgoingRequest(method: .get, target: "/"), to: caller.server)
        var parts = response.body.makeAsyncIterator()
        #expect(try await parts.next() != nil)
        var (written, still) = (-1, 0)
        while still < 20 {
            try await Task.sleep(for: .milliseconds(10))
            still = upstream.written == written ? still + 1 : 0
            written = upstream.written
        }
        #expect(written < 16 << 20)
        await upstream.stop()
    }

    @Test(arguments: [Int?.none, 100_000]) func slowBytesEndWithTheTimeOfTheCall(_ collecting: Int?) async throws {
        let upstream = try await RawServer.start([.dripping])
        let caller = try Caller("http://127.0.0.1:\(upstream.port)") { $0.call = .milliseconds(700) }
        let start = ContinuousClock.now
        #expect(await caller.failure(collecting: collecting) == .indeterminate(.timeout))
        #expect(ContinuousClock.now - start < .seconds(30))
        await upstream.stop()
    }

    @Test(arguments: [Int?.none, 100]) func anAnswerThatEndsTooEarlyIsAnError(_ collecting: Int?) async throws {
        let upstream = try await RawServer.start([.closing("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort")])
        let caller = try Caller("http://127.0.0.1:\(upstream.port)")
        #expect(await caller.failure(collecting: collecting) == .indeterminate(.closed))
        await upstream.stop()
    }

    // Its head may matter although its body does not arrive.
    @Test func theHeadOfABrokenAnswerIsReturned() async throws {
        let upstream = try await RawServer.start([.closing("HTTP/1.1 202 OK\r\nContent-Length: 100\r\n\r\nshort")])
        let caller = try Caller("http://127.0.0.1:\(upstream.port)")
        let request = OutgoingRequest(method: .get, target: "/")
        let response = try await caller.client.call(request, to: caller.server, collecting: 100)
        #expect(response.status == 202)
        await #expect(throws: OutgoingError.indeterminate(.closed)) { try await response.body.bytes(upTo: 100) }
        await upstream.stop()
    }

    @Test func anAnswerOfUnknownLengthIsNotCollected() async throws {
        let upstream = try await RawServer.start([.endless])
        let caller = try Caller("http://127.0.0.1:\(upstream.port)") { $0.bodyBytes = .max }
        let request = OutgoingRequest(method: .get, target: "/")
        let response = try await caller.client.call(request, to: caller.server, collecting: Int.max)
        var parts = response.body.makeAsyncIterator()
        #expect(try await parts.next() != nil)
        await upstream.stop()
    }

    // Bytes behind an answer must not become the answer to another call.
    @Test func whatFollowsAnAnswerIsNeverTheNextAnswer() async throws {
        let evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
        let upstream = try await RawServer.start([
            .text("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok\(evil)"), RawServer.ok,
        ])
        let caller = try Caller("http://127.0.0.1:\(upstream.port)")
        for _ in 0..<20 {
            if case .success(let answer) = await caller.call() { #expect(answer.body == "ok") }
        }
        await upstream.stop()
    }

    @Test(arguments: [
        "", "x", "HTTP/1.1\r\n\r\n", "HTTP/9.9 200 OK\r\n\r\n", "SSH-2.0-OpenSSH_9.6\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 200 OK\r\n"
            + String(repeating: "X-Long: " + String(repeating: "x", count: 1000) + "\r\n", count: 2000),
    ])
    func anAnswerThatIsNotHTTPIsAnError(_ text: String) async throws {
        let upstream = try await RawServer.start([.closing(text), RawServer.ok])
        // The upstream closes the connection after each answer, so that no call waits so long.
        let caller = try Caller("http://127.0.0.1:\(upstream.port)") { $0.call = .seconds(30) }
        // An error, or an answer as far as it can be read: never a trap, never longer than the call.
        if case .failure(let error) = await caller.call() { #expect(!error.isUnsent) }
        #expect(try await caller.call().get().body == "ok")
        await upstream.stop()
    }

    /// 150 answers of each of ten upstreams. `MUTATIONS=10000` selects the long run: 100,000 answers.
    private static let mutations = ProcessInfo.processInfo.environment["MUTATIONS"].flatMap { Int($0) } ?? 150

    // Ten upstreams at a time, because some of the answers end by their time limit.
    @Test func mutatedAnswersNeitherTrapNorHang() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for place in 0..<10 { group.addTask { try await Self.mutate(place) } }
            try await group.waitForAll()
        }
    }

    /// Answers in the forms of the five vendors: a code or a text in the body, a place in the head, a body in chunks, and a compressed one.
    private static let forms = [
        "200 OK\r\nContent-Type: application/json\r\nContent-Length: 16\r\n\r\n{\"rc\":1,\"a\":\"b\"}",
        "200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok",
        "201 Created\r\nLocation: https://h/hub1/messages/1?api-version=2017-04\r\nTrackingId: t_G1\r\n"
            + "Content-Length: 0\r\n\r\n",
        "429 Too Many Requests\r\nRetry-After: 30\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "8\r\n{\"RT\":\"0\r\n6\r\n001\"} \r\n0\r\n\r\n",
        "200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\u{1F}\u{8}\u{8}\u{0}",
    ].map { Array("HTTP/1.1 \($0)".utf8) }

    private static func mutate(_ place: Int) async throws {
        var random = SplitMix(state: Fuzz.seed &+ UInt64(place))
        let upstream = try await RawServer.start()
        let caller = try Caller("http://127.0.0.1:\(upstream.port)") { limits in
            limits.call = .milliseconds(100)
            limits.bodyBytes = 1000
        }
        for index in 0..<mutations {
            let bytes = mutated(forms[index % forms.count], &random)
            // Most answers end with their connection, so that one that is too short needs no waiting.
            upstream.script([index.isMultiple(of: 11) ? .bytes(bytes) : .ending(bytes)])
            let collecting: Int? = Bool.random(using: &random) ? 1000 : nil
            let result = await caller.call(collecting: collecting)
            // An error, or an answer as far as it can be read.
            if case .success(let answer) = result { #expect(answer.body.utf8.count <= 3000, "seed \(Fuzz.seed)") }
        }
        try await caller.rests()
        await upstream.stop()
    }

    private static func mutated(_ good: [UInt8], _ random: inout SplitMix) -> [UInt8] {
        var bytes = good
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.remove(at: place)
            case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
            default: bytes.removeLast(Int.random(in: 1...min(20, bytes.count - 1), using: &random))
            }
        }
        return bytes
    }
}
