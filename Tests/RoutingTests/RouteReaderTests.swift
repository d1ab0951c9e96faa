import Model
import Routing
import Testing

/// `routes` of a provisioning file and of a call, as JSON.
@Suite struct RouteReaderTests {
    private func read(_ text: String) throws -> RouteRules {
        try RouteReader.read(try JSONParser.parse(text), path: "routes")
    }

    private func problem(_ text: String) -> String? {
        do { _ = try read(text) } catch let problem as ProvisioningProblem {
            return "\(problem.path): \(problem.problem)"
        } catch { return nil }
        return nil
    }

    // docs/routing.md: the example of the page.
    private let example = """
        {"duplicateGuard":{"window":"10m"},"calls":[{"kinds":["device","user"],"action":"serveAndForward","upstream":"old"},\
        {"kinds":["receipt","message"],"action":"followMessage","upstream":"old"},\
        {"kinds":["read"],"action":"serve","upstream":"old","onMiss":"proxy"},\
        {"kinds":["send"],"rollout":{"percent":10,"by":"user","salt":"spring"},"action":"serve"},\
        {"kinds":["send"],"action":"proxy","upstream":"old"}],\
        "deliveries":[{"rollout":{"percent":10,"by":"user","salt":"spring"},"paths":["apns","old"]},{"paths":["old"]}]}
        """

    @Test func rulesAreReadAndWrittenBackAsTheyAre() throws {
        let rules = try read(example)
        #expect(rules.calls.count == 5 && rules.deliveries.count == 2 && rules.upstreams == ["old"])
        #expect(rules.duplicateWindow == .seconds(600))
        #expect(rules.calls[2].proxiesMisses && rules.calls[3].rollout?.hundredths == 1000)
        #expect(JSONWriter.text(rules.json) == example)
        #expect(try RouteReader.read(rules.json, path: "") == rules)
    }

    @Test func everyMemberSurvives() throws {
        let text = """
            {"calls":[{"vendor":"upmc","kinds":["receipt"],"names":["a","b"],"appVersions":{"from":"3.9","below":"4"},\
            "action":"proxy","upstream":"old","onOutage":"serve"},{"kinds":["send"],\
            "rollout":{"percent":0.25,"by":"device","salt":"s"},"audience":"split","action":"serve"}],\
            "deliveries":[{"vendor":"upmc","platform":"ios","lane":"urgent","tags":["x","y"],"paths":["none"]},\
            {"lane":"bulk","preferDialects":["braze"]},{"paths":["apns"],"coolDown":"5s"}]}
            """
        let rules = try read(text)
        #expect(JSONWriter.text(rules.json) == text)
        #expect(try RouteReader.read(rules.json, path: "") == rules)
    }

    @Test(arguments: ["null", "[]", "{}"]) func nothingIsNoRules(_ text: String) throws {
        #expect(try read(text) == .none && RouteRules.none.isEmpty)
    }

    @Test(arguments: [
        (#"[1]"#, "routes: must be a mapping"),
        (#"{"call":[]}"#, "routes.call: is not a known key"),
        (#"{"calls":[{}]}"#, "routes.calls[0].action: is missing"),
        (
            #"{"calls":[{"action":"forward"}]}"#,
            "routes.calls[0].action: must be one of serve, proxy, serveAndForward, followMessage, refuse"
        ),
        (
            #"{"calls":[{"action":"serve","kinds":["push"]}]}"#,
            "routes.calls[0].kinds[0]: must be one of device, user, receipt, message, read, send, other"
        ),
        (#"{"calls":[{"action":"serve","onMiss":"serve"}]}"#, "routes.calls[0].onMiss: may only be proxy"),
        (#"{"calls":[{"action":"serve","appVersions":{}}]}"#, "routes.calls[0].appVersions: needs from or below"),
        (#"{"deliveries":[{"paths":["a","b","c"]}]}"#, "routes.deliveries[0].paths: at most 2"),
        (
            #"{"deliveries":[{"lane":"slow"}]}"#,
            "routes.deliveries[0].lane: must be one of urgent, transactional, bulk, background"
        ),
        (
            #"{"deliveries":[{"coolDown":"2h"}]}"#,
            "routes.deliveries[0].coolDown: must be a time like 30s or 10m, from 0s to 1h"
        ),
        (#"{"duplicateGuard":{}}"#, "routes.duplicateGuard.window: is missing"),
        (
            #"{"deliveries":[{"rollout":{"percent":10,"salt":"s"}}]}"#,
            "routes.deliveries[0].rollout.by: is missing; use user or device"
        ),
        (
            #"{"deliveries":[{"rollout":{"percent":10,"by":"user"}}]}"#,
            "routes.deliveries[0].rollout.salt: must be 1 to 64 characters of printable ASCII; rules with one salt select the same members"
        ),
    ])
    func aMistakeIsReportedWithItsPlace(_ text: String, _ expected: String) { #expect(problem(text) == expected) }

    @Test(arguments: ["-1", "100.01", "101", "1e1", "0.001", "\"10\"", "true", "null", "10."])
    func aPercentageHasAtMostTwoDecimals(_ percent: String) {
        let text = #"{"deliveries":[{"rollout":{"percent":\#(percent),"by":"user","salt":"s"},"paths":["apns"]}]}"#
        #expect((try? read(text)) == nil)
    }

    // The same letter has two spellings in Unicode, which select other members.
    @Test(arguments: [("Spring-2027 a~", true), ("", false), ("caf\u{E9}", false), ("봄", false), ("\u{7F}", false)])
    func aSaltIsPrintableASCII(_ salt: String, _ isPermitted: Bool) {
        let text = #"{"deliveries":[{"rollout":{"percent":1,"by":"user","salt":"\#(salt)"},"paths":["apns"]}]}"#
        #expect(((try? read(text)) != nil) == isPermitted)
    }

    @Test(arguments: [("0", 0), ("0.01", 1), ("0.1", 10), ("33.33", 3333), ("100", 10_000), ("100.0", 10_000)])
    func percentagesAreReadExactly(_ percent: String, _ hundredths: Int) throws {
        let text = #"{"deliveries":[{"rollout":{"percent":\#(percent),"by":"user","salt":"s"},"paths":["apns"]}]}"#
        #expect(try read(text).deliveries[0].rollout?.hundredths == hundredths)
    }
}
