import Model
import PageParts

/// Deliveries, events and devices as files, for analysis elsewhere.
struct ExportsPage: ConsolePage {
    let path = "exports"
    let permission = Permission.figures
    let menu: MenuEntry? = MenuEntry(.operations, ExportsText.title, .more)

    /// The data that can be exported.
    enum Kind: String, Sendable, Hashable, CaseIterable {
        case deliveries, events, devices

        /// Whether the range of the page applies.
        var hasRange: Bool { self != .devices }

        var title: Text {
            switch self {
            case .deliveries: Text(ko: "발신 결과", en: "Deliveries")
            case .events: Text(ko: "이벤트", en: "Events")
            case .devices: Text(ko: "단말", en: "Devices")
            }
        }

        var text: Text {
            switch self {
            case .deliveries:
                Text(
                    ko: "기간 중 발신 시각이 된 메시지의 단말별 결과입니다. 상태, 사유, 시각, 크기를 포함합니다.",
                    en:
                        "One line per delivery of the messages that were due in the range: state, reason, times and size."
                )
            case .events:
                Text(
                    ko: "기간 중 저장된 이벤트입니다. 발신, 수신 확인, 등록의 변화를 포함합니다.",
                    en: "The stored events of the range: sends, receipts and changes of registrations."
                )
            case .devices:
                Text(
                    ko: "현재 등록된 단말과 벤더별 등록 정보입니다. 토큰은 일부만 표시합니다.",
                    en: "The present devices with their identities; tokens are masked."
                )
            }
        }
    }

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] { Reading.open([Reading.vendors], answers) }

    func export(_ request: PageRequest) -> APICall? {
        guard let kind = request.value("kind").flatMap(Kind.init(rawValue:)) else { return nil }
        let range = ShownRange(request)
        // An export ends now: the native API refuses no later end, but a file names the moment up to which it is whole.
        let to = min(range.to, request.now)
        return Reading.get(
            "export",
            "exports/\(kind.rawValue)",
            [
                ("from", kind.hasRange ? range.from.rfc3339 : nil), ("to", kind.hasRange ? to.rfc3339 : nil),
                ("app", request.value("app")), ("vendor", request.value("vendor")),
                // These answers are lines: their JSON is one object a line.
                ("format", request.fileFormat == .csv ? FileFormat.csv.rawValue : "ndjson"),
            ]
        )
    }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let words = Words(request)
        let range = ShownRange(request)
        let scope = request.value("app").map { Reading.line($0, 60) } ?? words(ExportsText.allApps)
        var page = PageContent(
            title: words(ExportsText.title),
            sentence: Sentence(mark: .info, text: words(ExportsText.sentence(scope, range.words(words.language)))),
            blocks: Kind.allCases.map { kind in
                Block(
                    width: 4,
                    title: words(kind.title),
                    note: kind.hasRange ? range.words(words.language) : words(ExportsText.present),
                    body: [.text(words(kind.text)), .actions(actions(kind, request))]
                )
            }
        )
        page.blocks.append(Block(body: [.text(words(ExportsText.note))]))
        page.filters = [Reading.vendorFilter(request, answers)]
        page.permanent = range.permanent
        return page
    }

    private func actions(_ kind: Kind, _ request: PageRequest) -> [Action] {
        FileFormat.allCases.map { format in
            let label = ExportsText.download(format.rawValue.uppercased())(request.language)
            var link = Reading.link(label, path, request, [("kind", kind.rawValue)])
            link.query.append(format.asked)
            return .link(link, isMain: format == .csv)
        }
    }
}

/// The texts of the exports.
enum ExportsText {
    static let title = Text(ko: "내보내기", en: "Exports")
    static let allApps = Text(ko: "모든 앱", en: "all apps")
    static let present = Text(ko: "현재", en: "At present")
    static let note = Text(
        ko: "내보내기는 감사 로그에 기록됩니다. 연결이 중간에 끊긴 파일에는 행이 빠져 있으므로, 마지막 cursor 뒤부터 API로 이어서 받으세요.",
        en:
            "Each export is recorded in the audit log. If the connection ends early, rows are missing: continue after the last cursor through the API."
    )

    static func sentence(_ app: String, _ range: String) -> Text {
        Text(
            ko: "\(app)의 데이터를 파일로 받습니다. 기간: \(range).",
            en: "Download the data of \(app) as files. Range: \(range)."
        )
    }
    static func download(_ format: String) -> Text {
        Text(ko: "\(format) 받기", en: "Download \(format)")
    }
}
