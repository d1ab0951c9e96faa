import APNsSimulator
import Testing

/// One test per row of the rule table (docs/simulator.md#rules). The expectation contains the row's number.
@Suite struct RuleBookTests {
    @Test func aValidPushIsAccepted() throws {
        var bench = try RuleBench()
        let verdict = bench.judge()
        #expect(verdict.refusal == nil)
        #expect(verdict.row == 29)
        #expect(verdict.deviceToken == RuleBench.token)
        #expect(verdict.apnsID == "123e4567-e89b-12d3-a456-426614174000")
        #expect(verdict.findings.isEmpty)
    }

    @Test(arguments: [("apns-topic", "com.example.shop"), ("x-trace", "1")])
    func row5RefusesAHeaderThatComesTwice(name: String, value: String) throws {
        var bench = try RuleBench()
        expect(bench.judge(adding: [(name, value), (name, value)]), .duplicateHeaders, row: 5)
    }

    @Test func row6RefusesAnyMethodButPOST() throws {
        var bench = try RuleBench()
        expect(bench.judge([":method": "GET"]), .methodNotAllowed, row: 6)
    }

    @Test(arguments: ["/", "/3/devices/ab", "/3/device/ab/cd", "/4/broadcasts/apps/", "/3/device.ab"])
    func row7RefusesOtherPaths(path: String) throws {
        var bench = try RuleBench()
        expect(bench.judge([":path": path]), .badPath, row: 7)
    }

    @Test(arguments: ["/3/device/", "/3/device"])
    func row7RequiresATokenInThePath(path: String) throws {
        var bench = try RuleBench()
        expect(bench.judge([":path": path]), .missingDeviceToken, row: 7)
    }

    @Test(arguments: ["", "123e4567-e89b-12d3-a456-42661417400", "123e4567e89b12d3a456426614174000", "not-a-uuid"])
    func row8RefusesAnIDOtherThanAUUID(id: String) throws {
        var bench = try RuleBench()
        let verdict = bench.judge(["apns-id": id])
        expect(verdict, .badMessageID, row: 8)
        #expect(verdict.apnsID == nil, "a fresh id has to be made for the answer")
    }

    @Test func row8AcceptsUpperCaseAndAbsence() throws {
        var bench = try RuleBench()
        #expect(bench.judge(["apns-id": "123E4567-E89B-12D3-A456-426614174000"]).refusal == nil)
        #expect(bench.judge(["apns-id": nil]).refusal == nil)
    }

    @Test(arguments: [nil, "", "bearer", "bearer ", "Basic abc"])
    func row9RequiresABearerToken(authorization: String?) throws {
        var bench = try RuleBench()
        expect(bench.judge(["authorization": authorization]), .missingProviderToken, row: 9)
    }

    @Test func row10RefusesAnUnknownSignature() throws {
        var bench = try RuleBench()
        let stranger = TestKey()
        expect(bench.judge(["authorization": try stranger.bearer()]), .invalidProviderToken, row: 10)
        expect(
            bench.judge(["authorization": try bench.key.bearer(form: .wrong)]),
            .invalidProviderToken,
            row: 10
        )
    }

    @Test func row10RefusesAnUnknownKeyAndAnotherTeamsKey() throws {
        var bench = try RuleBench()
        let unknown = try bench.key.sign(
            header: #"{"alg":"ES256","kid":"OTHER12345"}"#,
            claims: #"{"iss":"ABCDE12345","iat":1800000000}"#
        )
        let foreign = try bench.key.sign(
            header: #"{"alg":"ES256","kid":"KEY1234567"}"#,
            claims: #"{"iss":"ZZZZZ99999","iat":1800000000}"#
        )
        expect(bench.judge(["authorization": "bearer \(unknown)"]), .invalidProviderToken, row: 10)
        expect(bench.judge(["authorization": "bearer \(foreign)"]), .invalidProviderToken, row: 10)
    }

    @Test(arguments: ["none", "HS256", "RS256"])
    func row10RefusesOtherAlgorithms(alg: String) throws {
        var bench = try RuleBench()
        expect(bench.judge(["authorization": try bench.key.bearer(alg: alg)]), .invalidProviderToken, row: 10)
    }

    @Test func row10TiesAConnectionToItsFirstTeam() throws {
        let first = TestKey()
        let second = TestKey(teamID: "ZZZZZ99999", keyID: "KEY7654321")
        var bench = try RuleBench()
        bench.book = RuleBook(.init(keys: try KeyRegistry([first.registered(), second.registered()])))
        #expect(bench.judge(["authorization": try first.bearer(issuedAt: TestKey.now - 3000)]).refusal == nil)
        expect(bench.judge(["authorization": try second.bearer()]), .invalidProviderToken, row: 10)
    }

    @Test func row11RefusesAKeyOfTheOtherEnvironment() throws {
        var bench = try RuleBench(keyEnvironment: .sandbox)
        expect(bench.judge(), .badEnvironmentKeyIDInToken, row: 11)
    }

    @Test func row11RefusesATopicKeyWhereATeamKeyCameFirst() throws {
        let team = TestKey()
        let topical = TestKey(keyID: "KEY7654321")
        var bench = try RuleBench()
        let keys = try KeyRegistry([team.registered(), topical.registered(topics: ["com.example.shop"])])
        bench.book = RuleBook(.init(keys: keys))
        #expect(bench.judge(["authorization": try team.bearer(issuedAt: TestKey.now - 3000)]).refusal == nil)
        expect(bench.judge(["authorization": try topical.bearer()]), .unrelatedKeyIDInToken, row: 11)
    }

    @Test func row12RefusesARevokedKey() throws {
        var bench = try RuleBench(isRevoked: true)
        expect(bench.judge(), .forbidden, row: 12)
    }

    @Test func row13AcceptsAnHourAndRefusesASecondMore() throws {
        var bench = try RuleBench()
        let authorization = try bench.key.bearer(issuedAt: TestKey.now - 3600)
        #expect(bench.judge(["authorization": authorization]).refusal == nil)
        bench.now += 1
        expect(bench.judge(["authorization": authorization]), .expiredProviderToken, row: 13)
    }

    @Test func row13KeepsFailingTheConnectionUnlessSetOtherwise() throws {
        var wedged = try RuleBench()
        var lenient = try RuleBench { $0.wedgesOnExpiredToken = false }
        let old = TestKey.now - 4000
        expect(
            wedged.judge(["authorization": try wedged.key.bearer(issuedAt: old)]),
            .expiredProviderToken,
            row: 13
        )
        expect(wedged.judge(), .expiredProviderToken, row: 13)
        expect(
            lenient.judge(["authorization": try lenient.key.bearer(issuedAt: old)]),
            .expiredProviderToken,
            row: 13
        )
        #expect(lenient.judge().refusal == nil)
    }

    @Test func row13RefusesATokenFromTheFuture() throws {
        var bench = try RuleBench()
        let ahead = try bench.key.bearer(issuedAt: TestKey.now + 301)
        expect(bench.judge(["authorization": ahead]), .invalidProviderToken, row: 13)
        #expect(bench.judge(["authorization": try bench.key.bearer(issuedAt: TestKey.now + 300)]).refusal == nil)
    }

    @Test func row14RefusesASecondTokenWithinTwentyMinutes() throws {
        var bench = try RuleBench()
        #expect(bench.judge().refusal == nil)
        bench.now += 1199
        let renewed = try bench.key.bearer(issuedAt: bench.now)
        expect(bench.judge(["authorization": renewed]), .tooManyProviderTokenUpdates, row: 14)
        #expect(bench.judge().refusal == nil, "the old token still works")
        bench.now += 1
        #expect(bench.judge(["authorization": renewed]).refusal == nil)
    }

    @Test func row14CountsTheFirstTokenFromItsIssue() throws {
        var bench = try RuleBench()
        let old = try bench.key.bearer(issuedAt: TestKey.now - 2700)
        #expect(bench.judge(["authorization": old]).refusal == nil)
        bench.now += 300
        #expect(bench.judge(["authorization": try bench.key.bearer(issuedAt: bench.now)]).refusal == nil)
    }

    @Test(arguments: [nil, ""])
    func row15RequiresATopic(topic: String?) throws {
        var bench = try RuleBench()
        expect(bench.judge(["apns-topic": topic]), .missingTopic, row: 15)
    }

    @Test(arguments: [
        ("com example", "alert"), ("com.example.shop.", "alert"), ("com.example.shop", "voip"),
        ("com.example.shop.voip", "alert"), (".voip", "voip"), ("com.example.shop", "liveactivity"),
        (String(repeating: "a", count: 256), "alert"),
    ])
    func row16RefusesATopicThatDoesNotFitItsPushType(topic: String, type: String) throws {
        var bench = try RuleBench()
        expect(bench.judge(["apns-topic": topic, "apns-push-type": type]), .badTopic, row: 16)
    }

    @Test(arguments: SimulatedPushType.allCases)
    func row16AcceptsEveryPushTypeWithItsSuffix(type: SimulatedPushType) throws {
        var bench = try RuleBench()
        let topic = "com.example.shop" + type.topicSuffix
        let verdict = bench.judge(["apns-topic": topic, "apns-push-type": type.rawValue, "apns-priority": "5"])
        #expect(verdict.refusal == nil)
    }

    @Test func row17KeepsATopicKeyToItsTopics() throws {
        var bench = try RuleBench(topics: ["com.example.shop"])
        #expect(bench.judge().refusal == nil)
        #expect(
            bench.judge(["apns-topic": "com.example.shop.voip", "apns-push-type": "voip"]).refusal == nil
        )
        expect(bench.judge(["apns-topic": "com.example.other"]), .topicDisallowed, row: 17)
    }

    @Test func row18RefusesAnUnknownPushTypeAndAllowsNone() throws {
        var bench = try RuleBench()
        expect(bench.judge(["apns-push-type": "silent"]), .invalidPushType, row: 18)
        #expect(bench.judge(["apns-push-type": nil]).refusal == nil)
    }

    @Test(arguments: ["0", "7", "high", ""])
    func row19RefusesOtherPriorities(priority: String) throws {
        var bench = try RuleBench()
        expect(bench.judge(["apns-priority": priority]), .badPriority, row: 19)
    }

    @Test func row19RefusesABackgroundPushAtPriorityTen() throws {
        var bench = try RuleBench()
        expect(bench.judge(["apns-push-type": "background"]), .badPriority, row: 19)
    }

    @Test(arguments: ["-1", "tomorrow", "1.5", ""])
    func row20RefusesAnExpirationOtherThanATime(expiration: String) throws {
        var bench = try RuleBench()
        expect(bench.judge(["apns-expiration": expiration]), .badExpirationDate, row: 20)
    }

    @Test func row21CountsTheCollapseIDInBytes() throws {
        var bench = try RuleBench()
        #expect(bench.judge(["apns-collapse-id": String(repeating: "a", count: 64)]).refusal == nil)
        expect(bench.judge(["apns-collapse-id": String(repeating: "é", count: 33)]), .badCollapseID, row: 21)
    }

    @Test(arguments: ["abc", "xyz1", "ab-cd0", "ab%20"])
    func row22RefusesATokenThatIsNotHexadecimal(token: String) throws {
        var bench = try RuleBench()
        expect(bench.judge([":path": "/3/device/\(token)"]), .badDeviceToken, row: 22)
    }

    @Test(arguments: [2, 64, 160])
    func row22LeavesTheLengthFree(count: Int) throws {
        var bench = try RuleBench()
        #expect(bench.judge([":path": "/3/device/" + String(repeating: "a", count: count)]).refusal == nil)
    }

    @Test func row23AnswersAScriptedRefusal() throws {
        var bench = try RuleBench()
        bench.scripted = ScriptedAnswer(token: "*", status: 400, reason: "DeviceTokenNotForTopic")
        expect(bench.judge(), .deviceTokenNotForTopic, row: 23)
    }

    @Test func row24AnswersAScripted410WithItsTimestamp() throws {
        var bench = try RuleBench()
        bench.scripted = ScriptedAnswer(token: "*", status: 410, timestamp: 1_700_000_000_123)
        let verdict = bench.judge()
        #expect(verdict.refusal == RuleRefusal(.unregistered, timestamp: 1_700_000_000_123))
        #expect(verdict.row == 24)
        bench.scripted?.timestamp = nil
        #expect(bench.judge().refusal?.timestamp == TestKey.now * 1000)
    }

    @Test func row25RequiresABody() throws {
        var bench = try RuleBench()
        expect(bench.judge(body: ""), .payloadEmpty, row: 25)
    }

    @Test(arguments: [("alert", "com.example.shop", 4096), ("voip", "com.example.shop.voip", 5120)])
    func row26AllowsTheLimitAndNotOneByteMore(type: String, topic: String, limit: Int) throws {
        var bench = try RuleBench()
        let headers: [String: String?] = ["apns-push-type": type, "apns-topic": topic]
        #expect(bench.judge(headers, bodyBytes: limit).refusal == nil)
        expect(bench.judge(headers, bodyBytes: limit + 1), .payloadTooLarge, row: 26)
    }

    @Test(arguments: [
        ("no json", "the body is not JSON"), ("[]", "the body is not a JSON object"),
        (#"{"alert":"hi"}"#, "the body has no aps object"),
        (#"{"aps":{"alert":5}}"#, "aps.alert has a type or value that Apple does not document"),
        (#"{"aps":{"badge":"1"}}"#, "aps.badge has a type or value that Apple does not document"),
    ])
    func row27AcceptsWithAFindingAndRefusesWhenStrict(body: String, finding: String) throws {
        var lenient = try RuleBench()
        let verdict = lenient.judge(body: body)
        #expect(verdict.refusal == nil)
        #expect(verdict.findings == [finding])
        var strict = try RuleBench { $0.refusesUndeliverablePayloads = true }
        expect(strict.judge(body: body), .payloadEmpty, row: 27)
    }

    @Test func row28RefusesATokenThatGetsTooMany() throws {
        var bench = try RuleBench()
        bench.isOverRate = true
        expect(bench.judge(), .tooManyRequests, row: 28)
    }

    @Test(arguments: [(429, "TooManyRequests"), (500, "InternalServerError"), (503, "ServiceUnavailable")])
    func scriptedFaultsComeAfterEveryOtherRule(status: Int, reason: String) throws {
        var bench = try RuleBench()
        bench.scripted = ScriptedAnswer(token: "*", status: status)
        bench.scripted?.retryAfter = 3
        expect(bench.judge(body: ""), .payloadEmpty, row: 25)
        let refusal = bench.judge().refusal
        #expect(refusal == RuleRefusal(status: status, reason: reason, timestamp: nil, retryAfter: 3))
    }

    @Test func row30OpensTheConnectionForAValidToken() throws {
        var bench = try RuleBench()
        _ = bench.judge(["authorization": nil])
        #expect(!bench.connection.hasShownValidToken)
        expect(bench.judge(["apns-topic": nil]), .missingTopic, row: 15)
        #expect(bench.connection.hasShownValidToken)
    }

    @Test func aVerifiedTokenIsNotVerifiedAgainButStillAges() throws {
        var bench = try RuleBench()
        let authorization = try bench.key.bearer()
        #expect(bench.judge(["authorization": authorization]).refusal == nil)
        // The rule book has no keys any longer, so only the state of the connection can let the push pass.
        bench.book = RuleBook(.init(keys: try KeyRegistry([])))
        #expect(bench.judge(["authorization": authorization]).refusal == nil)
        bench.now += 3601
        expect(bench.judge(["authorization": authorization]), .expiredProviderToken, row: 13)
    }

    @Test func withoutKeysEveryWellFormedTokenIsAccepted() throws {
        var bench = try RuleBench { $0.keys = .acceptingAnyKey }
        #expect(bench.judge(["authorization": try bench.key.bearer(form: .wrong)]).refusal == nil)
        expect(bench.judge(["authorization": "bearer a.b.c"]), .invalidProviderToken, row: 10)
    }

    private func expect(
        _ verdict: RuleBook.Verdict,
        _ reason: Reason,
        row: Int,
        at location: SourceLocation = #_sourceLocation
    ) {
        #expect(verdict.refusal?.reason == reason.rawValue, sourceLocation: location)
        #expect(verdict.refusal?.status == reason.status, sourceLocation: location)
        #expect(verdict.row == row, sourceLocation: location)
    }
}
