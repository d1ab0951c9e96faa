import Model
import PageParts

/// How delivery is, and what requires action.
struct OverviewPage: ConsolePage {
    let path = ""
    let permission = Permission.figures
    var menu: MenuEntry? { MenuEntry(.delivery, OverviewText.title, .overview, key: "o") }
    let sharing = UpdateSharing.page

    /// Messages whose funnel is shown.
    static let messageCount = 5
    /// The quarter hours of the present.
    static let quarters: Int64 = 12

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        guard !answers.has("funnel") else { return [] }
        let range = ShownRange(request)
        let app = Self.app(request)
        let question = range.query + app
        let length = range.to - range.from
        let zone = PageRequest.Parameter("zone", ConsoleFormat(request).zone.text)
        let before = [
            PageRequest.Parameter("from", (range.from + .milliseconds(-length.milliseconds)).rfc3339),
            .init("to", range.from.rfc3339), zone,
        ]
        let interval = PageRequest.Parameter("interval", range.interval)
        let quarter = Int64(QuarterRange.seconds)
        let present = request.now.seconds / quarter * quarter
        let now = [
            PageRequest.Parameter("from", Timestamp(seconds: present - Self.quarters * quarter).rfc3339),
            .init("to", Timestamp(seconds: present).rfc3339), zone, .init("interval", "quarterHour"),
        ]
        var calls = [
            funnel(request), APICall("vendors", .get, "analytics/funnel", query: question + [.init("by", "vendor")]),
            APICall("series", .get, "analytics/timeseries", query: question + [interval]),
            APICall("before", .get, "analytics/timeseries", query: before + [interval] + app),
            APICall("now", .get, "analytics/timeseries", query: now + app),
            APICall("losses", .get, "analytics/losses", query: question),
            APICall("latency", .get, "analytics/latency", query: question + [.init("by", "vendor")]),
            APICall("queue", .get, "queue"),
            APICall(
                "messages",
                .get,
                "messages",
                query: [.init("limit", "\(Self.messageCount)"), .init("counts", "true")] + app
            ),
        ]
        if request.account.may(.configure) {
            calls.append(APICall("credentials", .get, "credentials", query: [.init("limit", "100")]))
        }
        return calls
    }

    private func funnel(_ request: PageRequest) -> APICall {
        let question = ShownRange(request).query + Self.app(request)
        return APICall("funnel", .get, "analytics/funnel", query: question + [.init("compare", "previous")])
    }

    func export(_ request: PageRequest) -> APICall? { funnel(request).exported(by: request) }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let body = try answers.required("funnel")
        let language = request.language
        let cards = OverviewCards(request, answers, body)
        var content = PageContent(title: OverviewText.title(language), sentence: cards.sentence)
        content.live = [.funnel, .messages, .queue]
        content.permanent = ShownRange(request).permanent
        guard cards.funnel[.targets] > 0 || !OverviewCards.messages(answers).isEmpty else {
            content.blocks = [
                Block(
                    width: 8,
                    title: OverviewText.funnel(language),
                    body: [
                        .empty(
                            EmptyState(
                                title: OverviewText.emptyTitle(language),
                                step: OverviewText.emptyStep(language),
                                link: Link(OverviewText.emptyLink(language), "apps")
                            )
                        )
                    ]
                ), cards.actionCard,
            ]
            return content
        }
        content.blocks = [
            cards.funnelCard, cards.nowCard, cards.chartCard, cards.actionCard, cards.vendorCard, cards.messageCard,
        ]
        return content
    }

    private static func app(_ request: PageRequest) -> [PageRequest.Parameter] {
        request.value("app").map { [PageRequest.Parameter("app", $0)] } ?? []
    }
}
