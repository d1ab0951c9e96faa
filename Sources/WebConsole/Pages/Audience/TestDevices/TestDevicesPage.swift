import ConsoleDelivery
import Model
import PageParts

/// The users whose devices receive tests: the members of the group `test-devices` of the app.
struct TestDevicesPage: ConsolePage {
    let path = "test-devices"
    let permission = Permission.send
    let menu: MenuEntry? = MenuEntry(.audience, TestDeviceText.title, .devices)
    let forms: [any ConsoleForm] = [AddTestUserForm(), RemoveTestUserForm()]

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        var calls = [Sending.apps]
        if answers.has("apps"), let app = Sending.app(request, answers) { calls.append(members(request, app)) }
        return Reading.open(calls, answers)
    }

    private func members(_ request: PageRequest, _ app: String) -> APICall {
        var query = [PageRequest.Parameter("limit", "\(ConsoleLimits.rows)")]
        if let after = request.value("after") { query.append(.init("after", after)) }
        return APICall("members", .get, Link.path("apps", app, "groups", Sending.testGroup, "members"), query: query)
    }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let language = request.language
        _ = try answers.required("apps")
        guard let app = Sending.app(request, answers) else {
            return SendingText.withoutApp(TestDeviceText.title(language), language)
        }
        // Without the group, nobody was added yet.
        if let answer = answers["members"], !answer.isSuccess, answer.status != 404 { throw .problem(answer) }
        let answer = answers.body("members")
        let members = (answer["members"]?.array ?? []).compactMap { $0["user"]?.string }
        var table = Table(
            caption: TestDeviceText.title(language),
            columns: [
                .init(label: TestDeviceText.user(language)), .init(label: TestDeviceText.action(language)),
            ],
            rows: members.map { row($0, app, language) }
        )
        table.next = answer["next"]?.string.map {
            Link(SendingText.next(language), "test-devices", [.init("app", app), .init("after", $0)])
        }
        table.empty = EmptyState(title: TestDeviceText.none(language), step: TestDeviceText.how(language))
        let isMore = table.next != nil
        return PageContent(
            title: TestDeviceText.title(language),
            sentence: members.isEmpty
                ? Sentence(mark: .warn, text: TestDeviceText.none(language))
                : Sentence(mark: .ok, text: TestDeviceText.count(members.count, app, isMore: isMore)(language)),
            filters: Sending.appFilter(request, answers),
            blocks: [
                Block(
                    width: 8,
                    title: TestDeviceText.users(language),
                    note: TestDeviceText.group(language),
                    body: [.table(table)]
                ),
                Block(width: 4, title: TestDeviceText.add(language), body: [.form(form(app, language))]),
            ]
        )
    }

    private func row(_ user: String, _ app: String, _ language: Language) -> Table.Row {
        // A masked name does not name the user: a role that sees it masked removes nobody by it.
        let isMasked = user.contains("•")
        let fields = [PageRequest.Parameter("app", app), .init("user", user)]
        let remove = Action.post(
            label: TestDeviceText.remove(language),
            path: "test-devices/remove",
            fields: fields,
            isDangerous: true
        )
        return Table.Row(
            cells: [
                isMasked ? .text(user) : .link(Link(Sending.line(user), Link.path("users", user), [.init("app", app)])),
                isMasked ? .none : .actions([remove]),
            ]
        )
    }

    private func form(_ app: String, _ language: Language) -> FormView {
        FormView(
            path: "test-devices/add",
            fields: [
                FormView.Field(
                    name: "user",
                    label: TestDeviceText.user(language),
                    kind: .text(),
                    hint: TestDeviceText.hint(language),
                    isRequired: true,
                    limit: 256
                )
            ] + Sending.hidden([("app", app)]),
            submit: TestDeviceText.add(language)
        )
    }
}

/// Adds a user to the group, which is created first unless it exists.
struct AddTestUserForm: ConsoleForm {
    let name = "add"
    let permission = Permission.send

    func calls(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> [APICall] {
        guard let app = fields["app"], fields["user"]?.trimmed.isEmpty == false else { return [] }
        return Reading.open([APICall("group", .put, Link.path("apps", app, "groups", Sending.testGroup))], answers)
    }

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        guard let app = fields["app"], let user = fields["user"]?.trimmed, !user.isEmpty else {
            return .invalid(FieldErrors(["user": TestDeviceText.state(request.language)]))
        }
        if let group = answers["group"], !group.isSuccess { return .invalid(FieldErrors(group)) }
        return .call(
            APICall(
                "add",
                .post,
                Link.path("apps", app, "groups", Sending.testGroup, "members"),
                body: ["add": [.string(user)]]
            )
        )
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        guard answer.isSuccess else { return .invalid(FieldErrors(answer)) }
        let notice = answer.body["added"]?.int == 0 ? TestDeviceText.known : TestDeviceText.added
        return .go(Link("", "test-devices", [.init("app", fields["app"] ?? "")]), notice)
    }
}

/// Removes a user from the group.
struct RemoveTestUserForm: ConsoleForm {
    let name = "remove"
    let permission = Permission.send

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        guard let app = fields["app"], let user = fields["user"], !user.isEmpty else {
            return .invalid(FieldErrors(["user": TestDeviceText.state(request.language)]))
        }
        return .call(
            APICall(
                "remove",
                .post,
                Link.path("apps", app, "groups", Sending.testGroup, "members"),
                body: ["remove": [.string(user)]]
            )
        )
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        guard answer.isSuccess else { return .invalid(FieldErrors(answer)) }
        return .go(Link("", "test-devices", [.init("app", fields["app"] ?? "")]), TestDeviceText.removed)
    }
}

enum TestDeviceText {
    static let title = Text(ko: "테스트 단말", en: "Test devices")
    static let users = Text(ko: "테스트 메시지를 받는 사용자", en: "Users who receive tests")
    static let group = Text(ko: "그룹 test-devices", en: "Group test-devices")
    static let user = Text(ko: "사용자", en: "User")
    static let action = Text(ko: "작업", en: "Action")
    static let add = Text(ko: "사용자 추가", en: "Add user")
    static let remove = Text(ko: "제거", en: "Remove user")
    static let hint = Text(
        ko: "앱에 등록된 사용자 ID입니다. 이 사용자의 모든 단말이 테스트를 받습니다.",
        en: "The user's ID in the app. All devices of the user receive tests."
    )
    static let state = Text(ko: "사용자를 입력하십시오.", en: "Enter a user.")
    static let none = Text(ko: "테스트 단말이 없습니다.", en: "This app has no test devices.")
    static let how = Text(
        ko: "사용자를 추가하면 그 사용자의 단말로 테스트를 발신할 수 있습니다.",
        en: "Add a user. Tests are then sent to the devices of the user."
    )
    static func count(_ count: Int, _ app: String, isMore: Bool) -> Text {
        let number = isMore ? "\(count)+" : "\(count)"
        return Text(
            ko: "\(app)의 테스트를 받는 사용자는 \(number)명입니다.",
            en: "\(number, one: "user receives", many: "users receive") tests of \(app)."
        )
    }
    static let added = Text(ko: "사용자를 추가했습니다.", en: "The user was added.")
    static let known = Text(ko: "이미 추가된 사용자입니다.", en: "The user had been added already.")
    static let removed = Text(ko: "사용자를 제거했습니다.", en: "The user was removed.")
}
