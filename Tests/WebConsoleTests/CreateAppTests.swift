import Model
import Testing

@testable import WebConsole

/// The form that creates an app.
struct CreateAppTests {
    private let form = CreateAppForm()
    private let request = OperationsStage.request()

    private func step(_ typed: KeyValuePairs<String, String>, _ stored: APIAnswer? = nil) -> FormStep {
        var answers = Answers()
        answers["stored"] = stored
        return form.submit(request, OperationsStage.fields(typed), answers)
    }

    private func errors(_ step: FormStep) -> [String: String] {
        guard case .invalid(let found) = step else { return [:] }
        return found.errors
    }

    @Test func theCallHasThePlatformAndTheBindings() throws {
        let typed: KeyValuePairs = [
            "app": " web ", "topic": "com.example.web", "production": "apple", "sandbox": "",
            "bindings": #"{"upmc": {"applicationId": "com.example.web"}}"#,
        ]
        let missing = OperationsStage.problem("no such app", status: 404)
        guard case .call(let call) = step(typed, missing) else {
            Issue.record("no call")
            return
        }
        #expect(call.method == .put && call.path == "apps/web")
        let platforms: JSON = ["ios": ["topic": "com.example.web", "production": "apple"]]
        #expect(call.body?["platforms"] == platforms)
        #expect(call.body?["bindings"]?["upmc"]?["applicationId"]?.string == "com.example.web")
        // Before it, the form asks for the app of this name.
        #expect(form.calls(request, OperationsStage.fields(typed), Answers()).map(\.path) == ["apps/web"])
    }

    @Test func anAppThatExistsIsNotReplaced() {
        let stored = OperationsStage.answer(["app": "web", "retiredAt": .null])
        #expect(errors(step(["app": "web"], stored)) == ["app": "The app exists already."])
        let removed = OperationsStage.answer(["app": "web", "retiredAt": "2026-11-01T00:00:00.000Z"])
        #expect(errors(step(["app": "web"], removed)).isEmpty)
        let failed = OperationsStage.problem("unavailable", status: 503)
        #expect(errors(step(["app": "web"], failed)) == ["": "unavailable"])
    }

    @Test func wrongFieldsAreNamed() {
        #expect(errors(step([:])) == ["app": "This field is required."])
        #expect(errors(step(["app": "web", "bindings": "[1]"])) == ["bindings": "This is not a JSON object."])
    }

    @Test func anErrorOfTheAPIIsShownAtItsField() {
        func places(_ detail: String) -> [String] {
            let answer = OperationsStage.problem(detail)
            guard case .invalid(let found) = form.result(request, FormFields([]), answer) else { return [] }
            return Array(found.errors.keys)
        }
        #expect(places("platforms.ios.production: no such credential") == ["production"])
        #expect(places("bindings.upmc.version: must be 4.0 or 5.1") == ["bindings"])
        #expect(places("app: must not be empty") == ["app"])
        #expect(places("quietHours: is not an object") == [""])
    }

    @Test func onlyCredentialsForAPNsCanBeChosen() throws {
        let bodies: [String: JSON] = [
            "apps": ["apps": [], "next": .null],
            "credentials": [
                "credentials": [
                    ["credential": "apple", "kind": "apns-token"], ["credential": "old", "kind": "upstream-upmc"],
                ]
            ],
        ]
        let content = try AppsPage().content(request, OperationsStage.answers(bodies))
        let form = try #require(content.form("apps/create"))
        guard case .select(let options)? = form.field("production")?.kind else {
            Issue.record("no list of credentials")
            return
        }
        #expect(options.map(\.value) == ["", "apple"])
    }
}
