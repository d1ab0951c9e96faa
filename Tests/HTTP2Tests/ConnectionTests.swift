import HTTP2
import TestKit
import Testing

/// The whole connection over real TLS on loopback, against nghttpd.
@Suite(.timeLimit(.minutes(10)))
struct ConnectionTests {
    let certificates: Certificates
    let harness: Harness

    init() throws {
        certificates = try Certificates()
        harness = try Harness()
    }

    private func configuration(port: Int, host: String = "localhost") throws -> ConnectionConfiguration {
        let roots = try TLSContext(trustRoots: .pem(certificates.authorityPEM))
        var configuration = ConnectionConfiguration(host: host, port: port, tls: roots)
        configuration.initialStreamLimit = 100
        return configuration
    }

    /// Submits requests and returns after the loop has written those that the gate allows.
    ///
    /// A last request, slot 99, must wait in the queue and has a deadline in the past. Its deadline is processed after the
    /// others were written, so its report shows that they were.
    private func write(_ slots: ClosedRange<UInt64>, over connection: Connection) async throws {
        var batch = harness.batch(slots)
        #expect(connection.submit(&batch) == slots.count)
        var marker = harness.batch([99], timeout: .zero)
        #expect(connection.submit(&marker) == 1)
        try await harness.wait { $0.outcomes[99] != nil }
    }

    // MARK: Requests

    @Test func everyRequestOfAManyTimesFullConnectionCompletesOnce() async throws {
        let server = try Nghttpd(certificates)
        defer { server.kill() }
        let connection = try await harness.open(configuration(port: server.port))
        var batch = harness.batch(1...5_000)
        var done: UInt64 = 0
        while !batch.isEmpty {
            done += UInt64(connection.submit(&batch))
            let submitted = done
            // Accepted requests complete, which gives credits for the rest.
            try await harness.wait { $0.outcomes.count == Int(submitted) }
        }
        #expect(harness.seen.outcomes == Dictionary(uniqueKeysWithValues: (UInt64(1)...5_000).map { ($0, ["200"]) }))
        connection.close()
        try await harness.wait { $0.isClosed }
        #expect(harness.seen.closeError == nil)
    }

    @Test func submitTakesWhatCreditsAllowAndReportsWhenThereAreMore() async throws {
        let server = try Nghttpd(certificates, arguments: ["-m", "10"])
        defer { server.kill() }
        let connection = try await harness.open(configuration(port: server.port))
        try await harness.wait { $0.changes.contains(.streamLimit(10)) }
        server.freeze()
        var batch = harness.batch(1...50)
        #expect(connection.submit(&batch) == 20, "10 streams, and a queue no longer than the limit")
        #expect(connection.submit(&batch) == 0)
        #expect(batch.count == 30)
        #expect(batch.slot(at: 0) == 21)
        #expect(connection.load.credits == 0)
        let before = harness.seen.reportCount
        server.thaw()
        try await harness.wait { $0.outcomes.count == 20 }
        #expect(harness.seen.reportCount > before)
        #expect(connection.submit(&batch) == 20)
        try await harness.wait { $0.outcomes.count == 40 }
        connection.abort()
        try await harness.wait { $0.isClosed }
    }

    @Test func asyncSendReturnsTheAnswerAndReportsMissingCredit() async throws {
        let server = try Nghttpd(certificates)
        defer { server.kill() }
        let configuration = try configuration(port: server.port)
        let idle = Connection(configuration, loop: harness.loop, observer: harness)
        let request = Request(head: harness.head, path: "/ok", body: Array("{}".utf8), timeout: .seconds(5))
        let refusal = await #expect(throws: HTTP2Error.self) { try await idle.send(request) }
        #expect(refusal?.code == .noCapacity)

        let connection = try await harness.open(configuration)
        let found = try await connection.send(request)
        #expect(found.status == 200)
        let missing = try await connection.send(Request(head: harness.head, path: "/none"))
        #expect(missing.status == 404)
        #expect(!missing.body.isEmpty)
        connection.abort()
        try await harness.wait { $0.isClosed }
        #expect(harness.seen.outcomes.isEmpty, "the observer does not see the slots of `send`")
    }

    @Test func cancelledTaskCancelsItsRequest() async throws {
        let server = try Nghttpd(certificates)
        defer { server.kill() }
        let connection = try await harness.open(configuration(port: server.port))
        server.freeze()
        let request = Request(head: harness.head, path: "/ok", timeout: .seconds(60))
        let task = Task { try await connection.send(request) }
        task.cancel()
        let error = await #expect(throws: HTTP2Error.self) { try await task.value }
        #expect(error?.code == .canceled)
        connection.abort()
        try await harness.wait { $0.isClosed }
    }

    // MARK: Trust

    @Test func wrongAuthorityIsRefused() async throws {
        let server = try Nghttpd(certificates)
        defer { server.kill() }
        let stranger = try Certificates(isNew: true)
        var configuration = try configuration(port: server.port)
        configuration.tls = try TLSContext(trustRoots: .pem(stranger.authorityPEM))
        let connection = try await harness.open(configuration)
        #expect(harness.seen.closeError?.code == .certificateRejected)
        #expect(harness.seen.closeError?.isUnsent == true)
        #expect(connection.load.phase == .closed)
    }

    @Test func certificateForAnotherHostIsRefused() async throws {
        let server = try Nghttpd(certificates)
        defer { server.kill() }
        var configuration = try configuration(port: server.port)
        configuration.serverName = "api.push.apple.com"
        _ = try await harness.open(configuration)
        #expect(harness.seen.closeError?.code == .certificateRejected)
    }

    @Test func addressIsVerifiedAsAnAddress() async throws {
        let server = try Nghttpd(certificates)
        defer { server.kill() }
        let connection = try await harness.open(configuration(port: server.port, host: "127.0.0.1"))
        #expect(connection.load.phase == .open)
        var configuration = try configuration(port: server.port)
        configuration.serverName = "127.0.0.2"
        let other = try Harness()
        _ = try await other.open(configuration)
        #expect(other.seen.closeError?.code == .certificateRejected)
    }

    @Test func unreadableTrustRootsAreRefusedBeforeAnyConnection() {
        for roots in [TrustRoots.pem(Array("no certificate".utf8)), .file("/nowhere.pem")] {
            let error = #expect(throws: HTTP2Error.self) { try TLSContext(trustRoots: roots) }
            #expect(error?.code == .badCertificate)
        }
    }

    // MARK: A peer that is not reachable, or stops being reachable

    @Test func closedPortIsConnectFailed() async throws {
        let port = try ClosedPort()
        defer { port.release() }
        _ = try await harness.open(configuration(port: port.number))
        #expect(harness.seen.closeError?.code == .connectFailed)
        #expect(harness.seen.closeError?.isUnsent == true)
    }

    @Test func unknownHostIsResolveFailed() async throws {
        _ = try await harness.open(configuration(port: 443, host: "host.invalid"))
        #expect([.resolveFailed, .connectTimeout].contains(try #require(harness.seen.closeError).code))
    }

    @Test func serverThatNeverSpeaksTLSIsATimeout() async throws {
        let listener = try Listener()
        var configuration = try configuration(port: listener.port)
        configuration.timeouts.tls = .milliseconds(200)
        _ = try await harness.open(configuration)
        #expect(harness.seen.closeError?.code == .tlsTimeout)
    }

    // docs/contracts/apns.md#14, "stall": every request has a deadline, whatever the server does.
    @Test func silentServerLetsDeadlinesFireAndTheConnectionContinues() async throws {
        let server = try Nghttpd(certificates)
        defer { server.kill() }
        let connection = try await harness.open(configuration(port: server.port))
        server.freeze()
        var batch = harness.batch(1...10, timeout: .milliseconds(200))
        #expect(connection.submit(&batch) == 10)
        try await harness.wait { $0.outcomes.count == 10 }
        #expect(harness.seen.outcomes.values.allSatisfy { $0 == ["deadlineExceeded unknown"] })
        server.thaw()
        var next = harness.batch([11])
        #expect(connection.submit(&next) == 1)
        try await harness.wait { $0.outcomes[11] != nil }
        #expect(harness.seen.outcomes[11] == ["200"])
        connection.abort()
        try await harness.wait { $0.isClosed }
    }

    // docs/contracts/apns.md#11.3: send PING when a reply is overdue, and close if it is not answered.
    @Test func silentServerIsPingedAndThenDisconnected() async throws {
        let server = try Nghttpd(certificates)
        defer { server.kill() }
        var configuration = try configuration(port: server.port)
        configuration.timeouts.pingWhenSilent = .milliseconds(100)
        configuration.timeouts.pingAnswer = .milliseconds(100)
        let connection = try await harness.open(configuration)
        server.freeze()
        var batch = harness.batch(1...3)
        #expect(connection.submit(&batch) == 3)
        try await harness.wait { $0.isClosed }
        #expect(harness.seen.closeError?.code == .pingTimeout)
        #expect(
            harness.seen.outcomes == [
                1: ["pingTimeout unknown"], 2: ["pingTimeout unknown"], 3: ["pingTimeout unknown"],
            ]
        )
    }

    @Test func livingServerAnswersThePing() async throws {
        let server = try Nghttpd(certificates)
        defer { server.kill() }
        let connection = try await harness.open(configuration(port: server.port))
        connection.ping()
        try await harness.wait { $0.changes.contains { if case .pingAnswered = $0 { true } else { false } } }
        connection.close()
        try await harness.wait { $0.isClosed }
    }

    @Test func serverKilledInMidFlightGivesEverySlotOneOutcome() async throws {
        let server = try Nghttpd(certificates, arguments: ["-m", "10"])
        defer { server.kill() }
        let connection = try await harness.open(configuration(port: server.port))
        try await harness.wait { $0.changes.contains(.streamLimit(10)) }
        server.freeze()
        try await write(1...19, over: connection)
        server.kill()
        try await harness.wait { $0.isClosed }
        let seen = harness.seen
        #expect(seen.closeError?.code == .connectionLost)
        #expect(seen.closeCount == 1)
        var expected = (UInt64(1)...19).map { ($0, [$0 <= 10 ? "connectionLost unknown" : "connectionLost unsent"]) }
        expected.append((99, ["deadlineExceeded unsent"]))
        #expect(seen.outcomes == Dictionary(uniqueKeysWithValues: expected))
        var late = harness.batch([21])
        #expect(connection.submit(&late) == 0)
    }

    // MARK: The end

    @Test func orderlyCloseFinishesOpenRequests() async throws {
        let server = try Nghttpd(certificates)
        defer { server.kill() }
        let connection = try await harness.open(configuration(port: server.port))
        var batch = harness.batch(1...50)
        let taken = connection.submit(&batch)
        connection.close()
        try await harness.wait { $0.isClosed }
        #expect(taken == 50)
        #expect(harness.seen.closeError == nil)
        // Submitted and closed in one wake-up: each request was either completed or never sent, and none has an
        // unknown outcome.
        #expect(harness.seen.outcomes.count == 50)
        #expect(harness.seen.outcomes.values.allSatisfy { $0 == ["200"] || $0 == ["notSent unsent"] })
    }

    @Test func abortLeavesOpenRequestsUnknownAndQueuedOnesUnsent() async throws {
        let server = try Nghttpd(certificates, arguments: ["-m", "5"])
        defer { server.kill() }
        let connection = try await harness.open(configuration(port: server.port))
        try await harness.wait { $0.changes.contains(.streamLimit(5)) }
        server.freeze()
        try await write(1...9, over: connection)
        connection.abort()
        try await harness.wait { $0.isClosed }
        var expected = (UInt64(1)...9).map { ($0, [$0 <= 5 ? "closed unknown" : "closed unsent"]) }
        expected.append((99, ["deadlineExceeded unsent"]))
        #expect(harness.seen.outcomes == Dictionary(uniqueKeysWithValues: expected))
    }

    @Test func loopThatEndsCompletesEverythingOnIt() async throws {
        let server = try Nghttpd(certificates)
        defer { server.kill() }
        let connection = try await harness.open(configuration(port: server.port))
        server.freeze()
        var batch = harness.batch(1...10)
        #expect(connection.submit(&batch) == 10)
        harness.loop.shutdown()
        #expect(harness.seen.isClosed)
        #expect(harness.seen.outcomes.count == 10)
        #expect(harness.seen.outcomes.values.allSatisfy { $0.count == 1 })
        let late = Connection(try configuration(port: server.port), loop: harness.loop, observer: harness)
        late.open()
        #expect(late.load.phase == .closed)
    }
}
