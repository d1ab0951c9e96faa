/// The second step of an action that cannot be undone: the form shows its page again, and the page states what will happen, with a button.
package enum Confirmation {
    /// The hidden field that names the form which asked.
    private static let asked = "ask"
    private static let given = "confirmed"

    /// A button that leads to the confirmation.
    package static func button(
        _ label: String,
        _ form: String,
        path: String,
        fields: [PageRequest.Parameter] = [],
        isDangerous: Bool = true
    ) -> Action {
        let fields = fields + [PageRequest.Parameter(asked, form)]
        return .post(label: label, path: path, fields: fields, isDangerous: isDangerous)
    }

    /// Whether a person has confirmed.
    package static func isGiven(_ fields: FormFields) -> Bool { fields[given] == "yes" }

    /// Whether the page is shown to confirm this form.
    package static func isAsked(_ form: String, _ request: PageRequest) -> Bool {
        request.typed[asked] == form && request.errors.errors.isEmpty
    }

    /// A sentence about the consequences, with the button that continues and one that leaves everything as it is.
    package static func block(
        _ request: PageRequest,
        title: String,
        text: String,
        submit: String,
        path: String,
        back: String
    ) -> Block {
        var fields = request.typed.fields.compactMap { field -> PageRequest.Parameter? in
            guard case .text(let text) = field.value, field.name != given, !field.name.hasPrefix("_") else {
                return nil
            }
            return PageRequest.Parameter(field.name, text)
        }
        fields.append(PageRequest.Parameter(given, "yes"))
        return Block(
            title: title,
            body: [
                .callout(.warn, text, link: nil),
                .actions([
                    .post(label: submit, path: path, fields: fields, isMain: true, isDangerous: true),
                    .link(Link(OperationsText.cancel(request.language), back)),
                ]),
            ]
        )
    }
}

/// Errors of forms without visible fields, at the head of the page. Forms with fields show their own.
package enum FormProblems {
    /// The errors of the form that was sent; nil: there are none, or it has one of the fields `visible` and shows them.
    package static func block(_ request: PageRequest, visible: Set<String> = []) -> Block? {
        guard !request.errors.errors.isEmpty, !request.typed.fields.contains(where: { visible.contains($0.name) })
        else { return nil }
        let parts = request.errors.words(request.language).sorted { $0.key < $1.key }.flatMap { field, words in
            words.named(field).parts(.bad)
        }
        return Block(body: parts)
    }
}
