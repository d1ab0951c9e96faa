import Migration
import Model
import Routing
import Testing

/// The rules of each stage, for vendors of all kinds.
@Suite struct StageRulesTests {
    /// A vendor, and whether single devices may take part in a rollout.
    struct Case: Sendable, CustomTestStringConvertible {
        var facts: UpstreamFacts
        var unit: Rollout.Unit
        var isOnlyIOS: Bool

        var testDescription: String {
            "\(facts.vendor) users \(facts.addressesUsers) by \(unit.rawValue)\(isOnlyIOS ? " ios" : "")"
        }
    }

    /// Every combination that a plan may have.
    static let cases: [Case] = {
        let facts = [
            UpstreamFacts(vendor: .upmc), UpstreamFacts(vendor: .upmc, addressesUsers: true),
            UpstreamFacts(vendor: .braze, addressesUsers: true, splitsPlatforms: true),
            UpstreamFacts(vendor: .rationalOwl), UpstreamFacts(vendor: .ipns), UpstreamFacts(vendor: .notificationHubs),
        ]
        return facts.flatMap { facts in
            Rollout.Unit.allCases.flatMap { unit in
                [false, true].map { Case(facts: facts, unit: unit, isOnlyIOS: $0) }
            }
        }.filter { one in
            !(one.facts.addressesUsers && one.unit == .device)
                && !(one.isOnlyIOS && one.facts.addressesUsers && !one.facts.splitsPlatforms)
        }
    }()

    static let stages: [MigrationStage] =
        [.observe, .serve] + [1, 100, 2753, 2752, 5000, 9999, 10_000].map { .rollout($0) } + [.hold, .complete]

    private func plan(_ one: Case) -> MigrationPlan {
        MigrationPlan(
            id: "spring",
            app: "shop",
            upstream: "old",
            unit: one.unit,
            isOnlyIOS: one.isOnlyIOS,
            steps: Self.stages.map { MigrationStep($0) }
        )
    }

    private func set(_ rules: RouteRules, _ one: Case) -> RouteSet {
        RouteSet(overlay: rules, upstreams: ["old": one.facts])
    }

    private static let dialects: Set<Vendor> = [.upmc, .braze, .rationalOwl, .ipns, .notificationHubs]

    @Test(arguments: cases) func noStageCouldPushTwice(_ one: Case) {
        for stage in Self.stages {
            let faults = set(plan(one).rules(stage, one.facts), one).faults(dialects: Self.dialects)
            #expect(faults.isEmpty, "\(stage): \(faults.map { "\($0.place): \($0)" })")
        }
        for isFull in [false, true] {
            #expect(set(plan(one).rolledBack(isFull: isFull, one.facts), one).faults(dialects: Self.dialects).isEmpty)
        }
    }

    // The gates count the calls of this dialect only.
    @Test(arguments: cases) func theOverlayOfEachStageIsOfOneDialect(_ one: Case) {
        let base = RouteRules(calls: [CallRule(vendor: "other", action: .proxy, upstream: "another")])
        for stage in Self.stages {
            var made = set(plan(one).rules(stage, one.facts), one)
            #expect(made.overlaidDialect == one.facts.vendor)
            made.base = base
            #expect(made.overlaidDialect == one.facts.vendor)
            made.overlay.calls += base.calls
            #expect(made.overlaidDialect == nil)
        }
        #expect(set(RouteRules(calls: [CallRule(action: .proxy, upstream: "old")]), one).overlaidDialect == nil)
        #expect(RouteSet(base: base).overlaidDialect == nil)
    }

    // The user's file may route everything to the vendor; the overlay decides before it.
    @Test(arguments: cases) func theRulesOfTheFileAreNotReached(_ one: Case) {
        let base = RouteRules(
            calls: [CallRule(action: .proxy, upstream: "old")],
            deliveries: [DeliveryRule(paths: [.none])]
        )
        for stage in Self.stages {
            let set = RouteSet(base: base, overlay: plan(one).rules(stage, one.facts), upstreams: ["old": one.facts])
            for kind in CallKind.allCases {
                let decision = set.table.decide(RouteTable.Call(vendor: one.facts.vendor, kind: kind))
                #expect((decision.rule ?? .max) < set.overlay.calls.count, "\(stage) \(kind)")
            }
        }
    }

    @Test(arguments: cases) func eachKindOfCallHasItsSide(_ one: Case) {
        func actions(_ stage: MigrationStage) -> [CallKind: CallAction] {
            let table = set(plan(one).rules(stage, one.facts), one).table
            return Dictionary(
                uniqueKeysWithValues: CallKind.allCases.map { kind in
                    (kind, table.decide(RouteTable.Call(vendor: one.facts.vendor, kind: kind)).action)
                }
            )
        }
        for kind in CallKind.allCases { #expect(actions(.observe)[kind] == .proxy) }
        let kept: [CallKind: CallAction] = [
            .device: .serveAndForward, .user: .serveAndForward, .receipt: .followMessage, .message: .followMessage,
            .read: .serve, .other: .proxy,
        ]
        for stage in Self.stages where stage != .observe && (stage != .complete || one.isOnlyIOS) {
            for (kind, action) in kept { #expect(actions(stage)[kind] == action, "\(stage) \(kind)") }
            // An audience stays with the vendor until everybody has moved.
            #expect(actions(stage)[.send] == (stage.share == 10_000 ? .serve : .proxy), "\(stage)")
        }
        if !one.isOnlyIOS { for kind in CallKind.allCases { #expect(actions(.complete)[kind] == .serve) } }
    }

    private func named(_ number: Int) -> RolloutFacts { RolloutFacts(user: "user-\(number)", device: "d\(number)") }

    // A send to one target is handled by one side, and its push leaves on that side. A higher share only adds members.
    @Test(arguments: cases) func aTargetChangesSidesOnceAndAtTheSameTimeForCallsAndPushes(_ one: Case) {
        var moved: Set<Int> = []
        let shares = Self.stages.filter { if case .rollout = $0 { true } else { false } }.sorted { $0.share < $1.share }
        for stage in [.serve] + shares + [.hold] {
            let table = set(plan(one).rules(stage, one.facts), one).table
            for number in 0..<300 {
                let call = RouteTable.Call(vendor: one.facts.vendor, kind: .send, named: .targets([named(number)]))
                let delivery = RouteTable.Delivery(
                    vendor: one.facts.vendor,
                    platform: .ios,
                    lane: .bulk,
                    rollout: named(number)
                )
                let isServed = table.decide(call).action == .serve
                // Under a share of users, a device that a call names without its user is split by the delivery rules.
                if isServed, !table.decide(call).isSplit {
                    #expect(table.decide(delivery).paths.first == .apns, "\(stage) \(number)")
                }
                if moved.contains(number) { #expect(isServed, "\(stage) \(number) moved back") }
                if isServed { moved.insert(number) }
                if !isServed, stage.share > 0 {
                    #expect(table.decide(delivery).paths == [.upstream("old")], "\(stage) \(number)")
                }
            }
        }
        #expect(moved.count == 300)
    }

    @Test func thePlatformsThatStayAreReachedThroughTheVendor() {
        for one in Self.cases {
            let table = set(plan(one).rules(.hold, one.facts), one).table
            let delivery = RouteTable.Delivery(vendor: one.facts.vendor, platform: .android, lane: .bulk)
            let stays = !one.facts.addressesUsers || one.facts.splitsPlatforms
            #expect(table.decide(delivery).paths.contains(.upstream("old")) == stays, "\(one.testDescription)")
        }
    }
}
