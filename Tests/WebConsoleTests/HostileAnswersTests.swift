import Model
import Testing

@testable import ConsoleAdministration
@testable import ConsoleAudience
@testable import ConsoleDelivery
@testable import ConsoleOperations
@testable import PageParts
@testable import WebConsole

/// Each page with answers that lack members, have other types, and contain anything that a peer can send: it is written, within bounds, and never traps.
struct HostileAnswersTests {
    static let pages: [any ConsolePage] = [
        MessagesPage(), MessagePage(), DeliveriesPage(), DeliveryPage(), FindPage(), DevicePage(), DiagnosisPage(),
        UsersPage(),
        UserPage(), GroupsPage(), GroupPage(), FailuresPage(), FailurePage(), CampaignsPage(),
        HoursPage(), ExportsPage(), SendersPage(),
    ]

    static let texts = [
        "<script>alert(1)</script>", "\u{202E}evil\u{2066}", "a\u{0}b\u{7}\nc", String(repeating: "가", count: 10_000),
        "", "'\"&amp;",
        "../../etc", "{{name}}",
    ]

    private static let lists = [
        "messages", "deliveries", "devices", "identities", "conditions", "matches", "users", "groups", "members",
        "apps", "vendors",
        "tokens", "senders", "losses", "dead", "acts", "aliases", "tags", "waiting", "tried",
    ]
    private static let names = [
        "id", "app", "vendor", "state", "title", "body", "user", "key", "name", "phone", "reason", "target", "device",
        "kind",
        "condition", "stage", "address", "group", "message", "submittedBy", "next", "token", "tokenState", "timeZone",
        "campaign", "because", "credential", "path", "outcome", "transport",
    ]
    private static let objects = [
        "funnel", "explanation", "push", "route", "queue", "client", "identity", "receivingWindow",
    ]
    private static let numbers = [
        "recipients", "count", "targets", "bytes", "transportMilliseconds", "attempts", "devices0", "reached", "failed",
        "unread",
    ]
    private static let times = ["dueAt", "sentAt", "acceptedAt", "receivedAt", "since", "until", "seenAt", "createdAt"]

    /// An answer with every member that pages read, each with a value of this text and number.
    private static func body(_ text: String, _ number: JSON, depth: Int = 2) -> JSON {
        var object = JSONObject()
        for name in names { object[name] = .string(text) }
        for name in numbers { object[name] = number }
        for name in times { object[name] = .string(text.isEmpty ? "2026-11-22T05:02:07.209Z" : text) }
        guard depth > 0 else { return .object(object) }
        let inner = body(text, number, depth: depth - 1)
        for name in lists { object[name] = [inner, .null, .string(text), inner] }
        for name in objects { object[name] = inner }
        object["previews"] = .object(JSONObject([(text, inner)]))
        object["consents"] = .object(JSONObject([(text, .string(text))]))
        object["attributes"] = inner
        object["payload"] = inner
        return .object(object)
    }

    /// Whether a path has no segment that leaves its folder, and nothing that begins a query or markup.
    private static func isSafe(_ path: String) -> Bool {
        let isCoded = path.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: "/%-._~".utf8.contains(byte)
            }
        }
        return isCoded && !path.split(separator: "/").contains { $0 == ".." || $0 == "." }
    }

    private func content(_ page: any ConsolePage, _ request: PageRequest, _ body: JSON) throws -> PageContent? {
        do {
            return try ReadPages.content(page, request) { _ in ReadPages.answer(body) }
        } catch is PageFailure {
            return nil
        }
    }

    private func request(_ text: String, _ role: Role, _ language: Language, isTyped: Bool = false) -> PageRequest {
        var request = ReadPages.request(
            [
                "message": text, "target": text, "device": text, "user": text, "group": text, "reason": text,
            ],
            [
                "app": text, "vendor": text, "state": text, "day": text, "text": text, "reason": text, "stage": text,
                "after": text,
                "message": text, "target": text, "lane": text, "range": text, "kind": text,
            ],
            role: role,
            language
        )
        if isTyped { request.typed = ReadPages.fields(["value": text, "ask": "erase", "app": text]) }
        request.errors = FieldErrors(["": text, "field": text])
        return request
    }

    @Test(arguments: texts)
    func anyTextIsShownWithinBounds(_ text: String) throws {
        let body = Self.body(text, 7)
        for page in Self.pages {
            for language in Language.allCases {
                for isTyped in [false, true] {
                    let request = request(text, isTyped ? .owner : .auditor, language, isTyped: isTyped)
                    guard let content = try content(page, request, body) else { continue }
                    #expect(content.title.count < 400, "\(page.path)")
                    #expect(content.sentence.text.count < 1000, "\(page.path)")
                    #expect(!content.title.contains("\n") && !content.title.contains("\u{0}"))
                    #expect(!content.title.contains("\u{202E}"), "a title changes the direction of what follows")
                    for table in ReadPages.tables(content) {
                        #expect(table.rows.count <= 100)
                        for row in table.rows { #expect(row.cells.count == table.columns.count, "\(page.path)") }
                        for link in ReadPages.links(table) {
                            #expect(link.label.count < 400)
                            #expect(Self.isSafe(link.path), "\(link.path)")
                        }
                    }
                }
            }
        }
    }

    /// Every template has what it needs, and no text of a peer becomes markup. One level of members is enough for it.
    @Test(arguments: texts)
    func anyTextIsWrittenAsText(_ text: String) throws {
        let renderer = try Renderer.bundled(isStrict: true)
        let body = Self.body(text, 7, depth: 1)
        for page in Self.pages {
            for isTyped in [false, true] {
                // An address has a limit of its own, below that of the values in answers.
                let short = String(text.prefix(60))
                let request = request(short, .owner, isTyped ? .ko : .en, isTyped: isTyped)
                guard let content = try content(page, request, body) else { continue }
                let html = String(decoding: renderer.page(content, request, path: page.path), as: UTF8.self)
                #expect(!html.contains(Renderer.faultMark), "\(page.path)")
                #expect(!html.contains("<script>alert"), "\(page.path)")
                try Wellformed.check(html)
            }
        }
    }

    /// Parts that people with the same rights share have no form and no name of a viewer, in any state of a message.
    @Test func sharedPartsHaveNoToken() throws {
        let renderer = try Renderer.bundled()
        let shared: [any ConsolePage] = [
            OverviewPage(), MessagesPage(), MessagePage(), SentPage(), LivePage(), NodesPage(),
        ]
        #expect(shared.allSatisfy { $0.sharing == .page })
        func parts(_ page: any ConsolePage, _ state: MessageState) throws -> String {
            var request = ReadPages.request(["message": "m"])
            request.account = ConsoleAccount(name: "viewer-name", role: .owner)
            (request.formToken, request.onceToken) = ("form-secret", "once-secret")
            guard let content = try content(page, request, Self.body(state.rawValue, 7)) else { return "" }
            return renderer.fragments(content, request, path: page.path).map(\.html).joined()
        }
        for state in [MessageState.scheduled, .sending, .paused, .dead, .awaitingApproval, .done] {
            for page in shared {
                let html = try parts(page, state)
                #expect(!html.contains("-secret") && !html.contains("viewer-name"), "\(page.path): \(state)")
            }
        }
        let approvals = try parts(ApprovalsPage(), .awaitingApproval)
        #expect(approvals.contains("form-secret"), "the control")
    }

    @Test(arguments: [
        JSON.null, .bool(true), .number("1e400"), .string("x"), .array([]), .object(JSONObject()), .int(Int64.min),
        .int(Int64.max),
    ])
    func anyTypeInPlaceOfAMemberIsRead(_ value: JSON) throws {
        let body = Self.body("Unregistered", value)
        var members = JSONObject()
        for name in Self.lists + Self.names + Self.objects + Self.times { members[name] = value }
        let nested = JSON.object(JSONObject(Self.lists.map { ($0, [.object(members)]) }))
        for page in Self.pages {
            for language in Language.allCases {
                let request = ReadPages.request(
                    ["message": "m", "device": "d", "user": "u", "group": "g", "reason": "r"],
                    [:],
                    language
                )
                _ = try content(page, request, value)
                _ = try content(page, request, body)
                _ = try content(page, request, .object(members))
                _ = try content(page, request, nested)
            }
        }
    }

    @Test(arguments: [400, 401, 403, 404, 409, 410, 422, 429, 500, 503])
    func anyProblemIsAPageOrAFailure(_ status: Int) throws {
        for page in Self.pages {
            let request = ReadPages.request(["message": "m", "device": "d", "user": "u", "group": "g", "reason": "r"])
            do {
                let content = try ReadPages.content(page, request) { _ in ReadPages.problem(status, "PG-1000", "x") }
                #expect(!content.title.isEmpty && !content.sentence.text.isEmpty)
            } catch is PageFailure {
                continue
            }
        }
    }

    @Test func formsReadAnyFields() {
        let forms = Self.pages.flatMap(\.forms)
        #expect(forms.count == 16)
        for text in Self.texts {
            let names = [
                "value", "title", "body", "acceptsPush", "timeZone", "from", "to", "tags", "shownTimeZone",
                "shownFrom", "shownTo", "shownTags", "identity", "user", "app", "vendor",
                "subject", "state", "group", "add", "remove", "confirmed",
            ]
            let fields = FormFields(names.map { FormFields.Field($0, .text(text)) })
            for form in forms {
                let request = request(text, .owner, .ko)
                for fields in [fields, FormFields([])] {
                    _ = form.calls(request, fields, Answers())
                    if case .call(let call) = form.submit(request, fields, Answers()) {
                        #expect(Self.isSafe(call.path), "\(call.path)")
                    }
                    _ = form.result(request, fields, ReadPages.answer(.null, status: 204))
                    _ = form.result(request, fields, ReadPages.problem(422, "PG-1002", text))
                }
            }
        }
    }

    /// No sentence of a page in Korean is one of the English texts.
    @Test func koreanPagesAreKorean() throws {
        for page in Self.pages {
            let request = ReadPages.request(
                ["message": "m", "device": "d", "user": "u", "group": "g", "reason": "Unregistered"],
                [:],
                .ko
            )
            guard let content = try content(page, request, Self.body("", 7)) else { continue }
            for text in [content.title, content.sentence.text] + content.blocks.compactMap(\.title) {
                let isKorean = text.unicodeScalars.contains { (0xAC00...0xD7A3).contains($0.value) }
                #expect(
                    isKorean || ["Unregistered", "Words"].contains(text) || text.count < 3,
                    "\(page.path): \(text)"
                )
            }
        }
    }
}
