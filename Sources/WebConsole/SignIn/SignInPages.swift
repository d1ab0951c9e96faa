package import Model
package import PageParts

/// The pages outside of tenants: signing in, invitations, the choice of a tenant and a person's own account. Their paths begin at the root.
package enum SignInPages {
    /// The paths to which their forms post.
    package enum Path {
        package static let signIn = "sign-in"
        package static let code = "code"
        package static let prove = "prove"
        package static let invitation = "invitation"
        package static let account = "account"
        package static let password = "account/password"
        package static let codes = "account/codes"
        package static let confirmCodes = "account/codes/confirm"
        package static let removeCodes = "account/codes/remove"
        package static let endSession = "account/sessions/end"
        package static let signOut = "sign-out"
    }

    /// The field of a password that is given again.
    package static let passwordField = "_password"

    package static func signIn(_ language: Language, next: String) -> PageContent {
        let form = FormView(
            path: Path.signIn,
            fields: [
                .hidden("next", next),
                .init(
                    name: "name",
                    label: SignInTexts.name(language),
                    kind: .text(),
                    isRequired: true,
                    autocomplete: "username"
                ),
                password("password", SignInTexts.password, language),
            ],
            submit: SignInTexts.signIn(language)
        )
        return page(SignInTexts.signIn(language), SignInTexts.signInLead(language), [.form(form)])
    }

    package static func code(_ language: Language, next: String) -> PageContent {
        let form = FormView(
            path: Path.code,
            fields: [.hidden("next", next), codeField(language)],
            submit: SignInTexts.goOn(language)
        )
        return page(SignInTexts.codeTitle(language), SignInTexts.codeHint(language), [.form(form)])
    }

    /// Asks for the password again, and then sends `fields` to `path` once more.
    package static func prove(
        _ language: Language,
        path: String,
        fields: [PageRequest.Parameter],
        account: String
    ) -> PageContent {
        let form = FormView(
            path: path,
            fields: fields.map { FormView.Field.hidden($0.name, $0.value) } + [
                password(passwordField, SignInTexts.password, language)
            ],
            submit: SignInTexts.goOn(language),
            account: account
        )
        return page(SignInTexts.prove(language), SignInTexts.proveLead(language), [.form(form)])
    }

    package static func invitation(
        _ language: Language,
        name: String,
        secret: String,
        isReset: Bool
    ) -> PageContent {
        let title = isReset ? SignInTexts.reset : SignInTexts.invited
        let form = FormView(
            path: Path.invitation,
            fields: [FormView.Field.hidden("secret", secret)] + newPassword(language),
            submit: title(language),
            account: name
        )
        return page(title(language), "\(SignInTexts.name(language)): \(name)", [.form(form)])
    }

    /// A link that cannot be used.
    package static func unusable(_ language: Language) -> PageContent {
        let link = Link(SignInTexts.signIn(language), Path.signIn)
        var content = page(SignInTexts.invited(language), SignInTexts.unusable(language), [])
        content.sentence.mark = .bad
        content.sentence.link = link
        return content
    }

    /// The tenants that the account may open.
    package static func tenants(_ names: [String], _ language: Language) -> PageContent {
        guard !names.isEmpty else {
            let empty = EmptyState(
                title: SignInTexts.noTenants(language),
                step: SignInTexts.noTenantsStep(language),
                code: nil,
                link: nil
            )
            return page(SignInTexts.tenants(language), SignInTexts.noTenants(language), [.empty(empty)])
        }
        let rows = names.map { name in
            Table.Row(cells: [.link(Link(name, "t/\(PercentCoding.encode(name))/"))], id: nil)
        }
        let table = Table(
            caption: SignInTexts.tenants(language),
            columns: [.init(label: SignInTexts.tenant(language))],
            rows: rows
        )
        return page(SignInTexts.tenants(language), SignInTexts.chooseTenant(language), [.table(table)])
    }

    /// Outside of tenants no page has an app, so times are in UTC.
    package static func account(_ account: OwnAccount, _ language: Language, now: Timestamp) -> PageContent {
        let format = ConsoleFormat(language, zone: TimeZoneName.utc.text, now: now)
        let must = account.mustHaveCodes && !account.hasCodes
        var content = page(
            SignInTexts.account(language),
            must ? SignInTexts.codesRequired(language) : SignInTexts.signedInAs(account.name)(language),
            []
        )
        content.sentence.mark = must ? .warn : nil
        let roles = account.roles.map { Fact(label: $0.name, value: $0.value) }
        let change = FormView(
            path: Path.password,
            fields: [presentPassword(language)] + newPassword(language),
            submit: SignInTexts.changePassword(language),
            account: account.name
        )
        content.blocks = [
            Block(width: 6, title: SignInTexts.roles(language), body: [.facts(roles)]),
            Block(width: 6, title: SignInTexts.codes(language), body: codes(account, language)),
            Block(width: 6, title: SignInTexts.changePassword(language), body: [.form(change)]),
            Block(width: 12, title: SignInTexts.sessions(language), body: sessions(account, format)),
        ]
        return content
    }

    // MARK: Parts

    private static func codes(_ account: OwnAccount, _ language: Language) -> [Part] {
        if account.hasCodes {
            let form = FormView(
                path: Path.removeCodes,
                fields: [presentPassword(language)],
                submit: SignInTexts.removeCodes(language),
                isDangerous: true,
                account: account.name
            )
            return [.text(SignInTexts.codesOn(language)), .form(form)]
        }
        guard let new = account.newCodes else {
            let form = FormView(
                path: Path.codes,
                fields: [presentPassword(language)],
                submit: SignInTexts.setCodes(language),
                account: account.name
            )
            return [.text(SignInTexts.codesOff(language)), .form(form)]
        }
        let form = FormView(
            path: Path.confirmCodes,
            fields: [.hidden("salt", new.salt), codeField(language)],
            submit: SignInTexts.confirmCodes(language)
        )
        return [
            .text(SignInTexts.addSecret(language)), .code(new.secret, label: SignInTexts.secret(language)),
            .code(new.address, label: SignInTexts.address(language)), .form(form),
        ]
    }

    private static func sessions(_ account: OwnAccount, _ format: ConsoleFormat) -> [Part] {
        let language = format.language
        let rows = account.sessions.map { session in
            let end = Action.post(
                label: SignInTexts.endSession(language),
                path: Path.endSession,
                fields: [PageRequest.Parameter("id", session.id)]
            )
            return Table.Row(
                cells: [
                    .strong(session.isThis ? SignInTexts.thisSession(language) : session.address),
                    .text(format.zonedDateTime(session.createdAt)), .text(format.zonedDateTime(session.seenAt)),
                    .text(session.browser), session.isThis ? .none : .actions([end]),
                ],
                id: session.id
            )
        }
        let table = Table(
            caption: SignInTexts.sessions(language),
            columns: [
                .init(label: SignInTexts.from(language)), .init(label: SignInTexts.signedInAt(language)),
                .init(label: SignInTexts.lastUsed(language)), .init(label: SignInTexts.browser(language)),
                .init(label: ""),
            ],
            rows: rows
        )
        return [
            .table(table), .actions([.post(label: SignInTexts.signOut(language), path: Path.signOut)]),
        ]
    }

    private static func page(_ title: String, _ sentence: String, _ parts: [Part]) -> PageContent {
        PageContent(
            title: title,
            sentence: Sentence(mark: nil, text: sentence, link: nil),
            blocks: parts.isEmpty ? [] : [Block(width: 6, body: parts)]
        )
    }

    private static func password(
        _ name: String,
        _ label: Text,
        _ language: Language,
        hint: Text? = nil,
        isNew: Bool = false
    ) -> FormView.Field {
        FormView.Field(
            name: name,
            label: label(language),
            kind: .password,
            hint: hint.map { $0(language) },
            isRequired: true,
            autocomplete: isNew ? "new-password" : "current-password"
        )
    }

    private static func codeField(_ language: Language) -> FormView.Field {
        FormView.Field(
            name: "code",
            label: SignInTexts.code(language),
            kind: .text(),
            hint: SignInTexts.codeHint(language),
            isRequired: true,
            limit: 10,
            autocomplete: "one-time-code"
        )
    }

    private static func presentPassword(_ language: Language) -> FormView.Field {
        password("present", SignInTexts.currentPassword, language)
    }

    private static func newPassword(_ language: Language) -> [FormView.Field] {
        [
            password("password", SignInTexts.newPassword, language, hint: SignInTexts.passwordHint, isNew: true),
            password("repeated", SignInTexts.repeated, language, isNew: true),
        ]
    }
}

extension PageContent {
    /// The same page with a button that shows what is masked on it. The server writes a row of the audit before it does.
    package func offeringReveal(_ path: String, _ name: String, _ language: Language) -> PageContent {
        var content = self
        let target = path.isEmpty ? name : "\(path)/\(name)"
        content.actions.append(.post(label: SignInTexts.reveal(language), path: target))
        return content
    }
}
