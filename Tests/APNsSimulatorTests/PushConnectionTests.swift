import APNsSimulator
import Testing

/// The rules of the connection itself (rows 3, 4, 30, 34) and its faults, with a client that can send anything.
@Suite struct PushConnectionTests {
    /// Source: docs/contracts/apns.md#2 (observed) and Apple, "Establishing a connection to APNs" (one stream before
    /// a valid token).
    @Test func theStreamLimitIsOneUntilAValidTokenComes() async throws {
        try await RunningSimulator.with { running in
            let client = try await RawClient(running)
            try await client.settings()
            let first = try await client.next(.settings, flags: 0)
            #expect(first.setting(RawClient.maxConcurrentStreams) == 1)
            #expect(first.setting(1) == 4096)
            #expect(first.setting(6) == 8000)
            try await client.acknowledgeSettings()

            // A push without a token is refused, and no new SETTINGS precede the answer.
            let anonymous = running.pushHeaders().filter { $0.0 != "authorization" }
            try await client.send(client.request(anonymous, on: 1))
            #expect(try await client.answer().body == #"{"reason":"MissingProviderToken"}"#)
            // A valid token opens the connection although its push is refused.
            let topicless = running.pushHeaders().filter { $0.0 != "apns-topic" }
            try await client.send(client.request(topicless, on: 3))
            let raised = try await client.next(.settings, flags: 0)
            #expect(raised.setting(RawClient.maxConcurrentStreams) == 1000)
            #expect(try await client.answer().body == #"{"reason":"MissingTopic"}"#)
        }
    }

    /// Source: pushy#356, golang/go#17265 (observed).
    @Test func aStreamAboveTheAcknowledgedLimitEndsTheConnection() async throws {
        try await RunningSimulator.with { running in
            let client = try await RawClient(running)
            try await client.settings()
            _ = try await client.next(.settings, flags: 0)
            try await client.acknowledgeSettings()
            let first = try client.request(running.pushHeaders(), on: 1)
            let second = try client.request(running.pushHeaders(), on: 3)
            try await client.send([first[0], second[0]])
            let goAway = try await client.next(.goAway)
            #expect(goAway.number(at: 0) == 1)
            #expect(goAway.number(at: 4) == 7)
            #expect(
                String(decoding: goAway.payload.dropFirst(8), as: UTF8.self)
                    == "Maximum active streams violated for this endpoint."
            )
            try await client.end()
        }
    }

    /// Source: RFC 9113 §5.1.2: a peer that cannot know the limit yet gets REFUSED_STREAM.
    @Test func aStreamAboveTheUnacknowledgedLimitIsRefused() async throws {
        try await RunningSimulator.with { running in
            let client = try await RawClient(running)
            try await client.settings()
            let first = try client.request(running.pushHeaders(), on: 1)
            let second = try client.request(running.pushHeaders(), on: 3)
            try await client.send([first[0], second[0], first[1], second[1]])
            let reset = try await client.next(.reset)
            #expect(reset.streamID == 3)
            #expect(reset.number(at: 0) == 7)
            #expect(try await client.answer().headers[":status"] == "200")
        }
    }

    @Test func anAcceptedPushIsAnsweredWithItsIDAndNoBody() async throws {
        let id = "123e4567-e89b-12d3-a456-426614174000"
        try await RunningSimulator.with { running in
            let client = try await RawClient(running, alpn: [])
            try await client.settings()
            try await client.send(client.request(running.pushHeaders(id: id), on: 1))
            let answer = try await client.answer()
            #expect(answer.headers == [":status": "200", "apns-id": id])
            let record = try #require(running.simulator.control.requests(token: RuleBench.token).first)
            #expect(record.status == 200)
            #expect(record.header("apns-topic") == "com.example.shop")
            #expect(record.header("authorization") == "bearer (not kept)")
            #expect(String(decoding: record.payload, as: UTF8.self) == #"{"aps":{"alert":"hi"}}"#)
        }
    }

    @Test func theSandboxAddsItsSecondID() async throws {
        try await RunningSimulator.with(change: { $0.environment = .sandbox }) { running in
            let client = try await RawClient(running)
            try await client.settings()
            try await client.send(client.request(running.pushHeaders(), on: 1))
            #expect(try await client.answer().headers["apns-unique-id"]?.count == 36)
        }
    }

    @Test func aBodyBeyondTheWindowIsRefusedWithoutWaitingForItsEnd() async throws {
        try await RunningSimulator.with { running in
            let client = try await RawClient(running)
            try await client.settings()
            let head = try client.request(running.pushHeaders(), on: 1)[0]
            let part = RawFrame(kind: .data, streamID: 1, payload: Array(repeating: 32, count: 16_384))
            try await client.send([head, part, part, part])
            let answer = try await client.answer()
            #expect(answer.headers[":status"] == "413")
            #expect(answer.body == #"{"reason":"PayloadTooLarge"}"#)
        }
    }

    @Test func aScripted410CarriesItsTimestamp() async throws {
        try await RunningSimulator.with { running in
            try running.simulator.control.script([
                ScriptedAnswer(token: "ab*", status: 410, timestamp: 1_700_000_000_123, times: 1)
            ])
            let client = try await RawClient(running)
            try await client.settings()
            try await client.send(client.request(running.pushHeaders(), on: 1))
            let answer = try await client.answer()
            #expect(answer.headers[":status"] == "410")
            #expect(answer.headers["content-type"] == "application/json")
            #expect(answer.body == #"{"reason":"Unregistered","timestamp":1700000000123}"#)
            try await client.send(client.request(running.pushHeaders(), on: 3))
            #expect(try await client.answer().headers[":status"] == "200")
            #expect(running.simulator.control.stats.rejected == ["Unregistered": 1])
        }
    }

    @Test func everyAnswerIsHeldBackByTheLatency() async throws {
        try await RunningSimulator.with(change: { $0.latency = .milliseconds(60) }) { running in
            let client = try await RawClient(running)
            try await client.settings()
            let began = ContinuousClock.now
            try await client.send(client.request(running.pushHeaders(), on: 1))
            #expect(try await client.answer().headers[":status"] == "200")
            #expect(ContinuousClock.now - began >= .milliseconds(55))
        }
    }

    @Test func stoppingSendsGoAwayWithItsReason() async throws {
        try await RunningSimulator.with { running in
            let client = try await RawClient(running)
            try await client.settings()
            try await client.send(client.request(running.pushHeaders(), on: 1))
            _ = try await client.answer()
            await running.simulator.stop()
            let goAway = try await client.next(.goAway)
            #expect(goAway.number(at: 0) == 1)
            #expect(String(decoding: goAway.payload.dropFirst(8), as: UTF8.self) == #"{"reason":"Shutdown"}"#)
            try await client.end()
        }
    }

    @Test(arguments: [
        Array("GET / HTTP/1.1\r\n\r\n".utf8), Array(repeating: UInt8(255), count: 4096),
        [0, 0, 4, 3, 0, 0, 0, 0, 0, 0, 0, 0, 8],
    ])
    func garbageEndsTheConnectionAndNothingElse(bytes: [UInt8]) async throws {
        try await RunningSimulator.with { running in
            let spoiled = try await RawClient(running)
            try await spoiled.send(bytes)
            try await spoiled.end()
            let client = try await RawClient(running)
            try await client.settings()
            try await client.send(client.request(running.pushHeaders(), on: 1))
            #expect(try await client.answer().headers[":status"] == "200")
        }
    }

    // MARK: Faults

    @Test func aScriptedResetCarriesItsCode() async throws {
        try await play(.reset(code: 8)) { client, _ in
            let reset = try await client.next(.reset)
            #expect(reset.streamID == 3)
            #expect(reset.number(at: 0) == 8)
        }
    }

    @Test func aScriptedSilenceLeavesOtherStreamsAlone() async throws {
        try await play(.silence) { client, running in
            let headers = running.pushHeaders(token: "cd")
            try await client.send(client.request(headers, on: 5))
            #expect(try await client.answer().streamID == 5)
            #expect(running.simulator.control.stats.streams == 1, "the silent one is still open")
        }
    }

    @Test func aScriptedCloseEndsTheConnectionWithoutAGoAway() async throws {
        try await play(.close) { client, _ in try await client.end() }
    }

    @Test(arguments: [false, true])
    func aScriptedGoAwayNamesTheLastProcessedStream(isProcessed: Bool) async throws {
        try await play(.goAway(code: 2, reason: "IdleTimeout", isProcessed: isProcessed)) { client, _ in
            if isProcessed { #expect(try await client.answer().streamID == 3) }
            let goAway = try await client.next(.goAway)
            #expect(goAway.number(at: 0) == (isProcessed ? 3 : 1))
            #expect(goAway.number(at: 4) == 2)
            #expect(String(decoding: goAway.payload.dropFirst(8), as: UTF8.self) == #"{"reason":"IdleTimeout"}"#)
            try await client.end()
        }
    }

    @Test func halfAFrameIsTheLastThingBeforeTheEnd() async throws {
        try await play(.half(then: .close)) { client, _ in
            try await client.end()
            #expect(try await client.bytesLeftOver > 0)
        }
    }

    @Test func aLostAnswerMayCountAsDelivered() async throws {
        try await play(.close, isDelivered: true) { client, running in
            try await client.end()
            #expect(running.simulator.control.stats.accepted == 2)
        }
    }

    /// Sends one push that is accepted on stream 1, then one on stream 3 that gets the fault.
    private func play(
        _ fault: Fault,
        isDelivered: Bool = false,
        _ body: (RawClient, RunningSimulator) async throws -> Void
    ) async throws {
        try await RunningSimulator.with(mode: .script) { running in
            try running.simulator.control.script([
                ScriptedAnswer(token: RuleBench.token, fault: fault, isDelivered: isDelivered)
            ])
            let client = try await RawClient(running)
            try await client.settings()
            try await client.send(client.request(running.pushHeaders(token: "ef"), on: 1))
            _ = try await client.answer()
            try await client.send(client.request(running.pushHeaders(), on: 3))
            try await body(client, running)
            let stats = running.simulator.control.stats
            #expect(stats.unanswered == (fault.replacesAnswer ? 1 : 0))
            #expect(stats.accepted >= 1)
        }
    }
}
