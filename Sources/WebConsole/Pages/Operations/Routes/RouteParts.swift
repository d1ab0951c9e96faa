import Model
import PageParts

/// The cards of the rules of an app.
struct RouteParts {
    let request: PageRequest
    let answers: Answers
    /// The version in force.
    let routes: JSON
    /// The page's path.
    let here: String

    private var words: Wording { Wording(request) }
    private var version: Int64 { routes["version"]?.int ?? 0 }

    private static func text(_ version: JSON) -> String {
        OperationsParts.pretty(["overlay": version["overlay"] ?? [:], "base": version["base"] ?? [:]])
    }

    // MARK: Rules

    var rules: [Block] {
        let words = words
        let rules = RouteWords(words)
        let path = FilePath.routes(request.tenant, request.path["app"] ?? "")
        let hasBase = routes["base"]?.object?.isEmpty == false
        return [
            Block(
                title: words(RoutesText.callRules),
                note: words(RoutesText.firstMatch),
                body: [rules.table("calls", routes)]
            ),
            Block(
                title: words(RoutesText.deliveryRules),
                note: words(RoutesText.firstMatch),
                body: [rules.table("deliveries", routes)],
                foot: hasBase ? "\(words(RoutesText.base)): \(words(OperationsText.readOnly(path)))" : nil
            ),
        ]
    }

    // MARK: Versions

    var versions: Block {
        let words = words
        let body = answers.body("versions")
        let versions = body["versions"]?.array ?? []
        let table = Table(
            caption: words(RoutesText.versions),
            columns: [
                .init(label: words(RoutesText.version)), .init(label: words(OperationsText.origin)),
                .init(label: words(RoutesText.author)), .init(label: words(OperationsText.time)),
                .init(label: words(OperationsText.change)),
            ],
            rows: versions.map { row($0, words) },
            next: OperationsParts.next(body["next"], request, path: here),
            empty: EmptyState(title: words(RoutesText.noRules), step: words(RoutesText.editNote))
        )
        return Block(title: words(RoutesText.versions), body: [.table(table)])
    }

    private func row(_ entry: JSON, _ words: Wording) -> Table.Row {
        let number = entry["version"]?.int ?? 0
        let query = [PageRequest.Parameter("version", String(number))]
        let restore = Confirmation.button(
            words(RoutesText.rollback),
            "restore",
            path: here + "/restore",
            fields: query + [PageRequest.Parameter("inForce", String(version))]
        )
        return Table.Row(
            cells: [
                .link(Link(words.count(number), here, query)),
                .text(words(RoutesText.origin(entry["origin"]?.string))),
                .text(words(ActorName.of(entry["actor"]?.string ?? ""))), .text(words.time(entry["madeAt"])),
                number == version ? .tag(.ok, words(RoutesText.inForce)) : .actions([restore]),
            ],
            id: String(number)
        )
    }

    /// The version of the address, or the one to restore, compared with the one in force.
    var difference: Block? {
        guard let answer = answers["other"] else { return nil }
        let words = words
        guard answer.isSuccess else { return Block(body: ProblemWords.error(answer, words.language).parts(.warn)) }
        let other = answer.body
        let isRestored = Confirmation.isAsked("restore", request)
        // The lines that are added are those of the later text: of the version to restore, or of the one in force.
        let (old, new) = isRestored ? (routes, other) : (other, routes)
        let lines = LineDifference.lines(from: Self.text(old), to: Self.text(new))
        let isEqual = lines.allSatisfy { $0.change == .same }
        return Block(
            title: "\(words(RoutesText.version)) \(words.count(other["version"]))",
            note: words(RoutesText.compare),
            body: isEqual ? [.text(words(RoutesText.same))] : [.difference(lines)]
        )
    }

    // MARK: Tests

    var test: Block? {
        guard let answer = answers["test"] else { return nil }
        return decisions(answer, RoutesText.test)
    }

    var trial: Block? {
        guard let answer = answers["trial"] else { return nil }
        return decisions(answer, RoutesText.tryIt)
    }

    private func decisions(_ answer: APIAnswer, _ title: Text) -> Block {
        let words = words
        return Block(
            title: words(title),
            note: words(RoutesText.testNote),
            body: answer.isSuccess
                ? RouteWords(words).decisions(answer.body) : ProblemWords.error(answer, words.language).parts(.bad)
        )
    }

    // MARK: The overlay

    /// Both texts side by side, when another person changed the rules meanwhile.
    var conflict: Block? {
        guard let typed = request.typed["overlay"], let shown = request.typed["version"].flatMap({ Int64($0) }),
            shown != version
        else { return nil }
        let words = words
        let mine = SaveOverlayForm.overlay(typed).map { OperationsParts.pretty(.object($0)) } ?? typed
        let theirs = OperationsParts.pretty(routes["overlay"] ?? [:])
        let text = RoutesText.conflict(
            words.count(version),
            words(ActorName.of(routes["actor"]?.string ?? "")),
            words.time(routes["madeAt"])
        )
        return Block(
            title: "\(words(RoutesText.theirs)) – \(words(RoutesText.mine))",
            body: [.callout(.warn, words(text), link: nil), .difference(LineDifference.lines(from: theirs, to: mine))]
        )
    }

    var editor: Block {
        let words = words
        let overlay = OperationsParts.pretty(routes["overlay"] ?? [:])
        let form = FormView(
            path: here + "/overlay",
            fields: [
                .init(
                    name: "overlay",
                    label: words(RoutesText.overlay),
                    kind: .area(rows: 16),
                    value: overlay,
                    hint: words(RoutesText.editNote),
                    isRequired: true,
                    limit: SaveOverlayForm.textLimit
                ),
                .init(
                    name: "tryVendor",
                    label: words(OperationsText.vendor),
                    kind: .select(VendorName.options(words.language)),
                    value: VendorName.all[0]
                ),
                .init(name: "tryUser", label: words(RoutesText.test), kind: .text(placeholder: "user-1")),
                .hidden("version", String(version)),
            ],
            submit: words(RoutesText.save),
            second: (label: words(RoutesText.tryIt), path: here + "/try")
        )
        return Block(title: words(RoutesText.edit), body: [.form(form)])
    }
}
