import Model
import PageParts

/// Events as they occur, newest first. The first page is read; the server then sends further rows, unless the page is paused.
///
/// The log has no order from its end: the page reads the last offset, and then what follows an offset shortly before it.
struct LivePage: ConsolePage {
    let path = "live"
    let permission = Permission.figures
    let menu: MenuEntry? = MenuEntry(.delivery, LiveText.title, .live, key: "l")
    let sharing = UpdateSharing.page

    /// 1,000 of the latest events are read with a filter, so that one for rare kinds finds some. Without one, each offset is a row.
    private static let readBack: Int64 = 1000
    private static let filters = ["kind", "app", "vendor"]

    private static func isFiltered(_ request: PageRequest) -> Bool { filters.contains { request.value($0) != nil } }

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        guard let end = answers["end"] else { return [APICall("end", .get, "events", query: [.init("limit", "1")])] }
        guard end.isSuccess, let head = end.eventHead else { return [] }
        guard let events = answers["events"] else {
            let rows = Self.isFiltered(request) ? Self.readBack : Int64(ConsoleLimits.rows)
            return [page("events", after: max(0, head - rows), request)]
        }
        // 410: the log begins later.
        guard events.status == 410, !answers.has("oldest") else { return [] }
        return [page("oldest", after: 0, request)]
    }

    private func page(_ name: String, after: Int64, _ request: PageRequest) -> APICall {
        var query = [
            PageRequest.Parameter("after", "\(after)"), .init("limit", "\(Self.readBack)"),
        ]
        if let group = request.value("kind").flatMap(EventGroup.init(rawValue:)) {
            query.append(.init("kinds", group.kinds.map(\.rawValue).joined(separator: ",")))
        }
        for name in ["app", "vendor"] {
            if let value = request.value(name) { query.append(.init(name, value)) }
        }
        return APICall(name, .get, "events", query: query)
    }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let language = request.language
        _ = try answers.required("end")
        let name = answers["events"]?.status == 410 ? "oldest" : "events"
        let body = answers.has(name) ? try answers.required(name) : .array([])
        // The last line of a stream is not an event.
        let events = (body.array ?? []).filter { $0["offset"]?.int != nil && $0["kind"]?.string != "stream_ended" }
        let shown = events.suffix(ConsoleLimits.rows).reversed()
        let isPaused = request.value("pause") != nil
        let format = ConsoleFormat(request)
        var table = Table(
            caption: LiveText.title(language),
            columns: [
                .init(label: LiveText.time(language)), .init(label: LiveText.event(language)),
                .init(label: SendingText.app(language)), .init(label: LiveText.vendor(language)),
                .init(label: LiveText.object(language)),
            ],
            rows: shown.map { Self.row($0, format) }
        )
        table.empty = EmptyState(title: LiveText.none(language), step: LiveText.how(language))
        return PageContent(
            title: LiveText.title(language),
            sentence: sentence(shown.first, isPaused: isPaused, request),
            actions: [.link(pause(isPaused, request), isMain: isPaused)],
            filters: filters(request),
            blocks: [
                Block(
                    title: LiveText.latest(language),
                    note: SendingText.gateway(language),
                    body: [.table(table)],
                    foot: isPaused ? LiveText.isPaused(language) : LiveText.hidden(language)
                )
            ],
            live: isPaused ? [] : [.events]
        )
    }

    private func sentence(_ latest: JSON?, isPaused: Bool, _ request: PageRequest) -> Sentence {
        let language = request.language
        let isFiltered = Self.isFiltered(request)
        guard let latest, let time = latest.time("at") else {
            return Sentence(mark: .idle, text: (isFiltered ? LiveText.noneFiltered : LiveText.none)(language))
        }
        let words = LiveText.latest(
            ConsoleFormat(request).timeOfSeconds(time),
            LiveText.kind(latest["kind"]?.string ?? "")(language)
        )
        return Sentence(mark: isPaused ? .idle : .ok, text: words(language))
    }

    private func pause(_ isPaused: Bool, _ request: PageRequest) -> Link {
        let kept = request.query.filter { $0.name != "pause" }
        return isPaused
            ? Link(LiveText.resume(request.language), "live", kept)
            : Link(LiveText.pause(request.language), "live", kept + [.init("pause", "1")])
    }

    private func filters(_ request: PageRequest) -> [Filter] {
        let language = request.language
        let all = Filter.Option(value: "", label: LiveText.all(language))
        return [
            .choice(
                label: LiveText.event(language),
                parameter: "kind",
                options: [all] + EventGroup.allCases.map { .init(value: $0.rawValue, label: $0.words(language)) },
                selected: request.value("kind")
            ),
            .text(
                label: SendingText.app(language),
                parameter: "app",
                value: request.value("app"),
                placeholder: LiveText.all(language)
            ),
        ]
    }

    /// A row of the table; the server sends later ones in the same form.
    static func row(_ event: JSON, _ format: ConsoleFormat) -> Table.Row {
        let language = format.language
        let kind = event["kind"]?.string ?? ""
        let vendor = event["vendor"]?.string
        return Table.Row(
            cells: [
                .mono(event.time("at").map { format.timeOfSeconds($0) } ?? "–"),
                .tag(EventGroup.mark(of: kind), LiveText.kind(kind)(language)),
                .text(Sending.line(event["app"]?.string ?? "–")),
                .text(vendor.map { VendorName.of(Sending.line($0), language) } ?? "–"),
                object(event, language),
            ],
            id: event["offset"]?.int.map { "event-\($0)" }
        )
    }

    private static func object(_ event: JSON, _ language: Language) -> Table.Cell {
        if let message = event["message"]?.string {
            if let target = event["target"]?.string {
                return .link(Link(LiveText.delivery(language), Link.path("messages", message, "deliveries", target)))
            }
            return .link(Link(LiveText.message(language), Link.path("messages", message)))
        }
        if let device = event["device"]?.string {
            return .link(Link(LiveText.device(language), Link.path("devices", device)))
        }
        return .none
    }
}

/// The kinds of events by what they are about: the choices of the filter.
enum EventGroup: String, Sendable, Hashable, CaseIterable {
    case messages, deliveries, receipts, devices, routes, migrations

    var kinds: [EventKind] { EventKind.allCases.filter { Self.group(of: $0) == self } }

    static func group(of kind: EventKind) -> EventGroup {
        switch kind {
        case .accepted, .messageCanceled, .messagePaused, .messageResumed, .messageRequeued, .approvalNeeded,
            .messageApproved:
            .messages
        case .sent, .failed, .suppressed, .expired, .canceled: .deliveries
        case .received, .read: .receipts
        case .registered, .replaced, .unregistered, .moved, .vouched, .possession, .preferenceChanged,
            .tokenInvalidated, .tokenQuarantined:
            .devices
        case .routesChanged: .routes
        case .migrationChanged: .migrations
        }
    }

    func words(_ language: Language) -> String {
        switch self {
        case .messages: LiveText.messages(language)
        case .deliveries: LiveText.deliveries(language)
        case .receipts: LiveText.receipts(language)
        case .devices: LiveText.devices(language)
        case .routes: LiveText.routes(language)
        case .migrations: LiveText.migrations(language)
        }
    }

    /// A kind of a newer gateway is shown by its name.
    static func mark(of kind: String) -> Mark {
        switch EventKind(rawValue: kind) {
        case .failed, .tokenInvalidated, .tokenQuarantined: .bad
        case .suppressed, .expired, .messagePaused, .approvalNeeded: .warn
        case .sent, .received, .read, .messageApproved: .ok
        case .accepted, .messageResumed, .messageRequeued, .registered, .vouched, .possession, .routesChanged,
            .migrationChanged:
            .info
        case .messageCanceled, .canceled, .replaced, .unregistered, .moved, .preferenceChanged, nil: .idle
        }
    }
}
