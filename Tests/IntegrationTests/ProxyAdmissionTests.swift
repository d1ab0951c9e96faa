import Model
import Routing
import Testing
import UpstreamSupport

@testable import Gateway

/// Which calls reach the upstream (docs/routing.md#proxying).
@Suite(.serialized, .timeLimit(.minutes(10))) struct ProxyAdmissionTests {
    private static let proxyAll = [CallRule(action: .proxy, upstream: "old")]
    private static let register = Array(#"{"device":"D1","token":"\#(String(repeating: "5b", count: 32))"}"#.utf8)

    private func proxying(
        _ upstream: RawServer,
        _ rules: [CallRule] = ProxyAdmissionTests.proxyAll,
        _ body: @escaping @Sendable (ProxyStage) async throws -> Void
    ) async throws {
        try await ProxyStage.on(upstream.port) { (stage) async throws in
            stage.directory.set(rules)
            try await body(stage)
        }
        await upstream.stop()
    }

    // The upstream cannot check a caller whose credential `prepare` replaces.
    @Test func aCallerThatTheDialectDoesNotAdmitDoesNotReachTheUpstream() async throws {
        let upstream = try await RawServer.start()
        try await proxying(upstream) { (stage) async throws in
            let refused = try await stage.call("send", ["X-Relay-Unsigned: 1"])
            #expect(refused.status == 401 && refused.text == #"{"relay":"unauthorized"}"#)
            #expect(upstream.requests.isEmpty)
            #expect(try await stage.call("send").text == "ok")
            // Also by rules that are remembered.
            stage.directory.set(isDown: true)
            let count = upstream.requests.count
            #expect(try await stage.call("send", ["X-Relay-Unsigned: 1"]).status == 401)
            #expect(upstream.requests.count == count)
            #expect(try await stage.call("send").text == "ok")
        }
    }

    // A caller could otherwise show the rules a field that the upstream does not get.
    @Test func rulesDoNotSeeTheFieldsOfTheConnection() async throws {
        let upstream = try await RawServer.start()
        let rules = [
            CallRule(appVersions: VersionRange(from: "3.9"), action: .proxy, upstream: "old"),
            CallRule(action: .refuse),
        ]
        try await proxying(upstream, rules) { (stage) async throws in
            #expect(try await stage.call("send", ["X-Relay-Version: 3.10"]).text == "ok")
            let hidden = try await stage.call("send", ["X-Relay-Version: 3.10", "Connection: X-Relay-Version"])
            #expect(hidden.status == 404)
            #expect(upstream.requests.count == 1)
        }
    }

    // Nobody proves who sends it, so that the gateway must not give it to the upstream in place of itself.
    @Test func aCallThatNamesNoAppIsProxiedByTheRulesOfItsHost() async throws {
        let upstream = try await RawServer.start()
        let rollout = try #require(Rollout(hundredths: 10_000, by: .user, salt: "spring"))
        let rules = [
            CallRule(kinds: [.send], rollout: rollout, action: .serve), CallRule(action: .proxy, upstream: "old"),
        ]
        try await proxying(upstream, rules) { (stage) async throws in
            stage.directory.set(host: BindingKey(vendor: RelayAdapter.vendor, kind: "app", value: stage.app))
            func call(_ body: String) async throws -> RawCaller.Answer {
                let fields = ["Content-Type: application/json"]
                let request = RawCaller.request("POST", "/relay/send", fields, Array(body.utf8))
                return try await RawCaller.call(stage.port, request)
            }
            let served = try await call(#"{"users":["u-1"]}"#)
            #expect(served.status == 400 && served.text == #"{"relay":"invalid"}"#)
            #expect(upstream.requests.isEmpty)
            #expect(try await call("{}").text == "ok")
            #expect(upstream.requests.count == 1)
        }
    }

    // docs/routing.md#imported-devices: with this salt, token-1 is at 0.9 % and app-2 at 86.2 %.
    @Test func aSendToAnAdoptedDeviceKeepsItsSide() async throws {
        let upstream = try await RawServer.start()
        let rollout = try #require(Rollout(hundredths: 5000, by: .device, salt: "spring"))
        let rules = [
            CallRule(kinds: [.send], rollout: rollout, action: .serve),
            CallRule(kinds: [.send], action: .proxy, upstream: "old"),
        ]
        try await proxying(upstream, rules) { (stage) async throws in
            func register(_ device: String) async throws {
                let token = String(repeating: "5b", count: 32)
                let body = Array(#"{"device":"\#(device)","token":"\#(token)"}"#.utf8)
                #expect(try await stage.call("register", [], body).status == 200)
            }
            func isProxied(_ body: String = #"{"devices":["app-2"]}"#) async throws -> Bool {
                try await stage.call("send", [], Array(body.utf8)).text == "ok"
            }
            try await register("token-1")
            #expect(try await isProxied())
            #expect(stage.directory.keyLookUps == 0)
            try await register("app-2")
            // The facts about a binding are at most a second old.
            try await eventually("the app is known to have first keys") { try await !isProxied() }
            #expect(stage.directory.keyLookUps == 1)
            // A send that names no device has no look-up.
            #expect(try await isProxied("{}"))
            #expect(stage.directory.keyLookUps == 1)
            // Without the store its own key decides, and one side gets the call.
            stage.directory.set(isDown: true)
            #expect(try await isProxied())
        }
    }

    // Either side could push.
    @Test func rulesThatCannotBeReadAreAnsweredByNeitherSide() async throws {
        let upstream = try await RawServer.start()
        try await proxying(upstream) { (stage) async throws in
            stage.directory.set(isUnreadable: true)
            for name in ["register", "send"] {
                let answer = try await stage.call(name, [], Self.register)
                #expect(answer.status == 503 && answer.text == #"{"relay":"unavailable"}"#)
            }
            #expect(upstream.requests.isEmpty)
        }
    }

    // The rest of a target behind a fragment would be cut off. Of two hosts, a server in front may have admitted the first, while the fields name the second.
    @Test func aCallThatCanBeReadInTwoWaysIsRefused() async throws {
        let upstream = try await RawServer.start()
        try await proxying(upstream) { (stage) async throws in
            for (name, fields) in [("send?a#b", []), ("send#b", []), ("send", ["Host: other.example.com"])] {
                let answer = try await stage.call(name, fields)
                #expect(answer.status == 400 && answer.text == #"{"relay":"invalid"}"#, "\(name) \(fields)")
            }
            #expect(upstream.requests.isEmpty)
        }
    }

    // One caller must not make the calls of others wait.
    @Test func aKeyThatTheStoreRefusesIsUnknown() async throws {
        let upstream = try await RawServer.start()
        try await proxying(upstream) { (stage) async throws in
            let key = BindingKey(vendor: RelayAdapter.vendor, kind: "app", value: "a\0b")
            #expect(try await stage.directory.binding(key) == nil)
            let host = BindingKey(vendor: RelayAdapter.vendor, kind: "app", value: "a", host: "\0")
            #expect(try await stage.directory.binding(host) == nil)
        }
    }

    // Only the calls that rules proxy need not ask a store that did not answer a moment ago.
    @Test func aCallThatTheGatewayServesAsksTheStore() async throws {
        let upstream = try await RawServer.start()
        let rules = [CallRule(kinds: [.send], action: .proxy, upstream: "old")]
        try await proxying(upstream, rules) { (stage) async throws in
            #expect(try await stage.call("send").text == "ok")
            stage.directory.set(isDown: true)
            #expect(try await stage.call("send").text == "ok")
            stage.directory.set(isDown: false)
            #expect(try await stage.call("register", [], Self.register).status == 200)
        }
    }

    // The upstream may have received the call already.
    @Test func aCallIsHandedOverOnce() async throws {
        let upstream = try await RawServer.start([.closing("")])
        let rules = [CallRule(kinds: [.device], action: .proxy, upstream: "old", servesInOutage: true)]
        try await proxying(upstream, rules) { (stage) async throws in
            stage.directory.set(keysAreDown: true)
            let fields = ["X-Relay-Sender: 1", "X-API-Key: a key that must be looked up"]
            let answer = try await stage.call("register", fields, Self.register)
            #expect(answer.status == 503 && answer.field("retry-after") == "5")
            #expect(upstream.requests.count == 1)
        }
    }
}
