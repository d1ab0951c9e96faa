import Model
import Testing

@testable import ConsoleOperations
@testable import PageParts
@testable import WebConsole

/// Migrations and parity.
struct MigrationPagesTests {
    private static func migration(_ changes: JSONObject) -> JSON {
        var object = OperationsSamples.migration.object ?? JSONObject()
        for (name, value) in changes.pairs { object[name] = value }
        return .object(object)
    }

    private func sentence(_ changes: JSONObject, _ language: Language = .en) throws -> Sentence {
        let request = OperationsStage.request(language, path: ["migration": "leave-upmc"])
        return try OperationsStage.sentence(MigrationPage(), ["migration": Self.migration(changes)], request)
    }

    private static func gate(_ verdict: String, missing: Int64 = 0) -> JSON {
        ["metric": "receipts", "verdict": .string(verdict), "missing": .int(missing), "needed": 200]
    }

    @Test func tooFewSamplesSayWhatIsMissing() throws {
        #expect(
            try sentence([:]).text == "leave-upmc: too few samples to advance. Receipts compared: 88 samples missing"
        )
        // While the step lasts, the time that is left is the answer.
        #expect(
            try sentence(["remainingSeconds": 7200]).text == "leave-upmc: the step is in force (1% of sends); 2 h left."
        )
        let content = try MigrationPage().content(
            OperationsStage.request(path: ["migration": "leave-upmc"]),
            OperationsStage.answers(["migration": OperationsSamples.migration])
        )
        let texts = OperationsStage.texts(content)
        #expect(texts.contains("Receipts compared: 88 samples missing. Each receipt of a device is a sample."))
        #expect(texts.contains("112 / 200") && texts.contains("0.4%") && texts.contains("≤ 2%"))
    }

    @Test func theStateIsTheAnswer() throws {
        let failure = "receipts failed: 0.91 of 812 samples, the limit is 0.97"
        #expect(try sentence(["status": "halted", "reason": .string(failure)]).mark == .bad)
        #expect(
            try sentence(["status": "halted", "reason": .string(failure)], .ko).text
                == "leave-upmc 마이그레이션이 멈췄습니다. 수신 확인 비율 조건에 실패했습니다. 값 0.91, 표본 812, 기준 0.97"
        )
        let recent = "failures failed: 0.5 of 1000 recent samples, the limit is 0.02"
        #expect(
            try sentence(["status": "halted", "reason": .string(recent)], .ko).text
                .hasSuffix("실패한 발신 조건에 실패했습니다. 값 0.5, 최근 표본 1000, 기준 0.02")
        )
        #expect(try sentence(["status": "rolledBack", "reason": "by an operator"]).mark == .warn)
        #expect(try sentence(["status": "paused"]).mark == .warn)
        #expect(try sentence(["status": "planned", "since": .null]).mark == .idle)
        #expect(try sentence(["status": "completed"]).mark == .ok)
        #expect(try sentence(["gates": [Self.gate("failed")]]).text.contains("a gate fails (Receipts compared)"))
        #expect(try sentence(["gates": [Self.gate("passed")], "ready": true]).mark == .ok)
    }

    private func buttons(_ changes: JSONObject) throws -> [String] {
        let request = OperationsStage.request(path: ["migration": "m"])
        let answers = OperationsStage.answers(["migration": Self.migration(changes)])
        return try MigrationPage().content(request, answers).actions.compactMap { action in
            guard case .post(_, let path, _, _, _) = action else { return nil }
            return path.split(separator: "/").last.map(String.init)
        }
    }

    // `MigrationMachine.order`: the orders that each state allows.
    @Test func theButtonsAreThoseThatTheStateAllows() throws {
        #expect(try buttons(["status": "planned", "since": .null]) == ["start"])
        #expect(try buttons(["status": "running"]) == ["advance", "pause", "rollback", "rollback-full"])
        #expect(try buttons(["status": "paused"]) == ["resume", "rollback", "rollback-full"])
        #expect(try buttons(["status": "halted"]) == ["resume", "rollback", "rollback-full"])
        #expect(try buttons(["status": "rolledBack"]) == ["resume", "rollback-full"])
        // The step before the end is left by its own button.
        #expect(try buttons(["status": "rolledOut", "step": 3]) == ["complete", "pause", "rollback", "rollback-full"])
        #expect(try buttons(["status": "completed", "step": 4]).isEmpty)
        #expect(try buttons(["status": "unheard"]).isEmpty)
        #expect(try buttons(["status": "running", "step": .number("9223372036854775807")]).first == "pause")
    }

    @Test func aDecisionIsOneCall() throws {
        let request = OperationsStage.request(path: ["migration": "leave-upmc"])
        for decision in MigrationDecision.all {
            let step = decision.submit(request, OperationsStage.fields(["confirmed": "yes"]), Answers())
            guard case .call(let call) = step else {
                Issue.record("\(decision.name)")
                continue
            }
            let isFull = decision.name == "rollback-full"
            #expect(call.path == "migrations/leave-upmc/\(isFull ? "rollback" : decision.name)")
            #expect(call.query == (isFull ? [.init("full", "true")] : []))
        }
    }

    /// The fields of a decision's button on the page of a migration.
    private static func button(_ name: String, _ migration: JSON) throws -> FormFields {
        let request = OperationsStage.request(path: ["migration": "m"])
        let content = try MigrationPage().content(request, OperationsStage.answers(["migration": migration]))
        for case .post(_, "migrations/m/\(name)", let fields, _, _) in content.actions {
            return FormFields(fields.map { FormFields.Field($0.name, .text($0.value)) })
        }
        Issue.record("no button \(name)")
        return FormFields([])
    }

    /// The second of two people who advance a migration would otherwise skip the step that the first has put in force.
    @Test func aMigrationIsNotAdvancedTwiceByTwoPeople() throws {
        let request = OperationsStage.request(path: ["migration": "m"])
        func isRefused(_ name: String, _ opened: JSON, _ stored: JSON) throws -> Bool {
            let decision = try #require(MigrationDecision.all.first { $0.name == name })
            let confirmed = FormFields.Field("confirmed", .text("yes"))
            let fields = FormFields(try Self.button(name, opened).fields + [confirmed])
            return decision.submit(request, fields, OperationsStage.answers(["migration": stored])).errors != nil
        }
        let opened = Self.migration(["step": 1])
        let advanced = Self.migration(["step": 2, "since": "2026-11-23T05:05:00.000Z", "revision": 8])
        #expect(try isRefused("advance", opened, advanced))
        #expect(try !isRefused("advance", opened, opened))
        #expect(try !isRefused("advance", advanced, advanced), "the page has shown the new step")
        #expect(try !isRefused("advance", opened, Self.migration(["step": 1, "ready": true])), "the gates passed")
        let paused = Self.migration(["step": 1, "status": "paused"])
        #expect(try isRefused("resume", paused, opened))
        // These are never late.
        for name in ["pause", "rollback", "rollback-full"] { #expect(try !isRefused(name, opened, advanced)) }
        let advance = try #require(MigrationDecision.all.first { $0.name == "advance" })
        let fields = try Self.button("advance", opened)
        #expect(advance.calls(request, fields, Answers()).map(\.path) == ["migrations/m"])
        // The version that was shown first goes through the question.
        var asked = request
        asked.typed = fields
        let content = try MigrationPage().content(asked, OperationsStage.answers(["migration": advanced]))
        let version = try #require(fields["shown"])
        #expect(OperationsStage.texts(content).contains(version))
    }

    @Test func aRollbackStatesItsCost() throws {
        var request = OperationsStage.request(path: ["migration": "leave-upmc"])
        request.typed = OperationsStage.fields(["ask": "rollback"])
        let answers = OperationsStage.answers(["migration": OperationsSamples.migration])
        let asked = OperationsStage.texts(try MigrationPage().content(request, answers))
        #expect(asked.contains { $0.contains("12 calls wait for the vendor") })
        // A refusal is shown instead of the question.
        request.errors = FieldErrors(["migration": "receipts needs 88 more samples"])
        let refused = OperationsStage.texts(try MigrationPage().content(request, answers))
        #expect(refused.contains("migration: receipts needs 88 more samples"))
        #expect(!refused.contains { $0.contains("12 calls wait for the vendor") })
    }

    @Test(
        arguments: [
            ("rollout 1 % is in force", "단계 시작: 발신 1%"), ("serve is complete", "단계 완료: 단말·조회 처리"),
            ("paused in hold", "일시 중지: 전체 발신, 되돌리기 가능"),
            ("halted: p99 failed", "멈춤: 발신 지연 p99 조건에 실패했습니다."), ("by an operator", "운영자가 되돌렸습니다."),
            ("something new", "something new"),
        ]
    )
    func notesAreTranslated(_ english: String, _ korean: String) {
        #expect(MigrationNotes.text(english, Wording(OperationsStage.request(.ko))) == korean)
        #expect(MigrationNotes.text(english, Wording(OperationsStage.request(.en))) == english)
    }

    @Test func theListNamesAHaltedMigrationFirst() throws {
        func sentence(_ migrations: [JSON]) throws -> Sentence {
            let body: JSON = ["migrations": .array(migrations), "next": .null]
            return try OperationsStage.sentence(MigrationsPage(), ["migrations": body])
        }
        let halted = Self.migration(["id": "other", "status": "halted", "reason": "p99 failed"])
        #expect(try sentence([]).mark == .idle)
        #expect(try sentence([OperationsSamples.migration]).text == "1 migration is in progress.")
        let worst = try sentence([OperationsSamples.migration, halted])
        #expect(worst.mark == .bad && worst.link?.path == "migrations/other")
        #expect(try sentence([Self.migration(["status": "completed"])]).mark == .idle)
    }

    // MARK: Parity

    private func parity(_ metrics: [JSON]) throws -> Sentence {
        let request = OperationsStage.request(path: ["app": "shop"])
        return try OperationsStage.sentence(ParityPage(), ["parity": ["metrics": .array(metrics)]], request)
    }

    @Test func noDataIsNotAgreement() throws {
        #expect(try parity([]).mark == .idle)
        #expect(try parity([["metric": "reach", "samples": 0, "differences": 0, "agreement": .null]]).mark == .idle)
        let few = try parity([["metric": "reach", "samples": 10, "differences": 0, "agreement": 1]])
        #expect(few.mark == .idle && few.text == "shop: only 10 observations, too few to conclude anything.")
        #expect(try parity([["metric": "reach", "samples": 200, "differences": 0, "agreement": 1]]).mark == .ok)
    }

    @Test func theLowestAgreementIsTheAnswer() throws {
        let request = OperationsStage.request(path: ["app": "shop"])
        let sentence = try OperationsStage.sentence(ParityPage(), ["parity": OperationsSamples.parity], request)
        #expect(
            sentence.text == "shop: the lowest agreement is 99.6% (Answers that agree; 4 differences)."
                && sentence.mark == .warn
        )
        let low: JSON = ["metric": "reach", "samples": 1000, "differences": 100, "agreement": .number("0.9")]
        #expect(try parity([low]).mark == .bad)
        let content = try ParityPage().content(request, OperationsStage.answers(["parity": OperationsSamples.parity]))
        #expect(OperationsStage.texts(content).contains("RESULT_CODE"))
        #expect(OperationsStage.texts(content).contains("{\"a\":2}"))
    }

    @Test func devicesAndReceiptsAreStatedNextToTheCalls() throws {
        func texts(_ body: JSON) throws -> [String] {
            let request = OperationsStage.request(path: ["app": "shop"])
            return OperationsStage.texts(try ParityPage().content(request, OperationsStage.answers(["parity": body])))
        }
        let found = try texts(OperationsSamples.parity)
        for text in ["12.5%", "valid", "…504f", "another token", "97.5%", "195 / 400", "100 / 200"] {
            #expect(found.contains(text), "\(text)")
        }
        var old = OperationsSamples.parity.object ?? JSONObject()
        old["devices"] = [["vendor": "upmc", "usable": false, "difference": .number("0.125"), "samples": []]]
        old["receipts"] = []
        let outdated = try texts(.object(old))
        #expect(outdated.contains("older than 24 hours") && !outdated.contains("valid"))
        #expect(outdated.contains(ParityText.noReceipts(.en)))
    }

    @Test func thePeriodBecomesATime() {
        let request = OperationsStage.request(path: ["app": "shop"], query: ["period": "1h"])
        #expect(ParityPage().export(request)?.query == [.init("since", "2026-11-23T04:05:07.204Z")])
        let unknown = OperationsStage.request(path: ["app": "shop"], query: ["period": "x"])
        #expect(ParityPage().export(unknown)?.query == [.init("since", "2026-11-22T05:05:07.204Z")])
    }
}
