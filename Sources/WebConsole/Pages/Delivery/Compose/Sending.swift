package import Model
package import PageParts

/// Shared by the pages that send messages.
package enum Sending {
    /// The group whose members receive tests. A convention: it is an ordinary group of the app.
    package static let testGroup = "test-devices"
    /// Names of templates that are drafts of the compose page.
    static let draftPrefix = "draft-"
    /// Above so many devices the number must be typed.
    static let confirmAbove: Int64 = 10_000
    /// Of so many recipients the API counts those that opted out or are in quiet hours.
    static let excludedLimit: Int64 = 10_000
    /// The time between the button and the first push, in which sending can be undone. Unit: seconds.
    static let undoSeconds: Int64 = 10
    /// 200 apps, groups and templates in a choice: more do not fit a list that a person reads.
    static let choices = 200

    package static let apps = APICall("apps", .get, "apps", query: [.init("limit", "\(choices)")])

    /// The apps that are in use.
    package static func apps(_ answers: Answers) -> [String] {
        (answers.body("apps")["apps"]?.array ?? []).compactMap { app in
            guard app["retiredAt"]?.string == nil else { return nil }
            return app["app"]?.string
        }
    }

    /// The app of the address, or the first one.
    package static func app(_ request: PageRequest, _ answers: Answers) -> String? {
        let apps = apps(answers)
        if let named = request.typed["app"] ?? request.value("app"), !named.isEmpty { return named }
        return apps.first
    }

    /// The choice of an app, for pages about one.
    package static func appFilter(_ request: PageRequest, _ answers: Answers) -> [Filter] {
        let apps = apps(answers)
        guard apps.count > 1 else { return [] }
        return [
            .choice(
                label: SendingText.app(request.language),
                parameter: "app",
                options: apps.map { .init(value: $0, label: $0) },
                selected: app(request, answers)
            )
        ]
    }

    package static func hidden(_ values: [(String, String)]) -> [FormView.Field] {
        values.map { .hidden($0.0, $0.1) }
    }

    /// A text for one line of a table. The whole text is on the page of its object.
    package static func line(_ text: String) -> String { text.oneLine(200) }

    /// The author of a change or a message: the name of an account, or the key, command or service.
    package static func author(_ actor: String?) -> String {
        guard let actor, !actor.isEmpty else { return ConsoleFormat.unknown }
        let account = "account:"
        return line(actor.hasPrefix(account) ? String(actor.dropFirst(account.count)) : actor)
    }

    /// A failed call, with code and request ID.
    static func problem(_ answer: APIAnswer, _ language: Language) -> Part {
        let code = answer.body["code"]?.string ?? "HTTP \(answer.status)"
        let words = "\(SendingText.failed(language)) \(code) · \(SendingText.requestID(language)) \(answer.requestID)"
        return .callout(.bad, words, link: nil)
    }
}

extension ConsoleFormat {
    /// A time on the clock of a device, without a zone.
    func local(_ time: LocalTime) -> String {
        ConsoleFormat(language, zone: "UTC", now: now).dateTime(Timestamp(seconds: time.seconds))
    }
}

extension JSON {
    /// A member that is a time.
    package func time(_ name: String) -> Timestamp? { self[name]?.string.flatMap { Timestamp(rfc3339: $0) } }
}

/// Texts that several of these pages have.
package enum SendingText {
    package static let app = Text(ko: "앱", en: "App")
    static let failed = Text(
        ko: "요청을 처리하지 못했습니다. 변경된 내용은 없습니다. 잠시 후 다시 시도하십시오. 코드",
        en: "The request failed, and nothing was changed. Try again later. Code"
    )
    static let requestID = Text(ko: "요청 ID", en: "Request ID")
    static let noApp = Text(
        ko: "아직 앱이 없습니다. 먼저 앱과 연동을 등록하십시오.",
        en: "This tenant has no app yet. Add an app and its bindings first."
    )
    static let toApps = Text(ko: "앱 및 연동", en: "Apps and bindings")
    package static let gateway = Text(ko: "확인 주체: 게이트웨이", en: "Source: gateway")
    package static let next = Text(ko: "다음", en: "Next")
    static let unknown = Text(ko: "–", en: "–")

    /// The empty page of a tenant without an app.
    package static func withoutApp(_ title: String, _ language: Language) -> PageContent {
        let link = Link(toApps(language), "apps")
        return PageContent(
            title: title,
            sentence: Sentence(mark: .warn, text: noApp(language), link: link),
            blocks: [Block(body: [.empty(EmptyState(title: title, step: noApp(language), code: nil, link: link))])]
        )
    }
}
