import PageParts

/// The shortcuts, the notation, and all pages that the account may open.
struct HelpPage: ConsolePage {
    let path = "help"
    let permission = Permission.figures

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] { [] }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let language = request.language
        var content = PageContent(
            title: HelpText.title(language),
            sentence: Sentence(mark: .info, text: HelpText.sentence(language))
        )
        content.blocks = [
            Block(
                width: 6,
                title: HelpText.keys(language),
                body: [
                    .table(keys(request)),
                    .template("keys", .fields(["label": .text(HelpText.switchOff(language))])),
                ]
            ),
            Block(
                width: 6,
                title: HelpText.marks(language),
                body: [.facts(HelpText.notation.map { Fact(label: $0.0, value: $0.1(language)) })]
            ),
        ]
        return content
    }

    /// The fixed keys, then `g` with the key of each page.
    private func keys(_ request: PageRequest) -> Table {
        let language = request.language
        var rows = HelpText.shortcuts.map { Table.Row(cells: [.mono($0.0), .text($0.1(language))]) }
        for page in Pages.all where request.account.may(page.permission) {
            guard let menu = page.menu, let key = menu.key else { continue }
            rows.append(Table.Row(cells: [.mono("g \(key)"), .link(Link(menu.label(language), page.path))]))
        }
        return Table(
            caption: HelpText.keys(language),
            columns: [.init(label: HelpText.key(language)), .init(label: HelpText.effect(language))],
            rows: rows
        )
    }
}
