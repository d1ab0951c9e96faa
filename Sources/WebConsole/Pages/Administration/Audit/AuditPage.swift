import Model
import PageParts

/// The audit of the tenant, the last entry first; `?row=` opens one.
struct AuditPage: ConsolePage {
    let path = "audit"
    let permission = Permission.audit
    var menu: MenuEntry? { MenuEntry(.administration, AuditText.title, .audit) }

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        guard answers.has("audit") else { return export(request).map { [$0] } ?? [] }
        return Self.entry(request, answers).map { [$0] } ?? []
    }

    /// The position of the entry that the address opens.
    private static func row(_ request: PageRequest) -> Int64? {
        request.value("row").flatMap { Int64($0) }.flatMap { (1..<Int64.max).contains($0) ? $0 : nil }
    }

    private static func open(_ entries: JSON, _ request: PageRequest) -> JSON? {
        guard let row = row(request) else { return nil }
        return entries["entries"]?.array?.first { $0["position"]?.int == row }
    }

    /// The call for the entry that the address opens, if it is not in the list: later entries have pushed it out since the link was made.
    private static func entry(_ request: PageRequest, _ answers: Answers) -> APICall? {
        guard let row = row(request), !answers.has("entry"), answers["audit"]?.isSuccess == true,
            open(answers.body("audit"), request) == nil
        else { return nil }
        let query = [
            PageRequest.Parameter("order", "newest"), .init("limit", "1"), .init("after", String(row + 1)),
        ]
        return APICall("entry", .get, "audit", query: query)
    }

    func export(_ request: PageRequest) -> APICall? {
        var query = [PageRequest.Parameter("order", "newest")] + OperationsParts.page(request)
        for name in ["actor", "action", "subject"] {
            if let value = request.value(name) { query.append(PageRequest.Parameter(name, value)) }
        }
        return APICall("audit", .get, "audit", query: query)
    }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let words = Wording(request)
        let body = try answers.required("audit")
        let entries = body["entries"]?.array ?? []
        var blocks: [Block] = []
        if let open = Self.open(body, request) ?? Self.open(answers.body("entry"), request) {
            blocks.append(Self.detail(open, words))
        }
        let next = OperationsParts.next(body["next"], request, path: "audit")
        blocks.append(
            Block(
                title: words(AuditText.title),
                note: words(OperationsText.source),
                body: [.table(Self.table(entries, next: next, request, words))],
                foot: words(AuditText.searched)
            )
        )
        return PageContent(
            title: words(AuditText.title),
            sentence: Self.sentence(entries, isFiltered: Self.isFiltered(request), words),
            filters: Self.filters(request, words),
            blocks: blocks
        )
    }

    private static func isFiltered(_ request: PageRequest) -> Bool {
        ["actor", "action", "subject"].contains { request.value($0) != nil }
    }

    /// The rule: nothing found, with filters how many, refused proofs, otherwise the last act.
    private static func sentence(_ entries: [JSON], isFiltered: Bool, _ words: Wording) -> Sentence {
        guard let newest = entries.first, let oldest = entries.last else {
            return Sentence(mark: .idle, text: words(isFiltered ? AuditText.noMatch : AuditText.empty))
        }
        if isFiltered {
            let count = words.count(Int64(entries.count))
            let text = AuditText.found(count, words.time(oldest["at"]), words.time(newest["at"]))
            return Sentence(mark: .info, text: words(text))
        }
        let refused = entries.filter { $0["action"]?.string == "refuse" }
        if let last = refused.first {
            let text = AuditText.refused(words.count(Int64(refused.count)), words.time(last["at"]))
            let query = [PageRequest.Parameter("action", "refuse")]
            let link = Link(words(AuditText.actionName("refuse")), "audit", query)
            return Sentence(mark: .warn, text: words(text), link: link)
        }
        let text = AuditText.last(
            words(ActorName.of(newest["actor"]?.string ?? "")),
            words(AuditText.actionName(newest["action"]?.string ?? "")),
            words(AuditText.subjectName(words.text(newest["subject"]))),
            words.time(newest["at"])
        )
        return Sentence(mark: .ok, text: words(text))
    }

    private static func filters(_ request: PageRequest, _ words: Wording) -> [Filter] {
        [
            .choice(
                label: words(AuditText.action),
                parameter: "action",
                options: OperationsParts.choices(AuditText.actions.map { ($0.name, words($0.text)) }, words),
                selected: request.value("action")
            ),
            .text(
                label: words(AuditText.actor),
                parameter: "actor",
                value: request.value("actor"),
                placeholder: words(AuditText.actorHint)
            ),
            .text(
                label: words(AuditText.subject),
                parameter: "subject",
                value: request.value("subject"),
                placeholder: words(AuditText.subjectHint)
            ),
        ]
    }

    private static func table(
        _ entries: [JSON],
        next: Link?,
        _ request: PageRequest,
        _ words: Wording
    ) -> Table {
        let kept = request.query.filter { $0.name != "row" }
        let isFiltered = isFiltered(request)
        return Table(
            caption: words(AuditText.title),
            columns: [
                .init(label: words(OperationsText.time)), .init(label: words(AuditText.actor)),
                .init(label: words(AuditText.action)), .init(label: words(AuditText.subject)),
                .init(label: words(AuditText.position), isNumber: true),
            ],
            rows: entries.map { entry in
                let position = entry["position"]?.int.map { String($0) } ?? ""
                let action = entry["action"]?.string ?? ""
                let name = words(AuditText.actionName(action))
                return Table.Row(
                    cells: [
                        .link(
                            Link(words.time(entry["at"]), "audit", kept + [PageRequest.Parameter("row", position)])
                        ),
                        .text(words(ActorName.of(entry["actor"]?.string ?? ""))),
                        action == "refuse" ? .tag(.warn, name) : .text(name),
                        .text(words(AuditText.subjectName(words.text(entry["subject"])))), .text(position),
                    ],
                    id: position
                )
            },
            next: next,
            empty: EmptyState(
                title: words(isFiltered ? AuditText.noMatch : AuditText.empty),
                step: words(isFiltered ? AuditText.searched : AuditText.emptyStep),
                link: isFiltered ? Link(words(OperationsText.all), "audit") : nil
            )
        )
    }

    /// One entry with its changes.
    private static func detail(_ entry: JSON, _ words: Wording) -> Block {
        var parts: [Part] = [
            .facts([
                Fact(label: words(OperationsText.time), value: words.exactTime(entry["at"])),
                Fact(label: words(AuditText.actor), value: words.text(entry["actor"]), isMono: true),
                Fact(
                    label: words(AuditText.action),
                    value: words(AuditText.actionName(entry["action"]?.string ?? ""))
                ),
                Fact(label: words(AuditText.subject), value: words.text(entry["subject"]), isMono: true),
                Fact(label: words(AuditText.position), value: words.text(entry["position"])),
            ])
        ]
        let data = entry["data"]
        let changes = data?["changes"]?.array ?? []
        if !changes.isEmpty {
            let table = Table(
                caption: words(AuditText.changes),
                columns: [
                    .init(label: words(AuditText.setting)), .init(label: words(AuditText.before)),
                    .init(label: words(AuditText.after)),
                ],
                rows: changes.map { change in
                    Table.Row(cells: [
                        .mono(words.text(change["setting"])), .mono(value(change["before"])),
                        .mono(value(change["after"])),
                    ])
                }
            )
            parts.append(.table(table))
        } else if let data, data != .null {
            parts.append(.code(OperationsParts.pretty(data), label: words(AuditText.details)))
        }
        return Block(title: words(AuditText.details), body: parts)
    }

    private static func value(_ json: JSON?) -> String {
        switch json {
        case nil, .null: Wording.unknown
        case .string(let text): text
        case let other?: JSONWriter.text(other)
        }
    }
}
