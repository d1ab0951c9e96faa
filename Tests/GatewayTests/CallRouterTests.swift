import HTTPTypes
import Model
import Routing
import Testing
import UpstreamSupport

@testable import Gateway

/// The side that answers a call (docs/routing.md#rules).
@Suite struct CallRouterTests {
    private static let upstream = CallRouter.Proxying(upstream: "old", kind: .send, servesInOutage: false)

    private func table(_ rules: [CallRule]) -> RouteTable {
        RouteTable(RouteRules(calls: rules), upstreams: ["old": UpstreamFacts(vendor: RelayAdapter.vendor)])
    }

    private func decide(
        _ rules: [CallRule],
        _ route: String = "send",
        _ headers: [String: String] = [:],
        _ body: String = "{}"
    ) -> CallRouter.Decision {
        var fields = HTTPFields()
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        let call = VendorRequest(route: route, path: "/relay/\(route)", headers: fields, body: Array(body.utf8))
        return CallRouter.decide(call, RelayAdapter(), .unbound, table(rules))
    }

    @Test func theFirstRuleThatMatchesDecides() {
        let rules = [
            CallRule(kinds: [.send], action: .proxy, upstream: "old"), CallRule(kinds: [.read], action: .refuse),
            CallRule(kinds: [.device], action: .proxy, upstream: "old", servesInOutage: true),
        ]
        #expect(decide(rules) == .proxy(Self.upstream))
        #expect(decide(rules, "read") == .refuse)
        #expect(
            decide(rules, "register")
                == .proxy(CallRouter.Proxying(upstream: "old", kind: .device, servesInOutage: true))
        )
        #expect(decide(rules, "receipt") == .serve && decide([]) == .serve)
        #expect(decide([CallRule(names: ["read"], action: .refuse)], "read") == .refuse)
        #expect(decide([CallRule(names: ["read"], action: .refuse)]) == .serve)
    }

    @Test func theVersionOfTheAppCounts() {
        let rules = [
            CallRule(appVersions: VersionRange(from: "3.9"), action: .proxy, upstream: "old")
        ]
        #expect(decide(rules, "send", ["X-Relay-Version": "3.10"]) == .proxy(Self.upstream))
        #expect(decide(rules, "send", ["X-Relay-Version": "3.8"]) == .serve)
        #expect(decide(rules) == .serve)
    }

    // Such rules cannot be stored by this version. A later one may have stored them, and neither side may answer then.
    @Test(arguments: [
        CallRule(kinds: [.receipt], action: .followMessage),
        CallRule(kinds: [.read], action: .serve, proxiesMisses: true),
        CallRule(action: .proxy),
    ])
    func aRuleWithoutItsUpstreamIsAnsweredByNeitherSide(_ rule: CallRule) {
        let route = ["receipt": "receipt", "read": "read"][rule.kinds.first?.rawValue ?? ""]
        #expect(decide([rule], route ?? "send") == .unready)
    }

    @Test func aCallAboutAMessageFollowsIt() {
        for misses in [false, true] {
            let rule = CallRule(kinds: [.receipt], action: .followMessage, upstream: "old", proxiesMisses: misses)
            let following = CallRouter.Following(upstream: "old", kind: .receipt, proxiesMisses: misses)
            #expect(decide([rule], "receipt") == .follow(following))
        }
    }

    @Test func aMissIsProxied() {
        let rule = CallRule(kinds: [.read], action: .serve, upstream: "old", proxiesMisses: true)
        let proxying = CallRouter.Proxying(upstream: "old", kind: .read, servesInOutage: false)
        #expect(decide([rule], "read") == .serveOrProxy(proxying))
    }

    @Test func aForwardedCallIsServed() {
        #expect(decide([CallRule(kinds: [.device], action: .serveAndForward, upstream: "old")], "register") == .serve)
    }

    @Test func aSendIsServedOrProxiedByItsTargetsAndServedIfTheyAreMixed() throws {
        let rollout = try #require(Rollout(hundredths: 5000, by: .user, salt: "spring"))
        let rules = [
            CallRule(kinds: [.send], rollout: rollout, action: .serve),
            CallRule(kinds: [.send], action: .proxy, upstream: "old"),
        ]
        // docs/routing.md#rollouts: user-1 is at 27.5 %, user-2 at 77.7 %.
        #expect(decide(rules, "send", [:], #"{"users":["user-1"]}"#) == .serve)
        #expect(decide(rules, "send", [:], #"{"users":["user-2"]}"#) == .proxy(Self.upstream))
        // The delivery rules split it.
        #expect(decide(rules, "send", [:], #"{"users":["user-1","user-2"]}"#) == .serve)
        #expect(decide(rules, "send", [:], #"{}"#) == .proxy(Self.upstream))
        let split = [CallRule(kinds: [.send], rollout: rollout, audience: .split, action: .serve)] + rules.dropFirst()
        #expect(decide(split, "send", [:], #"{}"#) == .serve)
    }

    @Test func devicesAreKnownByTheirFirstKeys() throws {
        let rollout = try #require(Rollout(hundredths: 5000, by: .device, salt: "spring"))
        let proxy = CallRule(kinds: [.send], action: .proxy, upstream: "old")
        func call(_ devices: [String], _ route: String = "send") -> VendorRequest {
            let body = JSONWriter.bytes(["devices": .array(devices.map { .string($0) })])
            return VendorRequest(route: route, path: "/relay/\(route)", body: body)
        }
        func devices(_ call: VendorRequest, _ rules: [CallRule]) -> [String] {
            CallRouter.devices(in: call, RelayAdapter(), .unbound, table(rules))
        }
        let rules = [CallRule(kinds: [.send], rollout: rollout, action: .serve), proxy]
        func decide(_ devices: [String], _ keys: [String: String]) -> CallRouter.Decision {
            CallRouter.decide(call(devices), RelayAdapter(), .unbound, table(rules), keys)
        }
        #expect(decide(["user-2"], [:]) == .proxy(Self.upstream) && decide(["user-1"], [:]) == .serve)
        #expect(decide(["user-2"], ["user-2": "user-1"]) == .serve)
        #expect(decide(["user-1"], ["user-1": "user-2"]) == .proxy(Self.upstream))
        #expect(decide(["user-2"], ["user-9": "user-1"]) == .proxy(Self.upstream))

        #expect(devices(call(["a", "b"]), rules) == ["a", "b"])
        #expect(devices(call(["a"], "read"), rules).isEmpty)
        let many = (0...CallRouter.deviceLimit).map { "\($0)" }
        #expect(devices(call(many), rules).isEmpty && devices(call(Array(many.dropLast())), rules).count == 2000)
        // Nothing depends on the keys where all devices are on one side, or users decide.
        let others: [(Int, Rollout.Unit)] = [(0, .device), (10_000, .device), (5000, .user)]
        for (hundredths, unit) in others {
            let other = try #require(Rollout(hundredths: hundredths, by: unit, salt: "spring"))
            #expect(devices(call(["a"]), [CallRule(kinds: [.send], rollout: other, action: .serve), proxy]).isEmpty)
        }
    }

    // The kind of a call is then unknown.
    @Test func aDialectWithoutAnUpstreamIsDecidedIfAllKindsAreEqual() {
        let call = VendorRequest(route: "x", path: "/x")
        func decide(_ rules: [CallRule]) -> CallRouter.Decision {
            CallRouter.decide(call, PlainRelay(), .unbound, table(rules))
        }
        #expect(decide([]) == .serve && decide([CallRule(action: .refuse)]) == .refuse)
        #expect(decide([CallRule(kinds: [.send], action: .refuse)]) == .unready)
        // A rule with an upstream is for calls of the upstream's dialect only.
        #expect(decide([CallRule(action: .proxy, upstream: "old")]) == .serve)
    }
}

/// A dialect without an upstream.
private struct PlainRelay: VendorAdapter {
    private let base = RelayAdapter()
    var vendor: Vendor { "plain" }
    var routes: [VendorRoute] { [] }
    var reports: Reporting { base.reports }
    var senders: SenderForm? { nil }

    func locate(_ request: VendorRequest) throws(AdapterError) -> (BindingKey, CallerKind) { try base.locate(request) }

    func decode(_ request: VendorRequest, settings: BindingSettings) throws(AdapterError) -> [Command] {
        try base.decode(request, settings: settings)
    }

    func encode(_ replies: [Reply], for request: VendorRequest, settings: BindingSettings) -> VendorResponse {
        base.encode(replies, for: request, settings: settings)
    }

    func refuse(_ error: AdapterError, for request: VendorRequest, settings: BindingSettings) -> VendorResponse {
        base.refuse(error, for: request, settings: settings)
    }

    func payload(
        for notification: Notification,
        to target: TargetFacts,
        settings: BindingSettings
    ) throws(AdapterError) -> PushPayload { try base.payload(for: notification, to: target, settings: settings) }
}
