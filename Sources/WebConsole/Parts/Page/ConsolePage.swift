import Model

/// A page of the console. Pure: it names the calls of the native API whose answers it shows, and makes values of them, from which `Renderer` writes HTML.
///
/// A page shows no figure and has no action that the native API lacks. It is one folder in `Pages`, below its section of the sidebar, and one line in the section's list.
package protocol ConsolePage: Sendable {
    /// The path below `/t/{tenant}/`, with fields in braces: `messages/{message}`. The overview's is empty.
    var path: String { get }
    /// The permission that opens it.
    var permission: Permission { get }
    /// Its place in the sidebar; nil: it is reached by links.
    var menu: MenuEntry? { get }
    /// The forms that post to it.
    var forms: [any ConsoleForm] { get }
    /// The part of the work that is done once for all viewers while it updates itself.
    var sharing: UpdateSharing { get }

    /// The calls to perform next. It is asked again with the answers, until it returns none: a second round may need an id of the first. It may be asked for the
    /// first ones before the choices of the top bar are known (`PageRequest.apps`).
    /// At most `ConsoleLimits.roundsPerPage` rounds and `ConsoleLimits.callsPerPage` calls.
    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall]
    /// The page for the answers. An answer that is a problem is shown by the page next to what it concerns; a page whose main call failed throws it.
    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent
    /// The call whose answer `?export=csv` and `?export=json` return unchanged; nil: nothing to export.
    func export(_ request: PageRequest) -> APICall?
}

extension ConsolePage {
    package var menu: MenuEntry? { nil }
    package var forms: [any ConsoleForm] { [] }
    package var sharing: UpdateSharing { .nothing }
    package func export(_ request: PageRequest) -> APICall? { nil }

    /// The first calls, if they are the same in every zone, so that they need not wait for the zone of the app; nil: they differ.
    package func callsInAnyZone(_ request: PageRequest) -> [APICall]? {
        var (one, other) = (request, request)
        // 14 hours apart: no day begins at the same moment in both.
        (one.zone, other.zone) = ("UTC", "Pacific/Kiritimati")
        let first = calls(one, Answers())
        return first == calls(other, Answers()) ? first : nil
    }

    /// The call of an export in one format; nil: the page has none.
    package func export(_ request: PageRequest, as format: FileFormat) -> APICall? {
        var asked = request
        asked.query = request.query.filter { $0.name != FileFormat.parameter } + [format.asked]
        guard let call = export(asked) else { return nil }
        // The native API writes an answer as CSV only if the call says so, and few pages have such a call.
        return format == .json || call.query.contains(format.answered) ? call : nil
    }
}

/// The part of the work for a page that updates itself that is done once for all viewers with the same rights.
package enum UpdateSharing: Sendable, Hashable {
    case nothing
    /// The answers of its calls. Its sentence or its blocks have forms, or name the person.
    case answers
    /// The answers and the writing: calls, sentence and blocks do not depend on the person and have no forms. In the request, tokens are empty, and so are
    /// names, except those of authors, who have rights on own messages.
    case page
}

/// A format in which the data of a page can be exported.
package enum FileFormat: String, Sendable, Hashable, CaseIterable {
    case csv, json

    package static let parameter = "export"
    /// The console's parameter for the file.
    package var asked: PageRequest.Parameter { PageRequest.Parameter(Self.parameter, rawValue) }
    /// The native API's parameter for an answer in this format. JSON needs none.
    package var answered: PageRequest.Parameter { PageRequest.Parameter("format", rawValue) }
}

extension PageRequest {
    /// The format of the file that was asked for; nil: the page itself.
    package var fileFormat: FileFormat? { value(FileFormat.parameter).flatMap(FileFormat.init(rawValue:)) }
}

extension APICall {
    /// The call with an answer in the format of the file that was asked for. Only for calls whose answer the native API writes as CSV too.
    package func exported(by request: PageRequest) -> APICall {
        var call = self
        if request.fileFormat == .csv { call.query.append(FileFormat.csv.answered) }
        return call
    }
}

/// A page that cannot be shown.
package enum PageFailure: Error, Sendable {
    /// The native API's answer, which is a problem.
    case problem(APIAnswer)
    /// Nothing has this id.
    case notFound
}

/// The place of a page in the sidebar.
package struct MenuEntry: Sendable {
    /// A group of the sidebar, in this order.
    package enum Section: Sendable, Hashable, CaseIterable { case delivery, audience, operations, administration }
    package var section: Section
    package var label: Text
    package var icon: Icon
    /// The second key of the shortcut `g` then a letter.
    package var key: Character?

    package init(_ section: Section, _ label: Text, _ icon: Icon, key: Character? = nil) {
        self.section = section
        self.label = label
        self.icon = icon
        self.key = key
    }
}

/// A form that a person sends from a page. It posts to the page's path with `/` and its name: `messages/{message}/pause`.
package protocol ConsoleForm: Sendable {
    /// One path segment, unique on its page.
    var name: String { get }
    var permission: Permission { get }
    /// Whether the password must have been given within the last ten minutes: keys, credentials, accounts, erasing, revealing.
    var asksPassword: Bool { get }
    /// Largest body in bytes. Multipart bodies are accepted for uploads.
    var bodyLimitBytes: Int { get }

    /// The calls to perform before `submit`, as a page has them; none as a rule.
    func calls(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> [APICall]
    /// The step that follows from the fields: one call of the native API, or errors next to them.
    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep
    /// The result of the call. Default: a success returns to the page with the form's notice; a problem is shown next to the field that it names.
    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult
}

extension ConsoleForm {
    package var asksPassword: Bool { false }
    /// 64 KiB.
    package var bodyLimitBytes: Int { 64 << 10 }
    package func calls(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> [APICall] { [] }
    package func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        answer.isSuccess ? .back(nil) : .invalid(FieldErrors(answer))
    }
}

/// The step that a form asks for.
package enum FormStep: Sendable {
    case call(APICall)
    /// The page is shown again with what was typed and these errors.
    case invalid(FieldErrors)
    /// The page is shown again with what was typed, for instance to confirm it or to preview it.
    case show
    /// Another page, below the tenant, without a call.
    case go(Link)
}

/// The result of a form's call.
package enum FormResult: Sendable {
    /// The form's page, with a notice.
    case back(Text?)
    /// Another page.
    case go(Link, Text?)
    /// The page is shown again with what was typed and these errors.
    case invalid(FieldErrors)
    /// The page is shown again with what was typed and a notice: what was done does not end the form.
    case again(Text)
    /// The form's page with a secret that is shown once, such as a new key; never in an address.
    case once(title: Text, secret: String)
}
