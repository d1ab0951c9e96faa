import EngineStore
import Foundation
import Model
import NIOConcurrencyHelpers
import Outgoing
import Routing
import Testing
import UpstreamSupport

@testable import Gateway

/// Calls that rules give to an upstream, over real sockets (docs/routing.md#proxying).
@Suite(.serialized, .timeLimit(.minutes(10))) struct ProxyTests {
    private static let proxyAll = [CallRule(action: .proxy, upstream: "old")]
    private static let register = Array(#"{"device":"D1","token":"\#(String(repeating: "5b", count: 32))"}"#.utf8)

    /// An answer with 300,000 bytes in chunks of several sizes.
    private static let chunked: [UInt8] = {
        let body = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7 + $0 * 31) }
        var bytes = Array("HTTP/1.1 200 OK\r\nX-A: 1\r\nTransfer-Encoding: chunked\r\nX-B: 2\r\n\r\n".utf8)
        var (start, size) = (0, 1)
        while start < body.count {
            let end = min(body.count, start + size)
            bytes += Array((String(end - start, radix: 16) + "\r\n").utf8)
            bytes += body[start..<end]
            bytes += [0x0D, 0x0A]
            (start, size) = (end, size * 3 % 40_000 + 1)
        }
        return bytes + Array("0\r\n\r\n".utf8)
    }()

    private static func bytes(_ head: String, _ body: [UInt8] = []) -> [UInt8] {
        Array((head.replacing("\n", with: "\r\n") + "\r\n\r\n").utf8) + body
    }

    /// Answers of an upstream whose heads and bodies must arrive as they are.
    private static let answers: [[UInt8]] = [
        bytes(
            """
            HTTP/1.1 200 OK
            Date: Mon, 01 Jan 2024 00:00:00 GMT
            sErVer: theirs/1.0
            X-Request-Id: theirs
            Content-Type: text/html
            Set-Cookie: a=1
            Set-Cookie: b=2
            Content-Length: 5
            """,
            Array("hello".utf8)
        ),
        bytes("HTTP/1.1 200 OK\nContent-Encoding: gzip\nContent-Length: 3", [0x1F, 0x8B, 0xFF]),
        bytes("HTTP/1.1 404 Not Found\nContent-Length: 0"),
        bytes("HTTP/1.1 302 Found\nLocation: http://127.0.0.1:1/inside\nContent-Length: 0"),
        bytes("HTTP/1.1 503 Service Unavailable\nRetry-After: 7\nContent-Length: 2", Array("no".utf8)),
        bytes("HTTP/1.1 204 No Content\nX-A: 1"), chunked,
        bytes("HTTP/1.1 200 OK\nContent-Length: 200000", [UInt8](repeating: 0x61, count: 200_000)),
    ]

    private func proxying(
        _ upstream: RawServer,
        _ rules: [CallRule] = ProxyTests.proxyAll,
        limits: OutgoingLimits = ProxyStage.patient,
        _ body: @escaping @Sendable (ProxyStage) async throws -> Void
    ) async throws {
        try await ProxyStage.on(upstream.port, limits: limits) { stage in
            stage.directory.set(rules)
            try await body(stage)
        }
        await upstream.stop()
    }

    @Test func answersAreThoseOfTheUpstreamByteForByte() async throws {
        let upstream = try await RawServer.start()
        try await proxying(upstream) { stage in
            for bytes in Self.answers {
                upstream.script([.bytes(bytes)])
                let direct = try await RawCaller.call(upstream.port, stage.request("send"))
                let proxied = try await stage.call("send")
                #expect(direct.isWhole && proxied.isWhole)
                #expect(proxied.endToEnd == direct.endToEnd)
                #expect(proxied.body == direct.body, "\(bytes.count) bytes")
            }
            upstream.script([.text("HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n")])
            let head = try await stage.call("read", [], [], method: "HEAD")
            #expect(head.isWhole && head.field("content-length") == "9000000" && head.field("server") == nil)
        }
    }

    @Test func requestsArriveAsTheyWereSent() async throws {
        let upstream = try await RawServer.start()
        try await proxying(upstream) { stage in
            // `gzip` of {"device":"D1"}: read by the gateway, and passed on as it is.
            let zipped = Array(Data(base64Encoded: Self.zippedDevice) ?? Data())
            let large = Array(#"{"text":"\#(String(repeating: "x", count: 500_000))"}"#.utf8)
            let calls: [(String, [String], [UInt8])] = [
                ("send", ["authorization: Bearer x", "X-Odd:  a b ", "Cookie: a=1", "Cookie: b=2"], Self.register),
                ("read//x?a=%41&b=%7a&", [], Array("not json".utf8)),
                ("register", ["Content-Encoding: gzip"], zipped), ("send", ["Accept-Encoding: gzip, br"], large),
                ("other", [], []),
            ]
            for (name, fields, body) in calls {
                let direct = try await RawCaller.call(upstream.port, stage.request(name, fields, body))
                let proxied = try await stage.call(name, fields, body)
                #expect(direct.status == 200 && proxied.status == 200, "\(name) \(proxied.text)")
                let arrived = Array(upstream.requests.suffix(2))
                #expect(arrived.count == 2 && arrived.first?.body == arrived.last?.body)
                #expect(arrived.first?.head.first == arrived.last?.head.first)
                #expect(arrived.last?.field("host") == "127.0.0.1:\(upstream.port)")
                #expect(arrived.last?.field("via") == "1.1 \(ProxyStage.name)")
                #expect(Self.ends(arrived.first) == Self.ends(arrived.last))
            }
            // Only the field that `prepare` changes is changed.
            _ = try await stage.call("send", ["X-Relay-Host: push.example.com"])
            #expect(upstream.requests.last?.field("x-relay-host") == "127.0.0.1")
        }
    }

    /// printf '{"device":"D1"}' | gzip -n | base64
    private static let zippedDevice = "H4sIAAAAAAAAA6tWSkkty0xOVbJScjFUqgUA0rdRZQ8AAAA="

    /// The fields of a request that reach the other end, in any order.
    private static func ends(_ request: RawServer.Request?) -> [String] {
        (request?.head.dropFirst() ?? []).filter { line in
            let name = line.prefix { $0 != ":" }.lowercased()
            return !["host", "via", "connection", "content-length"].contains(name)
        }.map { line in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.last.map { $0.trimmingCharacters(in: .whitespaces) } ?? ""
            return "\(parts[0]): \(value)"
        }.sorted()
    }

    @Test func loopsAreRefusedInTheDialectsForm() async throws {
        let upstream = try await RawServer.start()
        try await proxying(upstream) { stage in
            for via in ["1.1 \(ProxyStage.name)", "1.1 a, 1.1 b, 1.1 c"] {
                let answer = try await stage.call("send", ["Via: \(via)"])
                #expect(answer.status == 508 && answer.text == #"{"relay":"invalid"}"#)
                // A caller cannot hide it.
                let hidden = try await stage.call("send", ["Via: \(via)", "Connection: via"])
                #expect(hidden.status == 508)
            }
            #expect(upstream.requests.isEmpty)
            #expect(try await stage.call("send", ["Via: 1.1 front"]).status == 200)
        }
    }

    @Test func theVendorAuthorizesAProxiedCallAndTheGatewayAServedOne() async throws {
        let upstream = try await RawServer.start()
        try await proxying(upstream) { stage in
            // Without any key of the gateway.
            #expect(try await stage.call("send").text == "ok")
            stage.directory.set([
                CallRule(kinds: [.send], action: .serve), CallRule(action: .proxy, upstream: "old"),
            ])
            let count = upstream.requests.count
            let refused = try await stage.call("send", ["X-Relay-Key: a wrong key of a back end"])
            #expect(refused.status == 401 && refused.text == #"{"relay":"unauthorized"}"#)
            #expect(try await stage.call("send").status == 401)
            // The right one passes the proof; the dialect then knows no sends.
            #expect(try await stage.call("send", ["X-Relay-Key: \(ProxyStage.sendKey)"]).status == 400)
            #expect(upstream.requests.count == count)
            #expect(try await stage.call("receipt").text == "ok")
            stage.directory.set([CallRule(kinds: [.send], action: .refuse)])
            #expect(try await stage.call("send").status == 404)
            // Without rules, and without a rule that matches, the gateway serves.
            #expect(try await stage.call("register", [], Self.register).text == #"{"relay":"registered"}"#)
            stage.directory.set(nil)
            #expect(try await stage.call("register", [], Self.register).text == #"{"relay":"registered"}"#)
            #expect(upstream.requests.count == count + 1)
        }
    }

    @Test func whileTheUpstreamIsDownCallersAreAskedToTryAgainOrAreServed() async throws {
        let upstream = try await RawServer.start()
        let rules = [
            CallRule(kinds: [.device], action: .proxy, upstream: "old", servesInOutage: true),
            CallRule(action: .proxy, upstream: "old"),
        ]
        try await proxying(upstream, rules) { stage in
            upstream.script([.closing("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")])
            #expect(try await stage.call("register", [], Self.register).text == "ok")
            await upstream.stop()
            try await eventually("the connection is gone") { try await stage.call("send").status == 503 }
            let answer = try await stage.call("send")
            #expect(answer.status == 503 && answer.field("retry-after") == "5")
            #expect(answer.text == #"{"relay":"unavailable"}"# && answer.field("x-request-id") != nil)
            #expect(try await stage.call("register", [], Self.register).text == #"{"relay":"registered"}"#)
            // Only an outage makes the gateway serve: a loop is none.
            let loop = try await stage.call("register", ["Via: 1.1 \(ProxyStage.name)"], Self.register)
            #expect(loop.status == 508)
        }
    }

    @Test func oneCallMoreThanPermittedIsAskedToTryAgain() async throws {
        let upstream = try await RawServer.start([.silence])
        try await proxying(upstream) { stage in
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<OutgoingLimits().inFlight {
                    group.addTask { _ = try? await stage.call("send") }
                }
                try? await eventually("all are in flight") { stage.client.inFlight(stage.upstream) == 256 }
                let refused = try? await stage.call("send")
                #expect(refused?.status == 503 && refused?.field("retry-after") == "5")
                #expect(upstream.requests.count <= 256)
                group.cancelAll()
            }
        }
    }

    // The upstream waits for a slow caller, and both end after the time of the call.
    @Test func aSlowCallerMakesTheUpstreamWaitAndEnds() async throws {
        let upstream = try await RawServer.start([.endless])
        var limits = ProxyStage.patient
        limits.call = .seconds(3)
        limits.bodyBytes = .max
        try await proxying(upstream, limits: limits) { stage in
            let written = NIOLockedValueBox(0)
            let answer = try await RawCaller.call(stage.port, stage.request("read")) {
                var still = 0
                while still < 20 {
                    try await Task.sleep(for: .milliseconds(20))
                    let now = upstream.written
                    still = written.withLockedValue { $0 } == now ? still + 1 : 0
                    written.withLockedValue { $0 = now }
                }
            }
            // Two pairs of sockets and the parts in between.
            #expect((1..<(32 << 20)).contains(written.withLockedValue { $0 }))
            #expect(answer.status == 200 && !answer.isWhole)
            try await eventually("its place is free") { stage.client.inFlight(stage.upstream) == 0 }
        }
    }

    @Test func aCallerThatLeavesEndsTheCall() async throws {
        let upstream = try await RawServer.start([.endless])
        var limits = ProxyStage.patient
        limits.bodyBytes = .max
        try await proxying(upstream, limits: limits) { stage in
            _ = try? await RawCaller.call(stage.port, stage.request("read")) {
                try await eventually("the answer has begun") { upstream.written > 0 }
                throw CancellationError()
            }
            try await eventually("the call has ended", within: .seconds(60)) {
                stage.client.inFlight(stage.upstream) == 0
            }
        }
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", 504), ("HTTP/9.9 what\r\n\r\n", 504),
        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", 504), ("", 504),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 504),
    ])
    func aHostileUpstreamNeverLeavesACallerWithoutAnAnswer(_ text: String, _ status: Int) async throws {
        let upstream = try await RawServer.start([.closing(text)])
        try await proxying(upstream) { stage in
            let send = try await stage.call("send")
            #expect(send.status == status && send.field("retry-after") == nil, "\(send.head)")
            let register = try await stage.call("register")
            #expect(register.status == 503 && register.field("retry-after") == "5", "\(register.head)")
            #expect(register.text == #"{"relay":"unavailable"}"#)
        }
    }

    @Test func anEndlessAnswerEndsAndTheGatewayServesOn() async throws {
        let upstream = try await RawServer.start([.endless])
        var limits = ProxyStage.patient
        limits.bodyBytes = 1 << 20
        try await proxying(upstream, limits: limits) { stage in
            let answer = try await stage.call("read")
            #expect(answer.status == 200 && !answer.isWhole && answer.body.count <= 1 << 20)
            stage.directory.set(nil)
            #expect(try await stage.call("register", [], Self.register).status == 200)
        }
    }

    @Test func aRedirectInwardsIsNotFollowed() async throws {
        let inside = try await RawServer.start()
        let upstream = try await RawServer.start([
            .text("HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:\(inside.port)/\r\nContent-Length: 0\r\n\r\n")
        ])
        try await proxying(upstream) { stage in
            let answer = try await stage.call("send")
            #expect(answer.status == 307)
            #expect(inside.connections == 0)
        }
        await inside.stop()
    }

    @Test func aPrivateAddressThatIsNotAllowedIsNotCalled() async throws {
        try await ProxyStage.on(1, host: "10.255.255.1") { stage in
            stage.directory.set(Self.proxyAll)
            let answer = try await stage.call("send")
            #expect(answer.status == 503 && answer.text == #"{"relay":"unavailable"}"#)
        }
    }

    @Test func proxiedCallsAreCaptured() async throws {
        let upstream = try await RawServer.start()
        let zipped = Array(Data(base64Encoded: Self.zippedDevice) ?? Data())
        try await proxying(upstream) { stage in
            let head = "HTTP/1.1 202 Accepted\nContent-Type: application/json\nContent-Encoding: gzip"
            upstream.script([.bytes(Self.bytes("\(head)\nContent-Length: \(zipped.count)", zipped))])
            #expect(try await stage.call("send", ["Content-Encoding: gzip"], zipped).body == zipped)
            // In one chunk, so that it is streamed.
            var chunk = Array("\(String(zipped.count, radix: 16))\r\n".utf8)
            chunk += zipped
            chunk += Array("\r\n0\r\n\r\n".utf8)
            upstream.script([.bytes(Self.bytes("\(head)\nTransfer-Encoding: chunked", chunk))])
            #expect(try await stage.call("send", [], Self.register).body == zipped)
            try await eventually("both are captured") { stage.captures.exchanges.count == 2 }
            for exchange in stage.captures.exchanges {
                #expect(exchange.route == "send" && exchange.outcome == .known && exchange.reason == "proxied")
                #expect(exchange.answer.status == 202 && exchange.request.body.contains("device"))
                #expect(exchange.answer.body.contains("device"), "\(exchange.answer.body)")
            }
        }
    }

    // An outage of the gateway's database must not become one of the vendor.
    @Test func withoutTheDatabaseCallsAreStillProxied() async throws {
        let upstream = try await RawServer.start()
        let rules = [
            CallRule(kinds: [.send], action: .proxy, upstream: "old"), CallRule(kinds: [.read], action: .refuse),
        ]
        try await proxying(upstream, rules) { stage in
            #expect(try await stage.call("send").text == "ok")
            stage.directory.set(isDown: true)
            let lookUps = stage.directory.lookUps
            for _ in 0..<20 { #expect(try await stage.call("send").text == "ok") }
            // One call per second asks it.
            #expect(stage.directory.lookUps - lookUps < 20)
            // Nothing else is answered: neither served calls nor refused ones.
            for name in ["register", "read"] {
                let answer = try await stage.call(name, [], Self.register)
                #expect(answer.status == 503 && answer.field("retry-after") == "5")
            }
            stage.directory.set(isDown: false)
            try await eventually("calls are served again") {
                try await stage.call("register", [], Self.register).text == #"{"relay":"registered"}"#
            }
        }
    }

    // The same without rules: nothing is remembered for it.
    @Test func withoutTheDatabaseAnAppWithoutRulesIsAskedToTryAgain() async throws {
        let upstream = try await RawServer.start()
        try await ProxyStage.on(upstream.port) { stage in
            let served = try await stage.call("register", [], Self.register)
            #expect(served.status == 200)
            stage.directory.set(isDown: true)
            let refused = try await stage.call("register", [], Self.register)
            #expect(refused.status == 503)
        }
        await upstream.stop()
    }
}
