import Model
package import PageParts

/// The campaigns of the range: how many of their notifications were accepted, received and read, with links to their messages.
struct CampaignsPage: ReachPage {
    let path = "campaigns"
    let title = CampaignsText.title
    let menu: MenuEntry? = MenuEntry(.delivery, CampaignsText.title, .campaigns)

    /// Eight: more bars are rows of the table.
    private static let barCount = 8

    /// A campaign, or a part of one.
    private struct Campaign {
        /// Nil: further ones, which are counted together.
        let name: String?
        let app: String?
        let variant: String?
        let figures: ReachFigures
        /// Whether the page shows several apps, which may have campaigns of the same name.
        let namesApp: Bool

        init(_ line: JSON, namesApp: Bool) {
            let group = line["group"]
            func text(_ member: String) -> String? {
                group?[member]?.string.flatMap { $0.isEmpty ? nil : $0 }
            }
            name = text("campaign")
            app = text("app")
            variant = text("variant")
            figures = ReachFigures(line)
            self.namesApp = namesApp
        }

        /// `spring`, or `spring · b · shop` of a part in one of several apps.
        func label(_ words: Words) -> String {
            let parts = [name ?? words(CampaignsText.further), variant, namesApp ? app : nil]
            return parts.compactMap { $0.map { Reading.line($0, 60) } }.joined(separator: " · ")
        }

        /// The messages of the campaign.
        func messages(_ label: String) -> Link? {
            guard let name else { return nil }
            var filters = [PageRequest.Parameter("campaign", name)]
            if let app { filters.append(PageRequest.Parameter("app", app)) }
            return Link(label, "messages", filters)
        }
    }

    func counted(_ body: JSON, _ request: PageRequest) -> PageContent {
        let words = Words(request)
        let lines = ReachFigures.lines(body)
        let namesApp = Set(lines.map { $0["group"]?["app"]?.string }).count > 1
        let campaigns = lines.map { Campaign($0, namesApp: namesApp) }
        var page = PageContent(title: words(title), sentence: sentence(campaigns, request))
        guard !campaigns.isEmpty else {
            let compose = Link(words(MessagesText.compose), "compose")
            let empty = EmptyState(
                title: words(CampaignsText.empty),
                step: words(CampaignsText.emptyStep),
                link: request.account.may(.send) ? compose : nil
            )
            page.blocks = [Block(body: [.empty(empty)])]
            return page
        }
        page.blocks = [
            chart(campaigns, words),
            Block(
                title: words(CampaignsText.table),
                note: ShownRange(request).words(words.language),
                body: [.table(table(campaigns, words))],
                foot: ReachFigures.footOfLargest(body, words)
            ),
        ]
        return page
    }

    private func sentence(_ campaigns: [Campaign], _ request: PageRequest) -> Sentence {
        let words = Words(request)
        let range = ShownRange(request).inSentence(words.language)
        guard let first = campaigns.first(where: { $0.name != nil }) ?? campaigns.first else {
            return Sentence(mark: .info, text: words(CampaignsText.none(range)))
        }
        let label = first.label(words)
        let counts = ReachFigures.Kind.allCases.map { kind in
            words(CampaignsText.count(words(kind.inSentence), words.count(first.figures[kind])))
        }
        let text = CampaignsText.first(range, label, counts.joined(separator: ", "))
        return Sentence(mark: .info, text: words(text), link: first.messages(label))
    }

    private func chart(_ campaigns: [Campaign], _ words: Words) -> Block {
        let bars = campaigns.prefix(Self.barCount).map { campaign in
            let (label, count) = (campaign.label(words), campaign.figures.reached)
            return BarChart.Bar(
                label: label,
                value: Double(count),
                text: words.count(count),
                style: ReachFigures.Kind.reached.style,
                link: campaign.messages(label)
            )
        }
        let caption = words(CampaignsText.chart)
        return Block(title: caption, body: [.bars(BarChart(caption: caption, bars: Array(bars)))])
    }

    private func table(_ campaigns: [Campaign], _ words: Words) -> Table {
        let rows = campaigns.prefix(ConsoleLimits.rows).enumerated().map { place, campaign -> Table.Row in
            let figures = campaign.figures
            let name = campaign.name.map { Reading.line($0, 60) } ?? words(CampaignsText.further)
            let first = campaign.messages(name).map { Table.Cell.link($0) } ?? .text(name)
            let texts = [
                campaign.app.map { Reading.line($0, 60) } ?? Words.unknown,
                campaign.variant.map { Reading.line($0, 60) } ?? Words.unknown,
                words.count(figures.reached), words.count(figures.received), words.count(figures.read),
                words.rate(figures.read, of: figures.reached),
            ]
            return Table.Row(cells: [first] + texts.map { Table.Cell.text($0) }, id: "campaign-\(place)")
        }
        var columns = [MessagesText.campaign, ReadingWords.app, CampaignsText.variant].map {
            Table.Column(label: words($0))
        }
        columns += (ReachFigures.Kind.allCases.map(\.name) + [CampaignsText.readShare]).map {
            Table.Column(label: words($0), isNumber: true)
        }
        return Table(caption: words(CampaignsText.table), columns: columns, rows: Array(rows))
    }
}

package enum CampaignsText {
    static let title = Text(ko: "캠페인", en: "Campaigns")
    static let chart = Text(ko: "캠페인별 APNs 접수", en: "Accepted by APNs, by campaign")
    static let table = Text(ko: "캠페인별 결과", en: "Results by campaign")
    static let variant = Text(ko: "변형", en: "Variant")
    package static let readShare = Text(ko: "읽음 비율(접수 대비)", en: "Read, of accepted")
    static let further = Text(ko: "그 외 캠페인", en: "Further campaigns")
    static let empty = Text(
        ko: "캠페인별로 접수, 수신 확인, 읽음 건수가 표시됩니다.",
        en: "For each campaign, the notifications that were accepted, received and read appear here."
    )
    static let emptyStep = Text(
        ko: "메시지를 작성할 때 캠페인을 입력하세요.",
        en: "Enter a campaign when you compose a message."
    )

    static func none(_ range: String) -> Text {
        Text(ko: "\(range) 집계된 캠페인이 없습니다.", en: "No campaign was counted \(range).")
    }

    static func count(_ kind: String, _ count: String) -> Text {
        Text(ko: "\(kind) \(count)건", en: "\(count) \(kind)")
    }

    static func first(_ range: String, _ campaign: String, _ counts: String) -> Text {
        Text(ko: "\(range) 가장 큰 캠페인: \(campaign). \(counts).", en: "Largest campaign \(range): \(campaign), \(counts).")
    }
}
