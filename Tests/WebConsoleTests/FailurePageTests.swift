import Testing

@testable import PageParts
@testable import WebConsole

struct FailurePageTests {
    private func page(
        _ problem: ConsoleProblem,
        _ code: String?,
        detail: String? = "a <detail>",
        needs: Permission? = nil,
        _ language: Language = .en
    ) throws -> String {
        let content = FailureContent.content(
            problem,
            code: code,
            note: Text(ko: "덧붙임", en: "A note"),
            detail: detail,
            needs: needs,
            requestID: "req-1",
            isInTenant: true,
            language
        )
        let bytes = try Renderer.bundled(isStrict: true).page(content, Sample.request(language), path: "keys")
        let html = String(decoding: bytes, as: UTF8.self)
        #expect(!html.contains(Renderer.faultMark))
        #expect(html.contains("<nav class=\"sidebar\"") && html.contains("/t/acme/"), "without the frame of the tenant")
        try Wellformed.check(html)
        return html
    }

    @Test func itNamesCodeRequestAndAction() throws {
        let html = try page(.unavailable, "PG-2001")
        let texts = [
            "PG-2001", "req-1", "Nothing was changed. Try again in a moment.", "<dd>a &lt;detail&gt;</dd>", "A note",
        ]
        for text in texts { #expect(html.contains(text), "\(text)") }
        #expect(try page(.unavailable, "PG-2001", .ko).contains("변경된 것은 없습니다."))
    }

    /// The detail of the API is English: a Korean page translates it, or marks it as English.
    @Test func aKoreanPageQuotesTheDetail() throws {
        let html = try page(.badRequest, "PG-1002", .ko)
        #expect(html.contains("잘못된 값이 있습니다."))
        #expect(html.contains("lang=\"en\">a &lt;detail&gt;</p>") && !html.contains("<dd>a &lt;detail&gt;"))
        let known = try page(.unavailable, "PG-2001", detail: "nothing was changed; try again", .ko)
        #expect(known.contains("<dd>변경된 것은 없습니다. 다시 시도하세요.</dd>") && !known.contains("try again"))
    }

    @Test func itNamesTheRolesWithThePermission() throws {
        let html = try page(.forbidden, "PG-1004", needs: .audit)
        #expect(html.contains("These roles may view the audit log: Owner, Auditor."))
        #expect(try page(.forbidden, nil, needs: .send, .ko).contains("소유자, 운영자, 작성자"))
    }

    @Test(arguments: ConsoleProblem.allCases) func everyErrorHasWords(_ problem: ConsoleProblem) throws {
        for language in Language.allCases {
            let html = try page(problem, nil, language)
            #expect(html.contains("req-1") && html.contains(problem.title(language)))
            // A code that is not known here, such as one of a later version.
            #expect(try page(problem, "PG-9999", language).contains(problem.title(language)))
        }
    }

    @Test func outsideOfATenant() throws {
        let content = FailureContent.content(.notFound, requestID: "req-1", isInTenant: false, .en)
        let request = BareRequest(language: .en, path: "/", now: Sample.now, formToken: "t")
        let html = String(decoding: try Renderer.bundled(isStrict: true).bare(content, request), as: UTF8.self)
        try Wellformed.check(html)
        #expect(html.contains("Not found") && !html.contains("/t/"))
    }
}
