import Model
import Testing

@testable import PageParts
@testable import WebConsole

/// Requests, answers and readings for the tests of the pages of operations.
enum OperationsStage {
    /// 2026-11-23T05:05:07.204Z, 14:05 in Seoul.
    static let now = Timestamp(milliseconds: 1_795_410_307_204)

    static func request(
        _ language: Language = .en,
        path: [String: String] = [:],
        query: KeyValuePairs<String, String> = [:],
        typed: KeyValuePairs<String, String> = [:],
        errors: [String: String] = [:],
        role: Role = .owner
    ) -> PageRequest {
        var request = PageRequest(
            language: language,
            tenant: "acme",
            account: ConsoleAccount(name: "kim", role: role, tenants: ["acme"]),
            now: now,
            zone: "Asia/Seoul",
            formToken: "token",
            onceToken: "once"
        )
        request.path = path
        request.query = query.map { PageRequest.Parameter($0.key, $0.value) }
        request.typed = fields(typed)
        request.errors = FieldErrors(errors)
        return request
    }

    static func fields(_ pairs: KeyValuePairs<String, String>) -> FormFields {
        FormFields(pairs.map { FormFields.Field($0.key, .text($0.value)) })
    }

    static func answer(_ body: JSON, status: Int = 200) -> APIAnswer {
        APIAnswer(status: status, body: body, requestID: "r-1")
    }

    static func answers(_ bodies: [String: JSON]) -> Answers {
        Answers(bodies.mapValues { answer($0) })
    }

    static func problem(_ detail: String, status: Int = 422) -> APIAnswer {
        answer(["status": .int(status), "code": "PG-1002", "detail": .string(detail)], status: status)
    }

    static func json(_ text: String) -> JSON { (try? JSONParser.parse(text)) ?? .null }

    /// The sentence of a page.
    static func sentence(
        _ page: any ConsolePage,
        _ bodies: [String: JSON],
        _ request: PageRequest = OperationsStage.request()
    ) throws -> Sentence {
        try page.content(request, answers(bodies)).sentence
    }

    /// Every text in a value, whatever contains it.
    static func texts(_ value: Any) -> [String] {
        var found: [String] = []
        collect(value, 0) { found.append($0) }
        return found
    }

    private static func collect(_ value: Any, _ depth: Int, _ add: (String) -> Void) {
        guard depth < 40 else { return }
        if let text = value as? String { return add(text) }
        for child in Mirror(reflecting: value).children { collect(child.value, depth + 1, add) }
    }

    /// Every value of a type in another value.
    static func all<Wanted>(_ type: Wanted.Type, in value: Any) -> [Wanted] {
        var found: [Wanted] = []
        func walk(_ value: Any, _ depth: Int) {
            guard depth < 40, !(value is String) else { return }
            if let wanted = value as? Wanted { found.append(wanted) }
            for child in Mirror(reflecting: value).children { walk(child.value, depth + 1) }
        }
        walk(value, 0)
        return found
    }

    /// Asks a page for its calls until it has none left, and answers each by its name.
    static func calls(_ page: any ConsolePage, _ request: PageRequest, _ bodies: [String: JSON]) -> [[APICall]] {
        var rounds: [[APICall]] = []
        var answers = Answers()
        while rounds.count <= ConsoleLimits.roundsPerPage {
            let calls = page.calls(request, answers)
            guard !calls.isEmpty else { return rounds }
            rounds.append(calls)
            for call in calls { answers[call.name] = answer(bodies[call.name] ?? [:]) }
        }
        return rounds
    }
}

extension JSON {
    /// The same value with each text and number replaced.
    func replacing(_ text: (String) -> JSON, _ number: (String) -> JSON) -> JSON {
        switch self {
        case .string(let value): text(value)
        case .number(let value): number(value)
        case .array(let array): .array(array.map { $0.replacing(text, number) })
        case .object(let object):
            .object(JSONObject(object.pairs.map { ($0.key, $0.value.replacing(text, number)) }))
        case .null, .bool: self
        }
    }
}
