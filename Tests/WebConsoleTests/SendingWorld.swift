import Model
import Testing

@testable import PageParts
@testable import WebConsole

/// Requests and answers for the pages that send.
enum SendingWorld {
    /// 2026-11-23T05:05:00Z, 14:05 in Seoul.
    static let now = Timestamp(milliseconds: 1_795_410_300_000)
    static let message = "0198a1f0-7c00-7000-8000-000000000001"

    static func request(
        _ language: Language = .en,
        query: [(String, String)] = [],
        path: [String: String] = [:],
        typed: [(String, String)] = []
    ) -> PageRequest {
        var request = PageRequest(
            language: language,
            tenant: "acme",
            account: ConsoleAccount(name: "kim", role: .owner),
            now: now,
            zone: "Asia/Seoul",
            formToken: "form",
            onceToken: "once-1"
        )
        request.query = query.map { .init($0.0, $0.1) }
        request.path = path
        request.typed = fields(typed)
        return request
    }

    static func fields(_ values: [(String, String)]) -> FormFields {
        FormFields(values.map { .init($0.0, .text($0.1)) })
    }

    static func answer(_ body: JSON, status: Int = 200, tag: String? = nil, head: Int64? = nil) -> APIAnswer {
        APIAnswer(status: status, body: body, entityTag: tag, requestID: "r-1", eventHead: head)
    }

    static func problem(_ status: Int, _ code: String) -> APIAnswer {
        answer(["status": .int(status), "code": .string(code), "detail": "title: at most 3 bytes"], status: status)
    }

    static let apps: JSON = [
        "apps": [["app": "shop", "retiredAt": .null], ["app": "old", "retiredAt": "2026-01-01T00:00:00.000Z"]],
        "next": .null,
    ]

    /// Asks the page for calls and answers them, as the server does, until there are none. Calls without an answer are 404.
    static func load(
        _ page: any ConsolePage,
        _ request: PageRequest,
        _ table: [String: APIAnswer]
    ) -> (answers: Answers, calls: [APICall]) {
        var answers = Answers()
        var made: [APICall] = []
        for _ in 0..<ConsoleLimits.roundsPerPage {
            let calls = page.calls(request, answers)
            if calls.isEmpty { return (answers, made) }
            for call in calls {
                #expect(!answers.has(call.name), "\(call.name) is asked for twice")
                answers[call.name] = table[call.name] ?? problem(404, "PG-1004")
            }
            made += calls
        }
        #expect(page.calls(request, answers).isEmpty, "the page asks for more rounds than the limit")
        #expect(made.count <= ConsoleLimits.callsPerPage)
        return (answers, made)
    }

    static func content(
        _ page: any ConsolePage,
        _ request: PageRequest,
        _ table: [String: APIAnswer]
    ) throws -> PageContent {
        try page.content(request, load(page, request, table).answers)
    }

    /// Texts that must stay texts: markup, right-to-left marks, control bytes, 10,000 characters, variables without an end.
    static let hostile = [
        "<script>alert(1)</script>", "\u{202E}abc\u{2066}", "a\u{0}\u{1F}\r\nb", String(repeating: "가", count: 10_000),
        "#{", "#{}}",
        "#{" + String(repeating: "x", count: 200) + "}", "\"' & =cmd|x", "../../..", "%00%2e",
    ]

    /// Values of every kind in place of the expected ones.
    static let odd: [JSON] = [
        .null, 1, "x", [], [1, .null, "x"], ["x": .null], true, .number("1e400"), .number("99999999999999999999"),
    ]
}

extension FormView {
    func field(_ name: String) -> Field? { fields.first { $0.name == name } }
    func value(_ name: String) -> String? { field(name)?.value }
    /// The fields that a browser sends without a change.
    var sent: [(String, String)] { fields.map { ($0.name, $0.value) } }
}

extension PageContent {
    var forms: [FormView] {
        blocks.flatMap(\.body).compactMap { part in
            if case .form(let form) = part { return form }
            return nil
        }
    }
    func form(_ path: String) -> FormView? { forms.first { $0.path == path } }
    var tables: [Table] {
        blocks.flatMap(\.body).compactMap { part in
            if case .table(let table) = part { return table }
            return nil
        }
    }
    var callouts: [String] {
        blocks.flatMap(\.body).compactMap { part in
            if case .callout(_, let text, _) = part { return text }
            return nil
        }
    }
}

extension FormStep {
    var call: APICall? { if case .call(let call) = self { call } else { nil } }
    var errors: [String: String]? { if case .invalid(let errors) = self { errors.errors } else { nil } }
    var isShow: Bool { if case .show = self { true } else { false } }
    var link: Link? { if case .go(let link) = self { link } else { nil } }
}

extension FormResult {
    var errors: [String: String]? { if case .invalid(let errors) = self { errors.errors } else { nil } }
    var link: Link? { if case .go(let link, _) = self { link } else { nil } }
    var notice: Text? {
        switch self {
        case .back(let notice), .go(_, let notice): notice
        case .again(let notice): notice
        case .invalid, .once: nil
        }
    }
}
