import GatewayHTTP
import Model
import Testing

@testable import NativeHTTP

/// `to` of `POST /v1/messages`.
@Suite struct NativeAudienceTests {
    private func fault(_ json: JSON) -> Problem? {
        do throws(Problem) {
            _ = try InputKind<Audience>.audience.read(json, "to")
            return nil
        } catch { return error }
    }

    @Test func everyShapeIsRead() throws {
        let device = try #require(DeviceID(text: "3f0c2c1e-0a55-4f6e-9a3c-5d2b9a1e7c11"))
        let shapes: [(JSON, Audience)] = [
            ("everyone", .everyone), (["everyone": true], .everyone), (["users": ["u1", "u2"]], .users(["u1", "u2"])),
            (["groups": ["g"]], .groups(["g"])), (["tags": "a && !b"], .tags(try TagExpression("a && !b"))),
            (
                ["phones": ["010"], "keys": ["k"], "devices": [.string(device.description)]],
                .listed([Addressee(.phone("010")), Addressee(.deviceKey("k")), Addressee(.device(device))])
            ),
            (["everyone": false, "users": ["u"], "groups": [], "tags": .null], .users(["u"])),
        ]
        for (json, audience) in shapes { #expect(try InputKind<Audience>.audience.read(json, "to") == audience) }
    }

    @Test(arguments: [
        ("", "is empty"), ("a &", "at character 3"), ("a && && b", "at character 6"), ("(a", "at character 3"),
        ("a && ?", "at character 6"), ("서울 부산", "at character 4"),
        (String(repeating: "(", count: 40) + "a", "at character 33"), ("a && b && c && d && e && f && g", "at most"),
    ])
    func aTagExpressionThatIsNoneIsRefusedWithThePlace(_ text: String, _ part: String) {
        let problem = fault(["tags": .string(text)])
        #expect(problem?.status == 422 && problem?.detail.hasPrefix("to.tags: ") == true)
        #expect(problem?.detail.contains(part) == true, "\(problem?.detail ?? "no problem")")
    }

    @Test func emptyOrAmbiguousAudiencesAreRefused() {
        let many = JSON.array((0...Audience.listedLimit).map { .string("u\($0)") })
        let groups = JSON.array((0...Audience.groupLimit).map { .string("g\($0)") })
        let wrong: [JSON] = [
            "all", [:], ["everyone": false], ["users": []], ["users": [""]], ["users": ["a", 1]], ["users": many],
            ["groups": groups], ["groups": "g"], ["tags": ["a"]], ["devices": ["x"]], ["segments": ["s"]],
            ["users": ["u"], "phones": ["010"]], ["everyone": true, "tags": "a"], ["groups": ["g"], "users": ["u"]],
        ]
        for json in wrong { #expect(fault(json)?.status == 422, "\(JSONWriter.text(json).prefix(80))") }
        for json in [1, ["u1"], .null] as [JSON] { #expect(fault(json)?.status == 422, "\(JSONWriter.text(json))") }
    }

    @Test func tagsOfARegistrationAreReadOrNamed() throws {
        let kind = InputKind<[Model.Tag]>.tags
        #expect(
            try kind.read(["Seoul", "seoul", "$UserId:{Kim}"], "tags").map(\.text) == ["seoul", "seoul", "$UserId:Kim"]
        )
        #expect(try kind.read([], "tags") == [])
        let problem = #expect(throws: Problem.self) { try kind.read(["a b"], "bad") }
        #expect(problem?.detail.hasPrefix("bad: 'a b'") == true)
    }
}
