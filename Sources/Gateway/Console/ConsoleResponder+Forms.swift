import AccountStore
import CallAudit
import Foundation
import GatewayHTTP
import HTTPTypes
import Hummingbird
import Model
import PageParts
import Store
import WebConsole

/// The forms of the pages of a tenant.
extension ConsoleResponder {
    /// A form that was sent, with what surrounds it.
    struct SentForm: Sendable {
        var request: ConsoleRequest
        var caller: ConsoleCaller
        var match: PageMatch
        var page: PageRequest
        var fields: FormFields
    }

    /// Reads a form that its sender may send, and does what it asks.
    func send(
        _ request: ConsoleRequest,
        _ caller: ConsoleCaller,
        _ match: PageMatch,
        _ form: any ConsoleForm
    ) async throws -> Response {
        let limit = min(form.bodyLimitBytes, Self.formBytes)
        let raw = try await fields(request, limitBytes: limit, needsToken: true)
        let formPath = (match.path.isEmpty ? "" : match.path + "/") + form.name
        if form.asksPassword, !caller.session.isProven,
            let step = try await asked(raw, request, caller, match, path: formPath)
        {
            return step
        }
        var page = pageRequest(request, caller, match)
        if let once = raw[FormNames.once], Self.isOnce(once) { page.onceToken = once }
        let fields = Self.own(raw, of: formPath)
        page.typed = fields
        page.zone = PageZone.known(raw[FormNames.zone]) ?? page.zone
        return try await submit(
            SentForm(request: request, caller: caller, match: match, page: page, fields: fields),
            form
        )
    }

    /// 10 MiB: the largest upload, an image.
    private static let formBytes = 10 << 20

    /// The fields that the form itself has, and its path, by which the page shows what was typed in the right form.
    private static func own(_ raw: FormFields, of path: String) -> FormFields {
        let internals: Set<String> = [
            FormNames.token, FormNames.once, FormNames.form, FormNames.zone, SignInPages.passwordField,
        ]
        let fields = raw.fields.filter { !internals.contains($0.name) }
        return FormFields(fields + [FormFields.Field(FormNames.form, .text(path))])
    }

    /// Whether a text can be the value that makes a form be carried out once.
    private static func isOnce(_ text: String) -> Bool {
        (16...64).contains(text.utf8.count) && text.utf8.allSatisfy { HexCoding.value(of: $0) != nil }
    }

    // MARK: The password again

    /// Takes the password that came with the form. Nil: it is right; otherwise the page that asks for it and keeps what was typed.
    private func asked(
        _ raw: FormFields,
        _ request: ConsoleRequest,
        _ caller: ConsoleCaller,
        _ match: PageMatch,
        path: String
    ) async throws -> Response? {
        let address = ConsolePaths.tenant(caller.tenant.rawValue)
        guard let password = raw[SignInPages.passwordField], !password.isEmpty else {
            let hasFiles = raw.fields.contains {
                if case .file(_, let bytes) = $0.value { !bytes.isEmpty } else { false }
            }
            if hasFiles {
                // A file cannot be kept in a page: the password first, and then the form again.
                let next = PercentCoding.encode(address + match.path)
                return ConsoleAnswers.redirect(to: "/\(SignInPages.Path.prove)?next=\(next)")
            }
            return answers.bare(
                proof(raw, request, address + path, caller.session.name),
                request,
                account: caller.session.name,
                once: raw[FormNames.once] ?? ""
            )
        }
        let proof = try await parts.verifier.check(
            password,
            of: caller.session,
            from: request.context.remoteAddress
        )
        guard case .right = proof else {
            let page = self.proof(raw, request, address + path, caller.session.name)
            return refused(
                proof,
                SignInTexts.wrongPassword,
                page,
                request,
                nil,
                account: caller.session.name,
                once: raw[FormNames.once] ?? ""
            )
        }
        if let hash = request.hash { try await parts.store.prove(hash) }
        return nil
    }

    private func proof(_ raw: FormFields, _ request: ConsoleRequest, _ path: String, _ account: String) -> PageContent {
        // The page writes these three itself.
        let dropped: Set<String> = [FormNames.token, FormNames.once, FormNames.form, SignInPages.passwordField]
        let kept = raw.fields.compactMap { field -> PageRequest.Parameter? in
            guard !dropped.contains(field.name), case .text(let text) = field.value else { return nil }
            return PageRequest.Parameter(field.name, text)
        }
        return SignInPages.prove(request.language, path: String(path.dropFirst()), fields: kept, account: account)
    }

    // MARK: Doing it

    private func submit(_ sent: SentForm, _ form: any ConsoleForm) async throws -> Response {
        let reader = PageReader(calls: parts.calls, caller: sent.caller, context: sent.request.context)
        let answers = await reader.answers(of: form, sent.page, sent.fields)
        switch form.submit(sent.page, sent.fields, answers) {
        case .invalid(let errors): return try await again(sent, errors: errors, status: .unprocessableContent)
        case .show: return try await again(sent, errors: FieldErrors([:]), status: .ok)
        case .go(let link): return redirect(sent, to: link, nil)
        case .call(let call):
            let answer = await parts.calls.answer(call, for: sent.caller, sent.request.context)
            // The form decides what a success means; what nobody can correct is an error page.
            if answer.status >= 500 || answer.status == 403 && !sent.caller.isMember {
                throw Self.refusal(.problem(answer))
            }
            return try await finish(sent, form.result(sent.page, sent.fields, answer), answer)
        }
    }

    private func finish(_ sent: SentForm, _ result: FormResult, _ answer: APIAnswer) async throws -> Response {
        switch result {
        case .back(let notice): return redirect(sent, to: Link("", sent.match.path, sent.page.query), notice)
        case .go(let link, let notice): return redirect(sent, to: link, notice)
        case .invalid(let errors):
            let isConflict = answer.status == 409 || answer.status == 412
            let status: HTTPResponse.Status =
                isConflict ? .conflict : answer.status == 403 ? .forbidden : .unprocessableContent
            return try await again(sent, errors: errors, status: status)
        case .again(let notice):
            var sent = sent
            sent.page.notice = notice(sent.request.language)
            return try await again(sent, errors: FieldErrors([:]), status: .ok)
        case .once(let title, let secret):
            var sent = sent
            sent.page.typed = FormFields([])
            sent.page.secret = PageRequest.ShownSecret(title: title, value: secret)
            return try await again(sent, errors: FieldErrors([:]), status: .ok)
        }
    }

    /// The page again, with what was typed.
    private func again(_ sent: SentForm, errors: FieldErrors, status: HTTPResponse.Status) async throws -> Response {
        var page = sent.page
        page.errors = errors
        return try await rendered(page, sent.request, sent.caller, sent.match, status: status)
    }

    private func redirect(_ sent: SentForm, to link: Link, _ notice: Text?) -> Response {
        let pairs = link.query.filter { !$0.value.isEmpty }.map(\.coded)
        let path = ConsoleRequest.safePath(ConsolePaths.tenant(sent.caller.tenant.rawValue) + link.path)
        let target = path + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&"))
        let cookies = notice.map {
            [NoticeCookie.set($0(sent.request.language), session: sent.caller.secret)]
        }
        return ConsoleAnswers.redirect(to: target, cookies: cookies ?? [])
    }

    // MARK: Revealing

    /// Shows the masked data of a page once, and writes a row of the audit before.
    func reveal(_ request: ConsoleRequest, _ caller: ConsoleCaller, _ match: PageMatch) async throws -> Response {
        guard caller.isMember else { throw ConsoleRefusal(.notFound) }
        let raw = try await fields(request, limitBytes: Self.smallFormBytes, needsToken: true)
        let formPath = (match.path.isEmpty ? "" : match.path + "/") + PageMatch.revealName
        if !caller.session.isProven, let step = try await asked(raw, request, caller, match, path: formPath) {
            return step
        }
        // A user is a subject of which the audit keeps a pseudonym; the data names nobody.
        let page = match.page.path.isEmpty ? "overview" : match.page.path
        var data: JSONObject = ["page": .string(page)]
        for name in ["app", "message", "target", "device"] {
            data[name] = match.fields[name].map { .string($0) }
        }
        let subject = match.fields["user"].map { "user \($0)" } ?? "page \(page)"
        let record = AuditRecord(.reveal, subject, data: .object(data))
        try await parts.reads.note([record], by: caller.actor, in: caller.tenant)
        var shown = pageRequest(request, caller, match)
        shown.isRevealed = true
        shown.zone = PageZone.known(raw[FormNames.zone]) ?? shown.zone
        return try await rendered(shown, request, caller, match)
    }
}
