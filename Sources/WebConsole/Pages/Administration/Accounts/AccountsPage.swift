import Model
import PageParts

/// The accounts that may use the tenant. Their calls are the console's own, below `console/`, because the native API has no accounts.
struct AccountsPage: ConsolePage {
    let path = "accounts"
    let permission = Permission.administer
    let menu: MenuEntry? = MenuEntry(.administration, AccountsText.title, .accounts)
    let forms: [any ConsoleForm] = [InviteForm(), ChangeRoleForm()]

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        answers.has("accounts") ? [] : [APICall("accounts", .get, "console/accounts")]
    }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let accounts = try answers.required("accounts")["accounts"]?.array ?? []
        func text(_ text: Text) -> String { text(request.language) }
        let owners = accounts.count {
            $0["role"]?.string == Role.owner.rawValue && ($0["disabledAt"] ?? .null) == .null
        }
        let sentence =
            owners > 1
            ? Sentence(mark: .ok, text: text(AccountsText.count(accounts.count, owners)))
            : Sentence(mark: .warn, text: text(AccountsText.onlyOne))
        return PageContent(
            title: text(AccountsText.title),
            sentence: sentence,
            blocks: [
                Block(title: text(AccountsText.title), body: [.table(Self.table(accounts, request))]),
                Block(
                    width: 6,
                    title: text(AccountsText.invite),
                    body: [.form(InviteForm.view(request.language))],
                    foot: text(AccountsText.inviteNote)
                ),
                Block(
                    width: 6,
                    title: text(AccountsText.change),
                    body: [.form(ChangeRoleForm.view(accounts, request.language))],
                    foot: text(AccountsText.changeNote)
                ),
            ]
        )
    }

    private static func table(_ accounts: [JSON], _ request: PageRequest) -> Table {
        func text(_ text: Text) -> String { text(request.language) }
        let format = ConsoleFormat(request)
        func time(_ json: JSON?) -> String {
            format.dateTime(rfc3339: json?.string)
        }
        let rows = accounts.map { account in
            let isDisabled = account["disabledAt"]?.string != nil
            let isSelf = account["isSelf"]?.bool == true
            let name = account["name"]?.string ?? "–"
            return Table.Row(
                cells: [
                    .strong(isSelf ? "\(name) (\(text(AccountsText.this)))" : name),
                    .text(text(AccountsText.role(account["role"]?.string))),
                    account["hasCodes"]?.bool == true
                        ? .tag(.ok, text(AccountsText.on)) : .tag(.warn, text(AccountsText.off)),
                    .text(time(account["seenAt"])), .text(time(account["createdAt"])),
                    isDisabled ? .tag(.bad, text(AccountsText.disabled)) : .tag(.ok, text(AccountsText.active)),
                ],
                id: name
            )
        }
        return Table(
            caption: text(AccountsText.title),
            columns: [
                .init(label: text(AccountsText.name)), .init(label: text(AccountsText.role)),
                .init(label: text(AccountsText.codes)), .init(label: text(AccountsText.used)),
                .init(label: text(AccountsText.created)), .init(label: text(AccountsText.state)),
            ],
            rows: rows
        )
    }

    /// The roles of a tenant as choices.
    static func roles(_ language: Language) -> [Filter.Option] {
        Role.allCases.map { Filter.Option(value: $0.rawValue, label: CommonText.role($0)(language)) }
    }
}

/// Makes a link by which a person creates an account. It is shown once.
struct InviteForm: ConsoleForm {
    let name = "invite"
    let permission = Permission.administer
    let asksPassword = true

    static func view(_ language: Language) -> FormView {
        FormView(
            path: "accounts/invite",
            fields: [
                .init(
                    name: "name",
                    label: AccountsText.name(language),
                    kind: .text(),
                    hint: AccountsText.nameHint(language),
                    isRequired: true,
                    limit: 64
                ),
                .init(
                    name: "role",
                    label: AccountsText.role(language),
                    kind: .select(AccountsPage.roles(language)),
                    value: Role.analyst.rawValue
                ),
            ],
            submit: AccountsText.inviteButton(language)
        )
    }

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        guard let name = fields["name"], !name.isEmpty else {
            return .invalid(FieldErrors(["name": AccountsText.required(request.language)]))
        }
        let body: JSON = ["name": .string(name), "role": .string(fields["role"] ?? "")]
        return .call(APICall("invite", .post, "console/invitations", body: body))
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        guard answer.isSuccess else { return .invalid(FieldErrors(answer)) }
        guard let link = answer.body["link"]?.string else { return .back(AccountsText.roleGiven) }
        return .once(title: AccountsText.link, secret: link)
    }
}

/// Gives an account another role in the tenant, or takes its role away, unless another person has changed the accounts or their roles meanwhile.
struct ChangeRoleForm: ConsoleForm {
    let name = "role"
    let permission = Permission.administer
    let asksPassword = true

    private static let none = "none"
    private static func version(_ accounts: [JSON]) -> String {
        ShownVersion.digest(of: accounts.map { .array([$0["name"] ?? .null, $0["role"] ?? .null]) })
    }

    static func view(_ accounts: [JSON], _ language: Language) -> FormView {
        let names = accounts.compactMap { $0["name"]?.string }
        return FormView(
            path: "accounts/role",
            fields: [
                .init(
                    name: "name",
                    label: AccountsText.name(language),
                    kind: .select(names.map { Filter.Option(value: $0, label: $0) }),
                    isRequired: true
                ),
                .init(
                    name: "role",
                    label: AccountsText.role(language),
                    kind: .select(
                        AccountsPage.roles(language) + [
                            Filter.Option(value: none, label: AccountsText.none(language))
                        ]
                    ),
                    value: Role.analyst.rawValue
                ),
                ShownVersion.hidden(version(accounts)),
            ],
            submit: AccountsText.changeButton(language)
        )
    }

    func calls(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> [APICall] {
        ShownVersion.calls(of: AccountsPage(), request, fields, answers)
    }

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        let refusal = ShownVersion.refusal(fields, answers["accounts"], request.language) { body in
            Self.version(body["accounts"]?.array ?? [])
        } _: { _ in
            AccountsText.changedMeanwhile
        }
        if let refusal { return .invalid(refusal) }
        guard let name = fields["name"], !name.isEmpty else {
            return .invalid(FieldErrors(["name": AccountsText.required(request.language)]))
        }
        let path = "console/accounts/\(PercentCoding.encode(name))/role"
        let role = fields["role"] ?? ""
        if role == Self.none { return .call(APICall("role", .delete, path)) }
        return .call(APICall("role", .put, path, body: ["role": .string(role)]))
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        answer.isSuccess ? .back(AccountsText.changed) : .invalid(FieldErrors(answer))
    }
}
