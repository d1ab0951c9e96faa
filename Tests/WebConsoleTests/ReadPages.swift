import Model
import Testing

@testable import PageParts
@testable import WebConsole

/// Loads pages as the server side does, with answers of a script.
enum ReadPages {
    /// 23 November 2026, 14:05 in Seoul.
    static let now = Timestamp(milliseconds: 1_795_410_300_000)

    static func request(
        _ path: [String: String] = [:],
        _ query: KeyValuePairs<String, String> = [:],
        role: Role = .owner,
        _ language: Language = .en
    ) -> PageRequest {
        var request = PageRequest(
            language: language,
            tenant: "acme",
            account: ConsoleAccount(name: "kim", role: role),
            now: now,
            zone: "Asia/Seoul",
            formToken: "form",
            onceToken: "once"
        )
        request.path = path
        request.query = query.map { PageRequest.Parameter($0.key, $0.value) }
        return request
    }

    static func json(_ text: String) throws -> JSON { try JSONParser.parse(Array(text.utf8)) }

    static func answer(_ body: JSON, status: Int = 200) -> APIAnswer {
        APIAnswer(status: status, body: body, requestID: "r-1")
    }

    static func problem(_ status: Int, _ code: String = "PG-1002", _ detail: String = "") -> APIAnswer {
        answer(["status": .int(status), "code": .string(code), "detail": .string(detail)], status: status)
    }

    /// Performs the calls of a page until it names none, within its bounds.
    static func answers(
        _ page: some ConsolePage,
        _ request: PageRequest,
        _ script: (APICall) throws -> APIAnswer
    ) throws -> (answers: Answers, calls: [APICall]) {
        var answers = Answers()
        var all: [APICall] = []
        for round in 0... {
            let calls = page.calls(request, answers)
            guard !calls.isEmpty else { break }
            try #require(round < ConsoleLimits.roundsPerPage, "\(page.path) names calls in too many rounds")
            for call in calls {
                #expect(!answers.has(call.name), "\(page.path) repeats \(call.name)")
                answers[call.name] = try script(call)
            }
            all += calls
        }
        #expect(all.count <= ConsoleLimits.callsPerPage, "\(page.path) names \(all.count) calls")
        return (answers, all)
    }

    static func content(
        _ page: some ConsolePage,
        _ request: PageRequest,
        _ bodies: [String: JSON]
    ) throws -> PageContent {
        try content(page, request) { call in bodies[call.name].map { answer($0) } ?? problem(404, "PG-1005") }
    }

    static func content(
        _ page: some ConsolePage,
        _ request: PageRequest,
        _ script: (APICall) throws -> APIAnswer
    ) throws -> PageContent {
        try page.content(request, try answers(page, request, script).answers)
    }

    /// Everything that a page says, for searches in it.
    static func words(_ content: PageContent) -> String { String(describing: content) }

    static func value(_ name: String, _ call: APICall) -> String? { call.query.first { $0.name == name }?.value }

    /// The fields of a sent form.
    static func fields(_ fields: KeyValuePairs<String, String>) -> FormFields {
        FormFields(fields.map { FormFields.Field($0.key, .text($0.value)) })
    }

    static func tables(_ content: PageContent) -> [Table] {
        content.blocks.flatMap(\.body).compactMap { part in
            guard case .table(let table) = part else { return nil }
            return table
        }
    }

    static func links(_ table: Table) -> [Link] {
        table.rows.flatMap(\.cells).compactMap { cell in
            guard case .link(let link) = cell else { return nil }
            return link
        }
    }

    /// The labels of the buttons of a page.
    static func actions(_ content: PageContent) -> [String] {
        content.actions.map { action in
            switch action {
            case .link(let link, _): link.label
            case .post(let label, _, _, _, _): label
            }
        }
    }
}
