import Model

@testable import PageParts
@testable import WebConsole

/// Requests and contents for the tests of pages.
enum Sample {
    static let now = Timestamp(rfc3339: "2026-11-23T05:23:05.250Z") ?? Timestamp(seconds: 0)

    /// A signed-in request in Seoul, where it is Monday 23 November, 14:23.
    static func request(
        _ language: Language = .en,
        role: Role = .owner,
        query: [PageRequest.Parameter] = []
    ) -> PageRequest {
        var request = PageRequest(
            language: language,
            tenant: "acme",
            account: ConsoleAccount(name: "kim", role: role, tenants: ["acme", "other"]),
            now: now,
            zone: "Asia/Seoul",
            formToken: "form-token",
            onceToken: "once-token"
        )
        request.query = query
        request.apps = ["shop", "bank"]
        return request
    }

    /// Texts that a peer may send.
    static let hostile = [
        "<script>alert(1)</script>",
        "\" onfocus=\"alert(1)\" x=\"",
        // A quotation mark and an angle bracket that a combining accent joins to one character.
        "\"\u{301} onfocus=alert(1) <\u{338}img src=x onerror=alert(1)>",
        "'\u{301} onfocus=alert(1)",
        "{{title}} {{{title}}} {{#sections}}",
        "\u{202E}gnp.exe\u{202C}", "\0\u{1}\u{7F}\u{9B}31m", "a\r\nb",
        String(repeating: "가", count: 10_000), "</title></svg></textarea><h1>", "javascript:alert(1)",
    ]

    /// Every part, with this text wherever a text may be.
    static func parts(_ text: String) -> [Part] {
        let link = Link(text, "messages/\(text)", [.init("text", text)])
        let empty = EmptyState(title: text, step: text, code: text, link: link)
        let cells: [Table.Cell] = [
            .link(link), .text(text), .strong(text), .mono(text), .tag(.warn, text),
            .bar([.init(share: 0.5, style: .transport), .init(share: 0.9, style: .app)], words: text), .none,
            .actions([.post(label: text, path: "messages/\(text)/pause", fields: [.init(text, text)])]),
        ]
        let columns = cells.indices.map { Table.Column(label: text, isNumber: $0 == 1, sort: $0 == 1 ? text : nil) }
        return [
            .table(Table(caption: text, columns: columns, rows: [.init(cells: cells, id: text)], next: link)),
            .table(Table(caption: text, columns: columns, rows: [], empty: empty)),
            .table(Table(caption: text, columns: columns, rows: [])),
            .funnel(funnel(text, link)),
            .lines(lines(text)),
            .bars(BarChart(caption: text, bars: [.init(label: text, value: 3, text: text, style: text, link: link)])),
            .facts([Fact(label: text, value: text, link: link, isMono: true), Fact(label: text, value: text)]),
            .checks([
                Check(mark: .bad, title: text, detail: text, link: link), Check(mark: .ok, title: text, detail: ""),
            ]),
            .timeline([
                TimelineMoment(time: text, delta: text, mark: .ok, title: text, detail: text, source: text),
                TimelineMoment(time: text, mark: .idle, title: text, source: text),
            ]),
            .figure(Figure(value: text, unit: text, spark: [1, 2, .nan, 3], caption: text)),
            .form(form(text)), .text(text), .quote(text), .code(text, label: text), .empty(empty),
            .callout(.info, text, link: link), .actions([.link(link, isMain: true), .link(link)]),
            .difference([
                .init(change: .same, text: text), .init(change: .added, text: text),
                .init(change: .removed, text: text),
            ]),
        ]
    }

    private static func funnel(_ text: String, _ link: Link) -> FunnelChart {
        FunnelChart(
            caption: text,
            stages: [
                .init(name: text, value: 1_260_114, source: text, note: text, style: .gateway, link: link),
                .init(name: text, value: 1_221_870, rate: "97.0%", source: text, note: "", style: .gateway),
                .init(name: text, value: 861_020, able: 1_014_220, rate: text, source: text, note: text, style: .app),
            ]
        )
    }

    private static func lines(_ text: String) -> LineChart {
        LineChart(
            caption: text,
            moments: [text, text, text, text, text],
            lines: [
                .init(label: text, style: .first, values: [1, nil, 3, 4, 200_000]),
                .init(label: text, style: .second, values: [1, nil, .infinity, 4.25]),
                .init(label: text, style: .previous, values: [1, 2, 3, 4, 5, 6, 7]),
            ],
            isLastOpen: true
        )
    }

    static func form(_ text: String) -> FormView {
        let options = [Filter.Option(value: text, label: text), .init(value: "b", label: "B")]
        let kinds: [(String, FormView.Field.Kind)] = [
            ("text", .text(placeholder: text)), ("password", .password), ("number", .number), ("area", .area(rows: 4)),
            ("select", .select(options)), ("radio", .radio(options)), ("check", .checkbox), ("when", .dateTime),
            ("file", .file(accept: text)), ("secret", .hidden),
        ]
        return FormView(
            path: "messages/1/edit",
            fields: kinds.map { name, kind in
                FormView.Field(
                    name: name,
                    label: text,
                    kind: kind,
                    value: text,
                    hint: text,
                    isRequired: true,
                    limit: 20,
                    section: text
                )
            },
            submit: text,
            isDangerous: true,
            isMultipart: true,
            second: (label: text, path: "messages/1/preview"),
            behaviour: text
        )
    }

    static func content(_ text: String) -> PageContent {
        PageContent(
            title: text,
            sentence: Sentence(mark: .bad, text: text, link: Link(text, text)),
            actions: [.link(Link(text, "compose")), .post(label: text, path: "pause", isDangerous: true)],
            filters: [
                .choice(
                    label: text,
                    parameter: "state",
                    options: [.init(value: "", label: text), .init(value: text, label: text)],
                    selected: text
                ),
                .choice(
                    label: text,
                    parameter: "long",
                    options: (0..<9).map { .init(value: "\($0)", label: text) },
                    selected: nil
                ),
                .text(label: text, parameter: "text", value: text, placeholder: text),
                .text(label: text, parameter: "more", value: nil, placeholder: text),
            ],
            blocks: [
                Block(width: 8, title: text, note: text, tools: [Link(text, text)], body: parts(text), foot: text),
                Block(body: [.text(text)]),
            ],
            live: [.funnel]
        )
    }
}
