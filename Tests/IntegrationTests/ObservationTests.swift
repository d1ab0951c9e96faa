import Forwarding
import Foundation
import Model
import Outgoing
import Routing
import Testing
import UpstreamSupport

@testable import Gateway

/// Devices, users and messages of an upstream, which the gateway knows from proxied calls, over real sockets (docs/routing.md#observation).
@Suite(.serialized, .timeLimit(.minutes(5))) struct ObservationTests {
    private static let proxied = [CallRule(action: .proxy, upstream: "old")]
    private static let followed = [
        CallRule(kinds: [.receipt], action: .followMessage, upstream: "old"),
        CallRule(kinds: [.send], action: .proxy, upstream: "old"),
    ]

    /// The waits of the product, a fiftieth as long.
    private static var quick: ForwardPolicy {
        var policy = ForwardPolicy().scaled(by: 0.02)
        policy.interval = .milliseconds(50)
        return policy
    }

    private static func registration(_ device: String) -> [UInt8] {
        let token = String(repeating: "6c", count: 31) + device.suffix(2)
        return Array(#"{"device":"\#(device)","token":"\#(token)","user":"u-\#(device)"}"#.utf8)
    }

    private static func device(_ device: String) -> [UInt8] { Array(#"{"device":"\#(device)"}"#.utf8) }

    private static func receipt(_ device: String, _ message: String) -> [UInt8] {
        Array(#"{"device":"\#(device)","message":"\#(message)"}"#.utf8)
    }

    private static func answer(_ body: String) -> RawServer.Answer {
        .text("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    private static func calls(_ upstream: RawServer, _ name: String) -> Int {
        upstream.requests.count { $0.head.first?.hasPrefix("POST /relay/\(name) ") == true }
    }

    private static func receives(_ upstream: RawServer, _ receipt: [UInt8]) -> Bool {
        upstream.requests.contains { $0.head.first?.hasPrefix("POST /relay/receipt ") == true && $0.body == receipt }
    }

    /// Repeats `isDone` until it is true, at most a minute.
    private func waits(_ what: String, _ isDone: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while try await !isDone() {
            guard ContinuousClock.now < end else {
                Issue.record("\(what): it did not happen in time")
                return
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Registers a device through the upstream, and waits until the gateway knows it.
    private func register(_ device: String, _ stage: ProxyStage) async throws {
        stage.directory.set(Self.proxied)
        #expect(try await stage.call("register", [], Self.registration(device)).text == "ok")
        stage.directory.set(nil)
        try await waits("the device is known") {
            try await stage.call("read", [], Self.device(device)).text.contains("known")
        }
    }

    @Test func aProxiedRegistrationIsKnownHere() async throws {
        let upstream = try await RawServer.start()
        try await ProxyStage.on(upstream.port, observes: true) { stage in
            stage.directory.set(nil)
            #expect(try await stage.call("read", [], Self.device("D-51")).status == 400)
            try await register("D-51", stage)
            // One that the upstream refuses is not.
            upstream.script([.text("HTTP/1.1 409 Conflict\r\nContent-Length: 0\r\n\r\n")])
            stage.directory.set(Self.proxied)
            #expect(try await stage.call("register", [], Self.registration("D-52")).status == 409)
            upstream.script([RawServer.ok])
            try await register("D-53", stage)
            #expect(try await stage.call("read", [], Self.device("D-52")).status == 400)
        }
        await upstream.stop()
    }

    @Test func aReceiptFollowsItsMessage() async throws {
        let upstream = try await RawServer.start()
        try await ProxyStage.on(upstream.port, forwarding: Self.quick, observes: true) { stage in
            try await register("D-61", stage)
            stage.directory.set(Self.followed)
            upstream.script([Self.answer(#"{"id":"m-61"}"#)])
            let send = Array(#"{"users":["u-D-61"],"text":"x"}"#.utf8)
            #expect(try await stage.call("send", [], send).text == #"{"id":"m-61"}"#)
            upstream.script([RawServer.ok])
            try await waits("the message is known") { try await stage.knows("m-61") }
            // The gateway answers, because it knows the message, and the upstream receives the receipt too.
            #expect(try await stage.call("receipt", [], Self.receipt("D-61", "m-61")).text.contains("received"))
            try await waits("the upstream receives it") { Self.receives(upstream, Self.receipt("D-61", "m-61")) }
            // An unknown message may be one of the upstream.
            let before = Self.calls(upstream, "receipt")
            #expect(try await stage.call("receipt", [], Self.receipt("D-61", "unknown")).text.contains("orphan"))
            try await waits("the upstream receives it") { Self.calls(upstream, "receipt") > before }
        }
        await upstream.stop()
    }

    // The control: without the rule the vendor does not know that its message was received. Calls of one device leave in their order, so that the second receipt would
    // arrive behind the first.
    @Test func withoutFollowMessageTheUpstreamLacksTheReceipt() async throws {
        let upstream = try await RawServer.start()
        try await ProxyStage.on(upstream.port, forwarding: Self.quick, observes: true) { stage in
            try await register("D-66", stage)
            stage.directory.set([CallRule(kinds: [.send], action: .proxy, upstream: "old")])
            upstream.script([Self.answer(#"{"id":"m-66"}"#)])
            let send = Array(#"{"users":["u-D-66"],"text":"x"}"#.utf8)
            #expect(try await stage.call("send", [], send).text == #"{"id":"m-66"}"#)
            upstream.script([RawServer.ok])
            try await waits("the message is known") { try await stage.knows("m-66") }
            #expect(try await stage.call("receipt", [], Self.receipt("D-66", "m-66")).text.contains("received"))
            stage.directory.set(Self.followed)
            #expect(try await stage.call("receipt", [], Self.receipt("D-66", "unknown")).text.contains("orphan"))
            try await waits("the upstream receives the second one") {
                Self.receives(upstream, Self.receipt("D-66", "unknown"))
            }
            #expect(!Self.receives(upstream, Self.receipt("D-66", "m-66")))
        }
        await upstream.stop()
    }

    // The upstream sends a paid message, unless the receipt arrives in time.
    @Test func aReceiptThatPreventsAPaidMessageIsProxied() async throws {
        let upstream = try await RawServer.start()
        try await ProxyStage.on(upstream.port, forwarding: Self.quick, observes: true) { stage in
            try await register("D-71", stage)
            stage.directory.set(Self.followed)
            upstream.script([Self.answer(#"{"id":"m-71"}"#)])
            let send = Array(#"{"users":["u-D-71"],"text":"x","paid":true}"#.utf8)
            #expect(try await stage.call("send", [], send).text == #"{"id":"m-71"}"#)
            upstream.script([Self.answer("theirs")])
            try await waits("the message is known") { try await stage.knows("m-71") }
            #expect(try await stage.call("receipt", [], Self.receipt("D-71", "m-71")).text == "theirs")
            // An upstream that does not answer within two seconds receives it later: once more after the call that it did not answer.
            let before = Self.calls(upstream, "receipt")
            upstream.script([.silence])
            let started = ContinuousClock.now
            #expect(try await stage.call("receipt", [], Self.receipt("D-71", "m-71")).text.contains("received"))
            #expect(ContinuousClock.now - started < .seconds(12))
            upstream.script([RawServer.ok])
            try await waits("the upstream receives it again") { Self.calls(upstream, "receipt") >= before + 2 }
            // Nor is one refused that cannot leave now.
            let unfit = try await stage.call("receipt", ["X-Relay-Unfit: 1"], Self.receipt("D-71", "m-71"))
            #expect(unfit.text.contains("received"))
        }
        await upstream.stop()
    }

    @Test func aMissIsProxied() async throws {
        let upstream = try await RawServer.start()
        try await ProxyStage.on(upstream.port, observes: true) { stage in
            try await register("D-81", stage)
            stage.directory.set([
                CallRule(kinds: [.read], action: .serve, upstream: "old", proxiesMisses: true),
                CallRule(
                    kinds: [.receipt],
                    action: .followMessage,
                    upstream: "old",
                    proxiesMisses: true
                ),
            ])
            #expect(try await stage.call("read", [], Self.device("D-81")).text.contains("known"))
            #expect(try await stage.call("read", [], Self.device("D-82")).text == "ok")
            #expect(try await stage.call("receipt", [], Self.receipt("D-81", "unknown")).text == "ok")
        }
        await upstream.stop()
    }
}
