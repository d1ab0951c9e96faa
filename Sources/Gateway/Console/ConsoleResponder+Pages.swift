import AccountStore
import Foundation
import GatewayHTTP
import HTTPTypes
import Hummingbird
import Model
import NIOCore
import PageParts
import Store
import WebConsole

/// The pages of a tenant.
extension ConsoleResponder {
    func tenantPage(_ request: ConsoleRequest) async throws -> Response {
        let place = PageMatch.segments(request.path)
        let isStream = place?.rest == ["live", "stream"]
        // An open page that follows changes is not used by anybody.
        guard let session = try await session(request, isWatching: isStream), let secret = request.secret else {
            return toSignIn(request)
        }
        if let step = unfinished(session) { return step }
        guard let (tenant, segments) = place else {
            // `/t/acme` without its last slash.
            let isBare = request.isRead && request.path.split(separator: "/").count == 2
            if isBare { return ConsoleAnswers.redirect(to: request.path + "/") }
            throw ConsoleRefusal(.notFound)
        }
        let caller = try await caller(session, secret, in: tenant, request)
        if isStream { return try await stream(request, caller) }
        do {
            return try await tenantPage(request, caller, segments)
        } catch {
            return failed(refusal(of: error), request, caller, segments)
        }
    }

    private func tenantPage(
        _ request: ConsoleRequest,
        _ caller: ConsoleCaller,
        _ segments: [String]
    ) async throws -> Response {
        guard let match = PageMatch(segments, Pages.all, isPost: !request.isRead) else {
            throw ConsoleRefusal(.notFound)
        }
        request.timing.opens(match.page.path)
        if let refusal = Self.missingRight(match, caller) { throw refusal }
        switch match.form {
        case .none: return try await show(request, caller, match)
        case .some(.reveal): return try await reveal(request, caller, match)
        case .some(.own(let form)): return try await send(request, caller, match, form)
        }
    }

    /// An error in the frame of the tenant, so that the person goes on from there. The address of a form is that of its page.
    private func failed(
        _ refusal: ConsoleRefusal,
        _ request: ConsoleRequest,
        _ caller: ConsoleCaller,
        _ segments: [String]
    ) -> Response {
        let match = PageMatch(segments, Pages.all, isPost: !request.isRead)
        let here = request.isRead ? segments.map { PercentCoding.encode($0) }.joined(separator: "/") : ""
        return answers.problem(
            refusal,
            request,
            in: pageRequest(request, caller, match),
            path: match?.path ?? here
        )
    }

    /// The person in the tenant of the address. A tenant in which the account has no role does not exist for it.
    private func caller(
        _ session: ConsoleSession,
        _ secret: String,
        in tenant: String,
        _ request: ConsoleRequest
    ) async throws -> ConsoleCaller {
        let isPlatform = session.roles.contains { $0.role == .platform }
        let role = session.roles.first { $0.tenant.rawValue == tenant }?.role.pageRole
        let names = try await tenantNames(session)
        // By bytes, as the store compares them: a text that Swift holds for equal may have others.
        let isKnown = names.contains { $0.utf8.elementsEqual(tenant.utf8) }
        guard isKnown, role != nil || isPlatform else { throw ConsoleRefusal(.notFound) }
        let account = ConsoleAccount(
            name: session.name,
            role: role ?? .analyst,
            isPlatform: isPlatform,
            tenants: names
        )
        return ConsoleCaller(
            session: session,
            secret: secret,
            tenant: TenantID(tenant),
            account: account,
            isMember: role != nil,
            origin: request.origin,
            timing: request.timing
        )
    }

    /// The refusal of a page, or of a form of it, for which the account has no right; nil: it may have it.
    static func missingRight(_ match: PageMatch, _ caller: ConsoleCaller) -> ConsoleRefusal? {
        guard caller.may(match.page.permission) else { return forbidden(match.page.permission, caller) }
        guard case .own(let form)? = match.form else { return nil }
        // An author acts on messages only, and the call looks whose they are.
        let isOwn = match.fields["message"] != nil
        return caller.may(form.permission, isOwn: isOwn) ? nil : forbidden(form.permission, caller)
    }

    static func forbidden(_ permission: Permission, _ caller: ConsoleCaller) -> ConsoleRefusal {
        // A platform account learns nothing about what a tenant has.
        guard caller.isMember else { return ConsoleRefusal(.notFound) }
        return ConsoleRefusal(.forbidden, code: ProblemCode.forbidden.rawValue, needs: permission)
    }

    // MARK: Showing

    /// A request for a page; of an address without a page, for its error.
    func pageRequest(_ request: ConsoleRequest, _ caller: ConsoleCaller, _ match: PageMatch?) -> PageRequest {
        var page = PageRequest(
            language: request.language,
            tenant: caller.tenant.rawValue,
            account: caller.account,
            now: request.now,
            zone: TimeZoneName.utc.text,
            formToken: request.formToken,
            onceToken: parts.identifiers.randomHex(byteCount: 16)
        )
        page.theme = request.theme
        page.path = match?.fields ?? [:]
        page.query = request.query
        page.zone = PageZone.named(page) ?? page.zone
        return page
    }

    private func show(_ request: ConsoleRequest, _ caller: ConsoleCaller, _ match: PageMatch) async throws -> Response {
        var page = pageRequest(request, caller, match)
        if page.fileFormat != nil { return try await export(page, request, caller, match) }
        page.notice = NoticeCookie.text(request.request.headers, session: caller.secret)
        let cookies = page.notice == nil ? [] : [NoticeCookie.clear]
        return try await rendered(page, request, caller, match, cookies: cookies)
    }

    /// Performs the calls of a page and writes it.
    func rendered(
        _ page: PageRequest,
        _ request: ConsoleRequest,
        _ caller: ConsoleCaller,
        _ match: PageMatch,
        status: HTTPResponse.Status = .ok,
        cookies: [String] = []
    ) async throws -> Response {
        let start = ContinuousClock.now
        let reader = PageReader(
            calls: parts.calls,
            caller: caller,
            context: request.context,
            isRevealed: page.isRevealed
        )
        // A form has brought the zone of the page on which it was filled in.
        let hasZone = !request.isRead || PageZone.named(page) != nil
        async let begun = reader.beginning(of: match.page, page, hasZone: hasZone)
        let apps = await reader.apps()
        let shown = chosen(page, apps, hasZone: hasZone)
        // The answers are awaited meanwhile.
        async let frame = parts.renderer.frame(shown, path: match.path)
        let answers = await reader.answers(of: match.page, shown, after: await begun)
        request.timing.took(.read, since: start)
        let read = ContinuousClock.now
        var content: PageContent
        do throws(PageFailure) {
            content = try match.page.content(shown, answers)
        } catch {
            throw Self.refusal(error)
        }
        // The address of a form is not that of what its answer shows.
        if request.isRead { content.exports = exports(of: match.page, shown, answers, caller) }
        if reader.hidden.isSet {
            content = content.offeringReveal(match.path, PageMatch.revealName, shown.language)
        }
        request.timing.took(.content, since: read)
        let made = ContinuousClock.now
        let bytes = parts.renderer.page(content, shown, path: match.path, in: await frame)
        request.timing.took(.write, since: made)
        return self.answers.html(bytes, status: status, cookies: cookies)
    }

    /// The request with the choices of the top bar, and with the zone of the app unless it has one.
    private func chosen(_ request: PageRequest, _ apps: [JSON], hasZone: Bool) -> PageRequest {
        var page = request
        page.apps = apps.compactMap { $0["app"]?.string }
        if !hasZone, let zone = PageZone.ofApp(page, apps) { page.zone = zone }
        return page
    }

    static func refusal(_ failure: PageFailure) -> ConsoleRefusal {
        guard case .problem(let answer) = failure else { return ConsoleRefusal(.notFound) }
        let code = answer.body["code"]?.string
        let detail = answer.body["detail"]?.string
        return switch answer.status {
        case 403: ConsoleRefusal(.forbidden, code: code, detail: detail)
        case 404, 410: ConsoleRefusal(.notFound, code: code, detail: detail)
        case 409, 412: ConsoleRefusal(.conflict, code: code, detail: detail)
        case 429: ConsoleRefusal(.busy, code: code, detail: detail, retryAfterSeconds: 5)
        case 400..<500: ConsoleRefusal(.badRequest, code: code, detail: detail)
        default: ConsoleRefusal(.unavailable, code: code, detail: detail, retryAfterSeconds: 5)
        }
    }

    // MARK: Exports

    /// The exports of a page that the account may have; none of an answer that the page itself did not get.
    private func exports(
        of page: any ConsolePage,
        _ request: PageRequest,
        _ answers: Answers,
        _ caller: ConsoleCaller
    ) -> [FileFormat] {
        var request = request
        // An export is answered without the choices of the top bar.
        request.apps = []
        return FileFormat.allCases.filter { format in
            guard let call = page.export(request, as: format), answers[call.name]?.isSuccess != false,
                let path = ConsoleCalls.segments(call.path),
                let permission = CallRights.permission(call.method, path), caller.may(permission)
            else { return false }
            // Only JSON can be masked.
            return format == .json || !caller.isMasked(path)
        }
    }

    /// The answer of the API that a page shows, unchanged; masked for an account that sees the page masked.
    private func export(
        _ page: PageRequest,
        _ request: ConsoleRequest,
        _ caller: ConsoleCaller,
        _ match: PageMatch
    ) async throws -> Response {
        guard let call = match.page.export(page) else { throw ConsoleRefusal(.notFound) }
        guard var response = try await parts.calls.response(call, for: caller, request.context) else {
            throw ConsoleRefusal(.forbidden, code: ProblemCode.forbidden.rawValue)
        }
        guard response.status.code < 400 else {
            let bytes = (try? await CollectedBody.bytes(of: response, limitBytes: Self.smallFormBytes)) ?? []
            let body = (try? JSONParser.parse(bytes)) ?? .null
            throw Self.refusal(
                .problem(APIAnswer(status: Int(response.status.code), body: body, requestID: request.requestID))
            )
        }
        let path = ConsoleCalls.segments(call.path) ?? []
        if caller.isMasked(path) {
            guard let masked = try await maskedJSON(response, path) else {
                throw ConsoleRefusal(.forbidden, code: ProblemCode.forbidden.rawValue, needs: .personal)
            }
            response = masked
        }
        for field in SecurityHeaders.common where field.name != .contentType {
            response.headers[field.name] = field.value
        }
        response.headers[.cacheControl] = "no-store"
        let format: FileFormat = (response.headers[.contentType] ?? "").hasPrefix("text/csv") ? .csv : .json
        let name = path.last.map { $0.filter { $0.isASCII && ($0.isLetter || $0.isNumber) } } ?? "export"
        response.headers[.contentDisposition] = "attachment; filename=\"\(name).\(format.rawValue)\""
        return response
    }

    /// Nil: the answer is not JSON, so that it cannot be masked.
    private func maskedJSON(_ response: Response, _ path: [String]) async throws -> Response? {
        guard (response.headers[.contentType] ?? "").hasPrefix("application/json") else { return nil }
        let bytes = try await CollectedBody.bytes(of: response, limitBytes: ConsoleCalls.answerBytes)
        guard let json = try? JSONParser.parse(bytes) else { return nil }
        var masked = response
        masked.body = ResponseBody(
            byteBuffer: ByteBuffer(bytes: JSONWriter.bytes(parts.calls.people.masked(json, path: path)))
        )
        masked.headers[.contentLength] = nil
        return masked
    }
}

/// Performs the calls of a page in rounds.
struct PageReader: Sendable {
    let calls: ConsoleCalls
    let caller: ConsoleCaller
    let context: CallContext
    var isRevealed = false
    let hidden = HiddenNote()

    /// The apps from which the top bar chooses: at most 100.
    func apps() async -> [JSON] {
        guard caller.may(.figures) else { return [] }
        let answer = await calls.answer(APICall("apps", .get, "apps"), for: caller, context)
        return answer.body["apps"]?.array ?? []
    }

    /// The answers that a page has so far, and how much it may still ask.
    struct Progress: Sendable {
        fileprivate(set) var answers = Answers()
        fileprivate var rounds = ConsoleLimits.roundsPerPage
        fileprivate var calls = ConsoleLimits.callsPerPage
    }

    /// Performs the first calls of a page while the choices of its top bar are read, if they do not depend on the zone that these may bring.
    ///
    /// - Parameters:
    ///   - page: the page.
    ///   - request: the request for it.
    ///   - hasZone: whether the request has the zone of the page already.
    /// - Returns: the first answers; none if the calls have to wait.
    func beginning(of page: any ConsolePage, _ request: PageRequest, hasZone: Bool) async -> Progress {
        var progress = Progress()
        let first = hasZone ? page.calls(request, progress.answers) : page.callsInAnyZone(request) ?? []
        _ = await round(first, &progress)
        return progress
    }

    func answers(
        of page: any ConsolePage,
        _ request: PageRequest,
        after progress: Progress = Progress()
    ) async -> Answers {
        await rounds(progress) { page.calls(request, $0) }
    }

    func answers(of form: any ConsoleForm, _ request: PageRequest, _ fields: FormFields) async -> Answers {
        await rounds(Progress()) { form.calls(request, fields, $0) }
    }

    private func rounds(_ progress: Progress, _ next: (Answers) -> [APICall]) async -> Answers {
        var progress = progress
        while progress.rounds > 0, await round(next(progress.answers), &progress) {}
        return progress.answers
    }

    /// Performs calls that have no answer yet. False: there are none.
    private func round(_ calls: [APICall], _ progress: inout Progress) async -> Bool {
        var names: Set<String> = []
        let wanted = calls.filter { !progress.answers.has($0.name) && names.insert($0.name).inserted }
            .prefix(progress.calls)
        if wanted.isEmpty { return false }
        progress.rounds -= 1
        progress.calls -= wanted.count
        for (name, answer) in await self.calls.answers(
            Array(wanted),
            for: caller,
            context,
            isRevealed: isRevealed,
            hidden: hidden
        ) {
            progress.answers[name] = answer
        }
        return true
    }
}
