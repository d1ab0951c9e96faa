import Model
import Testing

/// The names of the fields in which two answers differ (docs/routing.md#parity).
@Suite struct AnswerComparisonTests {
    private func names(_ ours: String, _ theirs: String, varying: Set<String> = [], status: Int = 200) -> [String] {
        AnswerComparison(varying: varying).differences(
            ours: VendorResponse(status: 200, body: Array(ours.utf8)),
            theirs: VendorResponse(status: status, body: Array(theirs.utf8))
        )
    }

    @Test func theOrderAndTheSpellingOfNumbersDoNotCount() {
        #expect(names(#"{"a":1,"b":"x"}"#, #"{"b":"x", "a":1.0}"#).isEmpty)
        // SDKs tell a number from a text.
        #expect(names(#"{"a":1}"#, #"{"a":"1"}"#) == ["a"])
    }

    @Test func aFieldIsNamedByItsPath() {
        #expect(names(#"{"a":{"b":[{"c":1},{"c":2}]}}"#, #"{"a":{"b":[{"c":1},{"c":3}]}}"#) == ["a.b[].c"])
        #expect(names(#"{"a":[1,2]}"#, #"{"a":[1]}"#) == ["a[]"])
        #expect(names(#"{"a":1}"#, #"{"b":1}"#) == ["a", "b"])
    }

    // The value differs by nature; its absence is a difference.
    @Test func aVaryingFieldMustOnlyBePresent() {
        #expect(names(#"{"id":"x","a":1}"#, #"{"id":"y","a":1}"#, varying: ["id"]).isEmpty)
        #expect(names(#"{"id":"x","a":1}"#, #"{"a":1}"#, varying: ["id"]) == ["id"])
    }

    @Test func aStatusAndATextAreCompared() {
        #expect(names("ok", "ok").isEmpty)
        #expect(names("ok", "error", status: 400) == ["status", "body"])
        #expect(names(#"{"a":1}"#, "ok") == ["body"])
        #expect(names("", "").isEmpty)
    }

    @Test func hostileAnswersAreBounded() {
        let many = "{" + (0..<1000).map { "\"k\($0)\":1" }.joined(separator: ",") + "}"
        #expect(names("{}", many).count == AnswerComparison.nameLimit)
        let deep = String(repeating: #"{"a":"#, count: 60) + "1" + String(repeating: "}", count: 60)
        let other = String(repeating: #"{"a":"#, count: 60) + "2" + String(repeating: "}", count: 60)
        #expect(names(deep, other).count <= 1)
    }
}

/// The share of targets that the gateway could have reached, and the calls that may be carried out to compare answers.
@Suite struct ParityValueTests {
    @Test func theReachOfNamedTargetsDoesNotNeedTheVendorsCount() {
        let named = ObservedReach(known: 3, reachable: 2)
        #expect(named.figure(counted: 900) == ParityFigure(.reach, samples: 3, differences: 1))
        #expect(ObservedReach(known: 0, reachable: 0).figure(counted: nil) == nil)
    }

    @Test func theReachOfAnAudienceIsItsCountAgainstTheVendors() {
        let all = ObservedReach(known: 90, reachable: nil)
        #expect(all.figure(counted: 100) == ParityFigure(.reach, samples: 100, differences: 10))
        // More devices here are not a difference: each is reached.
        #expect(all.figure(counted: 80) == ParityFigure(.reach, samples: 80, differences: 0))
        #expect(all.figure(counted: nil) == nil)
    }

    // No data must not read as agreement.
    @Test func aFigureWithoutSamplesHasNoShare() {
        #expect(ParityFigure(.responses, samples: 0, differences: 0).agreement == nil)
        #expect(ParityFigure(.responses, samples: 4, differences: 1).agreement == 0.75)
    }

    @Test func onlyCommandsThatChangeNothingAreReads() {
        let caller = DeviceCaller(key: "k", token: nil)
        let looks: [Command] = [
            .registration(.standing(key: "k")), .preference(.preferences(caller)), .group(.list(nil)),
            .inbox(.history(caller, HistoryPage(.device, count: 1, look: HistoryLook()))),
        ]
        #expect(looks.allSatisfy { $0.isPureRead })
        let acts: [Command] = [
            .registration(.unregister(.key("k"))), .registration(.drawKey), .group(.create(title: "x")),
            .inbox(.history(caller, HistoryPage(.device, count: 1))), .inbox(.poll(caller, limit: 1)),
            .badge(.set(1, of: BadgeHolder(key: "k"))),
            .submission(.submit(Submission(content: Content(body: "x"), audience: .everyone))),
        ]
        #expect(!acts.contains { $0.isPureRead })
    }
}
