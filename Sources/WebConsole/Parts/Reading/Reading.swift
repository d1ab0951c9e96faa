package import Model

/// The common parts of the pages about messages, devices and users: how they read answers and continue lists.
package enum Reading {
    /// The calls that have no answer yet.
    package static func open(_ calls: [APICall], _ answers: Answers) -> [APICall] {
        calls.filter { !answers.has($0.name) }
    }

    /// A call that only reads.
    package static func get(_ name: String, _ path: String, _ query: [(String, String?)] = []) -> APICall {
        let parameters = query.compactMap { name, value in value.map { PageRequest.Parameter(name, $0) } }
        return APICall(name, .get, path, query: parameters)
    }

    /// A page of a list.
    package static let rows = ("limit", Optional(String(ConsoleLimits.rows)))

    /// 200 apps in a choice: more do not fit a list that a person reads.
    package static let apps = get("apps", "apps", [("limit", "200")])
    package static let vendors = get("vendors", "analytics/vendors")

    /// The names of the apps, also of those that are retired: their messages stay.
    static func appNames(_ answers: Answers) -> [String] {
        (answers.body("apps")["apps"]?.array ?? []).compactMap { $0["app"]?.string }
    }

    /// The app that a form or the address names.
    private static func namedApp(_ request: PageRequest) -> String? {
        request.typed["app"].flatMap { $0.isEmpty ? nil : $0 } ?? request.value("app")
    }

    /// The app that a form or the address names, or the first one.
    package static func app(_ request: PageRequest, _ answers: Answers) -> String? {
        namedApp(request) ?? appNames(answers).first ?? request.apps.first
    }

    /// The same while calls are chosen: a named one is known before the answers.
    package static func knownApp(_ request: PageRequest, _ answers: Answers) -> String? {
        answers.has("apps") ? app(request, answers) : namedApp(request)
    }

    /// The vendors of this build.
    static func vendorNames(_ answers: Answers) -> [String] {
        (answers.body("vendors")["vendors"]?.array ?? []).compactMap { $0["vendor"]?.string }
    }

    /// The choice of an app. `all`: whether every app is a choice too.
    package static func appFilter(_ request: PageRequest, _ answers: Answers, all: Bool = true) -> Filter {
        let every = all ? [Filter.Option(value: "", label: ReadingWords.all(request.language))] : []
        return .choice(
            label: ReadingWords.app(request.language),
            parameter: "app",
            options: every + appNames(answers).map { Filter.Option(value: $0, label: $0) },
            selected: all ? request.value("app") ?? "" : app(request, answers)
        )
    }

    /// The choice of a vendor.
    package static func vendorFilter(_ request: PageRequest, _ answers: Answers, all: Bool = true) -> Filter {
        let every = all ? [Filter.Option(value: "", label: ReadingWords.all(request.language))] : []
        let names = vendorNames(answers)
        return .choice(
            label: ReadingWords.vendor(request.language),
            parameter: "vendor",
            options: every + names.map { Filter.Option(value: $0, label: VendorName.of($0, request.language)) },
            selected: request.value("vendor") ?? (all ? "" : "native")
        )
    }

    /// A link to this page with some parameters replaced; nil removes one.
    package static func link(
        _ label: String,
        _ path: String,
        _ request: PageRequest,
        _ changes: [(String, String?)]
    ) -> Link {
        let changed = Set(changes.map(\.0)).union(["after", FileFormat.parameter])
        let kept = request.query.filter { !changed.contains($0.name) }
        let added = changes.compactMap { name, value in value.map { PageRequest.Parameter(name, $0) } }
        return Link(label, path, kept + added)
    }

    /// The link to the next page of a list; nil on the last one.
    package static func next(_ page: JSON?, _ path: String, _ request: PageRequest) -> Link? {
        guard let next = page?["next"]?.lenientString, !next.isEmpty else { return nil }
        return link(ReadingWords.next(request.language), path, request, [("after", next)])
    }

    /// The names of filters that are set, with links that remove one each: what a page without results shows.
    package static func withoutResults(
        _ request: PageRequest,
        _ path: String,
        _ filters: [(name: String, label: Text)]
    ) -> [Part] {
        let set = filters.filter { request.value($0.name) != nil }
        guard !set.isEmpty else { return [] }
        let links = set.map { filter in
            let value = line(request.value(filter.name) ?? "", 60)
            let label = "\(ReadingWords.remove(request.language)): \(filter.label(request.language)) “\(value)”"
            return Action.link(link(label, path, request, [(filter.name, nil)]))
        }
        return [.text(ReadingWords.noResults(request.language)), .actions(links)]
    }

    /// A failed part of a page: the error, that nothing was changed, the next step, code and request ID.
    package static func problem(_ answer: APIAnswer?, _ language: Language) -> Part? {
        guard let answer, !answer.isSuccess else { return nil }
        let code = answer.body["code"]?.string ?? "HTTP \(answer.status)"
        let text =
            switch answer.status {
            case 403: ReadingWords.forbidden(language)
            case 404: ReadingWords.missing(language)
            case 422: ReadingWords.refused(language)
            default: ReadingWords.failed(language)
            }
        let id = line(answer.requestID, 128)
        return .callout(.warn, "\(text) \(line(code, 40)) · \(ReadingWords.requestID(language)) \(id)", link: nil)
    }

    /// A value for one line.
    package static func line(_ text: String, _ limit: Int = 120) -> String { text.oneLine(limit) }

    /// A text of a member for one line; nil: absent, null or empty.
    package static func text(_ json: JSON?, _ limit: Int = 120) -> String? {
        guard let text = json?.lenientString, !text.isEmpty else { return nil }
        return line(text, limit)
    }

    /// The beginning of an id, for words.
    package static func short(_ id: String?) -> String { id.map { line($0, 8) } ?? Words.unknown }

    /// A number of an answer; 0 without one.
    package static func number(_ json: JSON?) -> Int64 { max(0, json?.int ?? 0) }

    /// A number that a chart draws.
    package static func value(_ number: Int64) -> Int { Int(clamping: number) }
}

/// Words that these pages share.
package enum ReadingWords {
    package static let all = Text(ko: "전체", en: "All")
    package static let app = Text(ko: "앱", en: "App")
    package static let vendor = Text(ko: "벤더", en: "Vendor")
    package static let state = Text(ko: "상태", en: "State")
    package static let time = Text(ko: "시각", en: "Time")
    package static let next = Text(ko: "다음", en: "Next page")
    static let remove = Text(ko: "필터 해제", en: "Remove filter")
    static let requestID = Text(ko: "요청 ID", en: "request ID")
    static let noResults = Text(ko: "이 필터에 해당하는 항목이 없습니다.", en: "Nothing matches these filters.")
    package static let gateway = Text(ko: "게이트웨이", en: "Gateway")
    package static let phone = Text(ko: "앱", en: "App")
    package static let sourceGateway = Text(ko: "확인 주체: 게이트웨이", en: "Source: Gateway")
    package static let on = Text(ko: "켜짐", en: "On")
    package static let off = Text(ko: "꺼짐", en: "Off")
    package static let required = Text(ko: "필수 항목입니다.", en: "This field is required.")
    static let forbidden = Text(
        ko: "이 계정의 역할로는 이 정보를 볼 수 없습니다. 소유자나 운영자에게 요청하세요. 코드",
        en: "The role of this account may not see this. Ask an owner or operator. Code"
    )
    static let missing = Text(
        ko: "해당 항목을 찾을 수 없습니다. 변경된 내용은 없습니다. 코드",
        en: "This object does not exist. Nothing was changed. Code"
    )
    static let refused = Text(
        ko: "필터 값이 올바르지 않습니다. 변경된 내용은 없습니다. 필터를 고친 뒤 다시 조회하세요. 코드",
        en: "A filter has an invalid value. Nothing was changed. Correct the filter. Code"
    )
    static let failed = Text(
        ko: "이 정보를 지금 읽을 수 없습니다. 변경된 내용은 없습니다. 잠시 후 다시 여세요. 코드",
        en: "This information cannot be read now. Nothing was changed. Open the page again in a moment. Code"
    )
    package static let withoutApp = Text(
        ko: "아직 앱이 없습니다. 먼저 앱과 연동을 등록하세요.",
        en: "This tenant has no app yet. Add an app and its bindings first."
    )
    package static let toApps = Text(ko: "앱·연동", en: "Apps and bindings")

    /// A page of a tenant without an app.
    package static func noApp(_ title: Text, _ language: Language) -> PageContent {
        let link = Link(toApps(language), "apps")
        return PageContent(
            title: title(language),
            sentence: Sentence(mark: .warn, text: withoutApp(language), link: link),
            blocks: [
                Block(body: [.empty(EmptyState(title: title(language), step: withoutApp(language), link: link))])
            ]
        )
    }
}
