import Forwarding
import Foundation
import Model
import Outgoing
import Routing
import TestKit
import Testing
import UpstreamSupport

@testable import Gateway

/// Calls that the gateway answers and that an upstream receives later, over real sockets (docs/routing.md#forwarding).
@Suite(.serialized, .timeLimit(.minutes(Soak.size("SOAK_OUTAGE_SECONDS") == nil ? 5 : 60))) struct ForwardingTests {
    /// For how long the upstream does not answer; nil: for five calls of each device.
    private static let outage = Soak.size("SOAK_OUTAGE_SECONDS").map { Duration.seconds($0) }

    private static let rules = [
        CallRule(kinds: [.device, .user, .receipt], action: .serveAndForward, upstream: "old")
    ]

    /// The waits of the product, a fiftieth as long.
    private static var quick: ForwardPolicy {
        var policy = ForwardPolicy().scaled(by: 0.02)
        policy.interval = .milliseconds(50)
        return policy
    }

    /// Those of the product, if the upstream is away for long.
    private static let policy = outage == nil ? quick : ForwardPolicy()

    private static func median(_ values: [Duration]) -> Duration { values.sorted()[values.count / 2] }

    private static func body(_ device: String, _ number: Int) -> [UInt8] {
        let token = String(repeating: "5b", count: 31) + device.suffix(2)
        return Array(#"{"device":"\#(device)","token":"\#(token)","user":"u-\#(device)","n":\#(number)}"#.utf8)
    }

    private static func arrived(_ upstream: RawServer) -> [String: [Int]] {
        var arrived: [String: [Int]] = [:]
        for request in upstream.requests {
            guard let body = (try? JSONParser.parse(request.body))?.object, let device = body["device"]?.string,
                let number = body["n"]?.int
            else { continue }
            // Only a call whose answer was lost arrives twice, and then at once.
            if arrived[device]?.last != Int(number) { arrived[device, default: []].append(Int(number)) }
        }
        return arrived
    }

    private func waits(_ what: String, _ isDone: () -> Bool) async throws {
        // The product looks for an upstream that was away every 30 s.
        let end = ContinuousClock.now + .seconds(Self.outage == nil ? 60 : 180)
        while !isDone() {
            guard ContinuousClock.now < end else {
                Issue.record("\(what): it did not happen in time")
                return
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    @Test func anUpstreamThatReturnsReceivesEverythingInOrder() async throws {
        let port = try ClosedPort()
        let devices = (1...(Self.outage == nil ? 3 : 10)).map { ($0 < 10 ? "D-0" : "D-") + "\($0)" }
        try await ProxyStage.on(port.number, forwarding: Self.policy) { stage in
            stage.directory.set(Self.rules)
            // The time until the caller is answered.
            func register(_ device: String, _ number: Int) async throws -> Duration {
                let start = ContinuousClock.now
                let body = Self.body(device, number)
                let answer = try await stage.call("register", ["Authorization: Bearer theirs"], body)
                #expect(answer.status == 200 && answer.text == #"{"relay":"registered"}"#)
                return ContinuousClock.now - start
            }
            let end = ContinuousClock.now + (Self.outage ?? .zero)
            var count = 0
            var times: [Duration] = []
            while count < 5 || ContinuousClock.now < end {
                count += 1
                for device in devices { times.append(try await register(device, count)) }
                // Two calls of each device per second of a long outage.
                if Self.outage != nil { try await Task.sleep(for: .milliseconds(500)) }
            }
            let numbers = Array(1...count)
            // A call that the gateway refuses does not leave.
            #expect(try await stage.call("receipt", [], Self.body("D-01", 99)).status == 400)
            port.release()
            let upstream = try await RawServer.start(port: port.number)
            let all = numbers.count * devices.count
            try await waits("every call arrives") { Self.arrived(upstream).values.map(\.count).reduce(0, +) >= all }
            for device in devices { #expect(Self.arrived(upstream)[device] == numbers) }
            let call = try #require(upstream.requests.first)
            #expect(call.head.first == "POST /relay/register HTTP/1.1")
            #expect(call.field("authorization") == nil && call.field("via") == "1.1 \(ProxyStage.name)")
            #expect(call.field("content-type") == "application/json")
            if Self.outage != nil {
                // Callers notice no outage. Only a machine without other work can tell.
                var usual: [Duration] = []
                for number in 1...200 { usual.append(try await register(devices[number % 10], count + number)) }
                #expect(Self.median(times) <= Self.median(usual) * 2)
            }
            await upstream.stop()
        }
    }

    /// The upstream accepts the connection and never answers.
    @Test func theCallerDoesNotWaitForTheUpstream() async throws {
        let upstream = try await RawServer.start([.silence])
        try await ProxyStage.on(upstream.port, forwarding: Self.quick) { stage in
            stage.directory.set(Self.rules)
            var started = ContinuousClock.now
            let answer = try await stage.call("register", [], Self.body("D-51", 1))
            #expect(answer.status == 200 && answer.text.contains("registered"))
            // A call to the upstream ends after 15 s.
            #expect(ContinuousClock.now - started < .seconds(10))
            try await waits("the call has left") { Self.arrived(upstream)["D-51"] == [1] }
            // While it waits there, the same caller is answered.
            started = .now
            #expect(try await stage.call("register", [], Self.body("D-51", 2)).status == 200)
            #expect(ContinuousClock.now - started < .seconds(10))
            #expect(Self.arrived(upstream)["D-51"] == [1])
        }
        await upstream.stop()
    }

    @Test func aCallThatIsServedInAnOutageIsForwarded() async throws {
        let port = try ClosedPort()
        try await ProxyStage.on(port.number, forwarding: Self.quick) { stage in
            stage.directory.set([
                CallRule(kinds: [.device], action: .proxy, upstream: "old", servesInOutage: true)
            ])
            let answer = try await stage.call("register", [], Self.body("D-31", 1))
            #expect(answer.status == 200 && answer.text.contains("registered"))
            port.release()
            let upstream = try await RawServer.start(port: port.number)
            try await waits("the call arrives") { Self.arrived(upstream)["D-31"] == [1] }
            // While the upstream answers, the call is its own.
            #expect(try await stage.call("register", [], Self.body("D-31", 2)).text == "ok")
            #expect(Self.arrived(upstream)["D-31"] == [1, 2])
            await upstream.stop()
        }
    }

    @Test func aRefusedCallDoesNotStopItsQueueAndAnUnavailableOneDoes() async throws {
        let upstream = try await RawServer.start()
        let answers = ["400 Bad Request", "503 Service Unavailable", "503 Service Unavailable"]
        let empty = "\r\nContent-Length: 0\r\n\r\n"
        upstream.script(answers.map { RawServer.Answer.text("HTTP/1.1 \($0)\(empty)") } + [RawServer.ok])
        try await ProxyStage.on(upstream.port, forwarding: Self.quick) { stage in
            stage.directory.set(Self.rules)
            for number in 1...3 { _ = try await stage.call("register", [], Self.body("D-11", number)) }
            try await waits("every call arrives") { Self.arrived(upstream)["D-11"]?.last == 3 }
            #expect(Self.arrived(upstream)["D-11"] == [1, 2, 3])
            // The refused call was made once, the unavailable one until it was taken.
            #expect(upstream.requests.count == 5)
        }
        await upstream.stop()
    }

    @Test func equalRegistrationsAndCallsThatWereHereBeforeAreLeftOut() async throws {
        let port = try ClosedPort()
        try await ProxyStage.on(port.number, forwarding: Self.quick) { stage in
            stage.directory.set(Self.rules)
            for _ in 1...3 { _ = try await stage.call("register", [], Self.body("D-21", 1)) }
            let answer = try await stage.call("register", ["Via: 1.1 \(ProxyStage.name)"], Self.body("D-22", 1))
            #expect(answer.status == 200)
            _ = try await stage.call("register", [], Self.body("D-21", 2))
            port.release()
            let upstream = try await RawServer.start(port: port.number)
            try await waits("every call arrives") { Self.arrived(upstream)["D-21"]?.last == 2 }
            #expect(upstream.requests.count == 2 && Self.arrived(upstream)["D-22"] == nil)
            await upstream.stop()
        }
    }
}
