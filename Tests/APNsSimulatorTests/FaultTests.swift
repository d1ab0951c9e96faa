import APNsSimulator
import Foundation
import Testing

/// Faults of connections, with a client that sees every byte inside TLS. Faults of single answers are in
/// `PushConnectionTests`.
@Suite struct FaultTests {
    @Test(arguments: [
        (GoAwayFault(lastStream: .before), [1]), (GoAwayFault(lastStream: .this), [3]),
        (GoAwayFault(lastStream: .max), [0x7fff_ffff]),
        (GoAwayFault(lastStream: .zero), [0]), (GoAwayFault(repetition: .same), [1, 1]),
        (GoAwayFault(repetition: .graceful), [0x7fff_ffff, 1]),
    ])
    func goAwayHasTheConfiguredFields(order: GoAwayFault, lastStreams: [Int]) async throws {
        var order = order
        order.code = 11
        order.debugText = "text"
        try await play(.goingAway(order)) { client, _ in
            for last in lastStreams {
                let frame = try await client.next(.goAway)
                #expect(frame.number(at: 0) == last)
                #expect(frame.number(at: 4) == 11)
                #expect(String(decoding: frame.payload.dropFirst(8), as: UTF8.self) == "text")
            }
            try await client.end()
        }
    }

    @Test func goAwayMayDrainFirst() async throws {
        let order = GoAwayFault(lastStream: .this, ending: .drain)
        try await play(.goingAway(order)) { client, _ in
            // The last named stream is still answered, then the connection ends. Later streams are not answered.
            try? await client.send(client.request(goodHeaders(token: "ff"), on: 5))
            var answered: [Int] = []
            do {
                while true { answered.append(try await client.answer().streamID) }
            } catch RawClient.Silence.closed {}
            #expect(answered == [3])
        }
    }

    @Test func goAwayMayLeaveTheConnectionOpen() async throws {
        try await play(.goingAway(GoAwayFault(lastStream: .max, ending: .stay))) { client, running in
            #expect(try await client.answer().streamID == 3)
            try await client.send(client.request(running.pushHeaders(token: "ff"), on: 5))
            #expect(try await client.answer().streamID == 5)
        }
    }

    @Test(arguments: [0, 1, 2, 3, 5, 7, 8, 11, 13, 0xffff_ffff])
    func resetCarriesAnyCode(code: Int) async throws {
        try await play(.reset(code: code)) { client, running in
            let reset = try await client.next(.reset)
            #expect(reset.streamID == 3)
            #expect(reset.number(at: 0) == code)
            // The connection stays open.
            try await client.send(client.request(running.pushHeaders(token: "ff"), on: 5))
            #expect(try await client.answer().streamID == 5)
        }
    }

    @Test func aStreamIsResetBeforeItsBodyEnds() async throws {
        try await RunningSimulator.with(mode: .script) { running in
            try running.simulator.control.script([
                ScriptedAnswer(ScriptSelector(token: "cd*", moment: .headers), fault: .reset(code: 2))
            ])
            let client = try await openClient(running)
            for round in 0..<40 {
                let stream = 3 + round * 4
                let push = try client.request(running.pushHeaders(token: "cdcd"), on: stream)
                try await client.send([push[0]])
                #expect(try await client.next(.reset).streamID == stream)
                try await client.send([push[1]])
                try await client.send(client.request(running.pushHeaders(token: "ff"), on: stream + 2))
                #expect(try await client.answer().streamID == stream + 2)
            }
            #expect(running.simulator.control.stats.accepted == 41)
            #expect(running.simulator.control.stats.faults == ["reset": 40])
        }
    }

    @Test func theLimitShrinksAndComesBack() async throws {
        let change = StreamLimitChange(streams: 1, restoredAfter: .milliseconds(50))
        try await play(.settings(change)) { client, _ in
            let shrunk = try await client.next(.settings, flags: 0)
            #expect(shrunk.setting(RawClient.maxConcurrentStreams) == 1)
            #expect(try await client.answer().headers[":status"] == "200")
            #expect(try await client.next(.settings, flags: 0).setting(RawClient.maxConcurrentStreams) == 1000)
        }
    }

    @Test func aShrinkingLimitMayRefuseStreamsAboveIt() async throws {
        try await RunningSimulator.with(mode: .script) { running in
            let change = StreamLimitChange(streams: 1, refusesStreamsAbove: true)
            try running.simulator.control.script([
                ScriptedAnswer(token: "aa", fault: .silence), ScriptedAnswer(token: "cd", fault: .settings(change)),
            ])
            let client = try await openClient(running)
            for stream in [3, 5, 7] {
                try await client.send(client.request(running.pushHeaders(token: "aa"), on: stream))
            }
            try await client.send(client.request(running.pushHeaders(token: "cd"), on: 9))
            #expect(try await client.next(.reset).streamID == 5)
            let reset = try await client.next(.reset)
            #expect(reset.streamID == 7)
            #expect(reset.number(at: 0) == 7)
            #expect(try await client.answer().streamID == 9)
        }
    }

    /// 48,000 bytes cause a WINDOW_UPDATE, unless the window is starved.
    @Test(arguments: [false, true])
    func aStarvedClientGetsNoWindow(isStarving: Bool) async throws {
        try await RunningSimulator.with(mode: .script) { running in
            let client = try await openClient(running)
            if isStarving {
                running.simulator.control.play(.starve(windowBytes: 5, until: nil))
                #expect(try await client.next(.settings, flags: 0).setting(4) == 5)
            }
            let body = String(repeating: " ", count: 16_000)
            for stream in [3, 5, 7] {
                try await client.send(client.request(running.pushHeaders(token: "ff"), body: body, on: stream))
            }
            var updates = 0
            while true {
                let frame = try await client.next()
                if frame.kind == .windowUpdate { updates += 1 }
                if frame.kind == .data, frame.streamID == 7 { break }
            }
            #expect(updates == (isStarving ? 0 : 1))
        }
    }

    @Test func aStarvedWindowRecovers() async throws {
        try await play(.starve(windowBytes: 5, until: .milliseconds(50))) { client, _ in
            let shrunk = try await client.next(.settings, flags: 0)
            #expect(shrunk.setting(4) == 5)
            _ = try await client.answer()
            #expect(try await client.next(.settings, flags: 0).setting(4) == 65_535)
            // The 44 bytes are those of the two pushes.
            #expect(try await client.next(.windowUpdate).number(at: 0) == 44)
        }
    }

    @Test func rawBytesArriveUnchanged() async throws {
        try await play(.raw([0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8])) { client, _ in
            let ping = try await client.next(.ping)
            #expect(ping.payload == [1, 2, 3, 4, 5, 6, 7, 8])
            #expect(try await client.answer().headers[":status"] == "200")
        }
    }

    @Test(arguments: [Fault.tcpReset, .tlsAlert(code: nil), .close, .half(then: .tcpReset), .half(then: .close)])
    func theConnectionEnds(fault: Fault) async throws {
        try await play(fault) { client, _ in try await client.end() }
    }

    @Test func theConnectionMayStallAfterHalfAFrame() async throws {
        try await play(.half(then: .stay)) { client, running in
            try await client.send(client.request(running.pushHeaders(token: "ff"), on: 5))
            try await eventually("half a frame has arrived") { try await client.bytesLeftOver > 0 }
        }
    }

    @Test func aFrozenConnectionContinues() async throws {
        // The freeze begins later, with the first request.
        let began = ContinuousClock.now
        try await play(.freeze(until: .seconds(3))) { client, running in
            try await client.send(client.request(running.pushHeaders(token: "ff"), on: 5))
            #expect(try await client.answer().streamID == 3)
            #expect(try await client.answer().streamID == 5)
            #expect(ContinuousClock.now - began >= .seconds(3))
        }
    }

    @Test func shutdownRefusesDrainsAndCloses() async throws {
        try await RunningSimulator.with(mode: .script) { running in
            try running.simulator.control.script([ScriptedAnswer(token: "cd", fault: .shutDown)])
            let client = try await openClient(running)
            let last = try client.request(running.pushHeaders(token: "cd"), on: 3)
            try await client.send(last + client.request(running.pushHeaders(token: "ff"), on: 5))
            #expect(try await client.answer().headers[":status"] == "200")
            let refused = try await client.answer()
            #expect(refused.headers[":status"] == "503")
            #expect(refused.body == #"{"reason":"Shutdown"}"#)
            #expect(try await client.next(.goAway).number(at: 0) == 5)
            try await client.end()
        }
    }

    // MARK: Connections

    @Test func aFaultMayBePlayedOnANewConnection() async throws {
        try await RunningSimulator.with(mode: .script) { running in
            try running.simulator.control.script([
                ScriptedAnswer(
                    ScriptSelector(connection: 2, moment: .open),
                    fault: .goingAway(GoAwayFault(lastStream: .zero))
                )
            ])
            let first = try await openClient(running)
            let second = try await RawClient(running)
            #expect(try await second.next(.goAway).number(at: 0) == 0)
            try await second.end()
            try await first.send(first.request(running.pushHeaders(token: "ff"), on: 3))
            #expect(try await first.answer().streamID == 3)
        }
    }

    @Test func aSlowHandshakeOnlyDelays() async throws {
        try await RunningSimulator.with(mode: .script) { running in
            let slow = ScriptedAnswer(
                ScriptSelector(moment: .accept),
                fault: .slowHandshake(.milliseconds(120)),
                times: 1
            )
            try running.simulator.control.script([slow])
            let began = ContinuousClock.now
            _ = try await openClient(running)
            #expect(ContinuousClock.now - began >= .milliseconds(100))
        }
    }

    @Test(arguments: [Fault.close, .tcpReset, .tlsAlert(code: 48)])
    func aConnectionMayBeRefusedAndTheNextOneServed(fault: Fault) async throws {
        try await RunningSimulator.with(mode: .script) { running in
            try running.simulator.control.script([
                ScriptedAnswer(ScriptSelector(moment: .accept), fault: fault, times: 1)
            ])
            await #expect(throws: (any Error).self) {
                let client = try await RawClient(running)
                try await client.settings()
                _ = try await client.next(.settings)
            }
            _ = try await openClient(running)
            #expect(running.simulator.control.stats.faults == [fault.name: 1])
        }
    }

    @Test func aFaultIsPlayedOnAnOpenConnectionAtOnce() async throws {
        try await RunningSimulator.with(mode: .script) { running in
            let client = try await openClient(running)
            #expect(
                running.simulator.control.play(.goAway(code: 2, reason: "InternalServerError", isProcessed: true)) == 1
            )
            let frame = try await client.next(.goAway)
            #expect(frame.number(at: 0) == 1)
            #expect(frame.number(at: 4) == 2)
            try await client.end()
        }
    }

    /// A stream above the last stream of a GOAWAY was not processed, so resending it elsewhere is not a repeat.
    @Test func streamsAboveTheGoAwayAreNotCounted() async throws {
        try await RunningSimulator.with(mode: .script) { running in
            var late = ScriptedAnswer(token: "aa", status: 200)
            late.latency = .milliseconds(60_000)
            try running.simulator.control.script([late])
            let client = try await openClient(running)
            try await client.send(client.request(running.pushHeaders(token: "aa", id: UUID().uuidString), on: 3))
            try await client.send(client.request(running.pushHeaders(token: "aa", id: UUID().uuidString), on: 5))
            try await eventually("three requests have arrived") { running.simulator.control.requests().count >= 3 }
            running.simulator.control.play(.goingAway(GoAwayFault(lastStream: .zero)))
            try await client.end()
            #expect(running.simulator.control.stats.accepted == 1)
        }
    }

    // MARK: Answers

    @Test(arguments: ScriptedAnswer.Shape.allCases)
    func anAnswerMayLookUnusual(shape: ScriptedAnswer.Shape) async throws {
        try await RunningSimulator.with { running in
            var answer = ScriptedAnswer(token: "cd", status: 410, reason: "Fresh \"word\"", timestamp: 5)
            answer.shape = shape
            answer.retryAfter = 7
            try running.simulator.control.script([answer])
            let client = try await openClient(running)
            let id = "123e4567-e89b-12d3-a456-426614174000"
            try await client.send(client.request(running.pushHeaders(token: "cd", id: id), on: 3))
            let got = try await client.answer()
            #expect(got.headers[":status"] == "410")
            #expect(got.headers["retry-after"] == "7")
            #expect(got.headers["apns-id"] == (shape == .upperCaseId ? id.uppercased() : id))
            switch shape {
            case .bodyless: #expect(got.body == "")
            case .extra: #expect(got.body.hasPrefix(#"{"reason":"Fresh \"word\"","timestamp":5,"hint""#))
            case .split, .upperCaseId: #expect(got.body == #"{"reason":"Fresh \"word\"","timestamp":5}"#)
            }
        }
    }

    /// Sends one push that is accepted on stream 1, then one on stream 3 that gets the fault.
    private func play(_ fault: Fault, _ body: (RawClient, RunningSimulator) async throws -> Void) async throws {
        try await RunningSimulator.with(mode: .script) { running in
            try running.simulator.control.script([ScriptedAnswer(token: RuleBench.token, fault: fault)])
            let client = try await openClient(running)
            try await client.send(client.request(running.pushHeaders(), on: 3))
            try await body(client, running)
            #expect(running.simulator.control.stats.faults == [fault.name: 1])
        }
    }

    private func goodHeaders(token: String) -> [(String, String)] {
        [(":method", "POST"), (":scheme", "https"), (":path", "/3/device/\(token)"), (":authority", "localhost")]
    }

    /// A client whose first push was accepted, with the full stream limit.
    private func openClient(_ running: RunningSimulator) async throws -> RawClient {
        let client = try await RawClient(running)
        try await client.settings()
        try await client.send(client.request(running.pushHeaders(token: "ef"), on: 1))
        #expect(try await client.answer().headers[":status"] == "200")
        return client
    }
}
