import Model
import Testing

@testable import ConsoleOperations
@testable import PageParts
@testable import WebConsole

/// The rules of apps, their versions, tests and changes.
struct RoutesPageTests {
    private static let bodies = ["routes": OperationsSamples.routes, "versions": OperationsSamples.versions]

    private func content(_ request: PageRequest, _ more: [String: JSON] = [:]) throws -> PageContent {
        try AppRoutesPage().content(request, OperationsStage.answers(Self.bodies.merging(more) { $1 }))
    }

    private static func request(
        query: KeyValuePairs<String, String> = [:],
        typed: KeyValuePairs<String, String> = [:],
        errors: [String: String] = [:]
    ) -> PageRequest {
        OperationsStage.request(path: ["app": "shop"], query: query, typed: typed, errors: errors)
    }

    @Test func theAnswerIsTheVersionInForce() throws {
        #expect(
            try content(Self.request()).sentence.text
                == "Version 42 is in force, made by kim (account) on Mon 23 Nov 14:00 (API or console)."
        )
        let none = try content(Self.request(), ["routes": ["app": "shop", "version": .null]])
        #expect(none.sentence.mark == .ok && none.sentence.text.hasPrefix("The app shop has no rules"))
        var object = OperationsSamples.routes.object ?? JSONObject()
        object["origin"] = "migration"
        let migrated = try content(Self.request(), ["routes": .object(object)]).sentence
        #expect(migrated.text.hasPrefix("A migration decides the rules") && migrated.link?.path == "migrations")
    }

    @Test func rulesAreInWordsWithTheirPart() throws {
        let texts = OperationsStage.texts(try content(Self.request()))
        #expect(texts.contains("kinds: Sends · rollout: 10% (user, spring)"))
        #expect(texts.contains("Proxy → old-braze") && texts.contains("APNs → old-braze"))
        #expect(texts.contains { $0.contains("tenants[acme].apps[shop].routes") })
    }

    @Test func theAddressTestsAUser() throws {
        let request = Self.request(query: ["vendor": "braze", "user": " user-1, user-2 ,", "kind": "send"])
        let calls = AppRoutesPage().calls(request, Answers())
        let test = try #require(calls.first { $0.name == "test" })
        #expect(test.method == .post && test.path == "apps/shop/routes/test")
        #expect(test.body == ["vendor": "braze", "kind": "send", "users": ["user-1", "user-2"]])
        let decisions: JSON = [
            "faults": [], "unsupported": .null,
            "call": ["rule": 1, "action": "proxy", "upstream": "old-braze", "split": false],
            "deliveries": [["target": "user-1", "rule": 0, "bucket": 1_182_305_394, "paths": ["apns"]]],
        ]
        let texts = OperationsStage.texts(try content(request, ["test": decisions]))
        #expect(texts.contains("calls[1]") && texts.contains("deliveries[0]") && texts.contains("27.53%"))
        #expect(AppRoutesPage().calls(Self.request(), Answers()).map(\.name) == ["routes", "versions"])
    }

    @Test func aVersionIsComparedWithTheOneInForce() throws {
        let request = Self.request(query: ["version": "41"])
        #expect(AppRoutesPage().calls(request, Answers()).last?.query == [.init("version", "41")])
        var other = OperationsSamples.routes.object ?? JSONObject()
        other["version"] = 41
        other["overlay"] = [:]
        let lines = OperationsStage.all(DifferenceLine.self, in: try content(request, ["other": .object(other)]))
        #expect(lines.contains { $0.change == .added && $0.text.contains("spring") })
        #expect(!lines.contains { $0.change == .removed && $0.text.contains("spring") })
        // Before a return to it, the difference is that of the change.
        let asked = Self.request(typed: ["ask": "restore", "version": "41", "inForce": "42"])
        #expect(AppRoutesPage().calls(asked, Answers()).last?.name == "other")
        let back = OperationsStage.all(DifferenceLine.self, in: try content(asked, ["other": .object(other)]))
        #expect(back.contains { $0.change == .removed && $0.text.contains("spring") })
    }

    @Test func aReturnNamesTheVersionThatItReplaces() {
        let fields = OperationsStage.fields(["confirmed": "yes", "version": "41", "inForce": "42"])
        guard case .call(let call) = RestoreRoutesForm().submit(Self.request(), fields, Answers()) else {
            Issue.record("no call")
            return
        }
        #expect(call.path == "apps/shop/routes/rollback" && call.ifMatch == "\"42\"" && call.body == ["version": 41])
    }

    // MARK: The overlay

    @Test func theOverlayReplacesTheVersionThatWasShown() {
        let fields = OperationsStage.fields(["overlay": "{\"deliveries\":[{\"paths\":[\"apns\"]}]}", "version": "42"])
        guard case .call(let call) = SaveOverlayForm().submit(Self.request(), fields, Answers()) else {
            Issue.record("no call")
            return
        }
        #expect(call.method == .put && call.path == "apps/shop/routes" && call.ifMatch == "\"42\"")
        #expect(call.body == ["deliveries": [["paths": ["apns"]]]])
        for wrong in ["", "[]", "{", "\"x\"", String(repeating: "[", count: 70_000)] {
            let fields = OperationsStage.fields(["overlay": wrong, "version": "42"])
            guard case .invalid(let errors) = SaveOverlayForm().submit(Self.request(), fields, Answers()) else {
                Issue.record("\(wrong.prefix(10))")
                continue
            }
            #expect(errors.errors.keys.sorted() == ["overlay"])
        }
    }

    @Test func aConflictShowsBothTexts() throws {
        let refused = SaveOverlayForm().result(
            Self.request(),
            FormFields([]),
            OperationsStage.problem("version 42 is in force; nothing was changed", status: 412)
        )
        guard case .invalid(let errors) = refused else {
            Issue.record("no error")
            return
        }
        let request = Self.request(
            typed: ["overlay": "{\"deliveries\":[{\"paths\":[\"none\"]}]}", "version": "41"],
            errors: errors.errors
        )
        // Nothing is tried after a conflict.
        #expect(AppRoutesPage().calls(request, Answers()).map(\.name) == ["routes", "versions"])
        let shown = try content(request)
        #expect(OperationsStage.texts(shown).contains { $0.hasPrefix("kim (account) changed the rules on") })
        let lines = OperationsStage.all(DifferenceLine.self, in: shown)
        #expect(lines.contains { $0.change == .added && $0.text.contains("none") })
        #expect(lines.contains { $0.change == .removed && $0.text.contains("spring") })
        // Saved again, the text replaces the version that the page compared it with.
        let hidden = OperationsStage.all(FormView.self, in: shown).flatMap(\.fields).first { $0.name == "version" }
        #expect(hidden?.value == "42")
    }

    @Test func anOverlayIsTriedWithoutBeingSaved() {
        let fields = OperationsStage.fields(["overlay": "{}", "version": "42", "tryVendor": "upmc", "tryUser": "u-1"])
        guard case .show = TryOverlayForm().submit(Self.request(), fields, Answers()) else {
            Issue.record("not shown")
            return
        }
        var request = Self.request()
        request.typed = fields
        let trial = AppRoutesPage().calls(request, Answers()).first { $0.name == "trial" }
        #expect(trial?.body == ["vendor": "upmc", "kind": "send", "users": ["u-1"], "overlay": [:]])
    }

    @Test func theListReadsTheRulesOfItsApps() throws {
        let rounds = OperationsStage.calls(
            RoutesPage(),
            OperationsStage.request(),
            ["apps": OperationsSamples.apps, "routes-shop": OperationsSamples.routes, "routes-web": [:]]
        )
        #expect(rounds.map { $0.map(\.path) } == [["apps"], ["apps/shop/routes", "apps/web/routes"]])
        let sentence = try OperationsStage.sentence(
            RoutesPage(),
            ["apps": OperationsSamples.apps, "routes-shop": OperationsSamples.routes, "routes-web": ["version": .null]]
        )
        #expect(sentence.text.hasPrefix("Apps with rules: 1 of 2."))
    }

    @Test func aDifferenceIsBounded() {
        let long = (0..<3000).map { "line \($0)" }.joined(separator: "\n")
        #expect(LineDifference.lines(from: long, to: "x").count <= 2000)
        #expect(LineDifference.lines(from: "a\nb\nc", to: "a\nc\nd").map(\.change) == [.same, .removed, .same, .added])
        #expect(LineDifference.lines(from: "", to: "").map(\.change) == [.same])
    }
}
