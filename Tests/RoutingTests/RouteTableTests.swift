import Model
import Routing
import Testing

/// Each kind of rule, and the order of rules.
@Suite struct RouteTableTests {
    private let upstreams: [CredentialID: UpstreamFacts] = [
        "old": UpstreamFacts(vendor: .upmc), "braze": UpstreamFacts(vendor: .braze, addressesUsers: true),
    ]
    private let inside = RolloutFacts(user: "user-1", device: "d1")
    private let outside = RolloutFacts(user: "user-2", device: "d2")

    /// user-1 is at 27.5277 per cent, user-2 at 77.7393.
    private func rollout(_ hundredths: Int = 5000, by unit: Rollout.Unit = .user) throws -> Rollout {
        try #require(Rollout(hundredths: hundredths, by: unit, salt: "spring"))
    }

    private func table(_ calls: [CallRule] = [], _ deliveries: [DeliveryRule] = []) -> RouteTable {
        RouteTable(RouteRules(calls: calls, deliveries: deliveries), upstreams: upstreams)
    }

    private func call(
        _ kind: CallKind = .send,
        _ named: NamedTargets = .audience,
        vendor: Vendor = .upmc,
        name: String = "",
        version: String? = nil
    ) -> RouteTable.Call {
        RouteTable.Call(vendor: vendor, kind: kind, name: name, appVersion: version, named: named)
    }

    // MARK: Calls

    @Test func withoutRulesTheGatewayServes() {
        for kind in CallKind.allCases {
            let decision = table().decide(call(kind))
            #expect(decision.action == .serve && decision.rule == nil && !decision.isSplit)
        }
        let delivery = table().decide(RouteTable.Delivery(vendor: .upmc, platform: .ios, lane: .bulk))
        #expect(delivery.paths == [.apns] && delivery.rule == nil)
    }

    @Test func theFirstRuleThatMatchesApplies() {
        let table = table([
            CallRule(kinds: [.device, .user], action: .serveAndForward, upstream: "old"),
            CallRule(names: ["rcv_get_badge"], action: .refuse),
            CallRule(kinds: [.read], action: .serve, upstream: "old", proxiesMisses: true),
            CallRule(appVersions: VersionRange(from: "3.9", below: "4"), action: .followMessage, upstream: "old"),
            CallRule(kinds: [.receipt], action: .proxy, upstream: "old", servesInOutage: true),
        ])
        #expect(table.decide(call(.device)).action == .serveAndForward && table.decide(call(.user)).rule == 0)
        #expect(table.decide(call(.read, name: "rcv_get_badge")).action == .refuse)
        let read = table.decide(call(.read, version: "3.10"))
        #expect(read.rule == 2 && read.proxiesMisses && read.upstream == "old")
        #expect(table.decide(call(.receipt, version: "3.10")).action == .followMessage)
        for version in [nil, "3.8", "4.0", "4"] {
            let receipt = table.decide(call(.receipt, version: version))
            #expect(receipt.rule == 4 && receipt.servesInOutage, "\(version ?? "none")")
        }
        #expect(table.decide(call(.send)) == RouteTable(.none, upstreams: [:]).decide(call(.send)))
    }

    // An upstream understands calls of its own dialect.
    @Test func aRuleWithAnUpstreamIsForItsDialect() {
        let table = table([CallRule(action: .proxy, upstream: "old"), CallRule(vendor: .ipns, action: .refuse)])
        #expect(table.decide(call(vendor: .upmc)).action == .proxy)
        #expect(table.decide(call(vendor: .braze)).rule == nil)
        #expect(table.decide(call(vendor: .ipns)).action == .refuse)
    }

    @Test func aSendFollowsTheRolloutOfItsTargets() throws {
        let table = table([
            CallRule(kinds: [.send], rollout: try rollout(), action: .serve),
            CallRule(kinds: [.send], action: .proxy, upstream: "old"),
        ])
        func decide(_ named: NamedTargets) -> RouteTable.CallDecision { table.decide(call(.send, named)) }
        #expect(decide(.targets([inside, inside])).rule == 0 && !decide(.targets([inside])).isSplit)
        #expect(decide(.targets([outside, outside])).action == .proxy)
        for named in [
            NamedTargets.targets([inside, outside]), .targets([outside, inside]), .hidden,
            .targets([RolloutFacts()]), .targets([RolloutFacts(device: "d1")]),
            .targets([inside, RolloutFacts(device: "d1")]),
        ] {
            let decision = decide(named)
            #expect(decision.action == .serve && decision.isSplit && decision.rule == 0, "\(named)")
        }
        #expect(decide(.audience).action == .proxy && decide(.targets([])).action == .proxy)
    }

    @Test func anAudienceIsSplitWhereTheRuleSaysSo() throws {
        let table = table([
            CallRule(kinds: [.send], rollout: try rollout(), audience: .split, action: .serve),
            CallRule(kinds: [.send], action: .proxy, upstream: "old"),
        ])
        let decision = table.decide(call(.send, .audience))
        #expect(decision.action == .serve && decision.isSplit)
    }

    // MARK: Deliveries

    @Test func eachCriterionOfADeliveryCounts() throws {
        let table = table(
            [],
            [
                DeliveryRule(vendor: .ipns, paths: [.none]),
                DeliveryRule(platform: .android, paths: [.upstream("old")]),
                DeliveryRule(lane: .urgent, paths: [.apns]),
                DeliveryRule(tags: ["vip", "kr"], paths: [.apns, .upstream("old")], coolDown: .seconds(5)),
                DeliveryRule(rollout: try rollout(), paths: [.apns]),
                DeliveryRule(paths: [.upstream("old")]),
            ]
        )
        func rule(
            _ vendor: Vendor = .upmc,
            _ platform: Platform = .ios,
            _ lane: Lane = .bulk,
            _ tags: Set<String> = [],
            _ facts: RolloutFacts? = nil
        ) -> Int? {
            table.decide(
                RouteTable.Delivery(
                    vendor: vendor,
                    platform: platform,
                    lane: lane,
                    tags: tags,
                    rollout: facts ?? outside
                )
            ).rule
        }
        #expect(rule(.ipns) == 0 && rule(.upmc, .android) == 1 && rule(.upmc, .ios, .urgent) == 2)
        #expect(rule(.upmc, .ios, .bulk, ["vip", "kr", "x"]) == 3 && rule(.upmc, .ios, .bulk, ["vip"]) == 5)
        #expect(rule(.upmc, .ios, .bulk, [], inside) == 4 && rule(.upmc, .ios, .bulk, [], RolloutFacts()) == 5)
        #expect(table.tags == ["vip", "kr"])
        let decision = table.decide(
            RouteTable.Delivery(vendor: .upmc, platform: .ios, lane: .bulk, rollout: inside)
        )
        #expect(decision.bucket == 1_182_305_394)
    }

    // The upstream does not know registrations of other dialects.
    @Test func aPathOfAnotherDialectIsLeftOut() {
        let table = table([], [DeliveryRule(paths: [.apns, .upstream("old")]), DeliveryRule(paths: [.none])])
        let native = table.decide(RouteTable.Delivery(vendor: .native, platform: .ios, lane: .bulk))
        #expect(native.rule == 0 && native.paths == [.apns])
        let only = self.table([], [DeliveryRule(paths: [.upstream("old")]), DeliveryRule(paths: [.none])])
        #expect(only.decide(RouteTable.Delivery(vendor: .native, platform: .ios, lane: .bulk)).paths == [.none])
    }

    @Test func aPreferenceAloneDoesNotDecideThePath() {
        let table = table(
            [],
            [
                DeliveryRule(lane: .bulk, preferDialects: [.braze, .upmc]),
                DeliveryRule(paths: [.none], preferDialects: [.upmc]),
            ]
        )
        #expect(
            table.preferredDialects(in: .bulk) == [.braze, .upmc] && table.preferredDialects(in: .urgent) == [.upmc]
        )
        let delivery = table.decide(RouteTable.Delivery(vendor: .upmc, platform: .ios, lane: .bulk))
        #expect(delivery.rule == 1 && delivery.paths == [.none])
    }

    @Test(arguments: [
        ("3.9", "3.10", true), ("3.10", "3.9", false), ("3.9", "3.9", true), ("4.0EE", "4", true),
        ("4", "3.99.99", false),
        ("0", "not a version", true), ("1", "999999999999999999999.1", true),
    ])
    func versionsAreComparedByNumber(_ from: String, _ version: String, _ isInside: Bool) {
        #expect(VersionRange(from: from).contains(version) == isInside)
    }
}
