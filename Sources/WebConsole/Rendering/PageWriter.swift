import Model
import PageParts

/// Writes the content of a page for one request.
struct PageWriter: Sendable {
    let renderer: Renderer
    let place: WritingPlace

    init(_ renderer: Renderer, _ place: WritingPlace) {
        self.renderer = renderer
        self.place = place
    }

    func text(_ text: Text) -> String { text(place.language) }
    func markup(_ template: String, _ fields: [String: View]) -> Markup { renderer.markup(template, .fields(fields)) }

    /// The heading, the sentence, filters and cards of a page.
    func body(_ content: PageContent, notice: String?, secret: PageRequest.ShownSecret?) -> Markup {
        markup(
            "page",
            [
                "title": .text(content.title),
                "actions": actions(content.actions),
                "permanent": content.permanent.isEmpty ? .none : permanent(content.permanent),
                "exports": content.exports.isEmpty ? .none : exports(content.exports),
                "notice": .optional(notice),
                "secret": secret.map { self.secret($0) } ?? .none,
                "sentence": .markup(sentence(content)),
                "filters": content.filters.isEmpty ? .none : .markup(filters(content.filters)),
                "blocks": .each(content.blocks.enumerated()) { .markup(block($0.element, index: $0.offset)) },
            ]
        )
    }

    /// A link to this page, with its filters and its place in a list, that shows the same range later.
    private func permanent(_ fixed: [PageRequest.Parameter]) -> View {
        let replaced = Set(fixed.map(\.name) + [FileFormat.parameter])
        let kept = place.query.filter { !replaced.contains($0.name) }
        return link(Link(text(CommonText.permanent), place.path, kept + fixed))
    }

    /// Links to the data of this page as files, with its filters and its place in a list.
    private func exports(_ formats: [FileFormat]) -> View {
        let shown = place.zonedQuery.filter { $0.name != FileFormat.parameter }
        return .fields([
            "label": .text(text(CommonText.export)),
            "links": .each(formats) { link(Link($0.rawValue.uppercased(), place.path, shown + [$0.asked])) },
        ])
    }

    /// The parts that live updates may replace.
    func fragments(_ content: PageContent) -> [Fragment] {
        var found = [Fragment(id: "sentence", html: sentence(content).html)]
        for (index, block) in content.blocks.enumerated() {
            found.append(Fragment(id: Self.id(ofBlock: index), html: self.block(block, index: index).html))
        }
        return found
    }

    private static func id(ofBlock index: Int) -> String { "block-\(index)" }

    private func secret(_ secret: PageRequest.ShownSecret) -> View {
        .fields([
            "title": .text(text(secret.title)),
            "value": .text(secret.value),
            "copy": .text(text(CommonText.copy)),
            "copied": .text(text(CommonText.copied)),
            "warning": .text(text(CommonText.shownOnce)),
        ])
    }

    private func sentence(_ content: PageContent) -> Markup {
        let sentence = content.sentence
        return markup(
            "sentence",
            [
                "id": .text("sentence"),
                "mark": sentence.mark.map { mark($0) } ?? .none,
                "text": .text(sentence.text),
                "link": link(sentence.link),
                "isBad": .flag(sentence.mark == .bad),
                "live": content.live.isEmpty
                    ? .none
                    : .fields([
                        "label": .text(text(CommonText.live)),
                        "updated": .text(place.format.timeOfSeconds(place.format.now)),
                        "paused": .text(text(CommonText.livePaused)), "lost": .text(text(CommonText.liveLost)),
                    ]),
            ]
        )
    }

    private func block(_ block: Block, index: Int) -> Markup {
        let widths = [4, 5, 6, 7, 8, 12]
        let id = Self.id(ofBlock: index)
        return markup(
            "card",
            [
                "id": .text(id),
                "width": .text("c\(widths.contains(block.width) ? block.width : 12)"),
                "title": .optional(block.title),
                "note": .optional(block.note),
                "tools": .each(block.tools) { link($0) },
                "hasHead": .flag(block.title != nil || block.note != nil || !block.tools.isEmpty),
                "parts": .each(block.body.enumerated()) { .markup(part($0.element, "\(id)-\($0.offset)")) },
                "foot": .optional(block.foot),
            ]
        )
    }

    // MARK: Common views

    /// A mark with its word for those who do not see it.
    func mark(_ mark: Mark) -> View {
        .fields([
            "style": .text(mark.rawValue), "icon": .text("mark-\(mark.rawValue)"),
            "word": .text(text(CommonText.word(mark))),
        ])
    }

    func link(_ link: Link?) -> View {
        guard let link else { return .none }
        return .fields(["href": .text(place.href(link)), "label": .text(link.label)])
    }

    func field(_ name: String, _ value: String) -> View { .fields(["name": .text(name), "value": .text(value)]) }

    /// The hidden fields of a form.
    func hidden(_ path: String, _ fields: [PageRequest.Parameter]) -> View {
        let zone = place.formZone.map { [field(FormNames.zone, $0)] } ?? []
        return .list(
            [
                field(FormNames.token, place.formToken), field(FormNames.once, place.onceToken),
                field(FormNames.form, path),
            ] + zone + fields.map { field($0.name, $0.value) }
        )
    }

    func actions(_ actions: [Action]) -> View { .each(actions) { .markup(action($0)) } }

    private func action(_ action: Action) -> Markup {
        switch action {
        case .link(let link, let isMain):
            let view = View.fields([
                "style": .text(isMain ? "btn main" : "btn"), "label": .text(link.label),
                "href": .text(place.href(link)),
            ])
            return markup("action", ["link": view, "form": .none])
        case .post(let label, let path, let fields, let isMain, let isDangerous):
            let form = View.fields([
                "action": .text(place.action(path)),
                "hidden": hidden(path, fields),
                "label": .text(label),
                "style": .text(isDangerous ? "btn danger" : isMain ? "btn main" : "btn"),
            ])
            return markup("action", ["link": .none, "form": form])
        }
    }

    // MARK: Parts

    /// A part of a card. The ids of its elements begin with `id`, which is unique on the page.
    func part(_ part: Part, _ id: String) -> Markup {
        switch part {
        case .table(let table): return self.table(table)
        case .funnel(let funnel): return self.funnel(funnel)
        case .lines(let chart): return lines(chart)
        case .bars(let chart): return bars(chart)
        case .facts(let facts): return self.facts(facts)
        case .checks(let checks): return self.checks(checks)
        case .timeline(let moments): return timeline(moments)
        case .figure(let figure): return self.figure(figure)
        case .form(let form): return self.form(form, id)
        case .text(let text): return markup("text", ["text": .text(text)])
        case .quote(let text): return markup("quote", ["text": .text(text)])
        case .code(let text, let label): return code(text, label)
        case .empty(let state): return empty(state)
        case .callout(let mark, let text, let link):
            return markup("callout", ["mark": self.mark(mark), "text": .text(text), "link": self.link(link)])
        case .actions(let actions): return markup("actions", ["actions": self.actions(actions)])
        case .difference(let lines): return difference(lines)
        case .template(let name, let view): return renderer.markup(name, view)
        }
    }

    private func facts(_ facts: [Fact]) -> Markup {
        markup(
            "facts",
            [
                "facts": .each(facts) { fact in
                    .fields([
                        "label": .text(fact.label), "value": .text(fact.value), "isMono": .flag(fact.isMono),
                        "link": fact.link.map { .fields(["href": .text(place.href($0))]) } ?? .none,
                    ])
                }
            ]
        )
    }

    private func checks(_ checks: [Check]) -> Markup {
        markup(
            "checks",
            [
                "checks": .each(checks) { check in
                    .fields([
                        "mark": mark(check.mark), "title": .text(check.title), "detail": .optional(check.detail),
                        "link": link(check.link),
                    ])
                }
            ]
        )
    }

    private func timeline(_ moments: [TimelineMoment]) -> Markup {
        markup(
            "timeline",
            [
                "moments": .each(moments) { moment in
                    .fields([
                        "time": .text(moment.time), "delta": .optional(moment.delta),
                        "style": .text(moment.mark.rawValue), "word": .text(text(CommonText.word(moment.mark))),
                        "title": .text(moment.title), "detail": .optional(moment.detail),
                        "source": .text(moment.source),
                    ])
                }
            ]
        )
    }

    private func code(_ code: String, _ label: String) -> Markup {
        markup(
            "code",
            [
                "label": .text(label), "code": .text(code), "copy": .text(text(CommonText.copy)),
                "copied": .text(text(CommonText.copied)),
            ]
        )
    }

    func empty(_ state: EmptyState) -> Markup {
        markup(
            "empty",
            [
                "title": .text(state.title), "step": .text(state.step),
                "code": .optional(state.code.map { code($0, state.step) }), "link": link(state.link),
            ]
        )
    }

    private func difference(_ lines: [DifferenceLine]) -> Markup {
        markup(
            "difference",
            [
                "label": .text(text(CommonText.difference)),
                "lines": .each(lines) { line in
                    let (sign, word): (String, View) =
                        switch line.change {
                        case .same: (" ", .none)
                        case .added: ("+", .text(text(CommonText.added)))
                        case .removed: ("−", .text(text(CommonText.removed)))
                        }
                    return .fields([
                        "style": .text(line.change.rawValue), "sign": .text(sign), "word": word,
                        "text": .text(line.text),
                    ])
                },
            ]
        )
    }
}
