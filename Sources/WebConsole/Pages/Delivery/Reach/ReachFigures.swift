package import Model
package import PageParts

/// One line of the counts by campaign, by hour or by what apps report of their devices: the deliveries that were accepted, received and read.
package struct ReachFigures: Sendable, Hashable {
    /// A count, by its name in the answers.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case reached, received, read

        /// The name of a column or a choice.
        package var name: Text {
            switch self {
            case .reached: MessagePageText.accepted
            case .received: MessagePageText.received
            case .read: MessagePageText.read
            }
        }

        /// In a sentence.
        var inSentence: Text {
            switch self {
            case .reached: MessagesText.bar.accepted
            case .received: MessagesText.bar.received
            case .read: MessagesText.bar.read
            }
        }

        /// The style of its bars.
        package var style: String { (self == .reached ? Table.Segment.Style.transport : .app).rawValue }
    }

    /// 10^12 deliveries: larger counts of an answer are shown as this, so that no sum overflows.
    private static let most: Int64 = 1_000_000_000_000

    package let reached: Int64
    package let received: Int64
    package let read: Int64

    package init(_ line: JSON) {
        func count(_ kind: Kind) -> Int64 { min(Reading.number(line[kind.rawValue]), Self.most) }
        reached = count(.reached)
        received = count(.received)
        read = count(.read)
    }

    package subscript(kind: Kind) -> Int64 {
        switch kind {
        case .reached: reached
        case .received: received
        case .read: read
        }
    }

    /// The counts of the range and the app of a page: `analytics/campaigns`, `analytics/hours`, `analytics/versions`.
    package static func call(_ name: String, _ request: PageRequest) -> APICall {
        let app = request.value("app").map { [PageRequest.Parameter("app", $0)] } ?? []
        return APICall(name, .get, "analytics/\(name)", query: ShownRange(request).query + app)
    }

    /// The page that is shown when the API refuses to count so many groups or rows. Its filters reduce them. Nil: it has not refused.
    package static func refusal(_ name: String, _ answers: Answers, _ title: Text, _ request: PageRequest)
        -> PageContent?
    {
        guard let answer = answers[name], answer.status == 422,
            let problem = Reading.problem(answer, request.language)
        else { return nil }
        let sentence = Sentence(mark: .warn, text: ReachText.refused(request.language))
        var page = PageContent(title: title(request.language), sentence: sentence)
        page.blocks = [Block(body: [problem])]
        return page
    }

    /// The lines of an answer.
    package static func lines(_ body: JSON) -> [JSON] { body["groups"]?.array ?? [] }

    /// The source of the counts, and up to when they are counted.
    static func foot(_ body: JSON, _ words: Words) -> String {
        let source = words(ReachText.source)
        guard let until = words.moment(body["countedUntil"]) else { return source }
        return "\(source) \(words(ReachText.counted(words.time(until))))"
    }

    /// `foot` below a table that shows the first lines of the answer, which are the largest.
    package static func footOfLargest(_ body: JSON, _ words: Words) -> String {
        let count = lines(body).count
        guard count > ConsoleLimits.rows else { return foot(body, words) }
        let largest = ReachText.largest(words.count(Int64(ConsoleLimits.rows)), words.count(Int64(count)))
        return "\(words(largest)) \(foot(body, words))"
    }
}

/// The texts that the pages of campaigns, hours and figures of devices share.
enum ReachText {
    static let refused = Text(
        ko: "이 기간의 집계를 표시할 수 없습니다. 더 짧은 기간이나 앱 하나를 선택하세요.",
        en: "The counts of this range cannot be shown. Choose a shorter range or one app."
    )
    static let source = Text(
        ko: "APNs 접수에는 응답을 받지 못한 발신이 포함됩니다. 수신 확인과 읽음은 앱이 알린 건수입니다.",
        en: "Accepted by APNs includes those without an answer. The app reports what was received and read."
    )

    static func largest(_ shown: String, _ all: String) -> Text {
        Text(
            ko: "\(all)개 중 가장 큰 \(shown)개입니다. 내보낸 파일에는 모두 있습니다.",
            en: "The largest \(shown) of \(all). The export has all of them."
        )
    }

    static func counted(_ time: String) -> Text {
        Text(
            ko: "\(time)까지 집계했습니다. 나머지는 잠시 후 반영됩니다.",
            en: "Counted up to \(time). The rest follows within a minute."
        )
    }
}
