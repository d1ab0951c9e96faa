import AccountStore
import Foundation
import GatewayHTTP
import HTTPTypes
import Hummingbird
import Model
import PageParts
import WebConsole

/// A person's own account: sessions, password and one-time codes.
extension ConsoleResponder {
    func account(_ request: ConsoleRequest, _ name: String) async throws -> Response {
        guard let session = try await session(request), let hash = request.hash else { return toSignIn(request) }
        guard !session.awaitsCode else { return ConsoleAnswers.redirect(to: "/\(SignInPages.Path.code)") }
        if name == SignInPages.Path.account {
            guard request.isRead else { throw ConsoleRefusal(.methodNotAllowed) }
            return try await accountPage(request, session)
        }
        // The addresses of the forms have no pages: a person who opens one gets the page of the account.
        guard !request.isRead else { return ConsoleAnswers.redirect(to: "/\(SignInPages.Path.account)") }
        let fields = try await fields(request, limitBytes: Self.smallFormBytes, needsToken: true)
        switch name {
        case SignInPages.Path.password: return try await changePassword(request, session, hash, fields)
        case SignInPages.Path.codes: return try await beginCodes(request, session, fields)
        case SignInPages.Path.confirmCodes: return try await confirmCodes(request, session, fields)
        case SignInPages.Path.removeCodes: return try await removeCodes(request, session, fields)
        case SignInPages.Path.endSession:
            if let id = fields["id"].flatMap({ UUID(uuidString: $0) }) {
                _ = try await parts.store.end(id, of: session.account)
            }
            return ConsoleAnswers.redirect(to: "/\(SignInPages.Path.account)")
        default: throw ConsoleRefusal(.notFound)
        }
    }

    private func accountPage(
        _ request: ConsoleRequest,
        _ session: ConsoleSession,
        newCodes: OwnAccount.NewCodes? = nil,
        error: Text? = nil
    ) async throws -> Response {
        let sessions = try await parts.store.sessions(of: session.account).map { listed in
            OwnSession(
                id: listed.id.lowercased,
                createdAt: listed.createdAt,
                seenAt: listed.seenAt,
                address: listed.address,
                browser: listed.browser,
                isThis: listed.id == session.id
            )
        }
        let roles = session.roles.map { granted in
            PageRequest.Parameter(
                granted.tenant.rawValue.isEmpty ? "–" : granted.tenant.rawValue,
                granted.role.rawValue
            )
        }
        let own = OwnAccount(
            name: session.name,
            roles: roles,
            hasCodes: session.hasCodes,
            mustHaveCodes: settings.mustHaveCodes,
            newCodes: newCodes,
            sessions: sessions
        )
        return answers.bare(
            SignInPages.account(own, request.language, now: request.now),
            request,
            account: session.name,
            status: error == nil ? .ok : .unprocessableContent,
            error: error
        )
    }

    /// Checks the present password. Nil: it is right; otherwise the page with the reason.
    private func refusal(
        _ request: ConsoleRequest,
        _ session: ConsoleSession,
        _ fields: FormFields
    ) async throws -> Response? {
        let proof = try await parts.verifier.check(
            fields["present"] ?? "",
            of: session,
            from: request.context.remoteAddress
        )
        switch proof {
        case .right: return nil
        case .wrong: return try await accountPage(request, session, error: SignInTexts.wrongPassword)
        case .blocked(let seconds):
            throw ConsoleRefusal(.busy, SignInTexts.blocked(seconds), retryAfterSeconds: seconds)
        case .busy: throw ConsoleRefusal(.busy, retryAfterSeconds: 5)
        }
    }

    private func changePassword(
        _ request: ConsoleRequest,
        _ session: ConsoleSession,
        _ hash: [UInt8],
        _ fields: FormFields
    ) async throws -> Response {
        let password = fields["password"] ?? ""
        var fault = PasswordRules.fault(password, name: session.name)
        if fault == nil, password != fields["repeated"] { fault = SignInTexts.differ }
        if let fault { return try await accountPage(request, session, error: fault) }
        if let refusal = try await refusal(request, session, fields) { return refusal }
        let stored: String
        do {
            stored = try await parts.verifier.work.hash(password)
        } catch is PasswordWork.Busy {
            throw ConsoleRefusal(.busy, retryAfterSeconds: 5)
        }
        try await parts.store.setPassword(stored, of: session.account, named: session.name, keeping: hash)
        return ConsoleAnswers.redirect(to: "/\(SignInPages.Path.account)")
    }

    // MARK: One-time codes

    /// Shows a new secret. It is stored when a code proves that the person has it.
    private func beginCodes(
        _ request: ConsoleRequest,
        _ session: ConsoleSession,
        _ fields: FormFields
    ) async throws -> Response {
        guard !session.hasCodes else { return ConsoleAnswers.redirect(to: "/\(SignInPages.Path.account)") }
        if let refusal = try await refusal(request, session, fields) { return refusal }
        if let hash = request.hash { try await parts.store.prove(hash) }
        let codes = newCodes(session, parts.verifier.newSalt())
        return try await accountPage(request, session, newCodes: codes)
    }

    private func newCodes(_ session: ConsoleSession, _ salt: [UInt8]) -> OwnAccount.NewCodes {
        let code = parts.verifier.oneTimeCode(session.account, salt)
        return OwnAccount.NewCodes(
            secret: code.text,
            address: code.address(account: session.name),
            salt: HexCoding.encode(salt)
        )
    }

    private func confirmCodes(
        _ request: ConsoleRequest,
        _ session: ConsoleSession,
        _ fields: FormFields
    ) async throws -> Response {
        guard !session.hasCodes else { return ConsoleAnswers.redirect(to: "/\(SignInPages.Path.account)") }
        // The password was given for the page that has this form; without a recent one the form is not from there.
        guard session.isProven else { throw ConsoleRefusal(.forged) }
        guard let salt = fields["salt"].flatMap({ HexCoding.decode($0) }), salt.count == 16 else {
            throw ConsoleRefusal(.badRequest)
        }
        let code = parts.verifier.oneTimeCode(session.account, salt)
        guard let step = code.step(of: fields["code"] ?? "", at: parts.clock.now()) else {
            let codes = newCodes(session, salt)
            return try await accountPage(request, session, newCodes: codes, error: SignInTexts.wrongCode)
        }
        try await parts.store.setCodes(salt, usedStep: step, of: session.account, named: session.name)
        return ConsoleAnswers.redirect(to: "/\(SignInPages.Path.account)")
    }

    private func removeCodes(
        _ request: ConsoleRequest,
        _ session: ConsoleSession,
        _ fields: FormFields
    ) async throws -> Response {
        if let refusal = try await refusal(request, session, fields) { return refusal }
        try await parts.store.setCodes(nil, usedStep: 0, of: session.account, named: session.name)
        return ConsoleAnswers.redirect(to: "/\(SignInPages.Path.account)")
    }
}
