import AccountStore
import GatewayHTTP
import HTTPTypes
import Hummingbird
import Model
import Observability
import PageParts
import WebConsole

/// Signing in and out, invitations, and the choice of a tenant.
extension ConsoleResponder {
    /// The beginning: the only tenant of the account, or a list of them.
    func start(_ request: ConsoleRequest) async throws -> Response {
        guard request.isRead else { throw ConsoleRefusal(.methodNotAllowed) }
        guard let session = try await session(request) else { return toSignIn(request) }
        if let step = unfinished(session) { return step }
        let names = try await tenantNames(session)
        if names.count == 1, let name = names.first {
            return ConsoleAnswers.redirect(to: ConsolePaths.tenant(name))
        }
        return answers.bare(SignInPages.tenants(names, request.language), request, account: session.name)
    }

    /// The tenants that an account may open.
    func tenantNames(_ session: ConsoleSession) async throws -> [String] {
        let own = session.roles.map(\.tenant.rawValue).filter { !$0.isEmpty }
        guard session.roles.contains(where: { $0.role == .platform }) else { return own }
        let all = try await parts.tenants().map(\.rawValue)
        return Set(own).union(all).sorted()
    }

    /// The step that a person still has to take before anything else opens; nil: none.
    func unfinished(_ session: ConsoleSession) -> Response? {
        if session.awaitsCode { return ConsoleAnswers.redirect(to: "/\(SignInPages.Path.code)") }
        if settings.mustHaveCodes, !session.hasCodes {
            return ConsoleAnswers.redirect(to: "/\(SignInPages.Path.account)")
        }
        return nil
    }

    // MARK: Signing in

    func signIn(_ request: ConsoleRequest) async throws -> Response {
        let next = request.query.first { $0.name == "next" }?.value
        guard !request.isRead else {
            let page = SignInPages.signIn(request.language, next: ConsoleRequest.safePath(next))
            return answers.bare(page, request)
        }
        // A person without a session has no token. The origin of the request is checked before.
        let fields = try await fields(request, limitBytes: Self.smallFormBytes, needsToken: false)
        let target = ConsoleRequest.safePath(fields["next"])
        let proof = try await parts.verifier.check(
            fields["name"] ?? "",
            fields["password"] ?? "",
            from: request.context.remoteAddress
        )
        parts.counts.attempted(.password, SignInVerifier.outcome(proof))
        guard case .right(let account) = proof else {
            return refused(
                proof,
                SignInTexts.wrong,
                SignInPages.signIn(request.language, next: target),
                request,
                fields
            )
        }
        let awaitsCode = account.codeSalt != nil
        let secret = try await parts.verifier.open(
            for: account,
            awaitsCode: awaitsCode,
            from: sessionOrigin(request),
            replacing: request.hash
        )
        let path = awaitsCode ? "/\(SignInPages.Path.code)?next=\(PercentCoding.encode(target))" : target
        return ConsoleAnswers.redirect(to: path, cookies: [ConsoleCookies.setSession(secret)])
    }

    func code(_ request: ConsoleRequest) async throws -> Response {
        guard let session = try await session(request) else { return toSignIn(request) }
        guard session.awaitsCode else { return ConsoleAnswers.redirect(to: "/") }
        let next = request.query.first { $0.name == "next" }?.value
        guard !request.isRead else {
            let page = SignInPages.code(request.language, next: ConsoleRequest.safePath(next))
            return answers.bare(page, request)
        }
        let fields = try await fields(request, limitBytes: Self.smallFormBytes, needsToken: true)
        let target = ConsoleRequest.safePath(fields["next"])
        let proof = try await parts.verifier.checkCode(
            fields["code"] ?? "",
            of: session,
            from: request.context.remoteAddress
        )
        parts.counts.attempted(.code, SignInVerifier.outcome(proof))
        guard case .right(let account) = proof else {
            return refused(proof, SignInTexts.wrongCode, SignInPages.code(request.language, next: target), request, nil)
        }
        let secret = try await parts.verifier.open(
            for: account,
            awaitsCode: false,
            from: sessionOrigin(request),
            replacing: request.hash
        )
        return ConsoleAnswers.redirect(to: target, cookies: [ConsoleCookies.setSession(secret)])
    }

    private func sessionOrigin(_ request: ConsoleRequest) -> PostgresAccountStore.SessionOrigin {
        .init(
            address: request.context.remoteAddress ?? "",
            browser: BrowserName.of(request.request.headers[.userAgent] ?? "")
        )
    }

    /// The answer to a proof that was not right: the same page with the reason. A typed name is kept.
    func refused(
        _ proof: SignInVerifier.Proof,
        _ wrong: Text,
        _ page: PageContent,
        _ request: ConsoleRequest,
        _ fields: FormFields?,
        account: String? = nil,
        once: String = ""
    ) -> Response {
        let typed = FormFields((fields?.fields ?? []).filter { $0.name == "name" })
        var error = wrong
        var wait: Int?
        switch proof {
        case .right, .wrong: break
        case .blocked(let seconds):
            error = SignInTexts.blocked(seconds)
            wait = seconds
        case .busy:
            error = SignInTexts.busy
            wait = 5
        }
        var response = answers.bare(
            page,
            request,
            account: account,
            status: wait == nil ? .unprocessableContent : .tooManyRequests,
            typed: typed,
            error: error,
            once: once
        )
        if let wait { response.headers[.retryAfter] = "\(wait)" }
        return response
    }

    func signOut(_ request: ConsoleRequest) async throws -> Response {
        guard !request.isRead else { throw ConsoleRefusal(.methodNotAllowed) }
        if let hash = request.hash {
            _ = try await fields(request, limitBytes: Self.smallFormBytes, needsToken: true)
            try await parts.store.end(hash)
        }
        return ConsoleAnswers.redirect(to: "/\(SignInPages.Path.signIn)", cookies: [ConsoleCookies.endSession])
    }

    /// Asks for the password again and leads back, for forms whose files cannot be kept meanwhile.
    func prove(_ request: ConsoleRequest) async throws -> Response {
        guard let session = try await session(request), !session.awaitsCode, let hash = request.hash else {
            return toSignIn(request)
        }
        func page(_ next: String?) -> PageContent {
            let back = PageRequest.Parameter("next", ConsoleRequest.safePath(next))
            return SignInPages.prove(
                request.language,
                path: SignInPages.Path.prove,
                fields: [back],
                account: session.name
            )
        }
        guard !request.isRead else {
            let next = request.query.first { $0.name == "next" }?.value
            return answers.bare(page(next), request, account: session.name)
        }
        let fields = try await fields(request, limitBytes: Self.smallFormBytes, needsToken: true)
        let proof = try await parts.verifier.check(
            fields[SignInPages.passwordField] ?? "",
            of: session,
            from: request.context.remoteAddress
        )
        guard case .right = proof else {
            let again = page(fields["next"])
            return refused(proof, SignInTexts.wrongPassword, again, request, nil, account: session.name)
        }
        try await parts.store.prove(hash)
        return ConsoleAnswers.redirect(to: ConsoleRequest.safePath(fields["next"]))
    }

    // MARK: Invitations

    func invitation(_ request: ConsoleRequest) async throws -> Response {
        guard !request.isRead else {
            let secret = String(request.path.dropFirst("/invitation/".count))
            guard let found = try await invitation(of: secret) else { return unusable(request) }
            return answers.bare(page(found, secret, request.language), request)
        }
        let fields = try await fields(request, limitBytes: Self.smallFormBytes, needsToken: false)
        let secret = fields["secret"] ?? ""
        guard let found = try await invitation(of: secret) else { return unusable(request) }
        let password = fields["password"] ?? ""
        var fault = PasswordRules.fault(password, name: found.name)
        if fault == nil, password != fields["repeated"] { fault = SignInTexts.differ }
        if let fault {
            return answers.bare(
                page(found, secret, request.language),
                request,
                status: .unprocessableContent,
                error: fault
            )
        }
        let hash: String
        do {
            hash = try await parts.verifier.work.hash(password)
        } catch is PasswordWork.Busy {
            throw ConsoleRefusal(.busy, retryAfterSeconds: 5)
        }
        switch try await parts.store.accept(InvitationLink.hash(secret), password: hash) {
        case .accepted(let id): return try await entered(id, hash, request)
        case .unknown: return unusable(request)
        case .nameTaken: throw ConsoleRefusal(.conflict, SignInTexts.nameTaken)
        }
    }

    /// Signs in a person who has used a link and chosen the password, of which `hash` is stored. The account has no codes: an accepted link removes them. Whoever
    /// has replaced the password meanwhile has ended the sessions of this person, so none is opened.
    private func entered(_ id: AccountID, _ hash: String, _ request: ConsoleRequest) async throws -> Response {
        guard let account = try await parts.store.account(id), account.password == hash, !account.isDisabled else {
            return toSignIn(request)
        }
        let secret = try await parts.verifier.open(
            for: account,
            awaitsCode: account.codeSalt != nil,
            from: sessionOrigin(request),
            replacing: request.hash
        )
        return ConsoleAnswers.redirect(to: "/", cookies: [ConsoleCookies.setSession(secret)])
    }

    private func invitation(of secret: String) async throws -> AccountInvitation? {
        guard InvitationLink.isSecret(secret) else { return nil }
        return try await parts.store.invitation(InvitationLink.hash(secret))
    }

    private func page(_ found: AccountInvitation, _ secret: String, _ language: Language) -> PageContent {
        SignInPages.invitation(language, name: found.name, secret: secret, isReset: found.role == nil)
    }

    private func unusable(_ request: ConsoleRequest) -> Response {
        answers.bare(SignInPages.unusable(request.language), request, status: .notFound)
    }

    // MARK: Preferences

    /// Keeps a choice of language or colours in a cookie, and leads back.
    func preferences(_ request: ConsoleRequest) async throws -> Response {
        guard !request.isRead else { throw ConsoleRefusal(.methodNotAllowed) }
        let fields = try await fields(request, limitBytes: Self.smallFormBytes, needsToken: false)
        var cookies: [String] = []
        if let language = fields["language"].flatMap({ Language(rawValue: $0) }) {
            cookies.append(ConsoleCookies.keep(ConsoleCookies.language, language.rawValue))
        }
        if let theme = fields["theme"], ConsoleRequest.themes.contains(theme) || theme == "system" {
            cookies.append(ConsoleCookies.keep(ConsoleCookies.theme, theme))
        }
        return ConsoleAnswers.redirect(to: ConsoleRequest.safePath(fields["back"]), cookies: cookies)
    }
}

/// The browser of a session in a word, for the list of sessions.
enum BrowserName {
    static func of(_ agent: String) -> String {
        let browsers = [
            ("Edg/", "Edge"), ("Whale/", "Whale"), ("SamsungBrowser/", "Samsung Internet"), ("Firefox/", "Firefox"),
            ("Chrome/", "Chrome"), ("Safari/", "Safari"),
        ]
        let systems = [
            ("Windows", "Windows"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"),
            ("Mac OS X", "macOS"), ("Linux", "Linux"),
        ]
        let browser = browsers.first { agent.contains($0.0) }?.1
        let system = systems.first { agent.contains($0.0) }?.1
        return [browser, system].compactMap(\.self).joined(separator: ", ")
    }
}
