import Model
import Testing

@testable import ConsoleOperations
@testable import PageParts
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

    @Test func theCallHasThePlatformAndTheBindings() throws {
        let typed: KeyValuePairs = [
            "app": " web ", "topic": "com.example.web", "production": "apple", "sandbox": "",
            "bindings": #"{"upmc": {"applicationId": "com.example.web"}}"#,
        ]
        let missing = OperationsStage.problem("no such app", status: 404)
        let call = try #require(step(typed, missing).call)
        #expect(call.method == .put && call.path == "apps/web")
        let platforms: JSON = ["ios": ["topic": "com.example.web", "production": "apple"]]
        #expect(call.body?["platforms"] == platforms)
        #expect(call.body?["bindings"]?["upmc"]?["applicationId"]?.string == "com.example.web")
        // Before it, the form asks for the app of this name.
        #expect(form.calls(request, OperationsStage.fields(typed), Answers()).map(\.path) == ["apps/web"])
    }

    @Test func anAppThatExistsIsNotReplaced() {
        let stored = OperationsStage.answer(["app": "web", "retiredAt": .null])
        #expect(step(["app": "web"], stored).errors == ["app": "The app exists already."])
        let removed = OperationsStage.answer(["app": "web", "retiredAt": "2026-11-01T00:00:00.000Z"])
        #expect(step(["app": "web"], removed).call?.path == "apps/web")
        let failed = OperationsStage.problem("unavailable", status: 503)
        #expect(step(["app": "web"], failed).errors == ["": "unavailable"])
    }

    @Test func wrongFieldsAreNamed() {
        #expect(step([:]).errors == ["app": "This field is required."])
        #expect(step(["app": "web", "bindings": "[1]"]).errors == ["bindings": "This is not a JSON object."])
    }

    @Test func anErrorOfTheAPIIsShownAtItsField() {
        func places(_ detail: String) -> [String] {
            let answer = OperationsStage.problem(detail)
            return form.result(request, FormFields([]), answer).errors?.keys.sorted() ?? []
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
