import Model
import PageParts

/// The messages of a tenant with filters; each row has its funnel as one bar.
struct MessagesPage: ConsolePage {
    let path = "messages"
    let permission = Permission.figures
    let menu: MenuEntry? = MenuEntry(.delivery, MessagesText.title, .messages, key: "m")
    let sharing = UpdateSharing.page

    private static let filters: [(name: String, label: Text)] = [
        ("state", ReadingWords.state), ("app", ReadingWords.app), ("vendor", ReadingWords.vendor),
        ("campaign", MessagesText.campaign), ("day", MessagesText.day), ("text", MessagesText.text),
        ("sender", MessagesText.sender),
    ]

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        Reading.open([list(request), Reading.vendors], answers)
    }

    func export(_ request: PageRequest) -> APICall? { list(request) }

    private func list(_ request: PageRequest) -> APICall {
        let range = Self.range(request)
        let query: [(String, String?)] = [
            Reading.rows, ("counts", "true"), ("state", Self.state(request)), ("app", request.value("app")),
            ("vendor", request.value("vendor")), ("label", request.value("campaign")), ("from", range?.from.rfc3339),
            ("to", range?.to.rfc3339), ("text", request.value("text")), ("submittedBy", request.value("sender")),
            ("after", request.value("after")),
        ]
        return Reading.get("messages", "messages", query)
    }

    private static func state(_ request: PageRequest) -> String? {
        request.value("state").flatMap { MessageState(rawValue: $0)?.rawValue }
    }

    /// The day of the filter, on the clock of the request; nil: none, or not a day.
    static func day(_ request: PageRequest) -> (from: Timestamp, to: Timestamp)? {
        let zone = TimeZoneName(stored: request.zone)
        guard let text = request.value("day"), text.utf8.count == 10, let local = LocalTime("\(text)T00:00") else {
            return nil
        }
        return (local.moment(in: zone), LocalTime(seconds: local.seconds + 86_400).moment(in: zone))
    }

    /// The day of the filter, else the range of the address. Without either, scheduled messages are shown too.
    private static func range(_ request: PageRequest) -> (from: Timestamp, to: Timestamp)? {
        if let day = day(request) { return day }
        return named(request).map { ($0.from, $0.to) }
    }

    /// The range of the address; nil: it names none.
    private static func named(_ request: PageRequest) -> ShownRange? {
        ["range", "from", "to"].contains { request.value($0) != nil } ? ShownRange(request) : nil
    }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let language = request.language
        guard let answer = answers["messages"] else { throw .notFound }
        // A filter that the role or the API refuses is explained, and can be removed.
        guard answer.isSuccess || [403, 422].contains(answer.status) else { throw .problem(answer) }
        let messages = answer.isSuccess ? answer.body["messages"]?.array ?? [] : []
        var body: [Part] = invalid(request)
        if let problem = Reading.problem(answer, language) { body.append(problem) }
        if messages.isEmpty {
            let removals = Reading.withoutResults(request, path, Self.filters)
            body += removals
            if removals.isEmpty, answer.isSuccess { body.append(.empty(empty(language))) }
        } else {
            body.append(.table(table(messages, answer.body, request)))
        }
        var page = PageContent(
            title: MessagesText.title(language),
            sentence: sentence(messages, request, answer),
            blocks: [Block(body: body, foot: foot(answer.body, request))]
        )
        page.filters = choices(request, answers)
        if request.account.may(.send) {
            page.actions = [.link(Link(MessagesText.compose(language), "compose"), isMain: true)]
        }
        if Self.day(request) == nil, let range = Self.named(request) { page.permanent = range.permanent }
        page.live = [.messages]
        return page
    }

    // MARK: Parts

    private func invalid(_ request: PageRequest) -> [Part] {
        var parts: [Part] = []
        if request.value("day") != nil, Self.day(request) == nil {
            parts.append(.callout(.warn, MessagesText.badDay(request.language), link: nil))
        }
        if request.value("state") != nil, Self.state(request) == nil {
            parts.append(.callout(.warn, MessagesText.badState(request.language), link: nil))
        }
        return parts
    }

    private func empty(_ language: Language) -> EmptyState {
        EmptyState(
            title: MessagesText.empty(language),
            step: MessagesText.emptyStep(language),
            link: Link(ReadingWords.toApps(language), "apps")
        )
    }

    private func foot(_ page: JSON, _ request: PageRequest) -> String {
        let words = Words(request)
        guard let searched = words.moment(page["searchedTo"]), page["next"]?.string != nil else {
            return words(MessagesText.foot)
        }
        return "\(words(MessagesText.foot)) \(words(MessagesText.searched(words.time(searched))))"
    }

    private func choices(_ request: PageRequest, _ answers: Answers) -> [Filter] {
        let language = request.language
        let states = MessageState.allCases.map {
            Filter.Option(value: $0.rawValue, label: StateTag.message($0.rawValue).text(language))
        }
        func text(_ label: Text, _ name: String, _ placeholder: String) -> Filter {
            .text(label: label(language), parameter: name, value: request.value(name), placeholder: placeholder)
        }
        return [
            .choice(
                label: ReadingWords.state(language),
                parameter: "state",
                options: [Filter.Option(value: "", label: ReadingWords.all(language))] + states,
                selected: request.value("state") ?? ""
            ),
            Reading.vendorFilter(request, answers),
            text(MessagesText.campaign, "campaign", ""), text(MessagesText.day, "day", "2026-12-01"),
            text(MessagesText.text, "text", MessagesText.textHint(language)),
        ]
    }

    private func table(_ messages: [JSON], _ page: JSON, _ request: PageRequest) -> Table {
        let words = Words(request)
        let columns: [Table.Column] = [
            .init(label: words(MessagesText.message)), .init(label: words(ReadingWords.app)),
            .init(label: words(MessagesText.targets), isNumber: true), .init(label: words(MessagesText.funnel)),
            .init(label: words(MessagesText.due)), .init(label: words(MessagesText.sender)),
            .init(label: words(ReadingWords.state)),
        ]
        let rows = messages.map { message in
            Table.Row(
                cells: [
                    .link(
                        Link(
                            MessageReading.title(message, words.language),
                            Link.path("messages", message["id"]?.string ?? "")
                        )
                    ),
                    .text(Reading.text(message["app"]) ?? Words.unknown), .text(words.count(message["recipients"])),
                    MessageFunnel(message).cell(words), .text(words.time(message["dueAt"])),
                    .text(Self.sender(message, words.language)),
                    StateTag.message(message["state"]?.string).cell(words.language),
                ],
                id: message["id"]?.string
            )
        }
        return Table(
            caption: words(MessagesText.caption),
            columns: columns,
            rows: rows,
            next: Reading.next(page, path, request)
        )
    }

    /// The key or account that sent it, else the vendor of the call.
    static func sender(_ message: JSON, _ language: Language) -> String {
        Reading.text(message["submittedBy"]) ?? VendorName.of(Reading.text(message["vendor"]), language)
    }

    // MARK: Sentence

    private func sentence(_ messages: [JSON], _ request: PageRequest, _ answer: APIAnswer) -> Sentence {
        let words = Words(request)
        guard answer.isSuccess, !messages.isEmpty else {
            let isFiltered = Self.filters.contains { request.value($0.name) != nil }
            return Sentence(mark: .info, text: words(isFiltered ? MessagesText.noneFound : MessagesText.empty))
        }
        func count(_ states: [MessageState]) -> Int64 {
            Int64(messages.filter { message in states.contains { $0.rawValue == message["state"]?.string } }.count)
        }
        func link(_ state: MessageState) -> Link {
            Reading.link(
                StateTag.message(state.rawValue).text(words.language),
                path,
                request,
                [("state", state.rawValue)]
            )
        }
        let dead = count([.dead])
        if dead > 0 {
            return Sentence(mark: .bad, text: words(MessagesText.dead(words.count(dead))), link: link(.dead))
        }
        let waiting = count([.awaitingApproval])
        if waiting > 0 {
            let text = words(MessagesText.approvals(words.count(waiting)))
            return Sentence(mark: .warn, text: text, link: link(.awaitingApproval))
        }
        let paused = count([.paused])
        if paused > 0 {
            return Sentence(mark: .warn, text: words(MessagesText.paused(words.count(paused))), link: link(.paused))
        }
        let sending = count([.sending, .expanding])
        if sending > 0 {
            return Sentence(mark: .info, text: words(MessagesText.sending(words.count(sending))), link: link(.sending))
        }
        let latest = messages.compactMap { words.moment($0["dueAt"]) }.max()
        let shown = words.count(Int64(messages.count))
        let fine = MessagesText.fine(shown, latest.map { words.time($0) } ?? Words.unknown)
        return Sentence(mark: .ok, text: words(fine))
    }
}
