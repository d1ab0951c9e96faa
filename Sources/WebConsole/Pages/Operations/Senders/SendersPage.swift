import Model
import PageParts

/// The back ends that registered to send through the vendors' APIs of an app, and whether their callbacks arrive.
struct SendersPage: ConsolePage {
    let path = "senders"
    let permission = Permission.configure
    var menu: MenuEntry? { MenuEntry(.operations, SendersText.title, .more) }

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        let listed = Reading.knownApp(request, answers).map { [list(request, app: $0)] } ?? []
        return Reading.open([Reading.apps] + listed, answers)
    }

    private func list(_ request: PageRequest, app: String) -> APICall {
        Reading.get(
            "senders",
            "apps/\(APICall.segment(app))/senders",
            [Reading.rows, ("after", request.value("after"))]
        )
    }

    func export(_ request: PageRequest) -> APICall? { request.value("app").map { list(request, app: $0) } }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        guard let app = Reading.app(request, answers) else {
            return ReadingWords.noApp(SendersText.title, request.language)
        }
        let page = try answers.required("senders")
        let words = Words(request)
        let senders = page["senders"]?.array ?? []
        let columns = [
            SendersText.name, SendersText.vendor, SendersText.id, SendersText.registered, SendersText.proof,
            SendersText.client, SendersText.callback, SendersText.state,
        ]
        let table = Table(
            caption: words(SendersText.caption),
            columns: columns.map { Table.Column(label: words($0)) },
            rows: senders.map { Self.row($0, words) },
            next: Reading.next(page, path, request),
            empty: EmptyState(title: words(SendersText.empty), step: words(SendersText.emptyStep))
        )
        var content = PageContent(
            title: words(SendersText.title),
            sentence: Self.sentence(senders, isWhole: page["next"]?.lenientString == nil, words),
            blocks: [
                Block(title: Reading.line(app), note: words(ReadingWords.sourceGateway), body: [.table(table)])
            ]
        )
        content.filters = [Reading.appFilter(request, answers, all: false)]
        return content
    }

    private static func text(_ json: JSON?) -> String { Reading.text(json) ?? Words.unknown }

    private static func row(_ sender: JSON, _ words: Words) -> Table.Row {
        let isProven = sender["proven"]?.bool == true
        let stated = [sender["enrolledName"], sender["address"]].compactMap { Reading.text($0) }
        let enrolled = stated.isEmpty ? words(SendersText.enrolled) : stated.joined(separator: " · ")
        return Table.Row(cells: [
            .strong(text(sender["name"])),
            .text(sender["vendor"]?.string.map { VendorName.of($0, words.language) } ?? Words.unknown),
            .mono(text(sender["sender"])),
            .text(words.time(sender["registeredAt"])),
            .tag(isProven ? .ok : .idle, words(isProven ? SendersText.proven : SendersText.unproven)),
            .text(sender["enrolled"]?.bool == true ? enrolled : Words.unknown),
            .text(text(sender["callbackUrl"])),
            state(sender, words),
        ])
    }

    /// Whether its callbacks arrive.
    private static func state(_ sender: JSON, _ words: Words) -> Table.Cell {
        guard sender["callbackUrl"]?.string != nil else { return .text(Words.unknown) }
        guard Reading.number(sender["failures"]) > 0 else { return .tag(.ok, words(SendersText.arrives)) }
        let since = words.time(sender["failingSince"])
        return .tag(.bad, words(SendersText.fails(since, text(sender["lastError"]))))
    }

    /// States the first of these: senders whose callbacks fail, senders without a proof, the number of senders.
    private static func sentence(_ senders: [JSON], isWhole: Bool, _ words: Words) -> Sentence {
        guard !senders.isEmpty else { return Sentence(mark: .idle, text: words(SendersText.empty)) }
        let failing = senders.filter { Reading.number($0["failures"]) > 0 }.count
        if failing > 0 {
            return Sentence(mark: .bad, text: words(SendersText.failing(words.count(Int64(failing)))))
        }
        let unproven = senders.filter { $0["proven"]?.bool != true }.count
        if unproven > 0 {
            return Sentence(mark: .warn, text: words(SendersText.someUnproven(words.count(Int64(unproven)))))
        }
        let count = words.count(Int64(senders.count)) + (isWhole ? "" : "+")
        return Sentence(mark: .ok, text: words(SendersText.all(count)))
    }
}

enum SendersText {
    static let title = Text(ko: "발신 서버", en: "Senders")
    static let caption = Text(ko: "발신 서버, 벤더와 이름 순", en: "Senders by vendor and name")
    static let name = Text(ko: "이름", en: "Name")
    static let vendor = Text(ko: "벤더", en: "Vendor")
    static let id = Text(ko: "식별자", en: "Id")
    static let registered = Text(ko: "등록 시각", en: "Registered")
    static let proof = Text(ko: "인증", en: "Proof")
    static let client = Text(ko: "발신 클라이언트", en: "Message client")
    static let callback = Text(ko: "콜백 주소", en: "Callback address")
    static let state = Text(ko: "콜백 상태", en: "Callbacks")
    static let proven = Text(ko: "인증됨", en: "With a proof")
    static let unproven = Text(ko: "인증 없음", en: "Without a proof")
    static let enrolled = Text(ko: "등록됨", en: "Registered")
    static let arrives = Text(ko: "정상", en: "Arrive")
    static let empty = Text(ko: "등록한 발신 서버가 없습니다.", en: "No sender has registered.")
    static let emptyStep = Text(
        ko: "벤더의 등록 호출을 하거나 설정 파일에 발신자를 적은 서버가 표시됩니다.",
        en: "A back end appears here when it registers by a vendor's call, or when the provisioning file lists it."
    )

    static func fails(_ since: String, _ error: String) -> Text {
        Text(ko: "\(since)부터 실패: \(error)", en: "Fail since \(since): \(error)")
    }
    static func failing(_ count: String) -> Text {
        Text(
            ko: "발신 서버 \(count)개의 콜백이 실패하고 있습니다. 콜백 주소를 확인하세요.",
            en: "Callbacks to \(count, one: "sender") fail. Check the address of the callbacks."
        )
    }
    static func someUnproven(_ count: String) -> Text {
        Text(
            ko: "발신 서버 \(count)개가 인증 없이 등록했습니다. 발신자 인증 설정을 확인하세요.",
            en: "\(count, one: "sender") registered without a proof. Check who may send."
        )
    }
    static func all(_ count: String) -> Text {
        Text(
            ko: "발신 서버 \(count)개가 모두 인증되어 있습니다.",
            en: "\(count, one: "sender is registered", many: "senders are registered"), with a proof."
        )
    }
}
