import HTTPTypes
import Model
import Outgoing
import TestKit
import Testing
import UpstreamSupport

/// Calls of upstreams over real sockets.
@Suite(.timeLimit(.minutes(10))) struct OutgoingClientTests {
    private func text(_ length: Int, _ body: String, status: String = "200 OK") -> RawServer.Answer {
        .text("HTTP/1.1 \(status)\r\nContent-Length: \(length)\r\n\r\n\(body)")
    }

    @Test func aCallArrivesAsItIs() async throws {
        let upstream = try await RawServer.start()
        let caller = try Caller("http://127.0.0.1:\(upstream.port)/base/")
        var fields = HTTPFields()
        for (name, value) in [
            ("X-Api-VERSION", "2"), ("Authorization", "Bearer 1"), ("x-again", "a"), ("X-Again", "b"),
        ] {
            fields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
        }
        let target = "/hub/messages/$batch?direct&api-version=2015-01&q=%EA%B0%80%2F+a"
        let body = Array(0...UInt8.max)
        let answer = try await caller.call(target, method: .put, fields: fields, body: body).get()
        #expect(answer.status == 200 && answer.body == "ok" && answer.version == "1.1")
        let request = try #require(upstream.requests.first)
        #expect(request.head.first == "PUT /base\(target) HTTP/1.1")
        #expect(request.head.contains("X-Api-VERSION: 2") && request.head.contains("Authorization: Bearer 1"))
        #expect(request.head.contains("x-again: a") && request.head.contains("X-Again: b"))
        #expect(request.field("Host") == "127.0.0.1:\(upstream.port)")
        #expect(request.body == body)
        await upstream.stop()
    }

    @Test func theHostIsThatOfTheServer() async throws {
        let upstream = try await RawServer.start()
        let caller = try Caller("http://127.0.0.1:\(upstream.port)")
        var fields = HTTPFields()
        fields.append(HTTPField(name: try #require(HTTPField.Name("hOst")), value: "other.example"))
        #expect(try await caller.call(fields: fields).get().status == 200)
        let request = try #require(upstream.requests.first)
        #expect(request.field("Host") == "127.0.0.1:\(upstream.port)")
        #expect(request.head.count { $0.lowercased().hasPrefix("host:") } == 1)
        await upstream.stop()
    }

    // The client would send another target than the one that was asked for, and perhaps signed.
    @Test(arguments: ["/a b", "/a#b", "/가", "a", ""])
    func aTargetThatTheClientWouldChangeIsRefused(_ target: String) async throws {
        let upstream = try await RawServer.start()
        let caller = try Caller("http://127.0.0.1:\(upstream.port)")
        #expect(await caller.failure(target) == .invalid)
        #expect(upstream.connections == 0)
        await upstream.stop()
    }

    // The client keeps what it has read of a URL; fields and bodies are those of each call.
    @Test func callsOfOneURLShareNothingElse() async throws {
        let upstream = try await RawServer.start()
        let caller = try Caller("http://127.0.0.1:\(upstream.port)/base")
        var fields = HTTPFields()
        fields.append(HTTPField(name: try #require(HTTPField.Name("X-First")), value: "1"))
        #expect(try await caller.call("/a", method: .put, fields: fields, body: [1, 2]).get().status == 200)
        #expect(try await caller.call("/a", method: .put, body: [3]).get().status == 200)
        #expect(try await caller.call("/a", method: .delete).get().status == 200)
        let requests = upstream.requests
        let lines = requests.map { $0.head.first }
        #expect(lines == ["PUT /base/a HTTP/1.1", "PUT /base/a HTTP/1.1", "DELETE /base/a HTTP/1.1"])
        #expect(requests.map(\.body) == [[1, 2], [3], []])
        #expect(requests.map { $0.field("X-First") } == ["1", nil, nil])
        #expect(requests.prefix(2).map { $0.field("Content-Length") } == ["2", "1"])
        await upstream.stop()
    }

    // A head that arrives alone makes the upstream read twice. On a busy machine, few requests are still read in two pieces.
    @Test func mostRequestsLeaveInOnePiece() async throws {
        let upstream = try await RawServer.start()
        let caller = try Caller("http://127.0.0.1:\(upstream.port)")
        for _ in 0..<50 { #expect(try await caller.call(method: .post, body: [1, 2, 3]).get().status == 200) }
        #expect(upstream.reads < 90)
        await upstream.stop()
    }

    @Test func callsThatFollowEachOtherUseOneConnection() async throws {
        let upstream = try await RawServer.start()
        let caller = try Caller("http://127.0.0.1:\(upstream.port)")
        for _ in 0..<5 { #expect(try await caller.call().get().status == 200) }
        #expect(upstream.requests.count == 5 && upstream.connections == 1)
        await upstream.stop()
    }

    // A redirect is the answer for the caller. Nobody has checked where it leads.
    @Test(arguments: ["301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"])
    func aRedirectInwardsIsAnAnswer(_ status: String) async throws {
        let inside = try await RawServer.start()
        let redirect = "HTTP/1.1 \(status)\r\nLocation: http://127.0.0.1:\(inside.port)/\r\nContent-Length: 0\r\n\r\n"
        let upstream = try await RawServer.start([.text(redirect)])
        let caller = try Caller("http://127.0.0.1:\(upstream.port)")
        #expect(try await caller.call().get().status == Int(status.prefix(3)))
        #expect(inside.connections == 0)
        await upstream.stop()
        await inside.stop()
    }

    // MARK: Addresses

    @Test func aPrivateAddressIsForbiddenUnlessItIsAllowed() async throws {
        let upstream = try await RawServer.start()
        let caller = try Caller("http://127.0.0.1:\(upstream.port)", allowing: "192.0.2.0/24")
        #expect(await caller.failure() == .forbidden)
        #expect(upstream.connections == 0)
        await upstream.stop()
    }

    // 8.8.8.8 is in the public internet: the guard permits it, but not without TLS.
    @Test func withoutTLSOnlyAllowedAddressesAreCalled() async throws {
        let caller = try Caller("http://rest.example", allowing: "192.0.2.0/24", names: ScriptedNames("8.8.8.8"))
        #expect(await caller.failure() == .forbidden)
    }

    // The client itself would resolve this name to 127.0.0.1. It must connect to the checked address.
    @Test func theConnectionGoesToTheCheckedAddress() async throws {
        let (judged, named) = try await RawServer.pair("127.0.0.5", "127.0.0.1")
        let caller = try Caller(
            "http://localhost:\(judged.port)",
            allowing: "127.0.0.5/32",
            names: ScriptedNames("127.0.0.5")
        )
        #expect(try await caller.call().get().status == 200)
        #expect(judged.requests.first?.field("Host") == "localhost:\(judged.port)")
        #expect(named.connections == 0)
        await judged.stop()
        await named.stop()
    }

    // DNS rebinding: the name leads outside first and inside when it is looked up again.
    @Test func aNameThatMovesInsideIsForbiddenFromThenOn() async throws {
        let (outside, inside) = try await RawServer.pair("127.0.0.5", "127.0.0.1")
        let names = ScriptedNames("127.0.0.5", "127.0.0.1")
        let caller = try Caller("http://rebind.example:\(outside.port)", allowing: "127.0.0.5/32", names: names) {
            $0.addressAge = .zero
        }
        #expect(try await caller.call().get().status == 200)
        #expect(await caller.failure() == .forbidden)
        #expect(names.questions == 2 && outside.requests.count == 1 && inside.connections == 0)
        await outside.stop()
        await inside.stop()
    }

    @Test func anAddressIsKeptForItsAgeAndWhileNoNameServerAnswers() async throws {
        let upstream = try await RawServer.start()
        for (age, questions) in [(Duration.seconds(600), 1), (.zero, 3)] {
            let names = ScriptedNames("127.0.0.1", "")
            let caller = try Caller("http://kept.example:\(upstream.port)", names: names) { $0.addressAge = age }
            for _ in 0..<3 { #expect(try await caller.call().get().status == 200) }
            #expect(names.questions == questions)
        }
        #expect(try await Caller("http://none.example", names: ScriptedNames("")).failure() == .unresolved)
        await upstream.stop()
    }

    // One look-up in flight for each name; a name without an address is not asked for again at once.
    @Test(arguments: ["127.0.0.1", ""]) func callsOfOneNameShareItsLookUp(_ address: String) async throws {
        let upstream = try await RawServer.start()
        let names = ScriptedNames(address, delay: .milliseconds(300))
        let caller = try Caller("http://shared.example:\(upstream.port)", names: names)
        let expected: OutgoingError? = address.isEmpty ? .unresolved : nil
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { #expect(await caller.failure() == expected) } }
        }
        #expect(names.questions == 1)
        _ = await caller.failure()
        #expect(names.questions == 1)
        await upstream.stop()
    }

    // MARK: Requests that have left

    @Test func aClosedPortMeansThatNothingHasLeft() async throws {
        let port = try ClosedPort()
        defer { port.release() }
        let caller = try Caller("http://127.0.0.1:\(port.number)")
        for body in [[], [UInt8(1)]] {
            #expect(await caller.failure(body: body) == .unsent(.connection))
        }
        #expect(OutgoingError.unsent(.connection).isUnsent && !OutgoingError.indeterminate(.closed).isUnsent)
    }

    @Test func aCallWithoutAnAnswerMayHaveArrived() async throws {
        let upstream = try await RawServer.start([.silence])
        let caller = try Caller("http://127.0.0.1:\(upstream.port)") { $0.call = .milliseconds(1500) }
        for body in [[], [UInt8(1)]] { #expect(await caller.failure(body: body) == .indeterminate(.timeout)) }
        upstream.script([.closing("")])
        let patient = try Caller("http://127.0.0.1:\(upstream.port)")
        for body in [[], [UInt8(1)]] { #expect(await patient.failure(body: body) == .indeterminate(.closed)) }
        #expect(upstream.requests.count == 4, "nothing is repeated")
        await upstream.stop()
    }

    // MARK: Places

    @Test func aCallAboveTheLimitIsRefusedAtOnce() async throws {
        let upstream = try await RawServer.start([.silence])
        let caller = try Caller("http://127.0.0.1:\(upstream.port)") {
            $0.inFlight = 20
            $0.call = .seconds(3)
        }
        let results = await withTaskGroup(of: OutgoingError?.self) { group in
            for _ in 0..<60 { group.addTask { await caller.failure() } }
            return await group.reduce(into: [OutgoingError?]()) { $0.append($1) }
        }
        #expect(results.count { $0 == .busy } == 40)
        #expect(results.count { $0 == .indeterminate(.timeout) } == 20)
        #expect(upstream.requests.count <= 20)
        upstream.script([RawServer.ok])
        #expect(try await caller.call().get().status == 200)
        try await caller.rests()
        await upstream.stop()
    }

    // Of a short answer everything has arrived: the client waits for its reader only.
    @Test(arguments: [RawServer.Answer.endless, RawServer.ok])
    func anAnswerThatNobodyReadsFreesItsPlace(_ answer: RawServer.Answer) async throws {
        let upstream = try await RawServer.start([answer])
        let caller = try Caller("http://127.0.0.1:\(upstream.port)") { $0.inFlight = 1 }
        for _ in 0..<3 {
            let response = try await caller.client.call(OutgoingRequest(method: .get, target: "/"), to: caller.server)
            #expect(response.status == 200)
            #expect(await caller.failure() == .busy)
            _ = consume response
            try await caller.rests()
        }
        await upstream.stop()
    }

    // It is in memory, so that its call has ended.
    @Test func aCollectedAnswerFreesItsPlaceBeforeItIsRead() async throws {
        let upstream = try await RawServer.start()
        let caller = try Caller("http://127.0.0.1:\(upstream.port)")
        let request = OutgoingRequest(method: .get, target: "/")
        let response = try await caller.client.call(request, to: caller.server, collecting: 2)
        try await caller.rests()
        #expect(try await response.body.bytes(upTo: 2) == Array("ok".utf8))
        await #expect(throws: OutgoingError.indeterminate(.tooLong)) { try await response.body.bytes(upTo: 1) }
        await upstream.stop()
    }

    @Test func aShortAnswerThatIsHeldEndsWithTheTimeOfTheCall() async throws {
        let upstream = try await RawServer.start()
        let caller = try Caller("http://127.0.0.1:\(upstream.port)") { $0.call = .seconds(5) }
        let response = try await caller.client.call(OutgoingRequest(method: .get, target: "/"), to: caller.server)
        try await caller.rests()
        await #expect(throws: OutgoingError.indeterminate(.timeout)) { try await response.body.bytes(upTo: 100) }
        await upstream.stop()
    }

    @Test func aReadThatIsCancelledIsNoEndOfTheAnswer() async throws {
        let upstream = try await RawServer.start([text(100, "short")])
        let caller = try Caller("http://127.0.0.1:\(upstream.port)")
        let body = try await caller.client.call(OutgoingRequest(method: .get, target: "/"), to: caller.server).body
        let reading = Task { try await body.bytes(upTo: 1000) }
        try await Task.sleep(for: .milliseconds(50))
        reading.cancel()
        await #expect(throws: OutgoingError.indeterminate(.cancelled)) { try await reading.value }
        try await caller.rests()
        await upstream.stop()
    }
}
