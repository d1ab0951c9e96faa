import Model
import Routing
import Testing

/// Sets of rules that are refused: each fault with the rule and a sentence of its own.
@Suite struct RouteCheckTests {
    private let upstreams: [CredentialID: UpstreamFacts] = [
        "old": UpstreamFacts(vendor: .upmc), "whole": UpstreamFacts(vendor: .upmc, addressesUsers: true),
        "braze": UpstreamFacts(vendor: .braze, addressesUsers: true, splitsPlatforms: true),
    ]

    /// The faults of rules as a file states them, as `place: kind`.
    private func faults(_ text: String) throws -> [RouteFault] {
        let rules = try RouteReader.read(try JSONParser.parse(text), path: "")
        return RouteCheck(rules, upstreams: upstreams, dialects: [.upmc, .braze, .ipns]).faults
    }

    private static let tenPercent = #""rollout":{"percent":10,"by":"user","salt":"s"}"#
    private static let delivery = #"{\#(tenPercent),"paths":["apns","old"]}"#

    @Test(arguments: [
        #"{"calls":[{"kinds":["send"],\#(tenPercent),"action":"serve"},{"kinds":["send"],"action":"proxy","upstream":"old"}],"deliveries":[\#(delivery),{"paths":["old"]}]}"#,
        #"{"calls":[{"kinds":["device","user"],"action":"serveAndForward","upstream":"braze"},{"kinds":["read"],"action":"serve","upstream":"braze","onMiss":"proxy"}]}"#,
        #"{"calls":[{"kinds":["send"],\#(tenPercent),"action":"serve"},{"kinds":["send"],"action":"proxy","upstream":"braze"}],"deliveries":[{\#(tenPercent),"paths":["apns","braze"]},{"paths":["braze"]}]}"#,
        #"{"calls":[{"vendor":"upmc","kinds":["send"],\#(tenPercent),"action":"serve"}],"deliveries":[{"vendor":"braze","paths":["none"]},{"vendor":"upmc",\#(tenPercent),"paths":["old"]}]}"#,
        #"{"deliveries":[{"platform":"android","paths":["braze"]},{"paths":["apns"]}]}"#,
        #"{"deliveries":[{"platform":"android","tags":["a"],"paths":["old"]},{"paths":["apns"]}]}"#,
        #"{"deliveries":[{"vendor":"ipns","tags":["a"],"paths":["none"]},{"lane":"urgent","paths":["apns"]},{"paths":["whole"]}]}"#,
        #"{"deliveries":[{"lane":"bulk","preferDialects":["braze"]}]}"#,
        #"{"calls":[{"kinds":["device"],"action":"proxy","upstream":"old","onOutage":"serve"},{"kinds":["device"],"vendor":"ipns","action":"refuse"}]}"#,
    ])
    func goodRulesHaveNoFaults(_ text: String) throws { #expect(try faults(text) == []) }

    @Test func aSendThatIsForwardedIsPushedTwice() throws {
        let found = try faults(#"{"calls":[{"kinds":["device","send"],"action":"serveAndForward","upstream":"old"}]}"#)
        #expect(found == [RouteFault("calls[0]", .sendForwarded)])
        // Without kinds a rule is for sends too.
        #expect(
            try faults(#"{"calls":[{"action":"serveAndForward","upstream":"old"}]}"#).map(\.kind) == [.sendForwarded]
        )
        #expect(try faults(#"{"calls":[{"action":"followMessage","upstream":"old"}]}"#).map(\.kind) == [.sendFollows])
    }

    // The vendor pushes to both devices of the user, and the gateway to one of them.
    @Test(arguments: [
        (#"[{"tags":["a"],"paths":["braze"]},{"paths":["apns"]}]"#, 0, "tags", "braze"),
        (#"[{"tags":["a"],"paths":["apns"]},{"paths":["braze"]}]"#, 1, "tags", "braze"),
        (
            #"[{"rollout":{"percent":10,"by":"device","salt":"s"},"paths":["apns"]},{"paths":["braze"]}]"#, 1,
            "rollout by: device", "braze"
        ),
        (#"[{"platform":"android","paths":["whole"]},{"paths":["apns"]}]"#, 0, "platform", "whole"),
        (#"[{"platform":"ios","paths":["apns"]},{"paths":["whole"]}]"#, 1, "platform", "whole"),
        (#"[{"vendor":"upmc","platform":"ios","paths":["none"]},{"paths":["apns","whole"]}]"#, 1, "platform", "whole"),
    ])
    func oneUsersDevicesTakeOnePathWhereTheUpstreamAddressesUsers(
        _ deliveries: String,
        _ place: Int,
        _ criterion: String,
        _ id: String
    ) throws {
        let calls = #"[{"kinds":["send"],"action":"refuse"}]"#
        let found = try faults(#"{"calls":\#(calls),"deliveries":\#(deliveries)}"#)
        let expected = RouteFault("deliveries[\(place)]", .userSplit(CredentialID(id), by: criterion, rule: 0))
        #expect(found == [expected])
        #expect(expected.description.contains("all devices of a user"))
    }

    // Without a rule the gateway serves. A rule for some calls leaves the other audiences to the following ones.
    @Test(arguments: [
        (#"[]"#, true), (#"[{"kinds":["send"],\#(tenPercent),"audience":"split","action":"serve"}]"#, true),
        (#"[{"kinds":["send"],"names":["a"],"action":"proxy","upstream":"braze"}]"#, true),
        (#"[{"kinds":["send"],"appVersions":{"from":"3"},"action":"refuse"}]"#, true),
        (#"[{"kinds":["send"],"action":"proxy","upstream":"old"}]"#, true),
        (#"[{"kinds":["read"],"action":"refuse"}]"#, true),
        (#"[{"kinds":["send"],"names":["a"],"action":"serve"},{"kinds":["send"],"action":"refuse"}]"#, true),
        (#"[{"kinds":["send"],\#(tenPercent),"action":"serve"}]"#, true),
        (#"[{"kinds":["send"],"action":"proxy","upstream":"braze"}]"#, false), (#"[{"action":"refuse"}]"#, false),
        (#"[{"vendor":"upmc","kinds":["send"],"action":"serve"},{"kinds":["send"],"action":"refuse"}]"#, false),
    ])
    func anAudienceMayNotHaveAPNsBesideAnUpstreamThatAddressesUsers(_ calls: String, _ isServed: Bool) throws {
        for paths in [#"["apns","braze"]"#, #"["braze","apns"]"#] {
            let deliveries = #"[{\#(Self.tenPercent),"paths":\#(paths)}]"#
            let found = try faults(#"{"calls":\#(calls),"deliveries":\#(deliveries)}"#)
            #expect(found == (isServed ? [RouteFault("deliveries[0]", .audienceTwice("braze"))] : []), "\(paths)")
        }
    }

    @Test(arguments: [
        #"[]"#, #"[{"paths":["old"]}]"#, #"[{"rollout":{"percent":11,"by":"user","salt":"s"},"paths":["apns"]}]"#,
        #"[{"rollout":{"percent":10,"by":"device","salt":"s"},"paths":["apns"]}]"#,
        #"[{"rollout":{"percent":10,"by":"user","salt":"t"},"paths":["apns"]}]"#,
        #"[{\#(tenPercent),"lane":"urgent","paths":["apns"]}]"#, #"[{\#(tenPercent),"tags":["a"],"paths":["apns"]}]"#,
        #"[{\#(tenPercent),"platform":"ios","paths":["apns"]}]"#, #"[{\#(tenPercent),"paths":["old"]}]"#,
        #"[{\#(tenPercent),"vendor":"ipns","paths":["apns"]}]"#,
    ])
    func aRolloutOfCallsNeedsItsDeliveryRollout(_ deliveries: String) throws {
        let calls = #"[{"kinds":["send"],\#(Self.tenPercent),"action":"serve"}]"#
        let found = try faults(#"{"calls":\#(calls),"deliveries":\#(deliveries)}"#)
        let rollout = try #require(Rollout(hundredths: 1000, by: .user, salt: "s"))
        #expect(found == [RouteFault("calls[0]", .rolloutWithoutDelivery(rollout))])
        #expect(found.first?.description.contains("{ percent: 10, by: user, salt: s }") == true)
    }

    @Test(arguments: [
        (#"{"calls":[{"action":"proxy"}]}"#, RouteFault.Kind.missingUpstream(.proxy)),
        (#"{"calls":[{"action":"serve","kinds":["read"],"onMiss":"proxy"}]}"#, .missingUpstream(.serve)),
        (#"{"calls":[{"action":"serve","upstream":"old"}]}"#, .unusedUpstream(.serve)),
        (#"{"calls":[{"action":"proxy","upstream":"new"}]}"#, .unknownUpstream("new")),
        (#"{"calls":[{"vendor":"ipns","action":"proxy","upstream":"old"}]}"#, .otherDialect("old", of: .upmc)),
        (#"{"calls":[{"vendor":"fcm","action":"refuse"}]}"#, .unknownDialect("fcm")),
        (#"{"calls":[{"kinds":["send"],"action":"serve","audience":"split"}]}"#, .audienceWithoutRollout),
        (
            #"{"calls":[{"kinds":["send"],\#(tenPercent),"action":"refuse"}],"deliveries":[\#(delivery)]}"#,
            .rolloutOfAction(.refuse)
        ),
        (#"{"calls":[{"kinds":["device"],"action":"serve","upstream":"old","onMiss":"proxy"}]}"#, .missesOfWrites),
        (#"{"calls":[{"kinds":["send"],"action":"proxy","upstream":"old","onOutage":"serve"}]}"#, .outageOfOthers),
        (#"{"deliveries":[{"paths":["new"]}]}"#, .unknownUpstream("new")),
        (#"{"deliveries":[{"vendor":"braze","paths":["old"]}]}"#, .otherDialect("old", of: .upmc)),
        (#"{"deliveries":[{"paths":["apns","apns"]}]}"#, .pathTwice("apns")),
        (#"{"deliveries":[{"paths":["none","apns"]}]}"#, .noneWithOthers),
        (#"{"deliveries":[{"lane":"bulk"}]}"#, .ruleWithoutEffect),
        (#"{"deliveries":[{"preferDialects":["fcm"]}]}"#, .unknownDialect("fcm")),
        (#"{"deliveries":[{"platform":"ios","preferDialects":["braze"]}]}"#, .preferenceNarrowed),
    ])
    func eachFaultHasAKindOfItsOwn(_ text: String, _ kind: RouteFault.Kind) throws {
        #expect(try faults(text).map(\.kind) == [kind])
    }

    @Test func onlySendsTakePartInARollout() throws {
        let found = try faults(
            #"{"calls":[{"kinds":["device"],\#(Self.tenPercent),"action":"serve"}],"deliveries":[\#(Self.delivery)]}"#
        )
        #expect(found.map(\.kind) == [.rolloutOfCalls])
    }

    @Test func aRuleThatNoCallReachesIsReported() throws {
        for (first, second, isReached) in [
            (#"{"action":"refuse"}"#, #"{"kinds":["send"],"action":"serve"}"#, false),
            (#"{"kinds":["send"],"action":"refuse"}"#, #"{"action":"serve"}"#, true),
            (#"{"names":["a","b"],"action":"refuse"}"#, #"{"names":["b"],"action":"serve"}"#, false),
            (#"{"vendor":"upmc","action":"refuse"}"#, #"{"action":"proxy","upstream":"old"}"#, false),
            (#"{"vendor":"upmc","action":"refuse"}"#, #"{"action":"proxy","upstream":"braze"}"#, true),
            (
                #"{"appVersions":{"below":"4"},"action":"refuse"}"#, #"{"appVersions":{"below":"3"},"action":"serve"}"#,
                false
            ),
            (
                #"{"appVersions":{"below":"4"},"action":"refuse"}"#, #"{"appVersions":{"from":"3"},"action":"serve"}"#,
                true
            ),
        ] {
            let found = try faults(#"{"calls":[\#(first),\#(second)]}"#)
            #expect(found == (isReached ? [] : [RouteFault("calls[1]", .unreachable(behind: 0))]), "\(first) \(second)")
        }
    }

    @Test func aRuleThatNoDeliveryReachesIsReported() throws {
        let rules: [(String, String, Bool)] = [
            (#"{"paths":["apns"]}"#, #"{"lane":"bulk","paths":["none"]}"#, false),
            (#"{"lane":"bulk","paths":["none"]}"#, #"{"paths":["apns"]}"#, true),
            (#"{"tags":["a"],"paths":["none"]}"#, #"{"tags":["a","b"],"paths":["apns"]}"#, false),
            (#"{"vendor":"ipns","paths":["none"]}"#, #"{"vendor":"ipns","platform":"ios","paths":["apns"]}"#, false),
            (#"{"vendor":"ipns","paths":["none"]}"#, #"{"vendor":"upmc","paths":["apns"]}"#, true),
            (#"{"paths":["old"]}"#, #"{"paths":["apns"]}"#, true),
            (#"{"paths":["old"]}"#, #"{"vendor":"upmc","paths":["apns"]}"#, false),
            (#"{\#(Self.tenPercent),"paths":["old"]}"#, #"{\#(Self.tenPercent),"paths":["old","apns"]}"#, true),
            (#"{\#(Self.tenPercent),"paths":["apns"]}"#, #"{\#(Self.tenPercent),"paths":["old"]}"#, false),
            (#"{\#(Self.tenPercent),"paths":["apns"]}"#, #"{"paths":["old"]}"#, true),
            (#"{"lane":"bulk","preferDialects":["upmc"]}"#, #"{"lane":"bulk","paths":["apns"]}"#, true),
            (#"{"paths":["apns"]}"#, #"{"lane":"bulk","preferDialects":["upmc"]}"#, true),
        ]
        for (first, second, isReached) in rules {
            let found = try faults(#"{"deliveries":[\#(first),\#(second)]}"#)
            let expected: [RouteFault] = isReached ? [] : [RouteFault("deliveries[1]", .unreachableDelivery(behind: 0))]
            #expect(found == expected, "\(first) \(second)")
        }
        // The rollout of the call decides no delivery.
        let calls = #"[{"kinds":["send"],\#(Self.tenPercent),"action":"serve"}]"#
        let found = try faults(#"{"calls":\#(calls),"deliveries":[{"paths":["apns"]},\#(Self.delivery)]}"#)
        #expect(found.map(\.place) == ["calls[0]", "deliveries[1]"])
    }

    @Test func thereAreAtMost32RulesAnd8Tags() throws {
        let rules = (0..<33).map { #"{"names":["n\#($0)"],"action":"refuse"}"# }.joined(separator: ",")
        #expect(try faults(#"{"calls":[\#(rules)]}"#) == [RouteFault("calls", .tooManyRules(33))])
        let tagged = (0..<9).map { #"{"tags":["t\#($0)"],"paths":["apns"]}"# }.joined(separator: ",")
        #expect(try faults(#"{"deliveries":[\#(tagged)]}"#) == [RouteFault("deliveries", .tooManyTags(9))])
    }

    // Sentences say what to do, and no two faults share one.
    @Test func theSentencesDiffer() throws {
        let rollout = try #require(Rollout(hundredths: 1, by: .user, salt: "s"))
        let kinds: [RouteFault.Kind] = [
            .tooManyRules(33), .tooManyTags(9), .unknownUpstream("x"), .unknownDialect("x"), .missingUpstream(.proxy),
            .unusedUpstream(.serve), .otherDialect("x", of: .upmc), .sendForwarded, .sendFollows, .rolloutOfCalls,
            .rolloutWithoutDelivery(rollout), .audienceWithoutRollout, .missesOfWrites, .outageOfOthers,
            .rolloutOfAction(.refuse), .unreachableDelivery(behind: 0),
            .unreachable(behind: 0), .userSplit("x", by: "tags", rule: 0), .audienceTwice("x"), .pathTwice("x"),
            .tooManyPaths, .noneWithOthers, .ruleWithoutEffect, .preferenceNarrowed,
        ]
        #expect(Set(kinds.map { RouteFault("", $0).description }).count == kinds.count)
    }

    @Test(arguments: [
        (#"{"calls":[{"kinds":["send"],"action":"proxy","upstream":"old"}]}"#, ""),
        (#"{"calls":[{"kinds":["device"],"action":"proxy","upstream":"old","onOutage":"serve"}]}"#, ""),
        (#"{"calls":[{"kinds":["send"],"action":"serve"},{"action":"refuse"}]}"#, ""),
        (#"{"calls":[{"kinds":["device","user","receipt"],"action":"serveAndForward","upstream":"old"}]}"#, ""),
        (
            #"{"calls":[{"kinds":["device","message"],"action":"serveAndForward","upstream":"old"}]}"#,
            "calls[0] serveAndForward of kind message"
        ),
        (
            #"{"calls":[{"action":"serve"},{"kinds":["read","device"],"action":"followMessage","upstream":"old"}]}"#,
            "calls[1] followMessage of kind device"
        ),
        (#"{"calls":[{"kinds":["receipt","message"],"action":"followMessage","upstream":"old"}]}"#, ""),
        (#"{"calls":[{"kinds":["read"],"action":"serve","onMiss":"proxy","upstream":"old"}]}"#, ""),
        (
            #"{"calls":[{"kinds":["send"],"rollout":{"percent":1,"by":"user","salt":"s"},"action":"serve"}]}"#,
            ""
        ),
        (#"{"deliveries":[{"tags":["a"],"paths":["none"]},{"paths":["apns","old"],"coolDown":"5s"}]}"#, ""),
        (#"{"duplicateGuard":{"window":"10m"}}"#, ""),
        (#"{"calls":[{"action":"serve"}],"deliveries":[{"lane":"urgent","paths":["apns"]}]}"#, ""),
    ])
    func whatIsNotCarriedOutYetIsNamed(_ text: String, _ expected: String) throws {
        let rules = try RouteReader.read(try JSONParser.parse(text), path: "")
        let found = RouteExecution.unsupported(in: rules)
        #expect((found.map { "\($0.place) \($0.what)" } ?? "") == expected)
    }
}
