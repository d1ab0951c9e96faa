import Model
import PageParts

/// The request log: captures of the calls of bindings, and the form that starts one.
struct CapturesPage: ConsolePage {
    let path = "captures"
    let permission = Permission.configure
    var menu: MenuEntry? { MenuEntry(.operations, CapturesText.title, .captures) }
    var forms: [any ConsoleForm] { [StartCaptureForm()] }

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        guard !answers.has("captures") else { return [] }
        return [
            APICall("captures", .get, "captures"),
            APICall("apps", .get, "apps", query: [PageRequest.Parameter("limit", "1000")]),
        ]
    }

    func export(_ request: PageRequest) -> APICall? { APICall("captures", .get, "captures") }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let words = Wording(request)
        let all = try answers.required("captures")["captures"]?.array ?? []
        let app = request.value("app")
        let vendor = request.value("vendor")
        let shown = all.filter { capture in
            (app == nil || capture["app"]?.string == app) && (vendor == nil || capture["vendor"]?.string == vendor)
        }
        let apps = (answers.body("apps")["apps"]?.array ?? []).compactMap { $0["app"]?.string }
        let visible: Set<String> = ["app", "vendor", "minutes", "exchanges"]
        var blocks: [Block] = []
        if let problems = FormProblems.block(request, visible: visible) { blocks.append(problems) }
        blocks.append(Block(width: 8, title: words(CapturesText.list), body: [.table(Self.table(shown, words))]))
        blocks.append(
            Block(
                width: 4,
                title: words(CapturesText.start),
                body: [.form(Self.form(apps, request, words))],
                foot: words(CapturesText.startNote)
            )
        )
        return PageContent(
            title: words(CapturesText.title),
            sentence: Self.sentence(shown, words),
            filters: [
                .choice(
                    label: words(OperationsText.app),
                    parameter: "app",
                    options: OperationsParts.choices(apps.map { ($0, $0) }, words),
                    selected: app
                ),
                .choice(
                    label: words(OperationsText.vendor),
                    parameter: "vendor",
                    options: VendorName.filter(words.language),
                    selected: vendor
                ),
            ],
            blocks: blocks
        )
    }

    private static func sentence(_ captures: [JSON], _ words: Wording) -> Sentence {
        let running = captures.filter { $0["state"]?.string == "running" }
        guard let first = running.first else { return Sentence(mark: .idle, text: words(CapturesText.noneRunning)) }
        if running.count > 1 {
            return Sentence(mark: .info, text: words(CapturesText.someRunning(words.count(Int64(running.count)))))
        }
        let text = CapturesText.oneRunning(
            words.text(first["app"]),
            VendorName.of(first["vendor"]?.string, words.language),
            words.time(first["endsAt"])
        )
        let link = first["id"]?.string.map { Link(words(CapturesText.capture), Link.path("captures", $0)) }
        return Sentence(mark: .info, text: words(text), link: link)
    }

    private static func table(_ captures: [JSON], _ words: Wording) -> Table {
        Table(
            caption: words(CapturesText.list),
            columns: [
                .init(label: words(CapturesText.capture)), .init(label: words(OperationsText.state)),
                .init(label: words(CapturesText.calls), isNumber: true), .init(label: words(CapturesText.ends)),
                .init(label: words(CapturesText.by)),
            ],
            rows: captures.prefix(ConsoleLimits.rows).map { capture in
                let vendor = VendorName.of(capture["vendor"]?.string, words.language)
                let label = "\(words.text(capture["app"])) · \(vendor) · \(words.time(capture["startedAt"]))"
                return Table.Row(
                    cells: [
                        .link(Link(label, Link.path("captures", capture["id"]?.string ?? ""))),
                        state(capture["state"]?.string, words),
                        .text("\(words.count(capture["exchanges"])) / \(words.count(capture["exchangeLimit"]))"),
                        .text(words.time(capture["endedAt"]?.string == nil ? capture["endsAt"] : capture["endedAt"])),
                        .text(words.text(capture["startedBy"])),
                    ],
                    id: capture["id"]?.string
                )
            },
            empty: EmptyState(
                title: words(CapturesText.empty),
                step: words(CapturesText.emptyStep),
                link: Link(words(AppsText.title), "apps")
            )
        )
    }

    static func state(_ state: String?, _ words: Wording) -> Table.Cell {
        switch state {
        case "running": .tag(.info, words(CapturesText.running))
        case "over": .tag(.ok, words(CapturesText.over))
        case "stopped": .tag(.idle, words(CapturesText.stopped))
        case "full": .tag(.ok, words(CapturesText.full))
        default: .text(state ?? Wording.unknown)
        }
    }

    private static func form(_ apps: [String], _ request: PageRequest, _ words: Wording) -> FormView {
        FormView(
            path: "captures/start",
            fields: [
                .init(
                    name: "app",
                    label: words(OperationsText.app),
                    kind: .select(apps.map { Filter.Option(value: $0, label: $0) }),
                    value: request.value("app") ?? apps.first ?? "",
                    isRequired: true
                ),
                .init(
                    name: "vendor",
                    label: words(OperationsText.vendor),
                    kind: .select(VendorName.options(words.language)),
                    value: request.value("vendor") ?? VendorName.all[0],
                    isRequired: true
                ),
                .init(
                    name: "minutes",
                    label: words(CapturesText.minutes),
                    kind: .number,
                    value: "15",
                    hint: words(CapturesText.minutesHint)
                ),
                .init(
                    name: "exchanges",
                    label: words(CapturesText.exchanges),
                    kind: .number,
                    value: "200",
                    hint: words(CapturesText.exchangesHint)
                ),
                .init(name: "texts", label: words(CapturesText.keepTexts), kind: .checkbox),
                .hidden("once", request.onceToken),
            ],
            submit: words(CapturesText.start)
        )
    }
}

/// Starts a capture of a binding.
struct StartCaptureForm: ConsoleForm {
    let name = "start"
    let permission = Permission.configure

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        var body: JSONObject = [
            "app": .string(fields["app"] ?? ""), "vendor": .string(fields["vendor"] ?? ""),
        ]
        var errors: [String: String] = [:]
        for name in ["minutes", "exchanges"] {
            guard let text = fields[name], !text.isEmpty else { continue }
            guard let number = Int64(text) else {
                errors[name] = OperationsText.number(request.language)
                continue
            }
            body[name] = .int(number)
        }
        guard errors.isEmpty else { return .invalid(FieldErrors(errors)) }
        if fields["texts"] != nil { body["texts"] = true }
        return .call(APICall("start", .post, "captures", body: .object(body), once: fields["once"]))
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        guard answer.isSuccess else { return .invalid(FieldErrors(answer)) }
        let id = answer.body["id"]?.string ?? ""
        return .go(Link(CapturesText.capture(request.language), Link.path("captures", id)), nil)
    }
}
