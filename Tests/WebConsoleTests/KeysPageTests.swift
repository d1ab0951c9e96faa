import Model
import Testing

@testable import ConsoleAdministration
@testable import ConsoleOperations
@testable import PageParts
@testable import WebConsole

/// API keys and webhooks.
struct KeysPageTests {
    private static func key(_ name: String, _ changes: JSONObject) -> JSON {
        var object = OperationsSamples.key.object ?? JSONObject()
        object["name"] = .string(name)
        for (name, value) in changes.pairs { object[name] = value }
        return .object(object)
    }

    private func sentence(_ keys: [JSON]) throws -> String {
        try OperationsStage.sentence(KeysPage(), ["keys": ["keys": .array(keys), "next": .null]]).text
    }

    @Test func theKeyThatNeedsWorkIsTheAnswer() throws {
        let idle = Self.key("idle", ["lastUsedAt": "2026-08-01T00:00:00.000Z"])
        let open = Self.key("open", ["networks": [], "scopes": ["admin"]])
        let ended = Self.key("ended", ["expiresAt": "2026-11-20T00:00:00.000Z"])
        let ending = Self.key("ending", ["expiresAt": "2026-12-01T00:00:00.000Z"])
        #expect(try sentence([OperationsSamples.key]) == "The API key is valid.")
        #expect(try sentence([OperationsSamples.key, idle]).hasPrefix("The key idle has not been used"))
        #expect(try sentence([idle, open]).hasPrefix("The key open administers"))
        #expect(try sentence([idle, open, ended]).hasPrefix("The key ended expired on Fri 20 Nov"))
        #expect(try sentence([idle, open, ended, ending]).hasPrefix("The key ending expires on Tue 1 Dec"))
        #expect(try sentence([]) == "There are no API keys yet.")
    }

    /// The second secret of a key ends at once when a third is made: back ends that still use it would be refused.
    @Test func aSecretIsNotReplacedTwiceByTwoPeople() throws {
        let form = RotateKeyForm()
        let request = OperationsStage.request(path: ["key": "crm"])
        func shown(_ key: JSON) throws -> FormFields {
            let content = try KeyPage().content(request, OperationsStage.answers(["key": key]))
            let view = try #require(OperationsStage.all(FormView.self, in: content).first)
            return FormFields(view.fields.map { FormFields.Field($0.name, .text($0.value)) })
        }
        func isRefused(_ fields: FormFields, _ stored: JSON) -> Bool {
            form.submit(request, fields, OperationsStage.answers(["key": stored])).errors != nil
        }
        let before = Self.key("crm", [:])
        let after = Self.key("crm", ["hasOtherSecret": true, "otherSecretUntil": "2026-11-24T05:00:00.000Z"])
        let opened = try shown(before)
        #expect(form.calls(request, opened, Answers()).map(\.path) == ["keys/crm"])
        #expect(isRefused(opened, after))
        #expect(!isRefused(try shown(after), after), "the page has shown the replacement")
        #expect(!isRefused(try shown(after), before), "the earlier secret has ended meanwhile")
        #expect(!isRefused(opened, before))
        // The API goes on to state the end of a secret that has ended.
        let ended = Self.key("crm", ["hasOtherSecret": false, "otherSecretUntil": "2026-11-20T05:00:00.000Z"])
        #expect(!isRefused(opened, ended))
    }

    private func create(_ pairs: KeyValuePairs<String, String>) -> FormStep {
        CreateKeyForm().submit(OperationsStage.request(), OperationsStage.fields(pairs), Answers())
    }

    @Test func aFormCreatesAKeyAndShowsItsSecretOnce() {
        let step = create([
            "name": "crm", "scope-send": "on", "scope-read": "on", "app": "shop",
            "networks": "10.0.0.0/8, 192.0.2.0/24",
            "expiresAt": "2026-12-01T09:00", "recipientsPerDay": "1000",
        ])
        guard case .call(let call) = step else {
            Issue.record("no call")
            return
        }
        #expect(
            call.body == [
                "name": "crm", "scopes": ["send:app/shop", "read:app/shop"],
                "networks": ["10.0.0.0/8", "192.0.2.0/24"], "expiresAt": "2026-12-01T00:00:00.000Z",
                "recipientsPerDay": 1000,
            ]
        )
        let result = CreateKeyForm().result(
            OperationsStage.request(),
            FormFields([]),
            OperationsStage.answer(["name": "crm", "key": "pgw_1"], status: 201)
        )
        guard case .once(_, let secret) = result else {
            Issue.record("the secret is not shown once")
            return
        }
        #expect(secret == "pgw_1")
        #expect(CreateKeyForm().asksPassword && RotateKeyForm().asksPassword && DeleteKeyForm().asksPassword)
    }

    @Test func wrongFieldsOfAKeyAreNamed() {
        guard case .invalid(let errors) = create(["expiresAt": "2026-02-30T09:00", "recipientsPerDay": "many"]) else {
            Issue.record("no errors")
            return
        }
        #expect(errors.errors.keys.sorted() == ["expiresAt", "name", "recipientsPerDay", "scope-send"])
        let result = CreateKeyForm().result(
            OperationsStage.request(),
            FormFields([]),
            OperationsStage.problem("scopes[0]: must be one of send")
        )
        guard case .invalid(let shown) = result else {
            Issue.record("no errors")
            return
        }
        #expect(shown.errors == ["scope-send": "must be one of send"])
    }

    @Test func aKeyOfTheFileIsReadOnly() throws {
        let body = Self.key("crm", ["isProvisioned": true])
        let content = try KeyPage().content(
            OperationsStage.request(path: ["key": "crm"]),
            OperationsStage.answers(["key": body])
        )
        #expect(OperationsStage.all(FormView.self, in: content).isEmpty && content.actions.isEmpty)
        #expect(OperationsStage.texts(content).contains { $0.contains("tenants[acme].apiKeys[crm]") })
    }

    // MARK: Webhooks

    private static func webhook(_ changes: JSONObject) -> JSON {
        var object = OperationsSamples.webhook.object ?? JSONObject()
        for (name, value) in changes.pairs { object[name] = value }
        return .object(object)
    }

    @Test func theWebhookThatNeedsWorkIsTheAnswer() throws {
        let behind = Self.webhook(["head": 2000])
        let paused = Self.webhook(["state": "paused", "active": false])
        let failing = Self.webhook(["state": "failing", "failures": 3, "lastError": "timeout"])
        let stopped = Self.webhook(["state": "stopped", "active": false, "lastError": "timeout"])
        func sentence(_ webhooks: [JSON]) throws -> Sentence {
            try OperationsStage.sentence(WebhooksPage(), ["webhooks": ["webhooks": .array(webhooks)]])
        }
        #expect(try sentence([]).mark == .idle)
        #expect(try sentence([OperationsSamples.webhook]).mark == .ok)
        #expect(try sentence([OperationsSamples.webhook, behind]).text.contains("1,910 events behind"))
        #expect(try sentence([behind, paused]).text.contains("is paused"))
        #expect(try sentence([behind, paused, failing]).text.contains("failed 3 times in a row (timeout)"))
        #expect(try sentence([behind, paused, failing, stopped]).mark == .bad)
    }

    @Test func theButtonsOfAWebhookFollowItsState() throws {
        func paths(_ webhook: JSON) throws -> [String] {
            let content = try WebhookPage().content(
                OperationsStage.request(path: ["webhook": "w"]),
                OperationsStage.answers(["webhook": webhook])
            )
            return content.actions.compactMap { if case .post(_, let path, _, _, _) = $0 { path } else { nil } }
        }
        #expect(try paths(OperationsSamples.webhook) == ["webhooks/w/pause", "webhooks/w/delete"])
        #expect(try paths(Self.webhook(["active": false])) == ["webhooks/w/resume", "webhooks/w/delete"])
        let request = OperationsStage.request(path: ["webhook": "w/1"])
        let pause = SwitchWebhookForm(name: "pause", isActive: false).submit(request, FormFields([]), Answers())
        guard case .call(let call) = pause else {
            Issue.record("no call")
            return
        }
        #expect(call.method == .patch && call.path == "webhooks/w%2F1" && call.body == ["active": false])
    }

    /// Calls are signed with the last two secrets: after two replacements, the receiver's own is not one of them.
    @Test func aSigningSecretIsNotReplacedTwiceByTwoPeople() throws {
        let form = RotateWebhookForm()
        let request = OperationsStage.request(path: ["webhook": "w"])
        func shown(_ webhook: JSON) throws -> FormFields {
            let content = try WebhookPage().content(request, OperationsStage.answers(["webhook": webhook]))
            let views = OperationsStage.all(FormView.self, in: content)
            let view = try #require(views.first { $0.path == "webhooks/w/secret" })
            return FormFields(view.fields.map { FormFields.Field($0.name, .text($0.value)) })
        }
        let before = Self.webhook(["keyId": "whk_01020304"])
        let after = Self.webhook(["keyId": "whk_0a0b0c0d"])
        let opened = try shown(before)
        #expect(form.calls(request, opened, Answers()).map(\.path) == ["webhooks/w"])
        guard case .invalid(let errors) = form.submit(request, opened, OperationsStage.answers(["webhook": after]))
        else {
            Issue.record("the second replacement is not refused")
            return
        }
        #expect(errors.errors[""]?.contains("whk_0a0b0c0d") == true)
        // The form now has the key that was shown, so that sending it again replaces the secret.
        var again = request
        again.typed = FormFields(opened.fields + [FormFields.Field("_form", .text("webhooks/w/secret"))])
        again.errors = errors
        let content = try WebhookPage().content(again, OperationsStage.answers(["webhook": after]))
        let html = String(
            decoding: try Renderer.bundled(isStrict: true).page(content, again, path: "webhooks/w"),
            as: UTF8.self
        )
        #expect(html.contains(#"name="shown" value="whk_0a0b0c0d""#) && html.contains("whk_0a0b0c0d. Your request"))
        for fields in [try shown(after), FormFields([])] {
            let step = form.submit(request, fields, OperationsStage.answers(["webhook": after]))
            #expect(step.call?.path == "webhooks/w/secret")
        }
        let unread = Answers(["webhook": OperationsStage.problem("busy", status: 503)])
        #expect(form.submit(request, opened, unread).errors != nil, "a secret that cannot be compared is not replaced")
    }

    @Test func aReplayNeedsAPosition() {
        let request = OperationsStage.request(path: ["webhook": "w"])
        let form = ReplayWebhookForm()
        if case .call(let call) = form.submit(request, OperationsStage.fields(["from": "90"]), Answers()) {
            #expect(call.path == "webhooks/w/replay" && call.body == ["from": 90])
        } else {
            Issue.record("no call")
        }
        guard case .invalid = form.submit(request, OperationsStage.fields(["from": "now"]), Answers()) else {
            Issue.record("no error")
            return
        }
    }
}
