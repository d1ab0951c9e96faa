import ConsoleDelivery
import Model
import PageParts

/// One box that finds devices, users and messages by any of their names; without a search, the registered devices.
struct FindPage: ConsolePage {
    let path = "find"
    let permission = Permission.figures
    let menu: MenuEntry? = MenuEntry(.audience, FindWords.title, .find, key: "d")
    let forms: [any ConsoleForm] = [FindForm()]

    /// The search box of every page posts here, so that names of people are in no address. A link may contain an ID.
    private static func wanted(_ request: PageRequest) -> String? {
        let text = request.typed["value"] ?? request.value("value")
        return text.flatMap { $0.isEmpty ? nil : $0 }
    }

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        guard let value = Self.wanted(request) else {
            return Reading.open([list(request), Reading.vendors], answers)
        }
        var body: JSONObject = ["value": .string(value)]
        if let app = request.value("app") { body["app"] = .string(app) }
        return Reading.open([APICall("find", .post, "find", body: .object(body))], answers)
    }

    private func list(_ request: PageRequest) -> APICall {
        Reading.get(
            "devices",
            "devices",
            [
                Reading.rows, ("app", request.value("app")), ("vendor", request.value("vendor")),
                ("user", request.value("user")), ("after", request.value("after")),
            ]
        )
    }

    /// A search is a call with a body: it has no address that could be downloaded.
    func export(_ request: PageRequest) -> APICall? { Self.wanted(request) == nil ? list(request) : nil }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let words = Words(request)
        var page = PageContent(
            title: words(FindWords.title),
            sentence: Sentence(mark: .info, text: words(FindWords.begin)),
            actions: [
                .link(Link(words(FindWords.allUsers), "users")), .link(Link(words(FindWords.allGroups), "groups")),
            ],
            blocks: [Block(body: [.form(box(request))])]
        )
        guard Self.wanted(request) != nil else {
            page.blocks.append(try devices(request, answers))
            page.filters = [Reading.vendorFilter(request, answers)]
            return page
        }
        guard let answer = answers["find"] else { throw .notFound }
        guard answer.isSuccess else {
            // The typed text stays in the box, with the error.
            guard answer.status == 422 else { throw .problem(answer) }
            page.sentence = Sentence(mark: .warn, text: words(FindWords.nothing))
            if let problem = Reading.problem(answer, words.language) { page.blocks.append(Block(body: [problem])) }
            return page
        }
        let matches = answer.body["matches"]?.array ?? []
        page.sentence = sentence(matches, words)
        page.blocks += matches.flatMap { blocks($0, words) }
        return page
    }

    private func box(_ request: PageRequest) -> FormView {
        FormView(
            path: Link.path("find", "search"),
            fields: [
                FormView.Field(
                    name: "value",
                    label: FindWords.box(request.language),
                    kind: .text(placeholder: "010-1234-5678"),
                    value: Self.wanted(request) ?? "",
                    hint: FindWords.hint(request.language),
                    isRequired: true,
                    limit: 4000
                )
            ],
            submit: FindWords.search(request.language)
        )
    }

    // MARK: Results

    private func sentence(_ matches: [JSON], _ words: Words) -> Sentence {
        func count(_ name: String) -> Int { matches.reduce(0) { $0 + ($1[name]?.array?.count ?? 0) } }
        // A text may be a name of several kinds: the same device is counted once.
        let ids = Set(matches.flatMap { $0["devices"]?.array ?? [] }.compactMap { $0["id"]?.string })
        let (users, messages) = (count("users"), count("messages"))
        guard !ids.isEmpty || users + messages > 0 || count("devices") > 0 else {
            return Sentence(mark: .warn, text: words(FindWords.nothing))
        }
        let first = matches.first { !($0["devices"]?.array ?? []).isEmpty }
        let device = first?["devices"]?.array?.first
        if ids.count == 1, let id = ids.first {
            let kind = words(FindWords.kind(first?["kind"]?.string))
            let isActive = (device?["identities"]?.array ?? []).contains { $0["state"]?.string == "active" }
            let isUsable = isActive && device?["tokenState"]?.string == "active"
            return Sentence(
                mark: isUsable ? .ok : .bad,
                text: words(isUsable ? FindWords.usable(kind) : FindWords.unusable(kind)),
                link: Link(words(DeliveryText.diagnose), Link.path("devices", id, "diagnosis"))
            )
        }
        func shown(_ count: Int) -> String { words.count(Int64(count)) }
        return Sentence(mark: .info, text: words(FindWords.found(shown(ids.count), shown(users), shown(messages))))
    }

    private func blocks(_ match: JSON, _ words: Words) -> [Block] {
        let kind = words(FindWords.kind(match["kind"]?.string))
        let foot = match["more"]?.bool == true ? words(FindWords.more) : nil
        func block(_ title: Text, _ table: Table) -> Block? {
            table.rows.isEmpty
                ? nil : Block(title: words(title), note: kind, body: [.table(table)], foot: foot)
        }
        return [
            block(FindWords.devices, DeviceTable.found(match["devices"]?.array ?? [], words)),
            block(FindWords.users, users(match["users"]?.array ?? [], words)),
            block(FindWords.messages, messages(match["messages"]?.array ?? [], words)),
        ].compactMap { $0 }
    }

    private func users(_ users: [JSON], _ words: Words) -> Table {
        Table(
            caption: words(FindWords.users),
            columns: [
                .init(label: words(FindWords.user)), .init(label: words(ReadingWords.app)),
                .init(label: words(ReadingWords.vendor)),
            ],
            rows: users.map { user in
                let link = UserPage.link(user["user"]?.string ?? "", user["app"]?.string, user["vendor"]?.string)
                return Table.Row(cells: [
                    .link(link), .text(Reading.text(user["app"]) ?? Words.unknown),
                    .text(VendorName.of(Reading.text(user["vendor"]), words.language)),
                ])
            }
        )
    }

    private func messages(_ messages: [JSON], _ words: Words) -> Table {
        Table(
            caption: words(FindWords.messages),
            columns: [
                .init(label: words(MessagesText.message)), .init(label: words(ReadingWords.app)),
                .init(label: words(ReadingWords.vendor)), .init(label: words(MessagesText.due)),
                .init(label: words(ReadingWords.state)),
            ],
            rows: messages.map { message in
                let id = message["id"]?.string ?? ""
                return Table.Row(cells: [
                    .link(Link(Reading.line(id, 40), Link.path("messages", id))),
                    .text(Reading.text(message["app"]) ?? Words.unknown),
                    .text(VendorName.of(Reading.text(message["vendor"]), words.language)),
                    .text(words.time(message["dueAt"])),
                    StateTag.message(message["state"]?.string).cell(words.language),
                ])
            }
        )
    }

    // MARK: All devices

    private func devices(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> Block {
        let words = Words(request)
        guard let answer = answers["devices"] else { throw .notFound }
        guard answer.isSuccess else {
            guard answer.status == 422, let problem = Reading.problem(answer, words.language) else {
                throw .problem(answer)
            }
            return Block(body: [problem])
        }
        var table = DeviceTable.found(answer.body["devices"]?.array ?? [], words)
        table.next = Reading.next(answer.body, path, request)
        if table.rows.isEmpty {
            let removals = Reading.withoutResults(
                request,
                path,
                [("app", ReadingWords.app), ("vendor", ReadingWords.vendor)]
            )
            let empty = EmptyState(
                title: words(FindWords.noDevices),
                step: words(FindWords.noDevicesStep),
                link: Link(words(ReadingWords.toApps), "apps")
            )
            let next = table.next.map { [Part.actions([.link($0)])] } ?? []
            return Block(body: (removals.isEmpty && next.isEmpty ? [.empty(empty)] : removals) + next)
        }
        return Block(title: words(FindWords.allDevices), body: [.table(table)])
    }
}

/// Devices as rows: those that a search found, and those of a list, which have the same members and more.
enum DeviceTable {
    static func found(_ devices: [JSON], _ words: Words) -> Table {
        Table(
            caption: words(FindWords.devices),
            columns: [
                .init(label: words(FindWords.device)), .init(label: words(ReadingWords.app)),
                .init(label: words(FindWords.user)), .init(label: words(FindWords.identities)),
                .init(label: words(FindWords.token)), .init(label: words(FindWords.seen)),
                .init(label: words(FindWords.diagnosis)),
            ],
            rows: devices.map { device in
                let identities = device["identities"]?.array ?? []
                let id = device["id"]?.string
                let label = name(device)
                let users = identities.compactMap { Reading.text($0["user"], 60) }
                let vendors = identities.map { VendorName.of(Reading.text($0["vendor"]), words.language) }
                return Table.Row(
                    cells: [
                        id.map { .link(Link(label, Link.path("devices", $0))) } ?? .text(label),
                        .text(Reading.text(device["app"]) ?? Words.unknown), .text(unique(users)),
                        .text(unique(vendors)),
                        StateTag.token(device["tokenState"]?.string).cell(words.language),
                        .text(words.time(device["seenAt"])),
                        id.map {
                            .link(Link(words(FindWords.diagnose), Link.path("devices", $0, "diagnosis")))
                        } ?? .none,
                    ],
                    id: id
                )
            }
        )
    }

    /// The key of its first active registration, else its id.
    static func name(_ device: JSON) -> String {
        let identities = device["identities"]?.array ?? []
        let active = identities.first { $0["state"]?.string == "active" } ?? identities.first
        return Reading.text(active?["key"], 60) ?? Reading.short(device["id"]?.string)
    }

    private static func unique(_ texts: [String]) -> String {
        var seen: Set<String> = []
        let shown = texts.filter { seen.insert($0).inserted }
        return shown.isEmpty ? Words.unknown : shown.prefix(5).joined(separator: ", ") + (shown.count > 5 ? " …" : "")
    }
}

/// The search. Its answer is the page itself.
struct FindForm: ConsoleForm {
    let name = "search"
    let permission = Permission.figures

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        guard let value = fields["value"], value.contains(where: { !$0.isWhitespace }) else {
            return .invalid(FieldErrors(["value": ReadingWords.required(request.language)]))
        }
        return .show
    }
}
