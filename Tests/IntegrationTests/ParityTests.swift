import Commands
import DatabaseSupport
import GatewayHTTP
import Logging
import Model
import PostgresClient
import Routing
import Testing
import UpstreamSupport

@testable import Gateway

/// How well the gateway agrees with an upstream, over real sockets and in the database (docs/routing.md#parity).
@Suite(.serialized, .timeLimit(.minutes(5))) struct ParityTests {
    private static let proxied = [CallRule(action: .proxy, upstream: "old")]

    private static func registration(_ device: String) -> [UInt8] {
        let token = String(repeating: "6d", count: 31) + device.suffix(2)
        return Array(#"{"device":"\#(device)","token":"\#(token)","user":"u-\#(device)"}"#.utf8)
    }

    private static func answer(_ body: String) -> RawServer.Answer {
        .text("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    private func report(_ stage: ProxyStage) async throws -> ParityReport {
        let request = ParityRules.shown("shop", since: Timestamp(seconds: 0))
        return try #require(try await stage.handler.run(request, in: stage.tenant))
    }

    private func figure(_ metric: ParityMetric, _ stage: ProxyStage) async throws -> ParityFigure? {
        try await report(stage).figures.first { $0.metric == metric }
    }

    /// Waits until a metric has so many samples, at most a minute.
    private func waits(_ metric: ParityMetric, _ samples: Int, _ stage: ProxyStage) async throws -> ParityFigure {
        try await first("\(samples) samples of \(metric)", within: .seconds(60)) {
            guard let found = try await figure(metric, stage), found.samples >= samples else { return nil }
            return found
        }
    }

    @Test func aWrongFieldOfAnAnswerIsNamed() async throws {
        let upstream = try await RawServer.start()
        try await ProxyStage.on(upstream.port, observes: true) { stage in
            stage.directory.set(Self.proxied)
            upstream.script([Self.answer(#"{"relay":"registered"}"#)])
            _ = try await stage.call("register", [], Self.registration("D-91"))
            // Control: an answer with the same fields agrees.
            #expect(try await waits(.responses, 1, stage) == ParityFigure(.responses, samples: 1, differences: 0))
            upstream.script([Self.answer(#"{"relay":"registered by hong@example.com"}"#)])
            _ = try await stage.call("register", [], Self.registration("D-92"))
            #expect(try await waits(.responses, 2, stage) == ParityFigure(.responses, samples: 2, differences: 1))
            let sample = try #require(try await report(stage).samples.first { $0.metric == .responses })
            #expect(sample.facts["fields"] == ["relay"])
            #expect(sample.facts["call"] == "register")
            // The text of the answer is personal data.
            #expect(!JSONWriter.text(.object(sample.facts)).contains("hong"))
            #expect(try await figure(.observed, stage) == ParityFigure(.observed, samples: 2, differences: 0))
        }
        await upstream.stop()
    }

    // The vendor accepts a call that the gateway cannot read.
    @Test func aCallThatOnlyTheVendorUnderstandsIsCounted() async throws {
        let upstream = try await RawServer.start()
        try await ProxyStage.on(upstream.port, observes: true) { stage in
            stage.directory.set(Self.proxied)
            upstream.script([Self.answer(#"{"relay":"registered"}"#)])
            _ = try await stage.call("register", [], Array(#"{"device":"D-93"}"#.utf8))
            #expect(try await waits(.observed, 1, stage) == ParityFigure(.observed, samples: 1, differences: 1))
            let answers = try await waits(.responses, 1, stage)
            #expect(answers == ParityFigure(.responses, samples: 1, differences: 1))
            let sample = try #require(try await report(stage).samples.first { $0.metric == .responses })
            #expect(sample.facts["fields"] == ["status", "relay"])
        }
        await upstream.stop()
    }

    @Test func readsAreComparedAndChangeNothing() async throws {
        let upstream = try await RawServer.start()
        try await ProxyStage.on(upstream.port, observes: true) { stage in
            stage.directory.set(Self.proxied)
            upstream.script([Self.answer(#"{"relay":"known"}"#)])
            let answer = try await stage.call("read", [], Array(#"{"device":"D-94"}"#.utf8))
            #expect(answer.text == #"{"relay":"known"}"#)
            // The gateway does not know the device.
            #expect(try await waits(.responses, 1, stage) == ParityFigure(.responses, samples: 1, differences: 1))
            stage.directory.set(nil)
            #expect(try await stage.call("read", [], Array(#"{"device":"D-94"}"#.utf8)).status == 400)
        }
        await upstream.stop()
    }

    @Test func sendsShowTheirReachTheirPayloadAndTheirSender() async throws {
        let upstream = try await RawServer.start()
        try await ProxyStage.on(upstream.port, observes: true) { stage in
            stage.directory.set(Self.proxied)
            upstream.script([Self.answer(#"{"relay":"registered"}"#)])
            _ = try await stage.call("register", [], Self.registration("D-95"))
            _ = try await waits(.responses, 1, stage)
            upstream.script([Self.answer(#"{"id":"m-95"}"#)])
            let send = Array(#"{"users":["u-D-95","nobody"],"text":"x"}"#.utf8)
            _ = try await stage.call("send", [], send)
            #expect(try await waits(.reach, 2, stage) == ParityFigure(.reach, samples: 2, differences: 1))
            // The dialect writes no payloads, and the call has no key.
            #expect(try await waits(.payload, 1, stage) == ParityFigure(.payload, samples: 1, differences: 1))
            #expect(try await waits(.senders, 1, stage) == ParityFigure(.senders, samples: 1, differences: 1))
        }
        await upstream.stop()
    }

    // Receipts of a back end that still has the vendor's address. Each is counted once, whichever side answers it.
    @Test func receiptsForUnknownMessagesAreCountedOnBothSides() async throws {
        let upstream = try await RawServer.start()
        try await ProxyStage.on(upstream.port, observes: true) { stage in
            stage.directory.set(Self.proxied)
            upstream.script([Self.answer(#"{"relay":"registered"}"#)])
            _ = try await stage.call("register", [], Self.registration("D-96"))
            _ = try await waits(.responses, 1, stage)
            let receipt = Array(#"{"device":"D-96","message":"elsewhere"}"#.utf8)
            upstream.script([Self.answer(#"{"relay":"received"}"#)])
            _ = try await stage.call("receipt", [], receipt)
            #expect(try await waits(.unknown, 1, stage) == ParityFigure(.unknown, samples: 1, differences: 1))
            stage.directory.set([CallRule(kinds: [.receipt], action: .serve)])
            _ = try await stage.call("receipt", [], receipt)
            #expect(try await waits(.unknown, 2, stage) == ParityFigure(.unknown, samples: 2, differences: 2))
            var follow = CallRule(kinds: [.receipt], action: .followMessage, upstream: "old")
            stage.directory.set([follow])
            _ = try await stage.call("receipt", [], receipt)
            #expect(try await waits(.unknown, 3, stage) == ParityFigure(.unknown, samples: 3, differences: 3))
            follow.proxiesMisses = true
            stage.directory.set([follow])
            upstream.script([Self.answer(#"{"relay":"received"}"#)])
            _ = try await stage.call("receipt", [], receipt)
            // The observer counts later than the endpoint, and in the order of the calls: a further call shows that it has counted this one.
            stage.directory.set(Self.proxied)
            upstream.script([Self.answer(#"{"relay":"received"}"#)])
            _ = try await stage.call("receipt", [], receipt)
            #expect(try await waits(.unknown, 5, stage) == ParityFigure(.unknown, samples: 5, differences: 5))
        }
        await upstream.stop()
    }

    // Under load the send of a receipt may be in another lane, and its answer may arrive after the receipt. Here its transaction waits until the receipts were observed.
    @Test(arguments: [CallAction.proxy, .followMessage])
    func receiptsThatOvertakeTheirMessageAreNotLost(_ action: CallAction) async throws {
        let follows = action == .followMessage
        let rule = CallRule(kinds: [.receipt], action: action, upstream: "old", proxiesMisses: follows)
        let upstream = try await RawServer.start()
        try await ProxyStage.on(upstream.port, observes: true) { stage in
            stage.directory.set([rule] + Self.proxied)
            upstream.script([Self.answer(#"{"relay":"registered"}"#)])
            _ = try await stage.call("register", [], Self.registration("D-97"))
            _ = try await waits(.responses, 1, stage)
            let (admin, holder) = (try await stage.database.admin(), try await stage.database.admin())
            try await admin.script("SELECT pg_advisory_lock(23)")
            // A message refers to its app.
            let hold = Task {
                try await holder.script(
                    """
                    BEGIN;
                    SELECT a.app_id FROM gateway.app a FOR UPDATE;
                    SELECT pg_advisory_xact_lock(23);
                    COMMIT
                    """,
                    timeout: .seconds(300)
                )
            }
            try await wait(for: "pg_advisory_xact_lock", admin)
            upstream.script([Self.answer(#"{"id":"m-97"}"#)])
            _ = try await stage.call("send", [], Array(#"{"users":["u-D-97"],"text":"x"}"#.utf8))
            try await wait(for: "observe_message", admin)
            // All of them are about one device, and wait in one lane: more than its share of the room.
            let count = CallObserver.lateReceiptLimit / CallObserver.laneCount + 25
            upstream.script([Self.answer(#"{"relay":"received"}"#)])
            try await receipts(count, stage)
            // Longer than a receipt waits for the answer to its send.
            try await Task.sleep(for: CallObserver.lateReceiptWait + .milliseconds(500))
            try await admin.script("SELECT pg_advisory_unlock(23)")
            try await hold.value
            let known = ParityFigure(.unknown, samples: count, differences: 0)
            #expect(try await waits(.unknown, count, stage) == known)
            let received = "SELECT count(*) AS count FROM gateway.delivery d WHERE d.received_at IS NOT NULL"
            #expect(try await admin.query(received).only().int("count") == 1)
            await holder.close()
            await admin.close()
        }
        await upstream.stop()
    }

    /// Sends receipts of one device, sixteen at a time: one after the other, they would take longer than the send may wait.
    private func receipts(_ count: Int, _ stage: ProxyStage) async throws {
        let receipt = Array(#"{"device":"D-97","message":"m-97"}"#.utf8)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for place in 0..<count {
                if place >= 16 { _ = try await group.next() }
                group.addTask { _ = try await stage.call("receipt", [], receipt) }
            }
            try await group.waitForAll()
        }
    }

    // With a wait for each receipt, a node would perform twenty of them in a second while messages are sent.
    @Test func oneWaitIsEnoughForAllReceiptsThatAreDue() async throws {
        let upstream = try await RawServer.start()
        try await ProxyStage.on(upstream.port) { stage in
            let observer = idle(stage)
            let due = ContinuousClock.now
            var settled = due - .seconds(1)
            await observer.settle(due, &settled)
            #expect(settled >= due)
            // Nothing performs this send, so that a second wait would not end.
            observer.offer(
                ObservedCall(
                    call: VendorRequest(route: "send", path: "/relay/send", body: []),
                    adapter: RelayAdapter(),
                    binding: BoundCall(tenant: stage.tenant, app: "shop", settings: .unbound),
                    upstream: "old",
                    kind: .send,
                    answer: VendorResponse(status: 200)
                )
            )
            await observer.settle(due, &settled)
            let first = settled
            await observer.settle(first, &settled)
            #expect(settled == first)
        }
        await upstream.stop()
    }

    @Test func aReceiptOfANodeThatStopsDoesNotWaitLonger() async throws {
        let upstream = try await RawServer.start()
        try await ProxyStage.on(upstream.port) { stage in
            let observer = idle(stage)
            observer.stop()
            var settled = ContinuousClock.now
            let due = settled + .seconds(86_400)
            await observer.settle(due, &settled)
            #expect(settled < due)
        }
        await upstream.stop()
    }

    /// An observer that performs nothing.
    private func idle(_ stage: ProxyStage) -> CallObserver {
        CallObserver(
            handler: stage.handler,
            directory: stage.directory,
            multiStep: [:],
            logger: Logger(label: "observer") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    /// Waits until a session of the database waits for a lock in such a statement.
    private func wait(for statement: String, _ admin: PostgresConnection) async throws {
        try await eventually("a session waits in \(statement)") {
            let waiting = """
                SELECT count(*) AS count FROM pg_stat_activity
                WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%\(statement)%'
                    AND pid <> pg_backend_pid()
                """
            return try await admin.query(waiting).only().int("count") > 0
        }
    }

    @Test func twentyReadsOfASecondAreCompared() async throws {
        let upstream = try await RawServer.start()
        try await ProxyStage.on(upstream.port) { stage in
            let tally = ParityTally(
                handler: stage.handler,
                logger: Logger(label: "parity") { _ in SwiftLogNoOpLogHandler() }
            )
            let second = Timestamp(seconds: 1_000)
            #expect((0..<30).count { _ in tally.takesRead(at: second) } == ParityTally.readsPerSecond)
            #expect(tally.takesRead(at: Timestamp(seconds: 1_001)))
        }
        await upstream.stop()
    }
}
