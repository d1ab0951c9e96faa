import CNGHTTP2
import HTTP2
import HTTP2Support
import TestKit
import Testing

/// The session against a real nghttp2 server session, in memory: every rule of a stream's life without a socket.
struct SessionTests {
    // MARK: A request and its answer

    @Test func requestAndAnswerArriveUnchanged() throws {
        let pair = try Pair(collected: [FieldName("apns-unique-id")])
        pair.enqueue([7], body: Array(#"{"aps":{}}"#.utf8)) { $0.field(FieldName("apns-id"), "id-7") }
        try pair.exchange()

        let request = try #require(pair.server.requests[1])
        #expect(request.isComplete)
        #expect(request.body == Array(#"{"aps":{}}"#.utf8))
        let expected = [
            ":method": "POST", ":scheme": "https", ":authority": "example.com", ":path": "/3/device/7",
            "apns-topic": "com.example.shop", "apns-id": "id-7",
        ]
        #expect(request.fields == expected)

        pair.server.respond(
            1,
            status: 400,
            fields: [("apns-unique-id", "u"), ("server", "x")],
            body: Array(#"{"reason":"BadDeviceToken"}"#.utf8)
        )
        try pair.exchange()
        let completion = try #require(pair.client.completions.first)
        let response = try completion.result.get()
        #expect(completion.slot == 7)
        #expect(response.status == 400)
        #expect(response.value(FieldName("apns-unique-id")) == "u")
        #expect(response.value(FieldName("server")) == nil)
        #expect(Array(response.body) == Array(#"{"reason":"BadDeviceToken"}"#.utf8))
        #expect(pair.client.openCount == 0)
    }

    // RFC 9110 §15.2: informational responses precede the final one.
    @Test func informationalResponseIsNotTheAnswer() throws {
        let pair = try Pair()
        pair.enqueue([1])
        try pair.exchange()
        pair.server.inform(1, status: 103)
        try pair.exchange()
        #expect(pair.outcomes().isEmpty)
        pair.server.respond(1, status: 200)
        try pair.exchange()
        #expect(pair.outcomes() == [1: "200"])
    }

    @Test func dispatchFieldsAreThoseOfTheMomentTheStreamStarts() throws {
        let pair = try Pair(serverStreams: 1)
        let authorization = FieldName("authorization")
        pair.enqueue([1, 2])
        try pair.exchange(dispatched: HeaderBlock(fields: [(authorization, "bearer old")]))
        pair.server.respond(1, status: 200)
        try pair.exchange(dispatched: HeaderBlock(fields: [(authorization, "bearer new")]))
        #expect(pair.server.requests[1]?.fields["authorization"] == "bearer old")
        #expect(pair.server.requests[3]?.fields["authorization"] == "bearer new")
    }

    // MARK: The stream gate

    // docs/contracts/apns.md#11.1: a token connection may open one stream until the server raises the limit.
    @Test func onlyOneStreamOpensBeforeSettingsRaiseTheLimit() throws {
        let pair = try Pair(initialStreamLimit: 1)
        #expect(pair.client.credits == 2, "one stream, and a queue no longer than the limit")
        pair.enqueue([1, 2])
        pair.server.receive(try pair.client.output())
        #expect(pair.server.streams == [1])

        try pair.exchange()
        #expect(pair.server.streams == [1, 3])
        #expect(pair.events() == [.streamLimit(100)])
    }

    @Test func gateFollowsSettingsDownAndUp() throws {
        let pair = try Pair(serverStreams: 3)
        try pair.exchange()
        pair.enqueue(1...5)
        try pair.exchange()
        #expect(pair.client.openCount == 3)

        pair.server.settings(maxStreams: 1)
        pair.server.respond(1, status: 200)
        pair.server.respond(3, status: 200)
        try pair.exchange()
        #expect(pair.client.openCount == 1, "two ended, and the limit of 1 lets none follow")
        #expect(pair.client.credits == 0)

        pair.server.settings(maxStreams: 10)
        try pair.exchange()
        #expect(pair.client.openCount == 3)
        #expect(pair.events() == [.streamLimit(3), .streamLimit(1), .streamLimit(10)])
    }

    @Test func ownCapAppliesWithoutALimitOfThePeer() throws {
        var limits = HTTP2Limits()
        limits.maxConcurrentStreams = 4
        let pair = try Pair(serverStreams: nil, limits: limits)
        try pair.exchange()
        #expect(pair.client.streamLimit == 4)
        pair.enqueue(1...6)
        try pair.exchange()
        #expect(pair.client.openCount == 4)
    }

    @Test func requestBeyondEverySlotIsRefusedNotLost() throws {
        var limits = HTTP2Limits()
        limits.maxConcurrentStreams = 2
        limits.maxQueuedRequests = 1
        let pair = try Pair(limits: limits)
        try pair.exchange()
        pair.enqueue(1...4)
        #expect(pair.outcomes() == [4: "noCapacity unsent"])
    }

    // MARK: GOAWAY and resets

    // RFC 9113 §6.8: streams above the last id were not and will not be processed.
    @Test func goAwayResendsOnlyStreamsAboveLastID() throws {
        let pair = try Pair(serverStreams: 3)
        try pair.exchange()
        pair.enqueue(1...5)
        try pair.exchange()
        _ = pair.events()

        pair.server.goAway(last: 3, code: NGHTTP2_NO_ERROR, debug: #"{"reason":"Shutdown"}"#)
        try pair.exchange()
        #expect(pair.outcomes() == [3: "goAway unsent", 4: "goAway unsent", 5: "goAway unsent"])
        let expected = GoAway(lastStreamID: 3, code: 0, debugData: Array(#"{"reason":"Shutdown"}"#.utf8))
        #expect(pair.events() == [.goAway(expected)])

        pair.server.respond(1, status: 200)
        pair.server.respond(3, status: 410)
        try pair.exchange()
        #expect(pair.outcomes() == [1: "200", 2: "410"])
        #expect(pair.client.credits == 0)
    }

    // docs/contracts/apns.md#11.2: two GOAWAY frames in a row occur (pushy#312).
    @Test func secondGoAwayGivesUpMoreStreamsAndNoneTwice() throws {
        let pair = try Pair()
        try pair.exchange()
        pair.enqueue(1...3)
        try pair.exchange()
        pair.server.goAway(last: 3)
        try pair.exchange()
        #expect(pair.outcomes() == [3: "goAway unsent"])
        pair.server.goAway(last: 1)
        try pair.exchange()
        #expect(pair.outcomes() == [2: "goAway unsent"])
    }

    @Test func connectionLostAfterGoAwayLeavesTheRestUnknown() throws {
        let pair = try Pair()
        try pair.exchange()
        pair.enqueue(1...3)
        try pair.exchange()
        pair.server.goAway(last: 3)
        try pair.exchange()
        pair.client.fail(HTTP2Error(.connectionLost))
        let expected: [UInt64: String] = [
            1: "connectionLost unknown", 2: "connectionLost unknown", 3: "goAway unsent",
        ]
        #expect(pair.outcomes() == expected)
    }

    // RFC 9113 §8.7: only REFUSED_STREAM guarantees that the request was not processed.
    @Test(arguments: [
        (NGHTTP2_REFUSED_STREAM, "refusedStream unsent"), (NGHTTP2_CANCEL, "streamReset unknown"),
        (NGHTTP2_STREAM_CLOSED, "streamReset unknown"), (NGHTTP2_NO_ERROR, "streamReset unknown"),
    ])
    func resetIsUnsentOnlyIfRefused(code: nghttp2_error_code, outcome: String) throws {
        let pair = try Pair()
        pair.enqueue([1])
        try pair.exchange()
        pair.server.reset(1, code)
        try pair.exchange()
        #expect(pair.outcomes() == [1: outcome])
        #expect(pair.client.openCount == 0)
    }

    @Test func resetAfterTheWholeAnswerKeepsTheAnswer() throws {
        let pair = try Pair(serverWindow: 10)
        try pair.exchange()
        pair.enqueue([1], body: [UInt8](repeating: 1, count: 100))
        try pair.exchange()
        pair.server.respond(1, status: 413)
        try pair.exchange()
        pair.server.reset(1, NGHTTP2_CANCEL)
        try pair.exchange()
        #expect(pair.outcomes() == [1: "413"])
        #expect(pair.client.openCount == 0)
    }

    // MARK: Deadlines and cancellation

    @Test func deadlineResetsTheStreamAndLeavesTheOutcomeUnknown() throws {
        let pair = try Pair()
        try pair.exchange()
        let start = ContinuousClock.now
        pair.enqueue([1], deadline: start + .seconds(5))
        pair.enqueue([2], deadline: start + .seconds(9))
        try pair.exchange()
        #expect(pair.client.nextDeadline == start + .seconds(5))

        pair.client.expire(at: start + .seconds(4))
        #expect(pair.outcomes().isEmpty)
        pair.client.expire(at: start + .seconds(5))
        try pair.exchange()
        #expect(pair.outcomes() == [1: "deadlineExceeded unknown"])
        #expect(pair.server.requests[1]?.resetCode == NGHTTP2_CANCEL.rawValue)
        #expect(pair.client.nextDeadline == start + .seconds(9))
        #expect(pair.client.openCount == 1)
    }

    @Test func deadlineInTheQueueIsUnsent() throws {
        let pair = try Pair(serverStreams: 1)
        try pair.exchange()
        let start = ContinuousClock.now
        pair.enqueue([1, 2], deadline: start + .seconds(5))
        try pair.exchange()
        pair.client.expire(at: start + .seconds(6))
        #expect(pair.outcomes() == [1: "deadlineExceeded unknown", 2: "deadlineExceeded unsent"])
    }

    @Test func cancelledSlotCompletesOnceAndItsPlaceIsUsedAgain() throws {
        let pair = try Pair(serverStreams: 1)
        try pair.exchange()
        pair.enqueue([1, 2])
        try pair.exchange()
        pair.client.cancel([1, 2, 99])
        #expect(pair.outcomes() == [1: "canceled unknown", 2: "canceled unsent"])
        pair.enqueue([3])
        try pair.exchange()
        pair.server.respond(3, status: 200)
        try pair.exchange()
        #expect(pair.outcomes() == [3: "200"])
    }

    // Servers count resets of finished streams and close the connection because of them.
    @Test func finishedStreamIsNeverReset() throws {
        let pair = try Pair()
        try pair.exchange()
        pair.enqueue([1])
        try pair.exchange()
        pair.server.respond(1, status: 200)
        try pair.exchange()
        pair.client.cancel([1])
        pair.client.expire(at: Pair.never + .seconds(1))
        try pair.exchange()
        #expect(pair.outcomes() == [1: "200"])
        #expect(pair.server.requests[1]?.resetCode == nil)
    }

    // MARK: Header compression

    // docs/contracts/apns.md#7: a random id in the table evicts the fields that repeat; only its name is worth an
    // entry.
    @Test func valueOfANameOnceFieldIsNeverIndexedAfterItsFirstUse() throws {
        let pair = try Pair()
        try pair.exchange()
        for slot in UInt64(1)...3 {
            pair.enqueue([slot]) { $0.field(FieldName("apns-id", indexing: .nameOnce), "id-\(slot)") }
            try pair.exchange()
        }
        #expect(pair.server.requests[1]?.neverIndexed.contains("apns-id") == false)
        #expect(pair.server.requests[3]?.neverIndexed.contains("apns-id") == true)
        #expect(pair.server.requests[5]?.neverIndexed.contains("apns-id") == true)
        #expect(pair.server.requests[5]?.neverIndexed.contains("apns-topic") == false)
        #expect(pair.server.requests[5]?.fields["apns-id"] == "id-3")
    }

    // MARK: Flow control

    @Test func bodyWaitsForTheWindowAndContinuesWhenItOpens() throws {
        let pair = try Pair(serverWindow: 1_000)
        try pair.exchange()
        let body = (0..<5_000).map { UInt8(truncatingIfNeeded: $0) }
        pair.enqueue([1], body: body)
        try pair.client.receive(pair.server.output())
        pair.server.receive(try pair.client.output())
        #expect(pair.server.requests[1]?.body.count == 1_000)
        // The server's library opens the window again when it consumes data.
        try pair.exchange()
        #expect(pair.server.requests[1]?.body == body)
    }

    @Test func closedWindowStopsBodiesButNotDeadlines() throws {
        let pair = try Pair(serverWindow: 0)
        try pair.exchange()
        let start = ContinuousClock.now
        pair.enqueue([1], deadline: start + .seconds(1))
        try pair.exchange()
        #expect(pair.server.requests[1]?.isComplete == false)
        pair.client.expire(at: start + .seconds(1))
        try pair.exchange()
        #expect(pair.outcomes() == [1: "deadlineExceeded unknown"])
        #expect(pair.client.openCount == 0)
    }

    // MARK: Bounds

    @Test func bodyOverTheCapIsCutAndTheStatusKept() throws {
        var limits = HTTP2Limits()
        limits.maxResponseBodyBytes = 10
        let pair = try Pair(limits: limits)
        pair.enqueue([1])
        try pair.exchange()
        pair.server.respond(1, status: 500, body: [UInt8](repeating: 65, count: 40_000))
        try pair.exchange()
        let response = try #require(pair.client.completions.first).result.get()
        #expect(response.status == 500)
        #expect(response.body.count == 10)
        #expect(response.isBodyTruncated)
    }

    @Test func tooLargeOrMalformedRequestIsRefusedAndOthersContinue() throws {
        var limits = HTTP2Limits()
        limits.maxRequestBodyBytes = 10
        let pair = try Pair(limits: limits)
        try pair.exchange()
        pair.enqueue([1], body: [UInt8](repeating: 0, count: 11))
        pair.enqueue([2]) { $0.field(FieldName("apns-collapse-id"), "line\nbreak") }
        pair.enqueue([3]) { $0.path(" with space") }
        pair.enqueue([4])
        try pair.exchange()
        let expected: [UInt64: String] = [
            1: "requestTooLarge unsent", 2: "invalidRequest unsent", 3: "invalidRequest unsent",
        ]
        #expect(pair.outcomes() == expected)
        #expect(pair.server.requests[1]?.fields[":path"] == "/3/device/4")
    }

    @Test func usedUpStreamNumbersEndTheSessionInOrder() throws {
        var limits = HTTP2Limits()
        limits.maxStreamsPerConnection = 2
        let pair = try Pair(limits: limits)
        try pair.exchange()
        _ = pair.events()
        pair.enqueue(1...3)
        try pair.exchange()
        #expect(pair.events() == [.exhausted])
        #expect(pair.outcomes() == [3: "streamsExhausted unsent"])
        pair.server.respond(1, status: 200)
        pair.server.respond(3, status: 200)
        try pair.exchange()
        #expect(pair.outcomes() == [1: "200", 2: "200"])
    }

    // MARK: Hostile bytes

    /// Feeds bytes and returns whether every request completed exactly once.
    private func completesOnce(_ pair: Pair, slots: [UInt64], fed bytes: [UInt8]) -> Bool {
        do {
            try pair.client.receive(bytes)
            _ = try pair.client.output()
        } catch {
            pair.client.fail(error)
        }
        pair.client.fail(HTTP2Error(.connectionLost))
        return pair.client.completions.map(\.slot).sorted() == slots
    }

    @Test(arguments: UInt64(1)...200)
    func randomBytesNeverTrapAndEveryRequestCompletesOnce(seed: UInt64) throws {
        var random = SplitMix(state: seed)
        let pair = try Pair()
        try pair.exchange()
        pair.enqueue(1...3)
        try pair.exchange()
        let noise = (0..<Int.random(in: 1...400, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        #expect(completesOnce(pair, slots: [1, 2, 3], fed: noise))
    }

    @Test(arguments: UInt64(1)...200)
    func mutatedFramesNeverTrapAndEveryRequestCompletesOnce(seed: UInt64) throws {
        var random = SplitMix(state: seed)
        let pair = try Pair()
        try pair.exchange()
        pair.enqueue(1...3)
        try pair.exchange()
        pair.server.respond(1, status: 200, body: [1, 2, 3])
        pair.server.goAway(last: 3, debug: "x")
        pair.server.reset(5, NGHTTP2_CANCEL)
        var bytes = pair.server.output()
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        let cut = Int.random(in: 0...bytes.count, using: &random)
        #expect(completesOnce(pair, slots: [1, 2, 3], fed: Array(bytes.prefix(cut))))
    }

    // Until a server has acknowledged the client's SETTINGS it may push, with fields of any length (RFC 9113 §8.4).
    @Test func pushedFieldsAreNotTheAnswer() throws {
        let pair = try Pair()
        pair.enqueue([1])
        let request = try pair.client.output()
        // If the server has not read the request, its output contains its SETTINGS and no acknowledgement.
        let path = "/" + String(repeating: "9", count: 4_000)
        let push = pushPromise(on: 1, [(":method", "GET"), (":scheme", "https"), (":authority", "a"), (":path", path)])
        try pair.client.receive(pair.server.output() + push)
        pair.server.receive(request)
        pair.server.respond(1, status: 200)
        // The server has no state for the push, so the client's refusal of it is not passed to the server.
        try pair.client.receive(pair.server.output())
        #expect(pair.outcomes() == [1: "200"])
    }

    /// A PUSH_PROMISE frame (RFC 9113 §6.6) of stream 2, its fields as plain literals (RFC 7541 §6.2.2).
    private func pushPromise(on stream: UInt8, _ fields: [(String, String)]) -> [UInt8] {
        func literal(_ text: String) -> [UInt8] {
            var rest = text.utf8.count - 127
            guard rest >= 0 else { return [UInt8(text.utf8.count)] + Array(text.utf8) }
            var length: [UInt8] = [127]
            while rest >= 128 {
                length.append(UInt8(rest % 128) | 128)
                rest /= 128
            }
            return length + [UInt8(rest)] + Array(text.utf8)
        }
        var payload: [UInt8] = [0, 0, 0, 2]
        for (name, value) in fields { payload += [0] + literal(name) + literal(value) }
        let length = [16, 8, 0].map { UInt8(truncatingIfNeeded: payload.count >> $0) }
        return length + [5, 4, 0, 0, 0, stream] + payload
    }

    @Test func answerInSingleBytesIsTheSameAnswer() throws {
        let pair = try Pair()
        pair.enqueue([1])
        try pair.exchange()
        pair.server.respond(1, status: 200, body: [1, 2, 3])
        for byte in pair.server.output() { try pair.client.receive([byte]) }
        #expect(pair.outcomes() == [1: "200"])
    }
}
