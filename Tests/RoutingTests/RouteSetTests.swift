import Model
import Routing
import Testing

/// A version of rules: base, overlay and the facts about their upstreams.
@Suite struct RouteSetTests {
    private static let upstreams: [CredentialID: UpstreamFacts] = [
        "old": UpstreamFacts(vendor: .upmc),
        "braze": UpstreamFacts(vendor: .braze, addressesUsers: true, splitsPlatforms: true),
    ]

    private func rules(_ text: String) throws -> RouteRules {
        try RouteReader.read(try JSONParser.parse(text), path: "routes")
    }

    private func made(base: String, overlay: String) throws -> RouteSet {
        RouteSet(base: try rules(base), overlay: try rules(overlay), upstreams: Self.upstreams)
    }

    @Test func theOverlayIsInFrontOfTheBaseInEachList() throws {
        let set = try made(
            base:
                #"{"duplicateGuard":{"window":"10m"},"calls":[{"action":"serve"}],"deliveries":[{"paths":["apns"]}]}"#,
            overlay: #"{"calls":[{"kinds":["send"],"action":"proxy","upstream":"old"}]}"#
        )
        #expect(set.rules.calls.map(\.action) == [.proxy, .serve])
        #expect(set.rules.deliveries == set.base.deliveries && set.rules.duplicateWindow == .seconds(600))
        let call = RouteTable.Call(vendor: .upmc, kind: .send)
        #expect(set.table.decide(call).upstream == "old" && set.table.decide(call).rule == 0)
        #expect(RouteSet(base: set.base).table.decide(call).action == .serve)
        var guarded = set
        guarded.overlay.duplicateWindow = .seconds(60)
        #expect(guarded.rules.duplicateWindow == .seconds(60), "the overlay's window has precedence")
    }

    @Test func onlyTheFactsOfNamedUpstreamsBelongToAVersion() throws {
        let set = try made(base: "{}", overlay: #"{"deliveries":[{"paths":["braze"]}]}"#)
        #expect(set.upstreams == ["braze": Self.upstreams["braze"]])
        #expect(try made(base: "{}", overlay: "{}").upstreams.isEmpty)
    }

    @Test func theStoredFormIsReadAsItWas() throws {
        let set = try made(
            base: #"{"calls":[{"kinds":["read"],"action":"serve","upstream":"old","onMiss":"proxy"}]}"#,
            overlay: #"{"deliveries":[{"tags":["a"],"paths":["braze"],"coolDown":"1m"}]}"#
        )
        func read(format: Int = RouteSet.format, facts: JSONObject) throws -> RouteSet {
            try RouteSet(format: format, base: set.base.json, overlay: set.overlay.json, upstreams: .object(facts))
        }
        #expect(try read(facts: set.upstreamsJSON) == set)
        #expect(set.upstreamsJSON.keys == ["braze", "old"])
        // The rules of a newer version are not guessed.
        #expect(throws: ProvisioningProblem.self) { try read(format: RouteSet.format + 1, facts: set.upstreamsJSON) }
        let later: JSONObject = ["old": ["vendor": "upmc", "addressesGroups": true]]
        #expect(throws: ProvisioningProblem.self) { try read(facts: later) }
        #expect(throws: ProvisioningProblem.self) {
            try RouteSet(format: 1, base: [:], overlay: ["calls": [["action": "guess"]]], upstreams: [:])
        }
    }

    @Test func anOverlayMayTakeEverythingFromTheBase() throws {
        let base = #"""
            {"calls":[{"kinds":["send"],"rollout":{"percent":10,"by":"user","salt":"s"},"action":"serve"}],
            "deliveries":[{"rollout":{"percent":10,"by":"user","salt":"s"},"paths":["apns"]},{"paths":["old"]}]}
            """#
        let dialects: Set<Vendor> = [.upmc, .braze]
        #expect(try made(base: base, overlay: "{}").faults(dialects: dialects) == [])
        let covered = try made(
            base: base,
            overlay: #"{"calls":[{"kinds":["send"],"action":"serve"}],"deliveries":[{"paths":["apns"]}]}"#
        )
        #expect(covered.faults(dialects: dialects) == [])
        // The overlay itself is checked as any rules, and so is the base where it applies.
        let twice = try made(base: "{}", overlay: #"{"calls":[{"action":"serve"},{"action":"refuse"}]}"#)
        #expect(twice.faults(dialects: dialects).map(\.kind) == [.unreachable(behind: 0)])
        let late = try made(
            base: #"{"calls":[{"action":"serve"},{"action":"refuse"}]}"#,
            overlay: #"{"calls":[{"kinds":["read"],"action":"serve"}]}"#
        )
        #expect(late.faults(dialects: dialects).map(\.place) == ["calls[2]"])
    }

    @Test func aPlaceIsNamedInItsPart() throws {
        let set = try made(
            base: #"{"calls":[{"kinds":["read"],"action":"serve"}],"deliveries":[{"paths":["apns"]}]}"#,
            overlay: #"{"calls":[{"kinds":["device"],"action":"serve"},{"kinds":["user"],"action":"serve"}]}"#
        )
        let places = ["calls[0]", "calls[1]", "calls[2]", "deliveries[0]", "duplicateGuard", "calls"]
            .map { set.part(of: $0) }
        #expect(places.map(\.isOverlay) == [true, true, false, false, true, true])
        #expect(
            places.map(\.place) == ["calls[0]", "calls[1]", "calls[0]", "deliveries[0]", "duplicateGuard", "calls"]
        )
    }
}

/// A call that is tried against rules.
@Suite struct RouteTrialTests {
    // docs/routing.md: the buckets of user-1 and user-2 under the salt `spring`.
    @Test func theDecisionsNameRuleBucketAndPaths() throws {
        let rules = try RouteReader.read(
            try JSONParser.parse(
                """
                {"calls":[{"kinds":["send"],"action":"serve"}],\
                "deliveries":[{"rollout":{"percent":30,"by":"user","salt":"spring"},"paths":["apns"]},{"paths":["none"]}]}
                """
            ),
            path: ""
        )
        var trial = RouteTrial(vendor: .braze)
        trial.targets = [RolloutFacts(user: "user-1"), RolloutFacts(user: "user-2")]
        let json = trial.decisions(of: RouteTable(rules, upstreams: [:])).json
        #expect(json["call"]?["action"] == "serve" && json["call"]?["rule"] == 0)
        #expect(
            json["deliveries"] == [
                ["target": "user-1", "rule": 0, "bucket": 1_182_305_394, "paths": ["apns"]],
                ["target": "user-2", "rule": 1, "bucket": 3_338_875_603, "paths": ["none"]],
            ]
        )
        trial.targets = []
        #expect(trial.decisions(of: RouteTable(rules, upstreams: [:])).deliveries.isEmpty)
    }
}
