import Model
import PageParts

extension PageWriter {
    /// More choices than this are in a list that opens.
    private static let shownChoices = 6

    // MARK: Filters

    func filters(_ filters: [Filter]) -> Markup {
        markup("filters", ["filters": .each(filters.enumerated()) { .markup(filter($0.element, index: $0.offset)) }])
    }

    private func filter(_ filter: Filter, index: Int) -> Markup {
        switch filter {
        case .choice(let label, let parameter, let options, let selected):
            let choices = options.map { option in
                View.fields([
                    "href": .text(place.href(changing: [.init(parameter, option.value)])),
                    "label": .text(option.label),
                    "isSelected": .flag(option.value == (selected ?? "")),
                ])
            }
            let current = options.first { $0.value == (selected ?? "") }?.label ?? text(CommonText.all)
            let isLong = options.count > Self.shownChoices
            return markup(
                "choice",
                [
                    "label": .text(label),
                    "short": isLong ? .none : .fields(["label": .text(label), "choices": .list(choices)]),
                    "long": isLong
                        ? .fields(["label": .text(label), "current": .text(current), "choices": .list(choices)]) : .none
                        ,
                ]
            )
        case .text(let label, let parameter, let value, let placeholder):
            let others = place.query.filter { ![parameter, "after"].contains($0.name) && !$0.value.isEmpty }
            return markup(
                "search",
                [
                    "id": .text("filter-\(index)"), "action": .text(place.action(place.path)), "label": .text(label),
                    "name": .text(parameter), "value": .text(value ?? ""), "placeholder": .text(placeholder),
                    "hidden": .each(others) { field($0.name, $0.value) },
                    "apply": .text(text(CommonText.apply)),
                    "clear": value.map { _ in
                        .fields([
                            "href": .text(place.href(changing: [.init(parameter, "")])),
                            "label": .text(text(CommonText.clear)),
                        ])
                    } ?? .none,
                ]
            )
        }
    }

    // MARK: Forms

    /// A form. The typed values and their errors are shown if this is the form that was sent, by either of its buttons.
    func form(_ form: FormView, _ id: String) -> Markup {
        let sent = place.typed[FormNames.form]
        let isNamed = sent == nil || sent == form.path || sent == form.second?.path
        let isSent = !place.typed.isEmpty && isNamed
        let errors = isNamed ? place.errors.words(place.language) : [:]
        let visible = Set(form.fields.filter { !$0.kind.isHidden }.map(\.name))
        // An error of a field that the form does not show is shown with those of the form.
        let general = errors.filter { !visible.contains($0.key) }.sorted { $0.key < $1.key }.map { name, words in
            words.named(name)
        }
        let hiddenFields = form.fields.filter(\.kind.isHidden).map { PageRequest.Parameter($0.name, $0.value) }
        return markup(
            "form",
            [
                "id": .text(id), "action": .text(place.action(form.path)), "isMultipart": .flag(form.isMultipart),
                "behaviour": .optional(form.behaviour), "account": .optional(form.account),
                "hidden": hidden(form.path, hiddenFields),
                "errors": general.isEmpty ? .none : .fields(["errors": .each(general) { error($0) }]),
                "fields": .each(form.fields.filter { !$0.kind.isHidden }.enumerated()) { index, field in
                    .markup(
                        self.field(field, "\(id)-\(index)", typed: isSent ? place.typed : nil, errors[field.name])
                    )
                },
                "submit": .text(form.submit),
                "style": .text(form.isDangerous ? "btn danger" : "btn main"),
                "second": form.second.map {
                    .fields(["label": .text($0.label), "action": .text(place.action($0.path))])
                } ?? .none,
            ]
        )
    }

    private func field(_ field: FormView.Field, _ id: String, typed: FormFields?, _ error: ErrorWords?) -> Markup {
        let values = typed.map { $0.all(field.name) } ?? [field.value]
        let value = typed == nil ? field.value : values.first ?? ""
        var view: [String: View] = [
            "section": .optional(field.section), "id": .text(id), "name": .text(field.name),
            "label": .text(field.label), "value": .text(value),
            "required": field.isRequired ? .text(text(CommonText.required)) : .none,
            "isRequired": .flag(field.isRequired),
            "hint": Self.note(field.hint, "\(id)-hint"),
            "error": error.map { self.error($0, "\(id)-error") } ?? .none,
            "isInvalid": .flag(error != nil),
            "describedBy": .optional(Self.describedBy(id, field.hint, error)),
            "autocomplete": .text(field.autocomplete ?? "off"),
            "limit": field.limit.map {
                .fields(["bytes": .text("\($0)"), "unit": .text(text(CommonText.bytes))])
            } ?? .none,
            "input": .none, "area": .none, "select": .none, "radio": .none, "checkbox": .none, "file": .none,
        ]
        switch field.kind {
        case .text(let placeholder): view["input"] = input("text", placeholder, view)
        // A password is never shown again.
        case .password:
            view["value"] = .text("")
            view["input"] = input("password", "", view)
        case .number: view["input"] = input("text", "", view, mode: "numeric")
        case .dateTime:
            // Browsers report another value in their console, and show nothing of it.
            if LocalTime(value) == nil { view["value"] = .text("") }
            view["input"] = input("datetime-local", "", view)
        case .area(let rows):
            view["area"] = .fields(view.merging(["rows": .text("\(min(max(rows, 2), 40))")]) { $1 })
        case .select(let options):
            view["select"] = .fields(view.merging(["options": self.options(options, value, id, field.name)]) { $1 })
        case .radio(let options):
            view["radio"] = .fields(view.merging(["options": self.options(options, value, id, field.name)]) { $1 })
        case .checkbox:
            let isOn = typed == nil ? ["on", "true", "1"].contains(field.value) : !values.isEmpty
            view["checkbox"] = .fields(view.merging(["isOn": .flag(isOn)]) { $1 })
        case .file(let accept): view["file"] = .fields(view.merging(["accept": .text(accept)]) { $1 })
        case .hidden: break
        }
        let isGroup = if case .radio = field.kind { true } else { false }
        let isCheck = if case .checkbox = field.kind { true } else { false }
        view["hasLabel"] = .flag(!isGroup && !isCheck)
        return markup("field", view)
    }

    /// `id` is that of the element next to a field.
    private func error(_ words: ErrorWords, _ id: String = "") -> View {
        .fields(["id": .text(id), "text": .text(words.text), "quote": .optional(words.quote)])
    }

    private func input(_ type: String, _ placeholder: String, _ view: [String: View], mode: String? = nil) -> View {
        .fields(
            view.merging([
                "type": .text(type), "placeholder": .optional(placeholder), "mode": .optional(mode),
            ]) { $1 }
        )
    }

    private static func note(_ text: String?, _ id: String) -> View {
        guard let text, !text.isEmpty else { return .none }
        return .fields(["id": .text(id), "text": .text(text)])
    }

    private func options(_ options: [Filter.Option], _ selected: String, _ id: String, _ name: String) -> View {
        .each(options.enumerated()) { index, option in
            .fields([
                "id": .text("\(id)-\(index)"), "name": .text(name), "value": .text(option.value),
                "label": .text(option.label),
                "isSelected": .flag(option.value == selected),
            ])
        }
    }

    private static func describedBy(_ id: String, _ hint: String?, _ error: ErrorWords?) -> String? {
        let ids = [hint.map { _ in "\(id)-hint" }, error.map { _ in "\(id)-error" }].compactMap { $0 }
        return ids.isEmpty ? nil : ids.joined(separator: " ")
    }

    /// The words that password managers need.
}

extension FormView.Field.Kind {
    var isHidden: Bool { if case .hidden = self { true } else { false } }
}
